"""The columns of a log: labels, rewards, propensities and features, each cell checked.

Every reader ends here, so that one rule holds for all of them: what a file of text spells, what a
Parquet file types, and what a frame in memory holds become the same rows, and a cell that cannot be
is named by its place and its column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from surefoot._exact import shown
from surefoot.errors import InvalidInput

if TYPE_CHECKING:
    import polars as pl

Place: TypeAlias = Callable[[int], str]
"""Where a row is, counted from 0: "line 3 of log.csv", "row 2 of the log"."""

LARGEST = 1e300
"""No reward and no feature is larger."""
_NO_ARM = ("nan", "nat", "<na>")
"""What programs write for a label that is missing, in any case."""


class Spelling(NamedTuple):
    """How a log spells what it holds, where the log itself does not show it."""

    delimiter: str | None = None
    """What separates the columns of a CSV; None: comma, semicolon, tab or bar, as it fits."""
    decimal: str = "."
    """The decimal mark of numbers that are text, point or comma."""
    words: tuple[str, str] = ("true", "false")
    """Words for a reward of 1 and of 0, besides true and false; in any case."""
    missing: float | None = None
    """The reward of a row that has none; None: such a row is refused."""
    worst_cost: float | None = None
    """Of a log of costs, the highest cost there can be; a reward is what is left of it."""


USUAL = Spelling()


class Wanted(NamedTuple):
    """Which columns of a log are read; None: the name that is usual where it comes from."""

    arm: str | None = None
    reward: str | None = None
    propensity: str | None = None
    context: tuple[str, ...] = ()
    """Columns of numbers, or one column of lists of numbers."""

    def named(self) -> Wanted:
        """The same, with the names of a table: ``arm`` and ``reward``."""
        return self._replace(arm=self.arm or "arm", reward=self.reward or "reward")

    def names(self) -> dict[str, str]:
        """Each column once, and how to choose another one in its stead.

        >>> Wanted("page", propensity="p").names()
        {'page': 'arm= (--arm-column)', 'p': 'propensity= (--propensity-column)'}
        """
        chosen = [
            (self.arm, "arm= (--arm-column)"),
            (self.reward, "reward= (--reward-column)"),
            (self.propensity, "propensity= (--propensity-column)"),
            *((name, "context= (--context-columns)") for name in self.context),
        ]
        ways: dict[str, str] = {}
        for name, way in chosen:
            if name is not None:
                ways.setdefault(name, way)
        return ways


def of_values(values: Sequence[Any], name: str, place: Place) -> pl.Series:
    """A column of Python values as a series of one type; None is missing.

    Text where any cell is text; exact decimals, lists, days or times where all cells are;
    else floats or ints. Raises InvalidInput for a cell that none of these can hold.
    """
    import polars as pl

    plain = list(values)
    if any(issubclass(kind, np.generic) for kind in set(map(type, plain))):
        plain = [value.item() if isinstance(value, np.generic) else value for value in plain]
    if all(isinstance(value, date | None) for value in plain) and plain.count(None) < len(plain):
        with suppress(TypeError, pl.exceptions.PolarsError):  # days and times mixed
            return pl.Series(name, plain)
    kinds = {_kind(value) for value in {type(value): value for value in plain}.values()}
    if kinds & {"list", "other"}:  # one that is well says nothing of the others of its type
        kinds = {_kind(value) for value in plain}
    kinds.discard("missing")
    if "other" in kinds:
        row = next(row for row, value in enumerate(plain) if _kind(value) == "other")
        raise InvalidInput(
            f"{shown(name)} in {place(row)} is {_called(plain[row])}; give a number or a text"
        )
    if "list" in kinds and len(kinds) > 1:
        known = [row for row, one in enumerate(plain) if one is not None]
        is_list = _kind(plain[known[0]]) == "list"
        row = next(row for row in known if (_kind(plain[row]) == "list") != is_list)
        raise InvalidInput(
            f"{shown(name)} in {place(row)} is {_called(plain[row])}, not what other rows hold; "
            "give one kind of cell"
        )
    try:
        if "text" in kinds:
            return pl.Series(name, [_text(value) for value in plain], pl.String)
        if kinds == {"list"}:
            return pl.Series(name, plain, pl.List(pl.Float64), strict=False)
        if kinds in ({"decimal"}, {"decimal", "int"}):
            return pl.Series(name, [None if one is None else Decimal(one) for one in plain])
        if kinds == {"flag"}:
            return pl.Series(name, plain, pl.Boolean)
        if kinds == {"int"} and all(one is None or abs(one) < 2**63 for one in plain):
            return pl.Series(name, plain, pl.Int64)
    except UnicodeEncodeError:
        row = next(row for row, value in enumerate(plain) if not _is_unicode(value))
        raise InvalidInput(
            f"{shown(name)} in {place(row)} holds half a character; write it again"
        ) from None
    except (pl.exceptions.PolarsError, ArithmeticError, RuntimeError):
        pass  # decimals too long for a column of them: floats will do
    return pl.Series(name, [_float(one) for one in plain], pl.Float64)


def _kind(value: Any) -> str:
    """What a cell is: missing, flag, int, float, decimal, text, list or other."""
    if value is None:
        return "missing"
    if isinstance(value, list | tuple | np.ndarray):
        return "list" if all(isinstance(_plain(one), int | float) for one in value) else "other"
    for kind, called in ((bool, "flag"), (int, "int"), (float, "float"), (Decimal, "decimal")):
        if isinstance(value, kind):
            return called
    return "text" if isinstance(value, str) else "other"


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, bool) else value


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def _float(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _is_unicode(value: Any) -> bool:
    try:
        str(value).encode()
    except UnicodeEncodeError:
        return False
    return True


def _called(value: Any) -> str:
    return "a nested object" if isinstance(value, dict) else shown(value)


def labels(column: pl.Series, place: Place) -> pl.Series:
    """The arms: ints if all are written as such, else texts. Refuses a row without one."""
    import polars as pl

    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        raise InvalidInput(
            f"column {column.name!r} of {_whole(place)} holds {column.dtype}; an arm is text or an "
            "int"
        )
    found = column if column.dtype.is_integer() else _labels(column)
    for row in found.is_null().arg_true()[:1]:
        raise InvalidInput(f"{place(row)} has no arm in column {column.name!r}; drop it")
    return found


def _whole(place: Place) -> str:
    """The log itself, of which a place names a row."""
    return place(0).partition(" of ")[2] or "the log"


def _labels(column: pl.Series) -> pl.Series:
    import polars as pl

    texts = column.cast(pl.String).replace("", None)
    if column.dtype == pl.Datetime:
        texts = texts.str.replace(r"\.0+", "")  # of a whole second
    missing = [one for one in texts.unique() if one is not None and one.lower() in _NO_ARM]
    texts = texts.replace(missing, None) if missing else texts
    if column.dtype.is_float():
        texts = texts.str.strip_suffix(".0")  # ints that once had gaps among them
    ints = texts.cast(pl.Int64, strict=False)
    written_alike = (ints.cast(pl.String) == texts) | texts.is_null()
    return ints if written_alike.fill_null(value=False).all() else texts


def rewards(column: pl.Series, spelling: Spelling, place: Place) -> pl.Series:
    """The rewards as numbers, what is missing replaced or refused, and none infinite."""
    numbers = _filled(_numbers(column, spelling, place, "a reward is a number"), spelling)
    for row in numbers.is_null().arg_true()[:1]:
        raise InvalidInput(
            f"{place(row)} has no reward in column {column.name!r}; drop it, or say what it is "
            "worth with missing= (--missing), 0 say"
        )
    _bounded(numbers, column.name, "a reward", place)
    return numbers


def _filled(numbers: pl.Series, spelling: Spelling) -> pl.Series:
    import polars as pl

    if spelling.missing is None or not numbers.null_count():
        return numbers
    if not math.isfinite(spelling.missing):
        raise InvalidInput(f"--missing {spelling.missing} must be a finite number")
    if numbers.dtype.is_decimal():
        exact = Decimal(repr(spelling.missing))
        return pl.Series([exact if one is None else one for one in numbers])
    return numbers.cast(pl.Float64).fill_null(spelling.missing)


def _bounded(numbers: pl.Series, name: str, noun: str, place: Place) -> None:
    if numbers.dtype.is_float():
        for row in (numbers.abs() > LARGEST).arg_true()[:1]:
            raise InvalidInput(
                f"{name!r} in {place(row)} is {numbers[row]:g}; {noun} is a finite number, at most "
                f"{LARGEST:g}"
            )


def _numbers(column: pl.Series, spelling: Spelling, place: Place, rule: str) -> pl.Series:
    """A column as numbers; null where there is none."""
    import polars as pl

    kind = column.dtype
    if not (kind.is_numeric() or kind in (pl.Boolean, pl.Null, pl.String)):
        raise InvalidInput(f"column {column.name!r} of {_whole(place)} holds {kind}; {rule}")
    numbers = _parsed(column, spelling, place, rule) if kind == pl.String else column
    if kind == pl.Boolean:
        numbers = numbers.cast(pl.Int64)
    if kind == pl.Float32:  # each stands for its own shortest decimal
        numbers = numbers.cast(pl.String).cast(pl.Float64)
    if numbers.dtype.is_float():
        numbers = numbers.fill_nan(None)
    return numbers


def _parsed(column: pl.Series, spelling: Spelling, place: Place, rule: str) -> pl.Series:
    """The numbers that texts spell, null where there is no text."""
    import polars as pl

    texts = column.str.strip_chars().replace("", None)
    yes, no = (word.strip().lower() for word in spelling.words)
    flags = texts.str.to_lowercase().replace_strict(
        {"true": 1.0, "false": 0.0, yes: 1.0, no: 0.0}, default=None, return_dtype=pl.Float64
    )
    plain = texts
    if spelling.decimal == ",":
        points = texts.str.contains(".", literal=True).fill_null(value=False)
        plain = texts.set(points, None).str.replace(",", ".", literal=True)
    numbers = flags.fill_null(plain.cast(pl.Float64, strict=False))
    for row in (numbers.is_null() & texts.is_not_null()).arg_true()[:1]:
        raise InvalidInput(
            f"column {column.name!r} holds {shown(column[row])} in {place(row)}; {rule}"
            f"{_remedy(texts[row], spelling)}"
        )
    return numbers


def _remedy(text: str, spelling: Spelling) -> str:
    """How to say what a text means, where that can be guessed."""
    if spelling.decimal == "." and text.count(",") == 1 and _is_number(text.replace(",", ".")):
        return ": if the comma is its decimal mark, give --decimal ,"
    if spelling.decimal == "," and _is_number(text):
        return ": --decimal , allows for no point"
    if text.isalpha():
        return ": if it is one of two words for 1 and 0, give both, as in --words yes no"
    return ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def propensities(column: pl.Series, spelling: Spelling, place: Place) -> pl.Series:
    """The probability with which each row's arm was chosen, in (0, 1]."""
    import polars as pl

    rule = "a propensity is the probability with which the row's arm was chosen, above 0, at most 1"
    found = _numbers(column, spelling, place, rule).cast(pl.Float64)
    for row in (~((found > 0) & (found <= 1))).fill_null(value=True).arg_true()[:1]:
        value = "missing" if found[row] is None else f"{found[row]:.10g}"
        raise InvalidInput(f"{column.name!r} in {place(row)} is {value}; {rule}")
    return found


