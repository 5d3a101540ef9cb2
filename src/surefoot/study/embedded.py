"""What CLB and CCCB share: random features whose means surely lie in [0, 1]."""

from __future__ import annotations

from math import sqrt
from typing import Any, Literal

from pydantic import Field

from surefoot.study.panel import Panel, ours


class Embedded(Panel):
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
    def fitted(self) -> dict[str, Any]:
        """What every policy is told of the instance: S, and R; L and lambda follow."""
        return {"theta_bound": sqrt(0.5), "noise": float(self.noise)}

    @property
    def told(self) -> dict[str, float]:
        """The same for the bounds, which take the same lambda."""
        return {"L": sqrt(2), "S": sqrt(0.5)}

    def level(self, delta: Any) -> float:
        """A comparator's delta as a number."""
        return 1 / self.horizon if delta == "1/T" else float(delta)
