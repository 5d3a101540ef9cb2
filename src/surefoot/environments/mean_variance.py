"""The three mean-variance regrets of a player, from sums over its plays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot._exact import shown
from surefoot.errors import InvalidInput

Floats = npt.NDArray[np.float64]


class MeanVarianceRegrets(NamedTuple):
    """Cumulative regrets, t times those of the paper; one number for each checkpoint."""

    pseudo: Floats
    """The paper's eq. (4)."""
    pseudo_exact: Floats
    """With the true between-arm term, a quarter of the paper's."""


def mean_variance_regrets(
    plays: Any, means: Any, squares: Any, variances: Any, default_plays: Any,
    *, rho: float, default: float, best: float,
) -> MeanVarianceRegrets:  # fmt: skip
    """Mean-variance pseudo-regret after t plays, the default's among them, in cumulative form.

    t*R_t = sum_x N_x (MV_* - MV_x) + (2/t) sum_{x != y} N_x N_y (mu_x - mu_y)^2 over ordered pairs,
    MV_x = rho*mu_x - var_x (Du, Wang, Huang 2021, eq. 4). ``pseudo_exact`` has 1/(2t) in place of
    2/t: with it, the rewards' own means and variances give t*(MV_* - MV of all rewards), exactly.
    The default is one more arm of mean mu0 and variance 0, in the pairs too, and at every
    checkpoint the sums are over its own t, not the horizon (both ours).

    ``plays``: regular plays so far, sum N_x; ``means``, ``squares``, ``variances``: sums of
    N_x mu_x, N_x mu_x^2, N_x var_x over the regular arms; ``default_plays``: N_0. Numbers, or
    arrays that broadcast. ``default``: mu0; ``best``: MV_*, see ``best_mean_variance``. Raises
    InvalidInput where t < 1 or a number is not finite.

    >>> mean_variance_regrets(1, 1, 1, 0, 1, rho=2, default=0.5, best=2)
    MeanVarianceRegrets(pseudo=array(1.5), pseudo_exact=array(1.125))

    Holds when: an arm's mean and variance never change. Does not hold when: one wants to know
    whether the promise was kept: compare ``realised_regret`` with the baseline for that.
    """
    N, S1, S2, V, N0 = _together(
        plays=plays, means=means, squares=squares, variances=variances, default_plays=default_plays
    )
    weight, mu0, top = _one(rho, "rho"), _one(default, "default"), _one(best, "best")
    t = _plays(N + N0)
    S1, S2 = S1 + N0 * mu0, S2 + N0 * mu0**2
    gaps = t * top - weight * S1 + V
    # Over ordered pairs sum N_x N_y (mu_x - mu_y)^2 is 2 (t*S2 - S1^2): never below 0 but by ulps.
    spread = np.maximum(S2 - S1 * (S1 / t), 0.0)
    return MeanVarianceRegrets(np.asarray(gaps + 4 * spread), np.asarray(gaps + spread))


def realised_regret(t: Any, received: Any, best: float) -> Floats:
    """t*(MV_* - MV_t), from ``received`` = t*MV_t of the books; shapes broadcast.

    Du, Wang, Huang 2021, definition of R^MV, with the true MV_* (ours). The promise is kept by t
    iff this is at most t*(MV_* - (1-alpha)*rho*mu0). Raises InvalidInput where t < 1.

    >>> realised_regret([1, 2], [0.5, 1.5], best=1).tolist()
    [0.5, 0.5]
    """
    plays, total = _together(t=t, received=received)
    return np.asarray(_plays(plays) * _one(best, "best") - total)


def best_mean_variance(means: Any, variances: Any, rho: float) -> float:
    """MV_* = max of rho*mu_x - var_x over the regular arms (Du, Wang, Huang 2021).

    >>> best_mean_variance([0.75, 0.5], [0.1875, 0], rho=1)
    0.5625
    """
    mu, var = _together(means=means, variances=variances)
    return float(np.max(_one(rho, "rho") * mu - var))


def _together(**given: Any) -> list[Floats]:
    """Finite numbers in arrays of one shape."""
    arrays = [_finite(numbers, what) for what, numbers in given.items()]
    try:
        return list(np.broadcast_arrays(*arrays))
    except ValueError:
        shapes = ", ".join(
            f"{what} {array.shape}" for what, array in zip(given, arrays, strict=True)
        )
        raise InvalidInput(f"these shapes do not go together: {shapes}") from None


def _one(number: Any, what: str) -> float:
    array = _finite(number, what)
    if array.ndim:
        raise InvalidInput(f"{what} = {shown(number)} must be one number")
    return float(array)


def _finite(numbers: Any, what: str) -> Floats:
    try:
        array = np.asarray(numbers)
    except ValueError:
        array = np.array(None)
    if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
        raise InvalidInput(f"{what} = {shown(numbers)} must be finite numbers")
    return array.astype(np.float64)


def _plays(t: Floats) -> Floats:
    if not (t >= 1).all():
        raise InvalidInput(f"after {t.min()} plays there is no regret; begin with t = 1")
    return t
