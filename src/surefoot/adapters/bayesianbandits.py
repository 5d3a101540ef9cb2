"""BayesianBandits: an Agent or ContextualAgent of the package bayesianbandits."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from surefoot._exact import shown
from surefoot.adapters.base import Adapter, reseed
from surefoot.errors import InvalidInput


class BayesianBandits(Adapter):
    """Ask ``pull``, and teach by ``select_for_update(token).update``; its tokens are the labels.

    A ContextualAgent or LipschitzContextualAgent takes a context, a row of numbers; an Agent none.

    >>> from bayesianbandits import Agent, Arm, NormalInverseGammaRegressor, ThompsonSampling
    >>> import surefoot as sf
    >>> arms = [Arm(name, learner=NormalInverseGammaRegressor()) for name in ("old", "new")]
    >>> policy = sf.adapters.BayesianBandits(Agent(arms, ThompsonSampling()))
    >>> agent = sf.GenCB(policy, sf.RewardFloor(default=0.5, alpha=0.1, reserve=5), seed=0)
    >>> agent.select().arm in ("old", "new")
    True

    Holds when: a reward comes with its arm, which may be long after its ``pull``. Does not hold
    when: the policy weighs it by its chance, as EXP3A does: it takes the chance of the arm at the
    time of learning, which is that of the pull only if the reward comes at once.
    """

    def __init__(
        self,
        agent: Any,
        time_limit: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not hasattr(agent, "select_for_update"):
            raise InvalidInput(f"agent = {shown(agent)} must be an agent of bayesianbandits")
        self.contextual = type(agent).__name__ != "Agent"
        tokens = [arm.action_token for arm in agent.arms]
        super().__init__(agent, None, tokens, time_limit, clock)

    def choose(self, context: Any, rng: np.random.Generator) -> Any:
        """The number of the arm that ``pull`` names."""
        (token,) = self.learner.pull(*self._rows(context))
        return self.arms.index(token)

    def teach(self, arm: int, reward: float, context: Any) -> None:
        """One row for ``update``."""
        chosen = self.learner.select_for_update(self.arms[arm])
        chosen.update(*self._rows(context), np.array([reward]))

    def _rows(self, context: Any) -> list[Any]:
        return [np.asarray(context, dtype=float).reshape(1, -1)] if self.contextual else []

    def seed(self, seed: int) -> None:
        """Seed the generator that agent and arms share."""
        reseed(self.learner.rng, seed)
