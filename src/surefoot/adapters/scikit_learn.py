"""ScikitLearn: any estimator with ``partial_fit`` as a model of the rewards."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from surefoot._exact import one_of, shown
from surefoot._labels import arm_labels
from surefoot._types import JsonObject
from surefoot.adapters._estimators import Replicates
from surefoot.adapters.base import Adapter, is_number
from surefoot.errors import InvalidInput


class ScikitLearn(Adapter):
    """Predict each arm's reward by estimators, and explore by epsilon or by a bootstrap.

    "epsilon": with that chance an arm at random, else the largest prediction. "bootstrap": of each
    reward every one of ``replicates`` learns with chance 1/2, and the prediction of one of them,
    drawn at random, decides: Thompson sampling of which the replicates are the posterior (Eckles,
    Kaptein 2014, arXiv 1410.4009, the double-or-nothing bootstrap; its weight of 2 is left out).

    ``estimator``: with ``partial_fit``; a classifier learns a reward r as a 1 of weight r and a 0
    of weight 1 - r, and predicts by ``predict_proba``. ``shared``: False, a copy of it for each
    arm, which learns from the row of numbers that is the context; True, one for all, which learns
    the arm's row of a table of contexts, or the row of the play beside the arm's indicator. An
    arm whose model has learned nothing comes first.

    >>> from sklearn.linear_model import SGDRegressor
    >>> import surefoot as sf
    >>> policy = sf.adapters.ScikitLearn(SGDRegressor(), arms=["old", "new"], epsilon=0.1)
    >>> policy.propensities([1.0, 2.0])
    [1.0, 0.0]

    Holds when: predictions are numbers; NaN is a fault. Does not hold when: rewards are to be
    unlearned, or the estimator keeps what only pickle can save: then ``state`` refuses.
    """

    def __init__(
        self,
        estimator: Any,
        n_arms: int | None = None,
        arms: Iterable[Any] | None = None,
        explore: str = "epsilon",
        epsilon: float = 0.05,
        replicates: int = 20,
        shared: bool = False,
        time_limit: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        one_of(explore, "explore", ("epsilon", "bootstrap"))
        whole = isinstance(replicates, int | np.integer) and not isinstance(replicates, bool)
        if not (is_number(epsilon) and 0 <= epsilon <= 1 and whole and replicates >= 1):
            raise InvalidInput(
                f"epsilon = {shown(epsilon)} must lie in 0..1, and replicates = "
                f"{shown(replicates)} be an int above 0"
            )
        self.explore, self.epsilon, self.shared = explore, epsilon, shared
        labels, self.sets = arm_labels(n_arms, arms), 1 if explore == "epsilon" else replicates
        learner = Replicates(estimator, self.sets, len(labels), shared)
        super().__init__(learner, None, labels, time_limit, clock)

    def best(
        self, context: Any, rng: np.random.Generator, allowed: Sequence[int] | None = None
    ) -> tuple[int, float]:
        """The arm and its predicted reward; infinity for one that is only explored."""
        answer: tuple[int, float] = self._in_time(self._best, context, rng, allowed)
        return answer

    def _best(self, context: Any, rng: np.random.Generator, allowed: Any) -> tuple[int, float]:
        arms = range(self.n_arms) if allowed is None else allowed
        for arm in self.untried(arms):
            self.asked[arm] += 1
            return arm, math.inf
        if self.explore == "epsilon" and rng.random() < self.epsilon:
            return int(rng.choice(arms)), math.inf
        scores = self.learner.scores(int(rng.integers(self.sets)), arms, context)
        place = int(np.argmax(scores))  # a NaN, if there is one: the agent takes it for a fault
        return arms[place], float(scores[place])

    def choose(self, context: Any, rng: np.random.Generator) -> int:
        """The arm of ``best``."""
        return self._best(context, rng, None)[0]

    def propensities(
        self, context: Any = None, allowed: Sequence[int] | None = None
    ) -> list[float]:
        """The chance of each arm at the next turn: of the replicates, the share that prefer it."""
        arms = range(self.n_arms) if allowed is None else allowed
        chances = np.zeros(self.n_arms)
        for arm in self.untried(arms)[:1]:
            chances[arm] = 1
            return [float(chance) for chance in chances]
        for number in range(self.sets):
            best = int(np.argmax(self.learner.scores(number, arms, context)))
            chances[arms[best]] += 1 / self.sets
        if self.explore == "epsilon":
            chances *= 1 - self.epsilon
            chances[list(arms)] += self.epsilon / len(arms)
        return [float(chance) for chance in chances]

    def teach(self, arm: int, reward: float, context: Any) -> None:
        """Let the models learn, or of a bootstrap about half of them."""
        self.learner.teach(arm, reward, context, first=arm not in self.firsts)

    def seed(self, seed: int) -> None:
        """Seed the bootstrap and the estimators."""
        self.learner.seed(seed)

    def config(self) -> JsonObject:
        """How it explores, which a loaded agent has to agree with."""
        settings = {"explore": self.explore, "epsilon": self.epsilon, "shared": self.shared}
        return {**settings, "replicates": self.sets}
