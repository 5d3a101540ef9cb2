"""The paper's four problems as classes of panels: who plays against whom, on which arms.

What is run is imported by the methods: the command line reads the fields alone.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.study.entry import Known
from surefoot.study.panel import Bounds, Panel, Words, ours

if TYPE_CHECKING:
    from surefoot.agents.agent import Agent
    from surefoot.policies import Ridge

_STRONGLY = (
    "Which of GenCB and {0} has lower regret depends strongly on {0}'s σ and δ: its radius has σ "
    "where that of GenCB and {1} has R. Another instance may look otherwise."
)


class ArmsPanel(Panel):
    """K Bernoulli arms with means in arithmetic sequence from ``best`` to ``worst``."""

    K: int = Field(ge=1, le=100_000, description="Number of arms")
    mu0: float = Field(gt=0, le=1)
    best: float = Field(ge=0, le=1)
    worst: float = Field(ge=0, le=1)

    def environment(self) -> sf.BernoulliArms:
        """The arms."""
        import numpy as np

        return sf.BernoulliArms(np.linspace(self.best, self.worst, self.K))

    @property
    def pays(self) -> float:
        """The default's known reward mu0."""
        return self.mu0

    def floor(self) -> sf.RewardFloor | sf.MeanVarianceFloor:
        """The paper's floor on reward."""
        return sf.RewardFloor(self.mu0, self.alpha)


class LinearPanel(Panel):
    """2d arms or base arms with random features in R^d, drawn once for all runs.

    theta* = (u/2, 1/2) and x = (u', 1), u and u' uniform on a sphere, so that means surely lie in
    [0, 1]: ours, see ``environments.linear.embedding``.
    """

    d: int = Field(ge=2, le=100, description="Dimension; there are 2d arms")
    instance: int = ours(
        "instance {}: θ* = (u/2, 1/2), features (u', 1), u and u' uniform on the unit sphere, "
        "drawn once from this seed, so S = √½ and L = √2",
        "The features and the parameter are drawn from this seed",
        ge=0,
    )
    ratio: float = ours(
        "μ0 = {:g}·μ*, as in CMAB, rounded to 4 decimals",
        "The default's reward as a share of the best mean",
        gt=0,
        lt=2,
    )
    noise: Literal[1] = ours("R = {} in the radius, as it is printed")
    ridge: Literal["max(1, L^2)"] = ours("λ = {}")

    axes: ClassVar[tuple[str, ...]] = ("d", "alpha")

    @property
    def n_arms(self) -> int:
        """The number of arms, or of base arms."""
        return 2 * self.d

    @property
    def pays(self) -> float:
        """The default's known reward mu0."""
        return round(self.ratio * self.top, 4)

    def floor(self) -> sf.RewardFloor:
        """The paper's floor on reward."""
        low, high = self.environment().reward_range
        return sf.RewardFloor(self.pays, self.alpha, (low, high))

    def told(self) -> Known:
        """What a policy may ask for: the features too, under three names, and S and R."""
        environment: Any = self.environment()
        features = dict.fromkeys(("arms", "base_arms", "features"), lambda: environment.X)
        return {**super().told(), **features, "ridge": lambda: self.fitted}

    @property
    def fitted(self) -> Ridge:
        """What every policy knows of the instance: S, and R; L and lambda follow."""
        from surefoot.policies import Ridge

        return Ridge(theta_bound=sqrt(0.5), noise=float(self.noise))

    @property
    def bounded(self) -> dict[str, float]:
        """The same for the bounds, which take the same lambda."""
        return {"L": sqrt(2), "S": sqrt(0.5)}


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
        arms="{p.K:,} arms",
        setting="K = {p.K} Bernoulli arms with means evenly spaced from {p.best:g} to {p.worst:g}, "
        "a default that pays μ0 = {p.mu0:g}, α = {p.alpha:g}",
        rival="the best regular arm, whose mean is μ*",
        remark="The gap to ConUCB depends strongly on its radius and scale.",
    )

    @property
    def top(self) -> float:
        """The mean of the best arm."""
        return max(self.best, self.worst) if self.K > 1 else self.best

    def paper_agents(self) -> dict[str, Agent]:
        """The paper's three curves."""
        K, mu0, alpha = self.K, self.mu0, self.alpha
        return {
            "GenCB": sf.gencb_cmab(K, mu0, alpha),
            "UCB1": sf.Plain(sf.UCB1(K), sf.RewardFloor(mu0, alpha)),
            "ConUCB": sf.ConUCB(K, mu0, alpha, self.level(self.delta), self.radius, self.scale),
        }

    def told_to_rivals(self) -> Known:
        """What ConUCB is given."""
        own = {"radius": lambda: self.radius, "scale": lambda: self.scale}
        return {**super().told_to_rivals(), "delta": lambda: self.level(self.delta), **own}

    def bounds(self) -> Bounds:
        """Theorem 2, the same with proved constants, and what Table 1 has of ConUCB."""
        from surefoot.theory import cmab

        means, delta = self.environment().means, None if self.delta == "1/T" else self.delta
        return [
            ("GenCB", lambda: cmab.gencb_proved(means, self.mu0, self.alpha)),
            ("GenCB", lambda: cmab.gencb(means, self.mu0, self.alpha)),
            ("UCB1", lambda: cmab.ucb1(means)),
            ("ConUCB", lambda: cmab.conucb(means, self.mu0, self.alpha, delta)),
        ]


