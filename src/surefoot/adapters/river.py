"""River: a policy of river.bandit (Montiel and others, JMLR 2021)."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from surefoot._exact import shown
from surefoot.adapters.base import Adapter
from surefoot.errors import InvalidInput


class River(Adapter):
    """Ask ``pull`` and teach by ``update`` of a policy of ``river.bandit``.

    ``contextual``: None looks whether it is a ContextualPolicy; a context is then a dict of
    features, or a row of numbers, whose features are called by their numbers.

    >>> from river import bandit
    >>> import surefoot as sf
    >>> policy = sf.adapters.River(bandit.UCB(delta=1), arms=["old", "new"])
    >>> agent = sf.GenCB(policy, sf.RewardFloor(default=0.5, alpha=0.1, reserve=5), seed=0)
    >>> agent.select().arm in ("old", "new")
    True

    Holds when: the policy learns from an arm and its reward alone. Does not hold when: it needs
    what its last ``pull`` computed, as Exp3 does: it is refused, since rewards may come late.
    """

    def __init__(
        self,
        policy: Any,
        n_arms: int | None = None,
        arms: Iterable[Any] | None = None,
        time_limit: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not hasattr(policy, "pull") or not hasattr(policy, "_rewards"):
            raise InvalidInput(f"policy = {shown(policy)} must be a policy of river.bandit")
        if hasattr(policy, "_probabilities"):
            raise InvalidInput(
                f"policy = {type(policy).__name__} learns by the chances of its last pull, so late "
                "rewards would mislead it; give another policy of river.bandit"
            )
        self.contextual = "context" in type(policy).pull.__code__.co_varnames
        super().__init__(policy, n_arms, arms, time_limit, clock)

    def choose(self, context: Any, rng: np.random.Generator) -> Any:
        """The number of the arm that ``pull`` names."""
        given = [_features(context)] if self.contextual else []
        return self.arms.index(self.learner.pull(list(self.arms), *given))

    def teach(self, arm: int, reward: float, context: Any) -> None:
        """One ``update``."""
        given = [_features(context)] if self.contextual else []
        self.learner.update(self.arms[arm], *given, reward)

    def seed(self, seed: int) -> None:
        """Seed the policy's own generator, and those of the arms' rewards."""
        seeds = random.Random(seed)  # noqa: S311  (as river draws)
        policy = self.learner
        for holder in (policy, policy.reward_obj, *policy._rewards.values()):
            if isinstance(getattr(holder, "_rng", None), random.Random):
                holder._rng.seed(seeds.randrange(2**32))


def _features(context: Any) -> dict[Any, float]:
    if isinstance(context, dict):
        return context
    return {name: float(one) for name, one in enumerate(() if context is None else context)}
