"""What a bound may be asked about: numbers read once, and the assumptions every theorem shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot._exact import exact, fraction
from surefoot._types import Number
from surefoot.errors import InvalidInput

Floats = npt.NDArray[np.float64]
Curve = Callable[[Floats], Floats]
"""A function of the number of plays, for arrays."""


def number(value: Any, what: str) -> float:
    """A finite number; InvalidInput names ``what`` for anything else."""
    return float(exact(value, what))


def positive(value: Any, what: str, example: str) -> float:
    """A number above zero; ``example`` ends the error: what one usually takes."""
    read = number(value, what)
    if not read > 0:
        raise InvalidInput(f"{what} = {value} must be > 0; {example}")
    return read


def alpha_of(value: Any) -> float:
    """The fraction of the default's reward one is willing to lose."""
    return fraction(value, "alpha", "0.05 gives up at most 5 % of the default's reward", float)


def delta_of(delta: Number | None) -> Curve:
    """A failure probability as a curve over T; None is the convention 1/T."""
    if delta is None:
        return lambda T: 1.0 / T
    level = fraction(delta, "delta", "None takes the convention 1/T", float)
    return lambda T: np.full_like(T, level)


def whole(value: Any, what: str, example: str) -> int:
    """A whole number of at least one."""
    read = number(value, what)
    if read < 1 or read != int(read):
        raise InvalidInput(f"{what} = {value} must be a whole number >= 1; {example}")
    return int(read)


def plays(T: Any) -> Floats:
    """Numbers of plays T >= 1, as an array of any shape."""
    try:
        read = np.asarray(T, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"T = {T!r} must be a number of plays, or an array of them") from None
    if not (np.isfinite(read) & (read >= 1)).all():
        raise InvalidInput("T must be >= 1 and finite; a bound speaks of at least one play")
    return read


def arms_of(values: Any, what: str, low: float, high: float) -> Floats:
    """One number in low..high for each regular arm, shape (K,)."""
    try:
        read = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"{what} = {values!r} must be one number for each arm") from None
    if read.ndim != 1 or not len(read):
        raise InvalidInput(
            f"{what} has shape {read.shape}; give one number for each regular arm: shape (K,)"
        )
    if not ((read >= low) & (read <= high)).all():
        arm = int(np.argmin((read >= low) & (read <= high)))
        raise InvalidInput(
            f"{what}[{arm}] = {read[arm]} lies outside {low:g}..{high:g}; "
            "the theorem is about rewards in 0..1"
        )
    return read


def gaps_of(values: Floats, what: str) -> tuple[float, Floats]:
    """The best value, and the gaps Delta_i > 0 of the arms that are worse.

    The paper's sums run over i > 1. An arm as good as the best has no gap to divide by and costs
    nothing; UCB's own analysis, the only place where the proofs use the sums, leaves it out.
    """
    best = float(values.max())
    gaps = best - values[values < best]
    if not len(gaps):
        raise InvalidInput(
            f"{what}: all {len(values)} arms are worth {best}; there is nothing to learn, and "
            "the sums of the theorem are empty: give at least one worse arm"
        )
    return best, gaps


def gap0(default: Any, best: Any, what: str = "default") -> tuple[float, float]:
    """The default's value and its gap Delta_0 > 0 to the best regular arm.

    Where the default is as good as the best arm every theorem of the paper is void: there is no
    number to return, so it is refused.
    """
    value = positive(default, what, "shift the rewards so that the default earns")
    gap = number(best, "best") - value
    if not gap > 0:
        raise InvalidInput(
            f"{what} = {default} is not below the best regular arm, {best}: the theorems assume "
            "mu0 < mu_* and say nothing here; let the default compete (GenCB's default_competes)"
        )
    return value, gap


class Stakes(NamedTuple):
    """What a theorem divides by: mu0, Delta0 = mu_* - mu0, a = alpha mu0 and c = Delta0 + a."""

    mu0: float
    gap: float
    a: float
    c: float


def stakes(default: Any, best: Any, alpha: Number) -> Stakes:
    """The stakes of a problem; InvalidInput as ``gap0``, and for alpha outside (0, 1)."""
    mu0, gap = gap0(default, best)
    a = alpha_of(alpha) * mu0
    return Stakes(mu0, gap, a, gap + a)
