"""Empirical arms: rewards that were once observed, drawn again with replacement."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from surefoot._exact import Unit, exact, exact_range
from surefoot._types import Number
from surefoot.environments._table import Ints, TableArms, listed, table, unit_of
from surefoot.errors import InvalidInput


class EmpiricalArms(TableArms):
    """Each arm pays one of its own samples, every one of them equally likely.

    ``samples``: one list of observed rewards for each arm, of any lengths. ``reward_range``: sure
    bounds of the rewards; None takes the least and the greatest sample. ``places``: rewards are
    rounded to the nearest multiple of 10**-places, a half up, and what is drawn is what is rounded
    (ours); None takes 9, or fewer if the range needs it. ``means`` and ``variances`` are exactly
    those of what is drawn. Raises InvalidInput, which names the sample.

    >>> env = EmpiricalArms([[0, 1], [0.5]])
    >>> env.means.tolist(), env.variances.tolist(), env.pull(key=1, turn=1, arm=1)
    ([0.5, 0.5], [0.25, 0.0], 0.5)

    Holds when: the samples are a fair picture of what an arm pays. Does not hold when: rewards
    drift, or the next one depends on the last. For a log with labels see ``ReplayLog``.
    """

    def __init__(
        self,
        samples: Any,
        reward_range: tuple[Number, Number] | None = None,
        places: int | None = None,
    ) -> None:
        numbers = [
            [
                exact(value, f"samples[{arm}][{i}]")
                for i, value in enumerate(listed(own, f"samples[{arm}]"))
            ]
            for arm, own in enumerate(listed(samples, "samples"))
        ]
        least, most = min(map(min, numbers)), max(map(max, numbers))
        low, high = (least, most) if reward_range is None else exact_range(reward_range)
        for arm, own in enumerate(numbers):
            for i, number in enumerate(own):
                if not low <= number <= high:
                    raise InvalidInput(
                        f"samples[{arm}][{i}] = {number} is outside the reward_range "
                        f"({low}, {high}); widen it or correct the sample"
                    )
        unit = unit_of(low, high, places)
        self.reward_range = low, high
        self._hold(table([_rounded(own, unit, low, high) for own in numbers]), unit)


def _rounded(numbers: list[Decimal], unit: Unit, low: Decimal, high: Decimal) -> Ints:
    """Each number in units, to the nearest, a half up, but never out of low..high."""
    amounts = []
    for number in numbers:
        numerator, denominator = unit.ratio(number)
        amounts.append((2 * numerator + denominator) // (2 * denominator))
    return np.clip(np.array(amounts, dtype=np.int64), unit.ceil(low), unit.floor(high))