class CLB(LinearPanel):
    """GenCB-CLB as printed, LinUCB unguarded, and CLUCB.

    >>> from surefoot.study.sweep import read
    >>> list(read("clb-d7-alpha0.01").agents())
    ['GenCB', 'LinUCB', 'CLUCB']
    """

    problem: Literal["clb"] = "clb"
    delta: Literal["1/T"] | float = ours(
        "CLUCB's δ = {}", "The conservative rival's failure probability"
    )
    sigma: float = ours(
        "its σ = {:g}, enough for rewards in [0, 1]", "The rival's bound on the noise", gt=0
    )
    radius: Literal["paper", "determinant"] = ours("its radius “{}”")

    guarded: ClassVar[str] = "GenCB"
    unguarded: ClassVar[str] = "LinUCB"
    comparator: ClassVar[str | None] = "CLUCB"
    words: ClassVar[Words] = Words(
        arms="{p.n_arms} linear arms in {p.d} dimensions",
        setting="K = 2d = {p.n_arms} Bernoulli arms with means linear in features of dimension d = "
        "{p.d}, the best {p.top:.4g}, a default that pays μ0 = {p.pays:g}, α = {p.alpha:g}",
        rival="the best regular arm, whose mean is μ*",
        remark=_STRONGLY.format("CLUCB", "LinUCB"),
    )

    def environment(self) -> sf.LinearArms:
        """The arms; as they never change, equal panels share them."""
        return _linear(self.n_arms, self.d, self.instance)

    @property
    def top(self) -> float:
        """The mean of the best arm."""
        return float(self.environment().best)

    def paper_agents(self) -> dict[str, Agent]:
        """The paper's three curves."""
        X, mu0, alpha = self.environment().X, self.pays, self.alpha
        comparator = replace(self.fitted, noise=self.sigma, radius=self.radius)
        return {
            "GenCB": sf.gencb_clb(X, mu0, alpha, ridge=self.fitted),
            "LinUCB": sf.Plain(sf.LinUCB(X, ridge=self.fitted), sf.RewardFloor(mu0, alpha)),
            "CLUCB": sf.CLUCB(X, mu0, alpha, self.level(self.delta), ridge=comparator),
        }

    def told_to_rivals(self) -> Known:
        """What CLUCB is given."""
        ridge = replace(self.fitted, noise=self.sigma, radius=self.radius)
        mine = {"delta": lambda: self.level(self.delta), "ridge": lambda: ridge}
        return {**super().told_to_rivals(), **mine}

    def bounds(self) -> Bounds:
        """Theorem 3, the same with proved constants, and what Table 1 has of CLUCB."""
        from surefoot.theory import clb

        place, bounded = (self.d, self.pays, self.top, self.alpha), self.bounded
        delta = None if self.delta == "1/T" else self.delta
        return [
            ("GenCB", lambda: clb.gencb_proved(*place, **bounded)),
            ("GenCB", lambda: clb.gencb(*place, **bounded)),
            ("LinUCB", lambda: clb.linucb(self.d, **bounded)),
            ("CLUCB", lambda: clb.clucb(self.d, self.alpha, delta)),
        ]


