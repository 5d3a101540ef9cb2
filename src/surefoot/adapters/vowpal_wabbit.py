"""VowpalWabbit: contextual bandits of Vowpal Wabbit (Bietti, Agarwal, Langford, JMLR 2021)."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from surefoot._types import JsonObject
from surefoot.adapters._workspace import Model
from surefoot.adapters.base import Adapter
from surefoot.errors import InvalidInput


class VowpalWabbit(Adapter):
    """Draw from the chances of ``--cb_explore_adf``, and learn the cost 1 - reward by them.

    ``options``: the command line; all its exploration (epsilon, bag, cover, squarecb, rnd, softmax)
    works. A context is a dict or a row of numbers, the features of the play in the namespace ``u``;
    or a table with a row for each arm, its features beside its name in ``a``. A reward is learned
    with the chance that its arm had when it was chosen, however late it comes.

    >>> import surefoot as sf
    >>> policy = sf.adapters.VowpalWabbit(arms=["old", "new"])
    >>> policy.propensities({"age": 30.0})
    [0.5, 0.5]

    Holds when: features are numbers, strings or bools. Does not hold when: more than 100,000 plays
    are open: the reward of an older one is learned with the chance that its arm has by then. What
    ``--bag`` draws to learn by starts anew in a copy and in a loaded agent.
    """

    kept = 100_000

    def __init__(
        self,
        options: str = "--cb_explore_adf --epsilon 0.05 -q ua",
        n_arms: int | None = None,
        arms: Iterable[Any] | None = None,
        time_limit: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if "--cb_explore_adf" not in options:
            raise InvalidInput(f"options = {options!r} must have --cb_explore_adf")
        self.learned = False
        self.chances: dict[str, list[float]] = {}
        """Of the plays whose reward has not come, by arm and context, the oldest first."""
        super().__init__(Model(options), n_arms, arms, time_limit, clock)

    def propensities(
        self, context: Any = None, allowed: Sequence[int] | None = None
    ) -> list[float]:
        """The chance of each arm at the next turn."""
        if allowed is not None:
            raise InvalidInput("allowed cannot be kept: Vowpal Wabbit chooses among all arms")
        given = np.array(self.learner.predict(self._lines(context)))
        return [float(chance) for chance in given / given.sum()]

    def choose(self, context: Any, rng: np.random.Generator) -> int:
        """One draw from the chances."""
        chances = self.propensities(context)
        arm = min(int(np.searchsorted(np.cumsum(chances), rng.random(), "right")), self.n_arms - 1)
        self.chances.setdefault(self._key(arm, context), []).append(chances[arm])
        if len(self.chances) > self.kept:
            del self.chances[next(iter(self.chances))]
        return arm

    def teach(self, arm: int, reward: float, context: Any) -> None:
        """Learn one labelled example."""
        self.learned = True
        waiting = self.chances.get(key := self._key(arm, context), [])
        chance = waiting.pop(0) if waiting else self.propensities(context)[arm]
        if not waiting:
            self.chances.pop(key, None)
        lines = self._lines(context)
        lines[arm + 1] = f"0:{1 - reward}:{max(chance, 1e-6)} {lines[arm + 1]}"
        self.learner.learn(lines)

    def fresh(self) -> None:
        """None: its options make it anew."""

    def seed(self, seed: int) -> None:
        """Make the workspace anew by this seed, unless it has learned already."""
        if not self.learned:
            self.learner = Model(self.learner.options, seed)

    def _key(self, arm: int, context: Any) -> str:
        return "\n".join([str(arm), *self._lines(context)])

    def _lines(self, context: Any) -> list[str]:
        """The text of an example: one line of shared features, and one for each arm."""
        table = np.ndim(context) == 2 and len(context) == self.n_arms
        rows = [_features(row) for row in context] if table else [""] * self.n_arms
        shared = "" if table or context is None else _features(context)
        return [f"shared |u {shared}", *(f"|a arm{n} {row}" for n, row in enumerate(rows))]

    def state(self) -> JsonObject:
        """The model file, as text, and the chances of the open plays."""
        return {
            "seeded": self.seeded,
            "seed": self.learner.seed,
            "learned": self.learned,
            "model": base64.b64encode(self.learner.saved()).decode(),
            "chances": {key: list(waiting) for key, waiting in self.chances.items()},
        }

    def restore(self, state: JsonObject) -> None:
        """The inverse of ``state``."""
        saved = base64.b64decode(state["model"])
        self.learner = Model(self.learner.options, state["seed"], saved)
        self.seeded, self.learned = state["seeded"], state["learned"]
        self.chances = {key: list(waiting) for key, waiting in state["chances"].items()}


def _features(context: Any) -> str:
    named = context.items() if isinstance(context, dict) else enumerate(context)
    return " ".join(
        f"{name}={one}" if isinstance(one, str | bool) else f"{name}:{float(one)!r}"
        for name, one in named
    )
