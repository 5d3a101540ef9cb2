"""VowpalWabbit: contextual bandits of Vowpal Wabbit (Bietti, Agarwal, Langford, JMLR 2021)."""

from __future__ import annotations

import base64
import copy
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from surefoot._exact import shown
from surefoot._types import JsonObject
from surefoot.adapters._workspace import Model, Waiting, example
from surefoot.adapters.base import Adapter
from surefoot.errors import InvalidInput


class VowpalWabbit(Adapter):
    """Draw from the chances of ``--cb_explore_adf``, and learn the cost 1 - reward by them.

    ``options``: the command line; all its exploration (epsilon, bag, cover, squarecb, rnd, softmax)
    works. A context is a dict or a row of numbers, the features of the play in the namespace ``u``;
    or a list of one for each arm, its features beside its name in ``a``. A reward is learned
    with the chance that its arm had when it was chosen, however late it comes.

    >>> import surefoot as sf
    >>> policy = sf.adapters.VowpalWabbit(arms=["old", "new"])
    >>> policy.propensities({"age": 30.0})
    [0.5, 0.5]

    Holds when: features are finite numbers, strings or bools. Does not hold when: a reward comes
    after its play expired, or no agent tells which plays are open: it is learned with the chance
    that its arm has by then. What ``--bag`` draws to learn by starts anew in a copy and in a loaded
    agent.
    """

    def __init__(
        self,
        options: str = "--cb_explore_adf --epsilon 0.05 -q ua",
        n_arms: int | None = None,
        arms: Iterable[Any] | None = None,
        time_limit: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not isinstance(options, str) or "--cb_explore_adf" not in options:
            raise InvalidInput(
                f"options = {shown(options)} must be a command line with --cb_explore_adf"
            )
        self.learned = False
        self.drawn = "", 0.0
        """The last answer and its chance."""
        self.chances = Waiting()
        super().__init__(Model(options), n_arms, arms, time_limit, clock)

    def propensities(
        self, context: Any = None, allowed: Sequence[int] | None = None
    ) -> list[float]:
        """The chance of each arm at the next turn."""
        if allowed is not None:
            raise InvalidInput("allowed cannot be kept: Vowpal Wabbit chooses among all arms")
        chances: list[float] = self.learner.chances(self._lines(context))
        return chances

    def choose(self, context: Any, rng: np.random.Generator) -> int:
        """One draw from the chances."""
        lines = self._lines(context)
        chances = self.learner.chances(lines)
        arm = min(int(np.searchsorted(np.cumsum(chances), rng.random(), "right")), self.n_arms - 1)
        self.drawn = _key(arm, lines), chances[arm]
        return arm

    def opened(self, arm: int, context: Any) -> None:
        """Keep the chance of a play until its reward comes."""
        lines = self._lines(context)
        key, chance = _key(arm, lines), self.drawn[1]
        if key != self.drawn[0]:  # read back from a ledger; a look must not count as a prediction
            chance = copy.deepcopy(self.learner).chances(lines)[arm]
        self.chances.add(key, chance)

    def closed(self, arm: int, context: Any) -> None:
        """Forget the oldest such play."""
        self.chances.drop(_key(arm, self._lines(context)))

    def teach(self, arm: int, reward: float, context: Any) -> None:
        """Learn one labelled example."""
        self.learned, lines = True, self._lines(context)
        now = self.learner.chances(lines)[arm]  # always, since the model file counts predictions
        chance = self.chances.oldest(_key(arm, lines), now)
        lines[arm + 1] = f"0:{1 - reward}:{max(chance, 1e-6)} {lines[arm + 1]}"
        self.learner.learn(lines)

    def fresh(self) -> None:
        """None: its options make it anew."""

    def seed(self, seed: int) -> None:
        """Make the workspace anew by this seed, unless it has learned already."""
        if not self.learned:
            self.learner = Model(self.learner.options, seed)

    def _lines(self, context: Any) -> list[str]:
        return example(context, self.n_arms)

    def config(self) -> JsonObject:
        """The options, which a loaded agent has to agree with."""
        return {"options": self.learner.options}

    def state(self) -> JsonObject:
        """The model file, as text, and the chances of the open plays."""
        return {
            "seeded": self.seeded,
            "seed": self.learner.seed,
            "learned": self.learned,
            "model": base64.b64encode(self.learner.saved()).decode(),
            "chances": dict(self.chances),
        }

    def restore(self, state: JsonObject) -> None:
        """The inverse of ``state``."""
        saved = base64.b64decode(state["model"])
        self.learner = Model(self.learner.options, state["seed"], saved)
        self.seeded, self.learned = state["seeded"], state["learned"]
        self.chances = Waiting(state["chances"])


def _key(arm: int, lines: list[str]) -> str:
    """What tells an open play from others: its arm and the text of its context."""
    return "\n".join([str(arm), *lines])
