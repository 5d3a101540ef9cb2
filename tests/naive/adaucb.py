"""AdaUCB by brute force: every H a double loop, every index a root found by Brent's method."""

import math
from collections.abc import Sequence
from fractions import Fraction

from scipy.optimize import brentq

from naive import klucb


def crowds(plays: Sequence[int]) -> list[float]:
    """H_i = sum_j min(N_i, sqrt(N_i N_j)).

    >>> crowds([1, 4, 0])
    [2.0, 6.0, 0.0]
    """
    return [math.fsum(min(N, math.sqrt(N * other)) for other in plays) for N in plays]


def indices(
    plays: Sequence[int], sums: Sequence[Fraction], m: int, waiting: Sequence[int] = ()
) -> list[float]:
    """max{q : N_i kl(p_i, q) <= max(0, ln(m / H_i))}, infinite where N_i = 0.

    ``waiting``: open plays, which count in N_i with the mean kept, 1/2 before any reward.
    """
    counted = [N + more for N, more in zip(plays, waiting or [0] * len(plays), strict=True)]
    means = [S / N if N else Fraction(1, 2) for N, S in zip(plays, sums, strict=True)]
    some = zip(counted, means, crowds(counted), strict=True)
    return [_index(N, float(p), m, H) for N, p, H in some]


def _index(N: int, p: float, m: int, H: float) -> float:
    if N == 0:
        return math.inf
    level, almost_one = max(0.0, math.log(m / H)) / N, math.nextafter(1, 0)
    if level == 0 or p == 1:
        return p
    if klucb.kl(p, almost_one) <= level:
        return 1
    return brentq(lambda q: klucb.kl(p, q) - level, p, almost_one, xtol=1e-15, rtol=1e-15)
