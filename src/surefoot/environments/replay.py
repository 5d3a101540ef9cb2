"""A log as an environment: each arm's own logged rewards, drawn again with replacement."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot._exact import Unit, exact, exact_range, finest_places, first_few, reach, shown
from surefoot._types import Number
from surefoot.environments._table import TableArms, TableRecord, with_one
from surefoot.errors import InvalidInput

# A reward in units is below 2**34 (1e9 of them fit an int64), so the float product is off by less
# than 2**-17: further than this from a half, it rounds as the exact number would.
_DOUBT = 2.0**-10
# Means are floats, and so are their differences.
_TOO_LONG = 300


class ReplayLog(TableArms):
    """Bootstrap environment of a log: pull an arm, get one of its logged rewards at random.

    ``frame``: any dataframe with an ``arm`` and a ``reward`` column (polars, pandas, or a dict of
    two lists; a polars LazyFrame is collected); labels are strings or ints. ``default``: a label
    left out of the arms; its mean, rounded to the nearest unit, is ``default_mean``.
    ``reward_range``: sure bounds of the rewards; None takes the log's own least and greatest.
    Rewards are rounded to the nearest unit of 10**-9, or a coarser one if the range needs it,
    within the range; a range between two neighbouring units is widened to them. Arms are numbered
    in the order of their labels, ints first; ``rows`` counts the log's rows of each. ``codes`` and
    ``amounts`` are the log itself, row by row: the number of its arm, the default's being the last,
    and its reward in units. Raises InvalidInput, which names the row, the first one being 1.

    >>> env = ReplayLog({"arm": ["a", "b", "b"], "reward": [1, 0.5, 0.5]}, default="a")
    >>> env.arms, env.rows, env.pull(key=1, turn=1, arm=0), env.default_mean
    (('b',), (2,), 0.5, Decimal('1.000000000'))

    Holds when: each arm's logged rewards are a fair sample of what it pays, over time too. Does
    not hold when: the log's own policy chose arms by what they would pay (no causal claim), or
    rewards drift.
    """

    def __init__(
        self,
        frame: Any,
        default: Any = None,
        arm: str = "arm",
        reward: str = "reward",
        reward_range: tuple[Number, Number] | None = None,
    ) -> None:
        frame = _collected(frame)
        labels, values = _labels(_column(frame, arm)), _values(_column(frame, reward))
        if not labels:
            raise InvalidInput("the log is empty; give at least one row for each arm")
        if len(labels) != len(values):
            raise InvalidInput(f"the log has {len(labels)} arms but {len(values)} rewards")
        low, high = _range(values, reward_range)
        self.unit = Unit(finest_places(reach(low, high), Decimal(0)))
        ends = self.unit.ceil(low), self.unit.floor(high)
        if ends[0] > ends[1]:  # no unit lies in the range, and what is paid has to
            ends = ends[1], ends[0]
            low, high = map(self.unit.decimal, ends)
        self.reward_range = low, high
        amounts = np.clip(_nearest(values, self.unit), *ends)
        self._names = _ordered(set(labels), default)
        self.codes = _codes(labels, self._names)
        self.amounts = amounts
        self._all = _by_arm(self.codes, amounts)
        self.default_mean = None
        if default is not None:
            own = self._all.rewards[int(self._all.starts[-1]) :]
            self.default_mean = self.unit.decimal(_nearest_ratio(int(own.sum()), len(own)))
        self._play(len(self._names) - (default is not None))

    def _play(self, n_arms: int) -> None:
        """Let the first labels be the arms."""
        rewards, starts, sizes = self._all
        self._hold(TableRecord(rewards, starts[:n_arms], sizes[:n_arms]), self.unit)
        self.arms = tuple(self._names[:n_arms])
        self.rows = tuple(sizes[:n_arms].tolist())

    def with_default(self, value: Number | None = None, label: Any = None) -> ReplayLog:
        """The same log and noise, with the default as one more arm, the last.

        ``value``, ``label``: of a default that has no rows in the log, and then always pays this.

        >>> env = ReplayLog({"arm": ["a", "b"], "reward": [1, 0]}, default="a")
        >>> env.with_default().arms
        ('b', 'a')
        >>> env.with_default(0.5, "old").means.tolist()
        [0.0, 1.0, 0.5]
        """
        joined = copy.copy(self)
        if value is not None:
            joined._names = [*self._names, label]
            joined._all = with_one(self._all, self.unit.floor(exact(value, "default")))
        joined._play(len(joined._names))
        return joined

    def drawing(self, record: TableRecord) -> ReplayLog:
        """The same arms, paying from another table of as many of them, in the same unit."""
        other = copy.copy(self)
        other._hold(record, self.unit)
        return other


def _ordered(labels: set[Any], default: Any) -> list[Any]:
    """The labels in order, ints first; the default, if there is one, last."""
    names = sorted(labels, key=lambda label: (isinstance(label, str), label))
    if default is None:
        return names
    if default not in names:
        raise InvalidInput(
            f"default = {shown(default)} is not an arm of the log; its arms are "
            f"{first_few(names, shown)}"
        )
    if len(names) == 1:
        raise InvalidInput(
            f"the log has no arm besides the default {shown(default)}; there is nothing to explore"
        )
    names.append(names.pop(names.index(default)))
    return names


def _collected(frame: Any) -> Any:
    """The frame that a lazy one stands for."""
    lazy = hasattr(frame, "collect_schema") and hasattr(frame, "collect")
    return frame.collect() if lazy else frame


def _column(frame: Any, name: str) -> Any:
    try:
        column = frame[name]
    except Exception:  # noqa: BLE001  (each frame library has its own error for this)
        columns = getattr(frame, "columns", frame if isinstance(frame, Mapping) else None)
    else:
        if getattr(column, "ndim", 1) != 1 and hasattr(column, "columns"):
            raise InvalidInput(f"the log has several columns {shown(name)}; rename all but one")
        if isinstance(column, Iterable) and not isinstance(column, str):
            return column
        raise InvalidInput(f"column {shown(name)} of the log is {shown(column)}; give a list")
    if not isinstance(columns, Iterable):
        raise InvalidInput(
            f"the log is a {type(frame).__name__}; give a dataframe, of a file "
            "polars.read_csv(path), or a dict of two lists"
        )
    raise InvalidInput(
        f"the log has no column {shown(name)}; its columns are {first_few(list(columns), shown)}"
    )


def _labels(column: Any) -> list[Any]:
    """The arms as Python objects, each a string or an int."""
    listed = getattr(column, "to_list", None) or getattr(column, "tolist", None)
    labels = list(column) if listed is None else listed()
    for kind in set(map(type, labels)):
        if not issubclass(kind, str | int) or issubclass(kind, bool):
            row, label = next((i, x) for i, x in enumerate(labels, 1) if type(x) is kind)
            missing = label is None or np.ma.is_masked(label)
            if missing or str(label).lower() in {"nan", "nat", "<na>"}:
                raise InvalidInput(f"row {row} of the log has no arm ({label}); drop it")
            raise InvalidInput(
                f"arm label {shown(label)} in row {row} of the log must be a string or an int"
            )
    return labels


def _values(column: Any) -> npt.NDArray[Any]:
    """The rewards as finite float64 where they are floats or ints, else as exact Decimals."""
    if isinstance(column, list | tuple):
        plain = set(map(type, column)) <= {int, float, bool}
        column = np.array(column, dtype=None if plain else object)
    if isinstance(column, np.ma.MaskedArray) and column.ndim == 1:
        _refuse_masked(np.ma.getmaskarray(column))
    values = np.asarray(column)
    if values.ndim != 1:
        raise InvalidInput(f"the rewards of the log have {values.ndim} dimensions; give a list")
    if values.dtype.kind == "f" and values.dtype != np.float64:
        values = values.astype(str).astype(np.float64)  # a float32 means its own shortest decimal
    elif values.dtype.kind in "biu":
        values = values.astype(np.float64)
    if values.dtype == np.float64:
        for row in np.flatnonzero(~(np.abs(values) < 10.0**_TOO_LONG))[:1]:
            _one(values[row].item(), int(row) + 1)
        return values
    listed = values.tolist()
    _refuse_masked([np.ma.is_masked(value) for value in listed])
    exacts = np.empty(len(values), dtype=object)
    exacts[:] = [_one(value, row) for row, value in enumerate(listed, 1)]
    return exacts


def _refuse_masked(masks: Any) -> None:
    """A masked entry still has a number below its mask; it is not data."""
    for row in np.flatnonzero(masks)[:1]:
        raise InvalidInput(
            f"row {row + 1} of the log has no reward (masked); drop it or fill it in"
        )


def _one(value: Any, row: int) -> Decimal:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        raise InvalidInput(f"row {row} of the log has no reward ({value}); drop it or fill it in")
    number = exact(value, f"reward in row {row} of the log")
    if number.adjusted() >= _TOO_LONG:
        raise InvalidInput(f"reward in row {row} of the log is beyond 10**{_TOO_LONG}; rescale it")
    return number


def _range(values: npt.NDArray[Any], declared: Any) -> tuple[Decimal, Decimal]:
    """The declared range, or the log's own; a reward outside of it is named."""
    ends = [int(values.argmin()), int(values.argmax())]
    own = [_one(values[row], row + 1) for row in ends]
    if declared is None:
        return own[0], own[1]
    low, high = exact_range(declared)
    for value, row in zip(own, ends, strict=True):
        if not low <= value <= high:
            raise InvalidInput(
                f"reward in row {row + 1} of the log is {value}, outside the reward_range "
                f"({low}, {high}); widen it or correct the log"
            )
    return low, high


