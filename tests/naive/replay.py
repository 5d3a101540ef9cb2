"""A log as a `Fraction` twin: what each arm pays, row by row, in units of 10**-places."""

from collections.abc import Sequence
from fractions import Fraction
from math import floor
from typing import Any


def units(rewards: Sequence[Any], places: int) -> list[int]:
    """Each reward rounded to the nearest unit, a half up; a float means its shortest decimal.

    >>> units([0.1, 1, 0.25], 1)
    [1, 10, 3]
    """
    return [floor(Fraction(str(reward)) * Fraction(10) ** places + Fraction(1, 2))
            for reward in rewards]  # fmt: skip


def by_arm(labels: Sequence[Any], amounts: Sequence[int]) -> dict[Any, list[int]]:
    """The amounts of each arm, in the order of the log."""
    arms: dict[Any, list[int]] = {label: [] for label in labels}
    for label, amount in zip(labels, amounts, strict=True):
        arms[label].append(amount)
    return arms


def mean(amounts: Sequence[int]) -> int:
    """The mean, rounded to the nearest unit, a half up.

    >>> mean([1, 2]), mean([-1, -2])
    (2, -1)
    """
    return floor(Fraction(sum(amounts), len(amounts)) + Fraction(1, 2))


def draw(amounts: Sequence[int], bits: int) -> int:
    """The amount that 64 random bits choose: their upper half as a share of the rows."""
    return amounts[floor(Fraction(bits >> 32, 2**32) * len(amounts))]