def features(
    columns: Sequence[pl.Series], spelling: Spelling, place: Place
) -> tuple[pl.Series, tuple[str, ...]]:
    """Each row's context as an array of floats, and the names of its numbers.

    ``columns``: some of numbers, or one of lists of equally many.
    """
    import polars as pl

    if len(columns) == 1 and columns[0].dtype in (pl.List, pl.Array):
        return _vectors(columns[0], place)
    rule = "a context is numbers: encode what is not, one column of 0 and 1 for each category say"
    found = []
    for column in columns:
        numbers = _numbers(column, spelling, place, rule).cast(pl.Float64)
        for row in numbers.is_null().arg_true()[:1]:
            raise InvalidInput(f"{column.name!r} in {place(row)} is missing; {rule}")
        _bounded(numbers, column.name, "a feature", place)
        found.append(numbers.to_numpy())
    return _array(np.column_stack(found)), tuple(column.name for column in columns)


def _vectors(column: pl.Series, place: Place) -> tuple[pl.Series, tuple[str, ...]]:
    import polars as pl

    name = column.name
    if column.dtype == pl.Array:
        column = column.arr.to_list()
    inner = column.dtype.inner  # type: ignore[attr-defined]
    if not (inner.is_numeric() or inner in (pl.Boolean, pl.Null)):
        raise InvalidInput(
            f"column {name!r} of {_whole(place)} holds lists of {inner}; a context is numbers"
        )
    sizes = column.list.len()
    for row in (sizes != sizes[0]).fill_null(value=True).arg_true()[:1]:
        has = "missing" if column[row] is None else f"a list of {sizes[row]}"
        raise InvalidInput(
            f"{name!r} in {place(row)} is {has}, in {place(0)} one of {sizes[0]}; give contexts of "
            "one length"
        )
    if not sizes[0]:
        raise InvalidInput(f"{name!r} in {place(0)} is empty; a context is one number or more")
    cells = column.explode().cast(pl.Float64)
    table = cells.fill_null(math.nan).to_numpy().reshape(len(column), -1)
    for row in np.flatnonzero(~(np.abs(table) <= LARGEST).all(axis=1))[:1]:
        raise InvalidInput(
            f"{name!r} in {place(int(row))} holds a gap; a context is finite numbers"
        )
    return _array(table), tuple(f"{name}[{number}]" for number in range(table.shape[1]))


def _array(table: Any) -> pl.Series:
    import polars as pl

    return pl.Series("context", np.ascontiguousarray(table, dtype=np.float64), dtype=pl.Array(
        pl.Float64, table.shape[1]))  # fmt: skip
