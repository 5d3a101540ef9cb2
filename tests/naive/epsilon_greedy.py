"""Epsilon-greedy in fractions: its coin, its draw, its best mean."""

import math
from collections.abc import Sequence
from fractions import Fraction

from naive.noise import uniform


def share(n_arms: int, m: int, epsilon: Fraction, gap: Fraction | None, c: Fraction) -> Fraction:
    """The probability that turn m draws its arm."""
    return epsilon if gap is None else min(Fraction(1), c * n_arms / (gap**2 * m))


def mean(rewards: Sequence[Fraction]) -> Fraction | float:
    return sum(rewards, Fraction(0)) / len(rewards) if rewards else math.inf


def choose(
    key: int, m: int, told: Sequence[Sequence[Fraction]], allowed: Sequence[int], draws: Fraction
) -> tuple[int, float]:
    """The arm of turn m and its score, where the turn draws with probability ``draws``."""
    if uniform(key, m, -1) < draws:
        return allowed[math.floor(uniform(key, m, 0) * len(allowed))], math.inf
    best = max(mean(told[arm]) for arm in allowed)
    return next(arm for arm in allowed if mean(told[arm]) == best), float(best)


def propensities(
    told: Sequence[Sequence[Fraction]], allowed: Sequence[int], draws: Fraction
) -> list[Fraction]:
    best = max(mean(told[arm]) for arm in allowed)
    leader = next(arm for arm in allowed if mean(told[arm]) == best)
    return [
        (draws / len(allowed) + (1 - draws) * (arm == leader)) * (arm in allowed)
        for arm in range(len(told))
    ]
