"""The paper's four problems as classes of panels: who plays against whom, on which arms."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from surefoot import theory
from surefoot.agents import Plain, gencb_cccb, gencb_clb, gencb_cmab, mv_cucb
from surefoot.agents.agent import Agent
from surefoot.comparators import C3UCB, CLUCB, ConUCB
from surefoot.environments import BernoulliArms, CombinatorialArms, LinearArms
from surefoot.environments.mean_variance import best_mean_variance
from surefoot.errors import InvalidInput
from surefoot.floors import MeanVarianceFloor, RewardFloor
from surefoot.oracles import TopK
from surefoot.policies import C2UCB, MVUCB, UCB1, LinUCB, Ridge
from surefoot.study.panel import Bounds, Panel, Words, ours


class ArmsPanel(Panel):
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


class CMAB(ArmsPanel):
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


class LinearPanel(Panel):
    """2d arms or base arms with features in R^d, drawn once for all runs.

    theta* = (u/2, 1/2) and x = (u', 1), u and u' uniform on a sphere: ours, see
    ``environments.linear.embedding``.
    """

    d: int = Field(ge=2, le=100)
    instance: int = ours(
        "instance {}: θ* = (u/2, 1/2), features (u', 1), u and u' uniform on the unit sphere, "
        "drawn once from this seed, so S = √½ and L = √2",
        ge=0,
    )
    ratio: float = ours("μ0 = {:g}·μ*, as in CMAB, rounded to 4 decimals", gt=0, lt=2)
    noise: Literal[1] = ours("R = {} in the radius, as it is printed")
    ridge: Literal["max(1, L^2)"] = ours("λ = {}")

    @property
    def n_arms(self) -> int:
        """The number of arms, or of base arms."""
        return 2 * self.d

    @property
    def pays(self) -> float:
        """The default's known reward mu0."""
        return round(self.ratio * self.top, 4)

    @property
    def fitted(self) -> Ridge:
        """What every policy is told of the instance: S, and R; L and lambda follow."""
        return Ridge(theta_bound=sqrt(0.5), noise=float(self.noise))

    @property
    def told(self) -> dict[str, float]:
        """The same for the bounds, which take the same lambda."""
        return {"L": sqrt(2), "S": sqrt(0.5)}

    def level(self, delta: Any) -> float:
        """A comparator's delta as a number."""
        return 1 / self.horizon if delta == "1/T" else float(delta)


class CLB(LinearPanel):
    """GenCB-CLB as printed, LinUCB unguarded, and CLUCB.

    >>> from surefoot.study.sweep import read
    >>> list(read("clb-d7-alpha0.01").agents())
    ['GenCB', 'LinUCB', 'CLUCB']
    """

    problem: Literal["clb"] = "clb"
    delta: Literal["1/T"] | float = ours("CLUCB's δ = {}")
    sigma: float = ours("its σ = {:g}, enough for rewards in [0, 1]", gt=0)
    radius: Literal["paper", "determinant"] = ours("its radius “{}”")

    axes: ClassVar[tuple[str, ...]] = ("d", "alpha")
    guarded: ClassVar[str] = "GenCB"
    unguarded: ClassVar[str] = "LinUCB"
    comparator: ClassVar[str | None] = "CLUCB"
    words: ClassVar[Words] = Words(
        regret="pseudo-regret",
        rival="the best regular arm, whose mean is μ*",
        baseline="t·(μ* - (1-α)·μ0)",
        earned="reward received",
        floor="(1-α)·μ0·t",
        remark="Which of GenCB and CLUCB has lower regret depends strongly on CLUCB's σ and δ: its "
        "radius has σ where that of GenCB and LinUCB has R. Another instance may look otherwise.",
    )

    def environment(self) -> LinearArms:
        """The arms."""
        return LinearArms.embedded(self.n_arms, self.d, self.instance)

    @property
    def top(self) -> float:
        """The mean of the best arm."""
        return float(self.environment().best)

    @property
    def arms(self) -> str:
        """The arms in a few words."""
        return f"{self.n_arms} linear arms in {self.d} dimensions"

    @property
    def setting(self) -> str:
        """The arms, the default and alpha."""
        return (
            f"K = 2d = {self.n_arms} Bernoulli arms with means linear in features of dimension d = "
            f"{self.d}, the best {self.top:.4g}, a default that pays μ0 = {self.pays:g}, "
            f"α = {self.alpha:g}"
        )

    def agents(self) -> dict[str, Agent]:
        """The paper's three curves."""
        X, mu0, alpha = self.environment().X, self.pays, self.alpha
        comparator = replace(self.fitted, noise=self.sigma, radius=self.radius)
        return {
            "GenCB": gencb_clb(X, mu0, alpha, ridge=self.fitted),
            "LinUCB": Plain(LinUCB(X, ridge=self.fitted), RewardFloor(mu0, alpha)),
            "CLUCB": CLUCB(X, mu0, alpha, self.level(self.delta), ridge=comparator),
        }

    def bounds(self) -> Bounds:
        """Theorem 3, the same with proved constants, and what Table 1 has of CLUCB."""
        bound, told = theory.clb, self.told
        place = (self.d, self.pays, self.top, self.alpha)
        delta = None if self.delta == "1/T" else self.delta
        return [
            ("GenCB", lambda: bound.gencb_proved(*place, **told)),
            ("GenCB", lambda: bound.gencb(*place, **told)),
            ("LinUCB", lambda: bound.linucb(self.d, **told)),
            ("CLUCB", lambda: bound.clucb(self.d, self.alpha, delta)),
        ]


class CCCB(LinearPanel):
    """GenCB-CCCB as printed, C2UCB unguarded, and C3UCB; a super arm is ``size`` base arms.

    >>> from surefoot.study.sweep import read
    >>> list(read("cccb-d7-alpha0.01").agents())
    ['GenCB', 'C2UCB', 'C3UCB']
    """

    problem: Literal["cccb"] = "cccb"
    size: int = ours("super arms of any {} base arms", ge=1)
    delta: Literal["1/T"] | float = ours("C3UCB's δ = {}")
    sigma: float = ours("its σ = {:g}, enough for base rewards in [0, 1]", gt=0)
    radius: Literal["paper", "determinant"] = ours("its radius “{}”")

    axes: ClassVar[tuple[str, ...]] = ("d", "alpha")
    guarded: ClassVar[str] = "GenCB"
    unguarded: ClassVar[str] = "C2UCB"
    comparator: ClassVar[str | None] = "C3UCB"
    words: ClassVar[Words] = Words(
        regret="pseudo-regret",
        rival="the best super arm, whose mean is μ*",
        baseline="t·(μ* - (1-α)·μ0)",
        earned="reward received",
        floor="(1-α)·μ0·t",
        remark="Which of GenCB and C3UCB has lower regret depends strongly on C3UCB's σ and δ: its "
        "radius has σ where that of GenCB and C2UCB has R. Another instance may look otherwise.",
    )

    def environment(self) -> CombinatorialArms:
        """The base arms, and what is a super arm."""
        return CombinatorialArms.embedded(self.n_arms, self.d, self.oracle, self.instance)

    @property
    def oracle(self) -> TopK:
        """What finds the best super arm."""
        if self.size > self.n_arms:
            raise InvalidInput(
                f"size = {self.size} must be <= {self.n_arms}, the number of base arms"
            )
        return TopK(self.size)

    @property
    def top(self) -> float:
        """The mean of the best super arm."""
        return float(self.environment().best)

    @property
    def arms(self) -> str:
        """The arms in a few words."""
        return f"{self.size} of {self.n_arms} linear base arms in {self.d} dimensions"

    @property
    def setting(self) -> str:
        """The arms, the default and alpha."""
        return (
            f"K = 2d = {self.n_arms} Bernoulli base arms with means linear in features of "
            f"dimension d = {self.d}, f their sum, the best {self.top:.4g}, a default that pays "
            f"μ0 = {self.pays:g}, α = {self.alpha:g}"
        )

    def agents(self) -> dict[str, Agent]:
        """The paper's three curves."""
        X, mu0, alpha = self.environment().X, self.pays, self.alpha
        floor = RewardFloor(mu0, alpha, (0, self.size))
        comparator = replace(self.fitted, noise=self.sigma, radius=self.radius)
        level = self.level(self.delta)
        return {
            "GenCB": gencb_cccb(X, self.oracle, mu0, alpha, ridge=self.fitted),
            "C2UCB": Plain(C2UCB(X, self.oracle, ridge=self.fitted), floor),
            "C3UCB": C3UCB(X, self.oracle, mu0, alpha, level, ridge=comparator),
        }

    def bounds(self) -> Bounds:
        """Theorem 4, the same with proved constants, and what Table 1 has of C3UCB."""
        bound, told = theory.cccb, {**self.told, "P": sqrt(self.size)}
        place = (self.d, self.n_arms, self.pays, self.top, self.alpha)
        delta = None if self.delta == "1/T" else self.delta
        return [
            ("GenCB", lambda: bound.gencb_proved(*place, **told)),
            ("GenCB", lambda: bound.gencb(*place, **told)),
            ("C2UCB", lambda: bound.c2ucb(self.d, self.n_arms, **told)),
            ("C3UCB", lambda: bound.c3ucb(self.d, self.n_arms, self.alpha, delta)),
        ]


class MV(ArmsPanel):
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


PROBLEMS: dict[str, type[Panel]] = {"cmab": CMAB, "clb": CLB, "cccb": CCCB, "mv": MV}
MAIN = {
    "cmab": "cmab-K72-alpha0.05",
    "clb": "clb-d7-alpha0.01",
    "cccb": "cccb-d7-alpha0.01",
    "mv": "mv-K24-alpha0.05-rho10",
}
"""The panels in the paper's main text, and the defaults of the commands."""