class CCCB(LinearPanel):
    """GenCB-CCCB as printed, C2UCB unguarded, and C3UCB; a super arm is ``size`` base arms.

    >>> from surefoot.study.sweep import read
    >>> list(read("cccb-d7-alpha0.01").agents())
    ['GenCB', 'C2UCB', 'C3UCB']
    """

    problem: Literal["cccb"] = "cccb"
    size: int = ours("super arms of any {} base arms", "Base arms in a super arm", ge=1)
    delta: Literal["1/T"] | float = ours(
        "C3UCB's δ = {}", "The conservative rival's failure probability"
    )
    sigma: float = ours(
        "its σ = {:g}, enough for base rewards in [0, 1]", "The rival's bound on the noise", gt=0
    )
    radius: Literal["paper", "determinant"] = ours("its radius “{}”")

    guarded: ClassVar[str] = "GenCB"
    unguarded: ClassVar[str] = "C2UCB"
    comparator: ClassVar[str | None] = "C3UCB"
    words: ClassVar[Words] = Words(
        arms="{p.size} of {p.n_arms} linear base arms in {p.d} dimensions",
        setting="K = 2d = {p.n_arms} Bernoulli base arms with means linear in features of "
        "dimension d = {p.d}, f their sum, the best {p.top:.4g}, a default that pays "
        "μ0 = {p.pays:g}, α = {p.alpha:g}",
        rival="the best super arm, whose mean is μ*",
        remark=_STRONGLY.format("C3UCB", "C2UCB"),
    )

    def environment(self) -> sf.CombinatorialArms:
        """The base arms, and what is a super arm; as they never change, equal panels share them."""
        return _combinatorial(self.n_arms, self.d, self.oracle.size[1], self.instance)

    def told(self) -> Known:
        """What a policy may ask for: the oracle too."""
        return {**super().told(), "oracle": lambda: self.oracle}

    @property
    def oracle(self) -> sf.TopK:
        """What finds the best super arm."""
        if self.size > self.n_arms:
            raise InvalidInput(
                f"size = {self.size} must be <= {self.n_arms}, the number of base arms"
            )
        return sf.TopK(self.size)

    @property
    def top(self) -> float:
        """The mean of the best super arm."""
        return float(self.environment().best)

    def paper_agents(self) -> dict[str, Agent]:
        """The paper's three curves."""
        X, mu0, alpha, oracle = self.environment().X, self.pays, self.alpha, self.oracle
        floor, level = self.floor(), self.level(self.delta)
        comparator = replace(self.fitted, noise=self.sigma, radius=self.radius)
        return {
            "GenCB": sf.gencb_cccb(X, oracle, mu0, alpha, ridge=self.fitted),
            "C2UCB": sf.Plain(sf.C2UCB(X, oracle, ridge=self.fitted), floor),
            "C3UCB": sf.C3UCB(X, oracle, mu0, alpha, level, ridge=comparator),
        }

    def told_to_rivals(self) -> Known:
        """What C3UCB is given."""
        ridge = replace(self.fitted, noise=self.sigma, radius=self.radius)
        mine = {"delta": lambda: self.level(self.delta), "ridge": lambda: ridge}
        return {**super().told_to_rivals(), **mine}

    def bounds(self) -> Bounds:
        """Theorem 4, the same with proved constants, and what Table 1 has of C3UCB."""
        from surefoot.theory import cccb

        bounded = {**self.bounded, "P": sqrt(self.size)}
        place = (self.d, self.n_arms, self.pays, self.top, self.alpha)
        delta = None if self.delta == "1/T" else self.delta
        return [
            ("GenCB", lambda: cccb.gencb_proved(*place, **bounded)),
            ("GenCB", lambda: cccb.gencb(*place, **bounded)),
            ("C2UCB", lambda: cccb.c2ucb(self.d, self.n_arms, **bounded)),
            ("C3UCB", lambda: cccb.c3ucb(self.d, self.n_arms, self.alpha, delta)),
        ]


