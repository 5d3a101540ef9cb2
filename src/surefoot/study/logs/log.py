"""A log of one's own: two columns of a CSV or Parquet file become the arms and their rewards."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot._logs import row_place
from surefoot.errors import InvalidInput, missing_extra

if TYPE_CHECKING:
    import polars as pl


_PARQUET = b"PAR1"
_NO_ARM = ("nan", "nat", "<na>")
"""What programs write for a label that is missing, in any case."""
_LARGEST = 1e300


class Spelling(NamedTuple):
    """How a log spells what it holds, where the log itself does not show it."""

    delimiter: str | None = None
    """What separates the columns of a CSV; None: comma, semicolon, tab or bar, as it fits."""
    decimal: str = "."
    """The decimal mark of rewards that are text, point or comma."""
    words: tuple[str, str] = ("true", "false")
    """Words for a reward of 1 and of 0, besides true and false; in any case."""
    missing: float | None = None
    """The reward of a row that has none; None: such a row is refused."""


USUAL = Spelling()


class Log(NamedTuple):
    """The columns ``arm`` and ``reward``, and where a row is: ``place(0)`` is the first one."""

    frame: pl.DataFrame
    place: Callable[[int], str]


def read(
    path: str | Path, arm: str = "arm", reward: str = "reward", spelling: Spelling = USUAL
) -> Log:
    """Read the columns ``arm`` and ``reward`` of a log, under these two names.

    CSV in UTF-8 (comma, semicolon, tab or bar; gzip and zstd too) or Parquet, whichever its
    first bytes show. Labels come as they are written, as ints if all of them are such; ``true``
    and ``false`` are rewards of 1 and 0. Blank lines at the end of a CSV are left out. Raises
    InvalidInput for a file that is not there or is neither kind, for rows of another width than
    the header, for a column that is not there or is there twice, and for an arm or a reward
    that is missing or none: with the line of the file, or the row of a Parquet file, the first
    being 1.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "log.csv"
    >>> _ = file.write_text("carrier,ok\\nUA,1\\nAA,0\\n", encoding="utf-8")
    >>> log = read(file, arm="carrier", reward="ok")
    >>> log.frame.rows(), log.place(1)
    ([('UA', 1.0), ('AA', 0.0)], 'line 3')
    """
    try:
        import polars as pl
    except ImportError:
        raise missing_extra("study", "polars") from None
    path = Path(path)
    if spelling.decimal not in (".", ","):
        raise InvalidInput(f"--decimal {spelling.decimal} must be a point or a comma")
    try:
        with path.open("rb") as file:
            head = file.read(4096)
        if b"\0" in head and not head.startswith((_PARQUET, *COMPRESSED)):
            raise InvalidInput(
                f"{path} holds NUL bytes and is neither CSV nor Parquet; save it as CSV in UTF-8"
            )
        columns = _parquet if head.startswith(_PARQUET) else _csv
        arms, rewards, place = columns(path, arm, reward, spelling)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InvalidInput(f"cannot read {path}: {reason}") from None
    except pl.exceptions.NoDataError:
        raise InvalidInput(f"{path} is empty; give a log with a header and a row a play") from None
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0].rstrip(".")
        if "invalid utf" in reason:
            raise InvalidInput(f"{path} is not in UTF-8; save it as CSV in UTF-8") from None
        raise InvalidInput(f"cannot read {path} as CSV or Parquet: {reason}") from None
    arms, rewards = _labels(arms), _numbers(rewards, spelling, place)
    _refuse_missing(path, arms, rewards, place)
    return Log(pl.DataFrame({"arm": arms, "reward": rewards}), place)


def label(text: str, frame: pl.DataFrame) -> Any:
    """The arm of a log that is written ``text``; the text itself if there is none.

    >>> import polars as pl
    >>> label("7", pl.DataFrame({"arm": [7, 8]})), label("x", pl.DataFrame({"arm": [7, 8]}))
    (7, 'x')
    """
    return next((known for known in frame["arm"].drop_nulls().unique() if str(known) == text), text)


def within(
    frame: pl.DataFrame, low: float, high: float, place: Callable[[int], str] = row_place
) -> None:
    """Raise InvalidInput unless all rewards lie in the range that ``--reward-range`` claims.

    >>> import polars as pl
    >>> within(pl.DataFrame({"reward": [1.0, 2.5]}), 0, 2)
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: the reward in row 2 is 2.5, outside --reward-range 0 2; widen it \
or correct the log
    """
    import polars as pl

    claim = f"--reward-range {low:.10g} {high:.10g}"
    if not low < high:
        raise InvalidInput(f"{claim} must give the lower bound first, then a higher one")
    rewards = frame["reward"].cast(pl.Float64)
    for row in ((rewards < low) | (rewards > high)).arg_true()[:1]:
        raise InvalidInput(
            f"the reward in {place(row)} is {rewards[row]:.10g}, outside {claim}; widen it or "
            "correct the log"
        )


_Columns = tuple["pl.Series", "pl.Series", Callable[[int], str]]


def _parquet(path: Path, arm: str, reward: str, spelling: Spelling) -> _Columns:
    import polars as pl

    if spelling.delimiter is not None:
        raise InvalidInput(f"--delimiter is for a CSV; {path} is Parquet")
    known = pl.read_parquet_schema(path)
    for option, name in (("--arm-column", arm), ("--reward-column", reward)):
        if name not in known:
            shown = ", ".join(map(repr, known))
            raise InvalidInput(
                f"{path} has no column {name!r}; its columns are {shown}: choose with {option}"
            )
    frame = pl.read_parquet(path, columns=list(dict.fromkeys((arm, reward))), glob=False)
    return frame[arm], frame[reward], row_place


def _refuse_missing(
    path: Path, arms: pl.Series, rewards: pl.Series, place: Callable[[int], str]
) -> None:
    for row in arms.is_null().arg_true()[:1]:
        raise InvalidInput(f"{place(row)} of {path} has no arm; drop it")
    for row in rewards.is_null().arg_true()[:1]:
        raise InvalidInput(
            f"{place(row)} of {path} has no reward; drop it, or say what it is worth with "
            "--missing, 0 say"
        )
    if rewards.dtype.is_float():
        for row in (rewards.abs() > _LARGEST).arg_true()[:1]:
            raise InvalidInput(
                f"the reward in {place(row)} of {path} is {rewards[row]:g}; a reward is a finite "
                f"number, at most {_LARGEST:g}"
            )


def _labels(column: pl.Series) -> pl.Series:
    import polars as pl

    if column.dtype.is_integer():
        return column
    if column.dtype.is_nested() or column.dtype == pl.Binary:
        raise InvalidInput(f"column {column.name!r} holds {column.dtype}; an arm is text or an int")
    texts = column.cast(pl.String).replace("", None)
    missing = [one for one in texts.unique() if one is not None and one.lower() in _NO_ARM]
    texts = texts.replace(missing, None) if missing else texts
    if column.dtype.is_float():
        texts = texts.str.strip_suffix(".0")  # ints that once had gaps among them
    ints = texts.cast(pl.Int64, strict=False)
    written_alike = (ints.cast(pl.String) == texts) | texts.is_null()
    return ints if written_alike.fill_null(value=False).all() else texts


def _numbers(column: pl.Series, spelling: Spelling, place: Callable[[int], str]) -> pl.Series:
    import polars as pl

    kind = column.dtype
    if not (kind.is_numeric() or kind in (pl.Boolean, pl.Null, pl.String)):
        raise InvalidInput(f"column {column.name!r} holds {kind}; a reward is a number")
    numbers = _parsed(column, spelling, place) if kind == pl.String else column
    if numbers.dtype.is_float():
        numbers = numbers.fill_nan(None)
    if spelling.missing is None or not numbers.null_count():
        return numbers
    if not math.isfinite(spelling.missing):
        raise InvalidInput(f"--missing {spelling.missing} must be a finite number")
    if numbers.dtype.is_decimal():
        exact = Decimal(repr(spelling.missing))
        return pl.Series([exact if one is None else one for one in numbers])
    return numbers.cast(pl.Float64).fill_null(spelling.missing)


def _parsed(column: pl.Series, spelling: Spelling, place: Callable[[int], str]) -> pl.Series:
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
            f"column {column.name!r} holds {column[row]!r} in {place(row)}; a reward is a number"
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


DELIMITERS = ",;\t|"
"""What may separate the columns where nothing is said."""
COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")  # gzip, zstd
_HEAD = 1_000  # lines that a header may take


def _csv(path: Path, arm: str, reward: str, spelling: Spelling) -> _Columns:
    """Both columns as text, so that nothing is guessed from the first rows.

    polars reads all columns, for only then does it see a row that is too long. It names no line,
    and takes a row that is too short for one with empty fields; where that can be so, the csv
    module goes over the file once more.
    """
    import polars as pl

    delimiter, header = _header(path, (arm, reward), spelling.delimiter)
    try:
        frame = pl.read_csv(path, separator=delimiter, infer_schema=False, glob=False)
    except pl.exceptions.PolarsError:
        _refuse_ragged(path, delimiter, len(header))
        _refuse_bytes(path)
        raise
    if frame.width != len(header):
        raise InvalidInput(f"cannot read the header of {path}: mend its quotes")
    if frame.to_series(-1).null_count():
        full = frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series().arg_true()
        frame = frame.head(full[-1] + 1 if len(full) else 0)  # blank lines at the end
    if frame.to_series(-1).null_count() or _ends_with(path, delimiter):
        _refuse_ragged(path, delimiter, len(header))

    def place(row: int) -> str:
        """The line of the file that a row, counted from 0, begins on."""
        for number, (line, _) in enumerate(_records(path, delimiter)):
            if number == row + 1:
                return f"line {line}"
        return row_place(row)

    arms, rewards = (frame.to_series(header.index(name)).rename(name) for name in (arm, reward))
    for column in (arms, rewards):
        for row in column.str.contains("\0", literal=True).arg_true()[:1]:
            raise InvalidInput(f"{place(row)} of {path} holds a NUL byte; save it as text")
    return arms, rewards, place


def _header(path: Path, wanted: tuple[str, str], delimiter: str | None) -> tuple[str, list[str]]:
    """What separates the columns, and their names."""
    import polars as pl

    try:
        lines = pl.read_lines(path, n_rows=_HEAD, glob=False).to_series().to_list()
    except pl.exceptions.PolarsError:
        _refuse_bytes(path)
        raise
    if not any(line.strip("\r") for line in lines):
        raise InvalidInput(f"{path} is empty; give a log with a header and a row a play")
    if any("\r" in line.rstrip("\r") for line in lines[:1]):
        raise InvalidInput(
            f"{path} ends its lines with CR alone; save it with LF or CR LF at the end of a line"
        )
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n' or delimiter > "~"):
        raise InvalidInput(f"--delimiter {delimiter} must be one character, such as ; or | or tab")
    found = {
        mark: next(fields for _, fields in _split(lines, mark) if fields)
        for mark in ([delimiter] if delimiter else DELIMITERS)
    }
    choice = next(
        (mark for mark, names in found.items() if set(wanted) <= set(names)),
        max(found, key=lambda mark: len(found[mark])),
    )
    for option, name in zip(("--arm-column", "--reward-column"), wanted, strict=True):
        _once(path, found[choice], name, option, guessed=delimiter is None)
    return choice, found[choice]


def _once(path: Path, names: list[str], name: str, option: str, *, guessed: bool) -> None:
    if (count := names.count(name)) == 1:
        return
    if count:
        raise InvalidInput(f"{path} has {count} columns {name!r}; rename all but one")
    way = f"choose with {option}"
    if guessed and len(names) == 1:
        way += ", or say what separates them with --delimiter"
    shown = ", ".join(map(repr, names))
    raise InvalidInput(f"{path} has no column {name!r}; its columns are {shown}: {way}")


def _split(lines: list[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The line each record begins on, from 1, and its fields; none for a blank line."""
    rows = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    begins = 1
    try:
        for fields in rows:
            if begins == 1 and fields:
                fields[0] = fields[0].removeprefix("\ufeff")
            yield begins, fields
            begins = rows.line_num + 1
    except csv.Error:  # a field longer than csv reads: nothing behind it is named
        return