def _nearest(values: npt.NDArray[Any], unit: Unit) -> npt.NDArray[np.int64]:
    """Each reward in units, rounded to the nearest, a half up."""

    def one(value: Any) -> int:
        return _nearest_ratio(*unit.ratio(exact(value, "reward")))

    if values.dtype != np.float64:
        return np.array([one(value) for value in values], dtype=np.int64)
    scale = 10.0 ** abs(unit.places)
    scaled = values * scale if unit.places >= 0 else values / scale
    amounts = np.floor(scaled + 0.5).astype(np.int64)
    for row in np.flatnonzero(abs(scaled - np.floor(scaled) - 0.5) <= _DOUBT):
        amounts[row] = one(values[row])
    return amounts


def _nearest_ratio(numerator: int, denominator: int) -> int:
    """The integer nearest to a fraction, a half up."""
    return (2 * numerator + denominator) // (2 * denominator)


def _codes(labels: list[Any], names: list[Any]) -> npt.NDArray[np.int64]:
    """The place of each label among the names."""
    numbers = {label: number for number, label in enumerate(names)}
    return np.fromiter(map(numbers.__getitem__, labels), np.int64, len(labels))


def _by_arm(codes: npt.NDArray[np.int64], amounts: npt.NDArray[np.int64]) -> TableRecord:
    """The amounts sorted by arm, else as in the log."""
    sizes = np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    rewards = amounts[np.argsort(codes, kind="stable")]
    return TableRecord(rewards, starts.astype(np.uint64), sizes.astype(np.uint64))
