"""What environments say of themselves, from the definitions: fractions, loops, double sums."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any


def fraction(number: Any) -> Fraction:
    """A number; a float means its shortest decimal."""
    return number if isinstance(number, Fraction) else Fraction(str(number))


def linear_means(X: Sequence[Sequence[Any]], theta: Sequence[Any]) -> list[Fraction]:
    """<x, theta> for each row."""
    return [
        sum((fraction(x) * fraction(w) for x, w in zip(row, theta, strict=True)), Fraction(0))
        for row in X
    ]


def moments(rewards: Sequence[Any]) -> tuple[Fraction, Fraction]:
    """Mean and population variance."""
    numbers = [fraction(reward) for reward in rewards]
    mean = sum(numbers, Fraction(0)) / len(numbers)
    return mean, sum(((x - mean) ** 2 for x in numbers), Fraction(0)) / len(numbers)


def mean_variance_regret(
    plays: Sequence[int],
    means: Sequence[Fraction],
    variances: Sequence[Fraction],
    rho: Fraction,
    factor: Fraction,
) -> Fraction:
    """Gaps against the best of all but the last arm, the default, and factor/t times the pairs."""
    values = [rho * mean - variance for mean, variance in zip(means, variances, strict=True)]
    best = max(values[:-1])
    regret, t = Fraction(0), sum(plays)
    for n, value in zip(plays, values, strict=True):
        regret += n * (best - value)
    for x in range(len(plays)):
        for y in range(len(plays)):
            if x != y:
                regret += factor / t * plays[x] * plays[y] * (means[x] - means[y]) ** 2
    return regret
