"""Gaussian Thompson sampling by all its quantiles, by scipy."""

import math
from collections.abc import Sequence
from fractions import Fraction

from scipy import special

from naive.noise import uniform


def samples(
    key: int,
    turn: int,
    told: Sequence[Sequence[Fraction]],
    waiting: Sequence[int],
    noise: float = 0.5,
) -> list[float]:
    """theta of every arm, from its rewards and the number of its open plays."""
    found = []
    for arm, rewards in enumerate(told):
        z = special.ndtri(float(uniform(key, turn, arm)))
        if rewards:
            n = len(rewards)
            found.append(float(sum(rewards, Fraction(0)) / n) + noise * n**-0.5 * z)
        else:
            found.append(0.5 + noise * z if waiting[arm] else math.inf)
    return found
