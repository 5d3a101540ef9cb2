"""KL-MS by the book: every weight, a root by Brent's method, the choice by cumulated shares."""

import math
from collections.abc import Sequence
from fractions import Fraction

from scipy.optimize import brentq

from naive.klucb import kl
from naive.noise import uniform

Arm = tuple[int, Fraction]
"""The plays of an arm, the open ones too, and its mean."""


def known(told: Sequence[Sequence[Fraction]], waiting: Sequence[int]) -> list[Arm]:
    """Of each arm; the mean is 1/2 before the first reward."""
    return [
        (len(one) + more, sum(one, Fraction(0)) / len(one) if one else Fraction(1, 2))
        for one, more in zip(told, waiting, strict=True)
    ]


def weights(arms: Sequence[Arm], allowed: Sequence[int]) -> dict[int, float]:
    """exp(-N kl(mean, largest mean)) of each allowed arm, all of them played."""
    top = float(max(arms[arm][1] for arm in allowed))
    return {arm: math.exp(-arms[arm][0] * kl(float(arms[arm][1]), top)) for arm in allowed}


def propensities(arms: Sequence[Arm], allowed: Sequence[int]) -> list[float]:
    for arm in allowed:
        if not arms[arm][0]:
            return [float(one == arm) for one in range(len(arms))]
    found = weights(arms, allowed)
    return [found.get(arm, 0.0) / sum(found.values()) for arm in range(len(arms))]


def choose(key: int, m: int, arms: Sequence[Arm], allowed: Sequence[int]) -> tuple[int, float]:
    """The arm of turn m and its score.

    The last arm is taken with its share of all weights, else the one before it with its share of
    the others, and so on: arm k with w_k/(w_1 + ... + w_k) times the rest, which is w_k/sum.
    """
    for arm in allowed:
        if not arms[arm][0]:
            return arm, math.inf
    found, arm = weights(arms, allowed), -1
    for arm in reversed(allowed):
        behind = sum(found[one] for one in allowed if one <= arm)
        if float(uniform(key, m, arm)) < found[arm] / behind:
            break
    N, mean = arms[arm]
    level = -math.log(found[arm]) - math.log(uniform(key, m, -1))  # N kl(mean, q)
    return arm, upper(N, float(mean), level)


def upper(plays: int, p: float, level: float) -> float:
    """max{q : N kl(p, q) <= level}."""
    almost_one = math.nextafter(1, 0)
    if p == 1 or plays * kl(p, almost_one) <= level:
        return 1.0
    return brentq(lambda q: plays * kl(p, q) - level, p, almost_one, xtol=1e-15, rtol=1e-15)
