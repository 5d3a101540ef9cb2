"""UCB1 as the paper prints it: every index anew at every turn, from plays and sums."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction


def index(plays: int, total: Fraction, m: int) -> float:
    """S/N + sqrt(2 ln m / N); infinite where N = 0."""
    return float(total) / plays + math.sqrt(2 * math.log(m) / plays) if plays else math.inf


def choose(
    plays: Sequence[int],
    sums: Sequence[Fraction],
    m: int,
    allowed: Iterable[int] | None = None,
) -> tuple[int, float]:
    """The lowest allowed arm of the largest index, and that index.

    >>> choose([1, 1, 0], [Fraction(1), Fraction(1), Fraction(0)], 3)
    (2, inf)
    """
    arms = range(len(plays)) if allowed is None else sorted(allowed)
    indices = [index(plays[arm], sums[arm], m) for arm in arms]
    best = max(indices)
    return arms[indices.index(best)], best
