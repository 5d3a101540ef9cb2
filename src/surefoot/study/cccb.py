"""The paper's CCCB problem: super arms whose base arms are linear in known features."""

from __future__ import annotations

from math import sqrt
from typing import ClassVar, Literal

from surefoot import theory
from surefoot.agents import Plain, gencb_cccb
from surefoot.agents._agent import Agent
from surefoot.comparators import C3UCB
from surefoot.environments import CombinatorialArms
from surefoot.errors import InvalidInput
from surefoot.floors import RewardFloor
from surefoot.oracles import TopK
from surefoot.policies import C2UCB
from surefoot.study.embedded import Embedded
from surefoot.study.panel import Bounds, Words, ours


class CCCB(Embedded):
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
        comparator = {**self.fitted, "noise": self.sigma, "radius": self.radius}
        level = self.level(self.delta)
        return {
            "GenCB": gencb_cccb(X, self.oracle, mu0, alpha, **self.fitted),
            "C2UCB": Plain(C2UCB(X, self.oracle, **self.fitted), floor),
            "C3UCB": C3UCB(X, self.oracle, mu0, alpha, level, **comparator),
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
