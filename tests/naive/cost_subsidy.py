"""Cost subsidy by a look at every value of every arm: bounds by root finding, draws by scipy."""

import math
from collections.abc import Sequence
from fractions import Fraction

from scipy import special

from naive.klucb import index
from naive.noise import uniform


def share(value: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """A value cut to its range and put on [0, 1], to the nearest billionth."""
    within = min(max(value, low), high)
    return Fraction(round((within - low) / (high - low) * 10**9), 10**9)


def upper(told: Sequence[Fraction], waiting: int, m: int) -> float:
    """The upper confidence bound; open plays count with the mean, 1/2 where nothing was told."""
    plays = len(told) + waiting
    mean = sum(told, Fraction(0)) / len(told) if told else Fraction(1, 2)
    return index(plays, mean * plays, m)


def draw(told: Sequence[Fraction], key: int, m: int, number: int) -> float:
    won = sum(told, Fraction(0))
    u = float(uniform(key, m, number))
    return float(special.betaincinv(float(1 + won), float(1 + len(told) - won), u))


def optimistic(
    form: str, key: int, m: int, qualities: list[list[Fraction]], costs: list[list[Fraction]],
    waiting: list[int],
) -> list[tuple[float, float]]:  # fmt: skip
    """Quality and cost of each arm as shares of their ranges, each as good as it may be."""
    found = []
    for arm, (good, dear) in enumerate(zip(qualities, costs, strict=True)):
        if form == "ucb":
            spared = [1 - x for x in dear]
            found.append((upper(good, waiting[arm], m), 1 - upper(spared, waiting[arm], m)))
        else:
            found.append((draw(good, key, m, 2 * arm), draw(dear, key, m, 2 * arm + 1)))
    return found


def choose(
    values: list[tuple[float, float]], threshold: float, allowed: Sequence[int]
) -> tuple[int, float]:
    """The first of the cheapest good arms and minus its cost; else the first of the best."""
    good = [arm for arm in allowed if values[arm][0] >= threshold]
    if good:
        chosen = min(good, key=lambda arm: (values[arm][1], arm))
        return chosen, -values[chosen][1]
    return min(allowed, key=lambda arm: (-values[arm][0], arm)), -math.inf
