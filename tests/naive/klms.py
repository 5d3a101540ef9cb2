"""KL-MS by the book: every weight, a root by Brent's method, the choice by cumulated shares."""

import math
from collections.abc import Sequence
from fractions import Fraction

from scipy.optimize import brentq

from naive.klucb import kl
from naive.noise import uniform


def weights(told: Sequence[Sequence[Fraction]], allowed: Sequence[int]) -> dict[int, float]:
    """exp(-N kl(mean, largest mean)) of each allowed arm, all of them played."""
    means = {arm: sum(told[arm], Fraction(0)) / len(told[arm]) for arm in allowed}
    top = max(means.values())
    return {arm: math.exp(-len(told[arm]) * kl(float(means[arm]), float(top))) for arm in allowed}


def propensities(told: Sequence[Sequence[Fraction]], allowed: Sequence[int]) -> list[float]:
    for arm in allowed:
        if not told[arm]:
            return [float(one == arm) for one in range(len(told))]
    found = weights(told, allowed)
    return [found.get(arm, 0.0) / sum(found.values()) for arm in range(len(told))]


def choose(
    key: int, m: int, told: Sequence[Sequence[Fraction]], allowed: Sequence[int]
) -> tuple[int, float]:
    """The arm of turn m and its score.

    The last arm is taken with its share of all weights, else the one before it with its share of
    the others, and so on: arm k with w_k/(w_1 + ... + w_k) times the rest, which is w_k/sum.
    """
    for arm in allowed:
        if not told[arm]:
            return arm, math.inf
    found, arm = weights(told, allowed), -1
    for arm in reversed(allowed):
        behind = sum(found[one] for one in allowed if one <= arm)
        if float(uniform(key, m, arm)) < found[arm] / behind:
            break
    N, total = len(told[arm]), sum(told[arm], Fraction(0))
    level = -math.log(found[arm]) - math.log(uniform(key, m, -1))  # N kl(mean, q)
    return arm, upper(N, total, level)


def upper(plays: int, total: Fraction, level: float) -> float:
    """max{q : N kl(S/N, q) <= level}."""
    p, almost_one = float(total / plays), math.nextafter(1, 0)
    if p == 1 or plays * kl(p, almost_one) <= level:
        return 1.0
    return brentq(lambda q: plays * kl(p, q) - level, p, almost_one, xtol=1e-15, rtol=1e-15)
