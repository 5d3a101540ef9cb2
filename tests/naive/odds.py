"""The odds sequence by its formula, in fractions; spec of ``surefoot.floors.odds``."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod


def wealth(values: Sequence[int], candidate: int, width: int) -> Fraction:
    """W_n of values y = r_max - X at the candidate r_max - U."""
    total = Fraction(0)
    for k in range(-8, 9):
        t = Fraction(2) ** k
        total += prod((width + t * y for y in values), start=Fraction(1)) / (
            (width + t * candidate) ** len(values)
        )
    return total / 17


def wealth_of_restarts(
    values: Sequence[int | Fraction], declared: Sequence[int | Fraction], width: int
) -> Fraction:
    """W_n of values y = r_max - X against what was declared for each, begun anew at each."""
    n, odds = len(values), [Fraction(2) ** k for k in range(-8, 9)]
    return Fraction(1, n + 1) + sum(
        prod(
            (
                (width + t * y) / (width + t * c)
                for y, c in zip(values[s:], declared[s:], strict=True)
            ),
            start=Fraction(1, 17 * (s + 1) * (s + 2)),
        )
        for s in range(n)
        for t in odds
    )


def edge(values: Sequence[int], width: int, delta: Fraction) -> int | None:
    """The largest candidate that is refuted, one by one from below."""
    refuted = [y for y in range(width + 1) if wealth(values, y, width) >= 1 / delta]
    return max(refuted, default=None)
