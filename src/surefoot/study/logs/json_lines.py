"""A log of JSON lines: an object a play."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot._exact import first_few, shown
from surefoot.errors import InvalidInput
from surefoot.study.logs.columns import Place, Wanted, of_values
from surefoot.study.logs.text_file import text_lines

if TYPE_CHECKING:
    import polars as pl

ABSENT = object()
"""What ``find`` returns where a path leads to nothing."""
_MOST_KEYS = 8


class Line(NamedTuple):
    """An object, the line it is on, counted from 1, and the keys it gives twice, at any depth."""

    number: int
    value: dict[str, Any]
    twice: frozenset[str]


def read_json_lines(path: Path, wanted: Wanted) -> tuple[pl.DataFrame, Place]:
    """The wanted columns; a name with points leads into nested objects: ``user.age``."""
    import polars as pl

    names = wanted.names()
    cells: dict[str, list[Any]] = {name: [] for name in names}
    numbers: list[int] = []
    known: dict[str, None] = {}
    for line in objects(path):
        numbers.append(line.number)
        known.update(dict.fromkeys(line.value))
        for name, column in cells.items():
            column.append(found(line, name, path))
    for name, way in names.items():
        if all(cell is ABSENT for cell in cells[name]):
            has = first_few([*known][:_MOST_KEYS])
            raise InvalidInput(
                f"{path} has no key {shown(name)} on any line; it has {has}: choose with {way}"
            )

    def place(row: int) -> str:
        return f"line {numbers[row]} of {path}"

    return pl.DataFrame(
        [
            of_values([None if one is ABSENT else one for one in column], name, place)
            for name, column in cells.items()
        ]
    ), place


def objects(path: Path) -> Iterator[Line]:
    """The objects of a file, one a line; blank lines are left out.

    NaN and Infinity are read as such, for the column to judge. Raises InvalidInput for what is no
    object, with line and character.
    """
    twice: set[str] = set()

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        whole = dict(pairs)
        if len(whole) < len(pairs):
            names = [name for name, _ in pairs]
            twice.update(name for name in whole if names.count(name) > 1)
        return whole

    decode = json.JSONDecoder(object_pairs_hook=once).decode
    some = False
    for number, text in enumerate(text_lines(path, "JSON lines"), 1):
        text = (text.removeprefix("\ufeff") if number == 1 else text).strip()
        if not text:
            continue
        twice.clear()
        try:
            value = decode(text)
        except json.JSONDecodeError as error:
            what = error.msg[0].lower() + error.msg[1:]
            raise InvalidInput(
                f"line {number} of {path} is not JSON at character {error.pos + 1}: {what}; write "
                "a whole object on each line"
            ) from None
        except (RecursionError, ValueError):
            raise InvalidInput(
                f"line {number} of {path} nests too deep, or holds a number too long to read; "
                "mend it"
            ) from None
        if not isinstance(value, dict):
            way = ": jq -c '.[]' makes lines of an array" if isinstance(value, list) else ""
            raise InvalidInput(
                f"line {number} of {path} is {shown(value)}; write an object on each line{way}"
            )
        some = True
        yield Line(number, value, frozenset(twice))
    if not some:
        raise InvalidInput(f"{path} is empty; give a log with an object a play")


def found(line: Line, name: str, path: Path) -> Any:
    """What stands under a name, or at the end of a path of names; ABSENT if nothing does.

    >>> found(Line(1, {"user": {"age": 7}}, frozenset()), "user.age", Path("log"))
    7
    """
    steps = [name] if name in line.value else name.split(".")
    if line.twice and not line.twice.isdisjoint(steps):
        key = next(step for step in steps if step in line.twice)
        raise InvalidInput(f"line {line.number} of {path} has {shown(key)} twice; keep one")
    return find(line.value, steps)


def find(value: Any, steps: list[str]) -> Any:
    """What a path of keys and of numbers leads to."""
    for step in steps:
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return ABSENT
    return value
