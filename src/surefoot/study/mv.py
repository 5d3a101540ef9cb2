"""The paper's MV-CBP problem: the same arms, judged by rho*mean - variance."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from surefoot import theory
from surefoot.agents import Plain, mv_cucb
from surefoot.agents._agent import Agent
from surefoot.environments.mean_variance import best_mean_variance
from surefoot.floors import MeanVarianceFloor
from surefoot.policies import MVUCB
from surefoot.study.cmab import Sequence
from surefoot.study.panel import Bounds, Words, ours


class MV(Sequence):
    """MV-CUCB as printed and MV-UCB unguarded; no other algorithm keeps this floor.

    >>> from surefoot.study.sweep import read
    >>> list(read("mv-K24-alpha0.05-rho10").agents())
    ['MV-CUCB', 'MV-UCB']
    """

    problem: Literal["mv"] = "mv"
    rho: float = Field(gt=0, le=1_000)
    delta: Literal["1/(12 K m^3)"] = ours("MV-UCB's δ = {}, as MV-CUCB's")

    axes: ClassVar[tuple[str, ...]] = ("K", "alpha", "rho")
    guarded: ClassVar[str] = "MV-CUCB"
    unguarded: ClassVar[str] = "MV-UCB"
    words: ClassVar[Words] = Words(
        regret="mean-variance pseudo-regret, T times the paper's eq. (4),",
        rival="the arm with the best mean-variance, MV*",
        baseline="t·(MV* - (1-α)·MV0), MV0 = ρ·μ0,",
        earned="t·MV, the mean-variance of all rewards times their number,",
        floor="(1-α)·MV0·t",
        remark="In the table the parts of regret are its gaps MV* - MV; the rest of it is the "
        "pairs' part of eq. (4), the default among the pairs.",
    )
    extra_measures: ClassVar[tuple[str, ...]] = ("regret_exact", "regret_realised")
    promises_reward: ClassVar[bool] = False

    @property
    def top(self) -> float:
        """MV_*, the best mean-variance of an arm."""
        environment = self.environment()
        return best_mean_variance(environment.means, environment.variances, self.rho)

    @property
    def worth(self) -> float:
        """MV0: the default's variance is 0."""
        return self.rho * self.mu0

    @property
    def swing(self) -> float:
        """A reward in [0, 1] moves rho times the sum by rho, and the squares about it by 1."""
        return self.rho + 1

    @property
    def setting(self) -> str:
        """The arms, the default, alpha and rho."""
        return f"{super().setting}, ρ = {self.rho:g}"

    @property
    def title(self) -> str:
        """The first line of a figure."""
        return f"{super().title}, ρ = {self.rho:g}"

    def agents(self) -> dict[str, Agent]:
        """The paper's two curves."""
        K, mu0, alpha, rho = self.K, self.mu0, self.alpha, self.rho
        floor = MeanVarianceFloor(mu0, alpha, rho, check="paper")
        return {
            "MV-CUCB": mv_cucb(K, mu0, alpha, rho),
            "MV-UCB": Plain(MVUCB(K, rho), floor),
        }

    def bounds(self) -> Bounds:
        """Theorem 5, and MV-UCB's bound that its proof quotes."""
        environment, bound = self.environment(), theory.mean_variance
        means, variances = environment.means, environment.variances
        mu0, alpha, rho = self.mu0, self.alpha, self.rho
        return [
            ("MV-CUCB", lambda: bound.mv_cucb(means, variances, mu0, alpha, rho, True)),
            ("MV-UCB", lambda: bound.mv_ucb(means, variances, rho, True)),
        ]
