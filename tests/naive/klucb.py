"""KL-UCB by brute force: every index a root found by Brent's method, nothing passed over."""

import math
from collections.abc import Sequence
from fractions import Fraction

from scipy.optimize import brentq
from scipy.special import rel_entr


def kl(p: float, q: float) -> float:
    return float(rel_entr(p, q) + rel_entr(1 - p, 1 - q))


def index(plays: int, total: Fraction, m: int, c: float = 0) -> float:
    """max{q : N kl(S/N, q) <= ln m + c ln ln m}, infinite where N = 0; ln ln m is 0 below e.

    >>> round(index(2, Fraction(0), 4), 12)  # 1 - exp(-ln 4 / 2)
    0.5
    """
    if plays == 0:
        return math.inf
    p, logarithm = float(total / plays), math.log(m)
    level = (logarithm + (c * math.log(logarithm) if logarithm > 1 else 0)) / plays
    almost_one = math.nextafter(1, 0)
    if level == 0 or p == 1:
        return p
    if kl(p, almost_one) <= level:
        return 1
    return brentq(lambda q: kl(p, q) - level, p, almost_one, xtol=1e-15, rtol=1e-15)


def indices(plays: Sequence[int], sums: Sequence[Fraction], m: int, c: float = 0) -> list[float]:
    return [index(N, S, m, c) for N, S in zip(plays, sums, strict=True)]
