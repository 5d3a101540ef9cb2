"""Epsilon-greedy in fractions: its coin, its draw, its best mean."""

import math
from collections.abc import Sequence
from fractions import Fraction

from naive.noise import uniform


def share(n_arms: int, m: int, epsilon: Fraction, gap: Fraction | None, c: Fraction) -> Fraction:
    """The probability that turn m draws its arm."""
    return epsilon if gap is None else min(Fraction(1), c * n_arms / (gap**2 * m))


def means(told: Sequence[Sequence[Fraction]], waiting: Sequence[int]) -> list[Fraction | float]:
    """Each arm's mean: 1/2 with open plays alone, infinite before any."""
    return [
        sum(rewards, Fraction(0)) / len(rewards)
        if rewards
        else Fraction(1, 2)
        if open_
        else math.inf
        for rewards, open_ in zip(told, waiting, strict=True)
    ]


def choose(
    key: int, m: int, known: Sequence[Fraction | float], allowed: Sequence[int], draws: Fraction
) -> tuple[int, float]:
    """The arm of turn m and its score, where the turn draws with probability ``draws``."""
    if uniform(key, m, -1) < draws:
        return allowed[math.floor(uniform(key, m, 0) * len(allowed))], math.inf
    best = max(known[arm] for arm in allowed)
    return next(arm for arm in allowed if known[arm] == best), float(best)


def propensities(
    known: Sequence[Fraction | float], allowed: Sequence[int], draws: Fraction
) -> list[Fraction]:
    best = max(known[arm] for arm in allowed)
    leader = next(arm for arm in allowed if known[arm] == best)
    return [
        (draws / len(allowed) + (1 - draws) * (arm == leader)) * (arm in allowed)
        for arm in range(len(known))
    ]
