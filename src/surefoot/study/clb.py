"""The paper's CLB problem: arms whose means are linear in known features."""

from __future__ import annotations

from typing import ClassVar, Literal

from surefoot import theory
from surefoot.agents import Plain, gencb_clb
from surefoot.agents._agent import Agent
from surefoot.comparators import CLUCB
from surefoot.environments import LinearArms
from surefoot.floors import RewardFloor
from surefoot.policies import LinUCB
from surefoot.study.embedded import Embedded
from surefoot.study.panel import Bounds, Words, ours


class CLB(Embedded):
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
        comparator = {**self.fitted, "noise": self.sigma, "radius": self.radius}
        return {
            "GenCB": gencb_clb(X, mu0, alpha, **self.fitted),
            "LinUCB": Plain(LinUCB(X, **self.fitted), RewardFloor(mu0, alpha)),
            "CLUCB": CLUCB(X, mu0, alpha, self.level(self.delta), **comparator),
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