def _records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """All records of a file from its header on."""
    import polars as pl

    lines = pl.read_lines(path, glob=False).to_series().to_list()
    begun = False
    for line, fields in _split(lines, delimiter):
        begun = begun or bool(fields)
        if begun:
            yield line, fields


def _refuse_ragged(path: Path, delimiter: str, width: int) -> None:
    for line, fields in _records(path, delimiter):
        if fields and len(fields) != width:
            noun = "field" if len(fields) == 1 else "fields"
            raise InvalidInput(
                f"line {line} of {path} has {len(fields)} {noun}, its header has {width}; put "
                f"quotes around what holds a {_called(delimiter)}, a decimal comma say, or "
                "separate the columns by another mark and name it with --delimiter"
            )


def _refuse_bytes(path: Path) -> None:
    """Refuse what is not UTF-8 by its line; of a compressed file polars says so, without."""
    with path.open("rb") as file:
        if file.read(4).startswith(COMPRESSED):
            return
        file.seek(0)
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                raise InvalidInput(
                    f"line {number} of {path} is not in UTF-8; save the file as CSV in UTF-8, "
                    "with iconv say"
                ) from None


def _ends_with(path: Path, delimiter: str) -> bool:
    """Whether a file breaks off behind a delimiter, which polars overlooks."""
    with path.open("rb") as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - 1))
        return file.read() == delimiter.encode()


def _called(delimiter: str) -> str:
    names = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
    return names.get(delimiter, repr(delimiter))
