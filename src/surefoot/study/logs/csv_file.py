"""A log in a CSV file: what separates its columns, and where each row begins."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot._logs import row_place
from surefoot.errors import InvalidInput
from surefoot.study.logs.columns import Place, Spelling, Wanted
from surefoot.study.logs.text_file import bad_bytes, text_lines

if TYPE_CHECKING:
    import polars as pl

DELIMITERS = ",;\t|"
"""What may separate the columns where nothing is said."""
_HEAD = 1_000  # lines that a header may take


def read_csv(path: Path, wanted: Wanted, spelling: Spelling) -> tuple[pl.DataFrame, Place]:
    """The wanted columns as text, so that nothing is guessed from the first rows; and the lines.

    polars reads all columns, for only then does it see a row that is too long. It names no line,
    and takes a row that is too short for one with empty fields; where that can be so, the csv
    module goes over the file once more.
    """
    import polars as pl

    delimiter, header = _header(path, wanted.names(), spelling.delimiter)
    try:
        frame = pl.read_csv(path, separator=delimiter, infer_schema=False, glob=False)
    except pl.exceptions.PolarsError:
        _refuse_ragged(path, delimiter, len(header))
        bad_bytes(path, "CSV")
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
                return f"line {line} of {path}"
        return f"{row_place(row)} of {path}"

    found = [frame.to_series(header.index(name)).rename(name) for name in wanted.names()]
    for column in found:
        for row in column.str.contains("\0", literal=True).arg_true()[:1]:
            raise InvalidInput(f"{place(row)} holds a NUL byte; save it as text")
    return pl.DataFrame(found), place


def _header(path: Path, wanted: dict[str, str], delimiter: str | None) -> tuple[str, list[str]]:
    """What separates the columns, and their names."""
    lines = text_lines(path, "CSV", _HEAD)
    if not any(map(str.strip, lines)):
        raise InvalidInput(f"{path} is empty; give a log with a header and a row a play")
    if any("\r" in line.rstrip("\r") for line in lines[:1]):
        raise InvalidInput(
            f"{path} ends its lines with CR alone; save it with LF or CR LF at the end of a line"
        )
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n' or delimiter > "~"):
        raise InvalidInput(f"--delimiter {delimiter} must be one character, such as ; or | or tab")
    found = {
        mark: next((fields for _, fields in _split(lines, mark) if fields), [])
        for mark in ([delimiter] if delimiter else DELIMITERS)
    }
    choice = next(
        (mark for mark, names in found.items() if set(wanted) <= set(names)),
        max(found, key=lambda mark: len(found[mark])),
    )
    for name, way in wanted.items():
        _once(path, found[choice], name, way, guessed=delimiter is None)
    return choice, found[choice]


def _once(path: Path, names: list[str], name: str, way: str, *, guessed: bool) -> None:
    if (count := names.count(name)) == 1:
        return
    if count:
        raise InvalidInput(f"{path} has {count} columns {name!r}; rename all but one")
    way = f"choose with {way}"
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
    begun = False
    for line, fields in _split(text_lines(path, "CSV"), delimiter):
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


def _ends_with(path: Path, delimiter: str) -> bool:
    """Whether a file breaks off behind a delimiter, which polars overlooks."""
    with path.open("rb") as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - 1))
        return file.read() == delimiter.encode()


def _called(delimiter: str) -> str:
    names = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
    return names.get(delimiter, repr(delimiter))