class MV(ArmsPanel):
    """MV-CUCB as printed and MV-UCB unguarded; no other algorithm keeps this floor.

    >>> from surefoot.study.sweep import read
    >>> list(read("mv-K24-alpha0.05-rho10").agents())
    ['MV-CUCB', 'MV-UCB']
    """

    problem: Literal["mv"] = "mv"
    rho: float = Field(gt=0, le=1_000, description="Weight of the mean against the variance")
    delta: Literal["1/(12 K m^3)"] = ours("MV-UCB's δ = {}, as MV-CUCB's")

    axes: ClassVar[tuple[str, ...]] = ("K", "alpha", "rho")
    guarded: ClassVar[str] = "MV-CUCB"
    unguarded: ClassVar[str] = "MV-UCB"
    words: ClassVar[Words] = Words(
        arms=CMAB.words.arms,
        setting=CMAB.words.setting + ", ρ = {p.rho:g}",
        rival="the arm with the best mean-variance, MV*",
        remark="In the table the parts of regret are its gaps MV* - MV; the rest of it is the "
        "pairs' part of eq. (4), the default among the pairs.",
        regret="mean-variance pseudo-regret, T times the paper's eq. (4),",
        baseline="t·(MV* - (1-α)·MV0), MV0 = ρ·μ0,",
        earned="t·MV, the mean-variance of all rewards times their number,",
        floor="(1-α)·MV0·t",
    )
    extra_measures: ClassVar[tuple[str, ...]] = ("regret_exact", "regret_realised")
    promises_reward: ClassVar[bool] = False

    @property
    def top(self) -> float:
        """MV_*, the best mean-variance of an arm."""
        from surefoot.environments.mean_variance import best_mean_variance

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
    def title(self) -> str:
        """The first line of a figure."""
        return f"{super().title}, ρ = {self.rho:g}"

    def floor(self) -> sf.MeanVarianceFloor:
        """The paper's floor on mean-variance."""
        return sf.MeanVarianceFloor(self.mu0, self.alpha, self.rho, check="paper")

    def told(self) -> Known:
        """What a policy may ask for: the weight of the mean too."""
        return {**super().told(), "rho": lambda: self.rho}

    def paper_agents(self) -> dict[str, Agent]:
        """The paper's two curves."""
        K, mu0, alpha, rho, floor = self.K, self.mu0, self.alpha, self.rho, self.floor()
        return {
            "MV-CUCB": sf.mv_cucb(K, mu0, alpha, rho),
            "MV-UCB": sf.Plain(sf.MVUCB(K, rho), floor),
        }

    def bounds(self) -> Bounds:
        """Theorem 5, and MV-UCB's bound that its proof quotes."""
        from surefoot.theory import mean_variance as mv

        environment, rho = self.environment(), self.rho
        arms = environment.means, environment.variances
        return [
            ("MV-CUCB", lambda: mv.mv_cucb(*arms, self.mu0, self.alpha, rho, True)),
            ("MV-UCB", lambda: mv.mv_ucb(*arms, rho, True)),
        ]


@lru_cache(maxsize=64)
def _linear(n_arms: int, d: int, instance: int) -> sf.LinearArms:
    """Drawn in exact fractions, which is slow: 0.1 s at d = 40."""
    return sf.LinearArms.embedded(n_arms, d, instance)


@lru_cache(maxsize=64)
def _combinatorial(n_arms: int, d: int, size: int, instance: int) -> sf.CombinatorialArms:
    return sf.CombinatorialArms.embedded(n_arms, d, sf.TopK(size), instance)


PROBLEMS: dict[str, type[Panel]] = {"cmab": CMAB, "clb": CLB, "cccb": CCCB, "mv": MV}
MAIN = {
    "cmab": "cmab-K72-alpha0.05",
    "clb": "clb-d7-alpha0.01",
    "cccb": "cccb-d7-alpha0.01",
    "mv": "mv-K24-alpha0.05-rho10",
}
"""The panels in the paper's main text, and the defaults of the commands."""
