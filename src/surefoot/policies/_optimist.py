"""What LinUCB and C2UCB share: a ridge regression, a clock, a confidence radius, settings."""

from __future__ import annotations

import math
import warnings
from typing import Any, Self

from surefoot._exact import exact, shown
from surefoot.errors import InvalidInput
from surefoot.policies import _ridge
from surefoot.policies.sets import MOST, positive

_RADII = ("paper", "determinant")


class Optimist:
    """A linear policy over d features, the longest of norm ``widest``.

    ``growth``: how many observations a turn may bring, for the radius.
    """

    def __init__(
        self,
        d: int,
        widest: float,
        growth: int = 1,
        *,
        theta_bound: Any,
        feature_bound: Any,
        noise: Any,
        ridge: Any,
        radius: Any,
    ) -> None:
        self.d = d
        self.theta_bound = float(exact(theta_bound, "theta_bound"))
        if not 0 <= self.theta_bound <= MOST:
            raise InvalidInput(
                f"theta_bound = {shown(theta_bound)} must be >= 0 and at most {MOST:g}"
            )
        self.noise = positive(noise, "noise")
        self.feature_bound = (
            widest if feature_bound is None else positive(feature_bound, "feature_bound")
        )
        least = max(1.0, self.feature_bound**2)
        self.ridge = least if ridge is None else float(exact(ridge, "ridge"))
        if not 0 < self.ridge <= MOST**2:
            raise InvalidInput(f"ridge = {shown(ridge)} must be > 0 and at most {MOST**2:g}")
        if self.ridge < least:
            warnings.warn(
                f"ridge = {shown(ridge)} is below max(1, feature_bound^2) = {least:.6g}, from "
                "where on the paper's regret bound holds",
                stacklevel=3,
            )
        if radius not in _RADII:
            raise InvalidInput(f"radius = {shown(radius)} must be one of {_RADII}")
        self.radius = str(radius)
        self.turns = 0
        """m: how often this policy has been asked; default plays it never saw do not count."""
        self.growth = growth * (self.feature_bound / math.sqrt(self.ridge)) ** 2
        self.bias = math.sqrt(self.ridge) * self.theta_bound
        self._ridge = _ridge.fresh(d, self.ridge)

    @property
    def theta_hat(self) -> tuple[float, ...]:
        """The ridge estimate of theta*, d numbers."""
        return tuple(self._ridge[_ridge.THETA])

    def beta(self, turn: int) -> float:
        """The confidence radius at a turn."""
        return float(
            _ridge.radius(
                self._ridge, turn, self.noise, self.growth, self.bias, self.radius == "determinant"
            )
        )

    @property
    def fresh(self) -> bool:
        """Whether it has taken no turn and no reward yet."""
        start = _ridge.fresh(self.d, self.ridge)
        return not self.turns and [*map(list, self._ridge)] == [*map(list, start)]

    def state(self) -> dict[str, Any]:
        """JSON-able state: the clock, and the lists of the ridge."""
        return {"turns": self.turns, "ridge": [list(row) for row in self._ridge]}

    def restore(self, state: dict[str, Any]) -> None:
        """The inverse of ``state``."""
        rows = tuple([float(number) for number in row] for row in state["ridge"])
        if list(map(len, rows)) != list(map(len, self._ridge)):
            raise ValueError(f"the saved state is not of dimension d = {self.d}")
        self.turns, self._ridge = int(state["turns"]), rows

    def settings(self) -> dict[str, Any]:
        """The arguments both policies take."""
        return {
            "theta_bound": self.theta_bound,
            "feature_bound": self.feature_bound or None,
            "noise": self.noise,
            "ridge": self.ridge,
            "radius": self.radius,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """The inverse of ``config``."""
        return cls(**config)


def reward_given(reward: Any, what: str = "reward") -> float:
    """A reward as a float; InvalidInput for NaN, infinities and numbers beyond 1e50."""
    number = float(exact(reward, what))
    if not abs(number) <= MOST:
        raise InvalidInput(f"{what} = {shown(reward)} is beyond ±{MOST:g}; rescale the rewards")
    return number
