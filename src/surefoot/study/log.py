"""A log of one's own: two columns of a CSV or Parquet file become the arms and their rewards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.errors import InvalidInput, missing_extra

if TYPE_CHECKING:
    import polars as pl

_PARQUET = b"PAR1"
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")  # gzip, zstd


def read(path: str | Path, arm: str = "arm", reward: str = "reward") -> pl.DataFrame:
    """Read the columns ``arm`` and ``reward`` of a log, under these two names.

    CSV (comma, semicolon, tab or bar; gzip and zstd too) or Parquet, told apart by the content.
    Labels come as they are written, as ints if all of them are such; ``true`` and ``false`` are
    rewards of 1 and 0. What is missing stays null: ``ReplayLog`` names the row; only blank lines at
    the end of a CSV are left out. Raises
    InvalidInput for a file that is not there or is neither kind, for a column that is not there,
    and for a reward that is no number; the first row below the header is row 1.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "log.csv"
    >>> _ = file.write_text("carrier,ok\\nUA,1\\nAA,0\\n")
    >>> read(file, arm="carrier", reward="ok").rows()
    [('UA', 1.0), ('AA', 0.0)]
    """
    try:
        import polars as pl
    except ImportError:
        raise missing_extra("study", "polars") from None
    path = Path(path)
    try:
        with path.open("rb") as file:
            head = file.read(4096)
        if b"\0" in head and not head.startswith((_PARQUET, *_COMPRESSED)):
            raise InvalidInput(f"{path} is neither CSV nor Parquet; save it as CSV in UTF-8")
        columns = _parquet if head.startswith(_PARQUET) else _csv
        frame = columns(path, arm, reward)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InvalidInput(f"cannot read {path}: {reason}") from None
    except pl.exceptions.NoDataError:
        raise InvalidInput(f"{path} is empty; give a log with a header and a row a play") from None
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InvalidInput(f"cannot read {path} as CSV or Parquet: {reason}") from None
    return frame.select(arm=_labels(frame[arm]), reward=_numbers(frame[reward]))


def label(text: str, frame: pl.DataFrame) -> Any:
    """The arm of a log that is written ``text``; the text itself if there is none.

    >>> import polars as pl
    >>> label("7", pl.DataFrame({"arm": [7, 8]})), label("x", pl.DataFrame({"arm": [7, 8]}))
    (7, 'x')
    """
    return next((known for known in frame["arm"].drop_nulls().unique() if str(known) == text), text)


def within(frame: pl.DataFrame, low: float, high: float) -> None:
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
            f"the reward in row {row + 1} is {rewards[row]:.10g}, outside {claim}; widen it or "
            "correct the log"
        )


def _parquet(path: Path, arm: str, reward: str) -> pl.DataFrame:
    import polars as pl

    wanted = _present(path, pl.read_parquet_schema(path), arm, reward)
    return pl.read_parquet(path, columns=wanted, glob=False)


def _csv(path: Path, arm: str, reward: str) -> pl.DataFrame:
    """Both columns as text, so that nothing is guessed from the first rows."""
    import polars as pl

    columns, separator = _header(path, ","), ","
    if len(columns) == 1:
        separator = next((mark for mark in ";\t|" if mark in columns[0]), ",")
        columns = _header(path, separator)
    wanted = _present(path, columns, arm, reward)
    frame = pl.read_csv(
        path, separator=separator, columns=wanted, glob=False,
        schema_overrides=dict.fromkeys(wanted, pl.String),
    )  # fmt: skip
    filled = (frame[arm].is_not_null() | frame[reward].is_not_null()).arg_true()
    return frame.head(filled[-1] + 1 if len(filled) else 0)


def _header(path: Path, separator: str) -> list[str]:
    import polars as pl

    return pl.read_csv(path, separator=separator, n_rows=0, glob=False).columns


def _present(path: Path, columns: Any, arm: str, reward: str) -> list[str]:
    for option, name in (("--arm-column", arm), ("--reward-column", reward)):
        if name not in columns:
            shown = ", ".join(map(repr, columns))
            raise InvalidInput(
                f"{path} has no column {name!r}; its columns are {shown}: choose with {option}"
            )
    return list(dict.fromkeys((arm, reward)))


def _labels(column: pl.Series) -> pl.Series:
    import polars as pl

    if column.dtype.is_integer():
        return column
    if column.dtype.is_nested() or column.dtype == pl.Binary:
        raise InvalidInput(f"column {column.name!r} holds {column.dtype}; an arm is text or an int")
    texts = column.cast(pl.String).replace("", None)
    if column.dtype.is_float():
        texts = texts.str.strip_suffix(".0")  # ints that once had gaps among them
    ints = texts.cast(pl.Int64, strict=False)
    written_alike = (ints.cast(pl.String) == texts) | texts.is_null()
    return ints if written_alike.fill_null(value=False).all() else texts


def _numbers(column: pl.Series) -> pl.Series:
    import polars as pl

    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return column
    if column.dtype != pl.String:
        raise InvalidInput(f"column {column.name!r} holds {column.dtype}; a reward is a number")
    texts = column.str.strip_chars().replace("", None)
    flags = texts.str.to_lowercase().replace_strict(
        {"true": 1.0, "false": 0.0}, default=None, return_dtype=pl.Float64
    )
    numbers = flags.fill_null(texts.cast(pl.Float64, strict=False))
    wrong = (numbers.is_null() & texts.is_not_null()).arg_true()
    if len(wrong):
        row = wrong[0]
        raise InvalidInput(
            f"column {column.name!r} holds {column[row]!r} in row {row + 1}; a reward is a number"
        )
    return numbers
