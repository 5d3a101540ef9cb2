"""Rewards from a table: each arm has a list of them, and every entry is equally likely."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot._exact import Unit, by_position, finest_places, reach, shown
from surefoot.environments._kernels import draw, register
from surefoot.errors import InvalidInput
from surefoot.kernels.noise import noise

Ints = npt.NDArray[np.int64]
# A reward in units is below 2**34 (1e9 of them fit an int64), so it splits into halves whose
# products fit as well, summed over a table of fewer than 2**28 entries.
_HALF = 17
ENTRIES = 4096
"""Entries of a table that stands for a continuous law."""


class TableRecord(NamedTuple):
    """Parameters of the draw: all arms' rewards in one array, and where each arm's begin."""

    rewards: Any
    starts: Any
    sizes: Any


def _draw(environment: Any, key: Any, turn: int, arm: int) -> Any:
    # 32 bits times a size below 2**32 stays within 64: a draw off uniform by at most 2**-32.
    spot = (noise(key, turn, arm) >> 32) * environment.sizes[arm] >> 32
    return environment.rewards[environment.starts[arm] + spot]


class TableArms:
    """What environments with a table share; their means and variances are those of its entries."""

    places: int
    reward_range: tuple[Any, Any]

    def _hold(self, record: TableRecord, unit: Unit) -> None:
        """Draw from this table from now on."""
        self.record, self.unit, self.places = record, unit, unit.places
        starts, sizes = record.starts.tolist(), record.sizes.tolist()
        self.n_arms = len(sizes)
        one = Fraction(unit.decimal(1))
        each = [
            moments(record.rewards[start : start + size])
            for start, size in zip(starts, sizes, strict=True)
        ]
        try:
            self.means = np.array([float(mean * one) for mean, _ in each])
            self.variances = np.array([float(variance * one * one) for _, variance in each])
        except OverflowError:
            raise InvalidInput(
                "the rewards are so far apart that no float holds their variance; rescale them"
            ) from None
        for numbers in (self.means, self.variances):
            numbers.flags.writeable = False  # the rewards are what they are made of
        self.best = float(self.means.max())

    def pull(self, key: int, turn: int, arm: int) -> float:
        """The reward of ``arm`` at the policy's ``turn`` in the run of ``key``."""
        return float(self.unit.decimal(int(draw(self.record, key, turn, arm))))

    def value(self, action: Any) -> float:
        """The true mean of an arm."""
        return float(self.means[action])

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.n_arms} arms, {sum(self.record.sizes.tolist())} rewards)"
        )


register(TableRecord, _draw, TableArms.pull)


def table(lists: list[Ints]) -> TableRecord:
    """The record of one list of amounts for each arm."""
    sizes = np.array([len(amounts) for amounts in lists])
    starts = np.cumsum(sizes) - sizes
    return TableRecord(np.concatenate(lists), starts.astype(np.uint64), sizes.astype(np.uint64))


def with_one(record: TableRecord, amount: int) -> TableRecord:
    """The record with one more arm, which always pays this."""
    ends = len(record.rewards), 1
    parts = [(record.rewards, amount), (record.starts, ends[0]), (record.sizes, ends[1])]
    return TableRecord(*(np.append(whole, part).astype(whole.dtype) for whole, part in parts))


def moments(amounts: Ints) -> tuple[Fraction, Fraction]:
    """The exact mean and population variance of whole numbers below 2**34.

    >>> moments(np.array([1, 2]))
    (Fraction(3, 2), Fraction(1, 4))
    """
    size, total = len(amounts), int(amounts.sum())
    high, low = amounts >> _HALF, amounts & ((1 << _HALF) - 1)
    squares = (
        (int((high * high).sum()) << 2 * _HALF)
        + (int((high * low).sum()) << _HALF + 1)
        + int((low * low).sum())
    )
    return Fraction(total, size), Fraction(size * squares - total * total, size * size)


def unit_of(low: Decimal, high: Decimal, places: int | None) -> Unit:
    """The unit of rewards within low..high, in which the sums of 10**9 plays fit an int64."""
    finest = finest_places(reach(low, high), Decimal(0))
    if places is None:
        places = finest
    if isinstance(places, bool) or not isinstance(places, int) or places > finest:
        raise InvalidInput(f"places = {shown(places)} must be an int, at most {finest} here")
    if Unit(places).ceil(low) > Unit(places).floor(high):
        raise InvalidInput(
            f"no multiple of 10**{-places} lies in ({low}, {high}); give a wider reward_range"
        )
    return Unit(places)


def listed(
    given: Any, what: str, kind: str = "list", give: str = "at least one number for each arm"
) -> list[Any]:
    """A list that is not empty; InvalidInput says what it must be, and what to give."""
    by_position(given, what)
    try:
        if isinstance(given, str | bytes):
            raise TypeError
        found = list(given)
    except TypeError:
        raise InvalidInput(f"{what} = {shown(given)} must be a {kind}") from None
    if not found:
        raise InvalidInput(f"{what} is empty; give {give}")
    return found


def ranks() -> npt.NDArray[np.float64]:
    """The middles of ENTRIES equal parts of [0, 1]: where a law's quantiles are taken."""
    return np.asarray((np.arange(ENTRIES) + 0.5) / ENTRIES)


def on_lattice(values: npt.NDArray[np.float64], unit: Unit, low: Decimal, high: Decimal) -> Ints:
    """Floats in units, to the nearest, clipped to what of the lattice lies in low..high."""
    ends = unit.ceil(low), unit.floor(high)
    clipped = np.clip(values, float(low), float(high)) * 10.0**unit.places
    return np.clip(np.rint(clipped).astype(np.int64), *ends)
