"""The paper's CMAB problem: who plays against whom, on which arms."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from surefoot import theory
from surefoot.agents import Plain, gencb_cmab
from surefoot.agents._agent import Agent
from surefoot.comparators import ConUCB
from surefoot.environments import BernoulliArms
from surefoot.floors import RewardFloor
from surefoot.policies import UCB1
from surefoot.study.panel import Bounds, Panel, Words, ours


class Sequence(Panel):
    """K Bernoulli arms with means in arithmetic sequence from ``best`` to ``worst``."""

    K: int = Field(ge=1, le=100_000)
    mu0: float = Field(gt=0, le=1)
    best: float = Field(ge=0, le=1)
    worst: float = Field(ge=0, le=1)

    def environment(self) -> BernoulliArms:
        """The arms."""
        return BernoulliArms(np.linspace(self.best, self.worst, self.K))

    @property
    def pays(self) -> float:
        """The default's known reward mu0."""
        return self.mu0

    @property
    def arms(self) -> str:
        """The arms in a few words."""
        return f"{self.K:,} arms"

    @property
    def setting(self) -> str:
        """The arms, the default and alpha."""
        return (
            f"K = {self.K} Bernoulli arms with means evenly spaced from {self.best:g} to "
            f"{self.worst:g}, a default that pays μ0 = {self.mu0:g}, α = {self.alpha:g}"
        )


class CMAB(Sequence):
    """GenCB-CMAB as printed, UCB1 unguarded, and ConUCB (the paper's label: CUCB).

    UCB1's slack is measured against the floor the others are to keep.

    >>> from surefoot.study.sweep import read
    >>> list(read("cmab-K24-alpha0.05").agents())
    ['GenCB', 'UCB1', 'ConUCB']
    """

    problem: Literal["cmab"] = "cmab"
    delta: Literal["1/T"] | float = ours("ConUCB's δ = {}")
    radius: Literal["simple", "iterated", "libbandit"] = ours("its radius “{}”")
    scale: Literal["paper", "bounded", "libbandit"] = ours("its scale “{}”")

    axes: ClassVar[tuple[str, ...]] = ("K", "alpha")
    guarded: ClassVar[str] = "GenCB"
    unguarded: ClassVar[str] = "UCB1"
    comparator: ClassVar[str | None] = "ConUCB"
    words: ClassVar[Words] = Words(
        regret="pseudo-regret",
        rival="the best regular arm, whose mean is μ*",
        baseline="t·(μ* - (1-α)·μ0)",
        earned="reward received",
        floor="(1-α)·μ0·t",
        remark="The gap to ConUCB depends strongly on its radius and scale.",
    )

    @property
    def level(self) -> float:
        """ConUCB's delta as a number."""
        return 1 / self.horizon if self.delta == "1/T" else float(self.delta)

    @property
    def top(self) -> float:
        """The mean of the best arm."""
        return max(self.best, self.worst) if self.K > 1 else self.best

    def agents(self) -> dict[str, Agent]:
        """The paper's three curves."""
        K, mu0, alpha = self.K, self.mu0, self.alpha
        return {
            "GenCB": gencb_cmab(K, mu0, alpha),
            "UCB1": Plain(UCB1(K), RewardFloor(mu0, alpha)),
            "ConUCB": ConUCB(K, mu0, alpha, self.level, self.radius, self.scale),
        }

    def bounds(self) -> Bounds:
        """Theorem 2, the same with proved constants, and what Table 1 has of ConUCB."""
        means, bound = self.environment().means, theory.cmab
        delta = None if self.delta == "1/T" else self.delta
        return [
            ("GenCB", lambda: bound.gencb_proved(means, self.mu0, self.alpha)),
            ("GenCB", lambda: bound.gencb(means, self.mu0, self.alpha)),
            ("UCB1", lambda: bound.ucb1(means)),
            ("ConUCB", lambda: bound.conucb(means, self.mu0, self.alpha, delta)),
        ]
