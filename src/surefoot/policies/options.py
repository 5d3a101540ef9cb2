"""What one tells a ridge regression of the world: the options of every linear policy."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

from surefoot._exact import exact, one_of, shown
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.policies.sets import MOST, positive

RADII = ("paper", "determinant")
_NAMES = ("theta_bound", "feature_bound", "noise", "ridge", "radius")
"""As a saved file has them, and as the constructors took them one by one."""


@dataclass(frozen=True, kw_only=True)
class Ridge:
    """Options of the ridge regression in ``LinUCB``, ``C2UCB`` and the linear comparators.

        V = penalty*I + sum x x',   ||theta*|| <= theta_bound,   ||x|| <= feature_bound

    ``theta_bound``: S, the largest norm of theta*. ``feature_bound``: L, the largest norm of the
    features; None: of those that are given. ``noise``: rewards are sub-Gaussian with this
    constant; 1/2 is enough for rewards in [0, 1]. ``penalty``: lambda; None: max(1, L^2). A
    smaller one warns: the paper's regret bound needs that much. ``radius``: "paper" or
    "determinant", as the policy says; None: the one it usually takes. Raises InvalidInput for
    anything else.

    >>> Ridge(noise=0.5)
    Ridge(theta_bound=1.0, feature_bound=None, noise=0.5, penalty=None, radius=None)
    >>> Ridge(noise=0)
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: noise = 0 must be > 0 and at most 1e+50
    """

    theta_bound: float = 1.0
    feature_bound: float | None = None
    noise: float = 1.0
    penalty: float | None = None
    radius: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= float(exact(self.theta_bound, "theta_bound")) <= MOST:
            raise InvalidInput(
                f"theta_bound = {shown(self.theta_bound)} must be >= 0 and at most {MOST:g}"
            )
        positive(self.noise, "noise")
        if self.feature_bound is not None:
            positive(self.feature_bound, "feature_bound")
        if self.penalty is not None and not 0 < float(exact(self.penalty, "penalty")) <= MOST**2:
            raise InvalidInput(
                f"penalty = {shown(self.penalty)} must be > 0 and at most {MOST**2:g}"
            )
        if self.radius is not None:
            one_of(self.radius, "radius", RADII)

    def filled(self, widest: float, radius: str) -> Ridge:
        """The same in floats, with what was left open: features of norm ``widest``, the radius."""
        bound = widest if self.feature_bound is None else float(self.feature_bound)
        least = max(1.0, bound**2)
        penalty = least if self.penalty is None else float(exact(self.penalty, "penalty"))
        if penalty < least:
            warnings.warn(
                f"penalty = {shown(self.penalty)} is below max(1, feature_bound^2) = {least:.6g}, "
                "from where on the paper's regret bound holds",
                stacklevel=4,
            )
        return Ridge(
            theta_bound=float(exact(self.theta_bound, "theta_bound")), feature_bound=bound,
            noise=float(exact(self.noise, "noise")), penalty=penalty, radius=self.radius or radius,
        )  # fmt: skip


def ridge_given(given: Any, old: dict[str, Any], who: str, tight: bool = False) -> Ridge:
    """The options from ``ridge=`` and from those that stood in the signature before.

    Without any, those of the tight form where that is asked for. The old ones, and a number for
    ``ridge``, warn: they go with the next version.
    """
    unknown = [name for name in old if name not in _NAMES]
    if unknown:
        raise TypeError(f"{who} got an unexpected keyword argument {unknown[0]!r}")
    if given is not None and not isinstance(given, Ridge):
        old, given = {"ridge": given, **old}, None
    usual = Ridge(noise=0.5, radius="determinant") if tight else Ridge()
    options = usual if given is None else given
    if not old:
        return options
    named = _renamed(old)
    warnings.warn(
        f"{who} takes {', '.join(old)} as ridge=Ridge({', '.join(named)}); the old form goes with "
        "the next version",
        DeprecationWarning,
        stacklevel=3,
    )
    return replace(options, **named)


def _renamed(old: JsonObject) -> JsonObject:
    """Options by the names that ``Ridge`` has for them."""
    return {"penalty" if name == "ridge" else name: value for name, value in old.items()}


def flat(options: Ridge) -> JsonObject:
    """Filled options as a saved file has them."""
    return {
        "theta_bound": options.theta_bound,
        "feature_bound": options.feature_bound or None,
        "noise": options.noise,
        "ridge": options.penalty,
        "radius": options.radius,
    }


def unflat(config: JsonObject) -> JsonObject:
    """The inverse of ``flat`` among other settings; those without options stay as they are."""
    if not all(name in config for name in _NAMES):
        return config
    rest = {name: value for name, value in config.items() if name not in _NAMES}
    options = _renamed({name: config[name] for name in _NAMES})
    return {**rest, "ridge": Ridge(**options)}


def norm_of(options: Ridge, growth: int) -> tuple[float, float]:
    """growth*L^2/lambda and sqrt(lambda)*S, of filled options."""
    assert options.feature_bound is not None
    assert options.penalty is not None
    root = math.sqrt(options.penalty)
    return growth * (options.feature_bound / root) ** 2, root * options.theta_bound
