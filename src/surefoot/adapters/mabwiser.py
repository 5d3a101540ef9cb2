"""MABWiser: its MAB as a policy (Strong, Kleynhans, Kadioglu, ICTAI 2019)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from surefoot._exact import shown
from surefoot.adapters.base import Adapter, reseed
from surefoot.errors import InvalidInput


class MABWiser(Adapter):
    """Ask ``MAB.predict`` and teach by ``MAB.partial_fit``; its arms are the labels.

    Every arm is played once to begin with, in their order, and so is an arm whose reward has not
    come before any is asked of the learner: MABWiser takes an arm without rewards for one that
    pays 0. A context is a row of numbers, for a contextual MAB only.

    >>> from mabwiser.mab import MAB, LearningPolicy
    >>> import surefoot as sf
    >>> policy = sf.adapters.MABWiser(MAB(["old", "new"], LearningPolicy.UCB1(alpha=1)))
    >>> agent = sf.GenCB(policy, sf.RewardFloor(default=0.5, alpha=0.1, reserve=5), seed=0)
    >>> agent.select().arm
    'old'

    Holds when: the learner is trained by this policy alone. Does not hold when: rewards other
    than 0 and 1 meet LearningPolicy.ThompsonSampling without a binarizer: each is a fault. Trees
    (NeighborhoodPolicy.TreeBandit) cannot be saved.
    """

    def __init__(
        self,
        mab: Any,
        time_limit: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not hasattr(mab, "partial_fit") or not hasattr(mab, "_rng"):
            raise InvalidInput(f"mab = {shown(mab)} must be a mabwiser.mab.MAB")
        self.contextual = bool(mab.is_contextual)
        super().__init__(mab, None, mab.arms, time_limit, clock)

    def choose(self, context: Any, rng: np.random.Generator) -> Any:
        """The number of the arm that ``predict`` names."""
        for arm in self.untried(range(self.n_arms)):
            self.asked[arm] += 1
            return arm
        rows = [context] if self.contextual else None
        return self.arms.index(self.learner.predict(rows))

    def teach(self, arm: int, reward: float, context: Any) -> None:
        """One row for ``partial_fit``."""
        rows = [context] if self.contextual else None
        self.learner.partial_fit([self.arms[arm]], [reward], rows)

    def seed(self, seed: int) -> None:
        """Seed the generator that all parts of a MAB share."""
        reseed(self.learner._rng.rng, seed)
