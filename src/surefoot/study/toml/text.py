"""The text of a study file: read and parsed, its keys known, each with its line."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from surefoot._exact import shown
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.study.entry import AgentEntry
from surefoot.study.floor_entries import FLOORS, LEARNED, keys_of
from surefoot.study.kinds import KINDS, kind_of
from surefoot.study.near import meant
from surefoot.study.own_problem import EnvironmentEntry
from surefoot.study.panel import Panel
from surefoot.study.toml.lines import Lines, Place

FORMAT = 1
MOST_BYTES = 1_000_000
TABLES = ("setting", "printed", "chosen")
"""Tables of the fields of a panel; the last two are those of the paper's panels."""
COMMON = ("horizon", "runs", "seed")
"""Fields that may also stand above the tables."""
NAMED = ("floors", "measures")
"""Tables of tables, each with a name of the user's."""
OWNED = ("agents", "environment", *NAMED)
"""Tables whose settings may be axes."""
TOP = (
    "surefoot", "problem", "source", "because", *COMMON, *TABLES, "grid", "agents", "environment",
    "outputs", *NAMED,
)  # fmt: skip
_ELSEWHERE = ("problem", "source", "because", "varied", "home", "curves", *OWNED)
"""Fields of a panel that are no keys of ``TABLES``."""
_LINE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class StudyText:
    """A study file whose keys are all known. Raises InvalidInput, ``file:line: ...``."""

    def __init__(self, file: Path) -> None:
        self.file = file
        text = _read(file)
        self.document = _parsed(text, file)
        self.lines = Lines(text)
        self._check_keys()
        self._check_shapes()
        self.kind = self._kind()

    def fail(self, message: str, *path: str | int) -> NoReturn:
        """Refuse what stands at a place of the file, or should stand there."""
        raise InvalidInput(f"{self.file}:{self.lines.of(*path)}: {message}") from None

    def _check_keys(self) -> None:
        """Refuse the first key that no study file has, before anything else."""
        unknown = [(self.lines.of(*path), said, path) for path, said in self._unknown()]
        if unknown:
            _, said, path = min(unknown, key=lambda one: one[0])
            self.fail(said, *path)

    def _unknown(self) -> Iterator[tuple[Place, str]]:
        """The keys that are not known, and what to say of each."""
        top = self.document
        kind = kind_of(top) if top.get("problem") in KINDS else None
        fields = () if kind is None else fields_of(kind)
        for key in top:
            if key in fields and key not in TOP:
                yield (key,), f"{key} is a key of [setting]; put it below that, or below [grid]"
            elif key not in TOP:
                yield (key,), _no_key(key, "a study file", TOP)
        for table in (*TABLES, "grid"):
            known = (*fields, *(OWNED if table == "grid" else ()))
            for key in _keys(top.get(table)) if kind else ():
                if key in TOP and key not in known:
                    yield (table, key), f"{key} is no key of [{table}]; put it above the tables"
                elif key not in known and "floors" in top and key in _floor_keys(None):
                    yield (
                        (table, key),
                        f"{key} is a key of a floor here; put it below [floors.NAME]",
                    )
                elif key not in known:
                    yield (table, key), _no_key(key, f"[{table}]", fields)
        for key in _keys(top.get("outputs")):
            if key != "curves":
                yield ("outputs", key), _no_key(key, "[outputs]", ("curves",))
        named = tuple(EnvironmentEntry.model_fields)
        for key in _keys(top.get("environment")):
            if key not in named:
                yield ("environment", key), _no_key(key, "[environment]", named, settings=True)
        named = tuple(AgentEntry.model_fields)
        entries = top.get("agents")
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            for key in _keys(entry):
                if key not in named:
                    said = _no_key(key, "[[agents]]", named, settings=True)
                    yield ("agents", number, key), said
        yield from self._unknown_of_names()

    def _unknown_of_names(self) -> Iterator[tuple[Place, str]]:
        """The same of floors and measures."""
        top = self.document
        grid = _keyed(top.get("grid"))
        for name, table in _tables(top.get("floors")):
            where, known = f"[floors.{name}]", _floor_keys(table)
            for key in _keys(table):
                if key not in known:
                    yield ("floors", name, key), _no_key(key, where, known)
            for key in _keys(table.get("default")):
                if key not in LEARNED:
                    yield ("floors", name, "default", key), _no_key(key, where, LEARNED)
            for key in _keys(_keyed(grid.get("floors")).get(name)):
                if key not in known[1:]:
                    yield ("grid", "floors", name, key), _no_key(key, where, known[1:])
        fields = ("path", "settings", "default")
        for name, table in _tables(top.get("measures")):
            for key in _keys(table):
                if key not in fields:
                    said = _no_key(key, f"[measures.{name}]", fields, settings=True)
                    yield ("measures", name, key), said
            for key in _keys(table.get("default")):
                if key not in fields[:2]:
                    said = _no_key(key, f"the default of [measures.{name}]", fields[:2])
                    yield ("measures", name, "default", key), said

    def _check_shapes(self) -> None:
        """Refuse what is no table where one belongs, and values that no key takes."""
        for name in (*TABLES, "grid", "environment", "outputs", *NAMED):
            if not isinstance(self.document.get(name, {}), dict):
                self.fail(f"{name} must be a table: [{name}], and its keys below", name)
        for name in NAMED:
            self._check_names(name)
        entries = self.document.get("agents", [{}])
        if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
            self.fail("agents must be tables: [[agents]], and the keys of each below", "agents")
        if not entries:
            self.fail("agents = [] has none; leave it out for the paper's", "agents")
        for path, value in leaves(self.document):
            if not isinstance(value, str | int | float):
                self.fail(f"{_named(path)} = {value}: no key of a study file takes a date", *path)
            owner = path[1] if path[0] == "grid" else path[0]
            free = str(owner).split(".")[0] in OWNED
            if free and isinstance(value, float) and not math.isfinite(value):
                self.fail(f"{_named(path)} = {value} must be a finite number", *path)

    def _check_names(self, table: str) -> None:
        """Refuse what is no table of a name, and names that no column could have."""
        named = self.document.get(table)
        if named == {}:
            self.fail(f"[{table}] is empty; give [{table}.NAME] and its keys below", table)
        for name, one in (named or {}).items():
            if not isinstance(one, dict):
                said = f"{name} is no key of [{table}]; give [{table}.NAME] and its keys below"
                self.fail(said, table, name)
            if not name or "." in name:
                said = f"[{table}]: name {shown(name)} must have a letter and no dot"
                self.fail(said, table, name)

    def _kind(self) -> type[Panel]:
        given = self.document.get("surefoot", FORMAT)
        if given != FORMAT or isinstance(given, bool):
            self.fail(
                f"surefoot = {shown(given)} is no format of study files that this version reads; "
                f"it reads surefoot = {FORMAT}",
                "surefoot",
            )
        every = ", ".join(KINDS)
        if "problem" not in self.document:
            self.fail(f"problem is missing; give one of {every}")
        problem = self.document["problem"]
        if not isinstance(problem, str) or problem not in KINDS:
            hint = meant(str(problem), KINDS)
            self.fail(f"problem = {shown(problem)} must be one of {every}{hint}", "problem")
        for table in ("environment", *NAMED):
            if problem != "own" and table in self.document:
                self.fail(f'[{table}] needs problem = "own", not {shown(problem)}', table)
        if problem == "own":
            self._check_own()
        return kind_of(self.document)

    def _check_own(self) -> None:
        """Refuse a study of one's own of which a table is missing, or one too many."""
        has = self.document.keys()
        if "measures" in has and "environment" in has:
            self.fail("[measures] and [environment] both pay; give one of them", "measures")
        if "measures" in has and "floors" not in has:
            self.fail("[measures] needs a floor on one of them; give [floors.NAME]", "measures")
        if not has & {"environment", "measures"}:
            or_measures = ", or [measures.NAME]" if "floors" in has else ""
            self.fail(f'problem = "own" needs [environment] with a path{or_measures}', "problem")
        if "agents" not in has:
            self.fail('problem = "own" needs [[agents]]', "problem")


def fields_of(kind: type[Panel]) -> tuple[str, ...]:
    """The keys of ``[setting]`` for a problem.

    >>> fields_of(KINDS["own"])
    ('alpha', 'runs', 'horizon', 'seed', 'ties', 'default', 'reward_range')
    """
    named = (field.alias or name for name, field in kind.model_fields.items())
    return tuple(name for name in named if name not in (*_ELSEWHERE, *kind.elsewhere))


def leaves(value: Any, path: Place = ()) -> Iterator[tuple[Place, Any]]:
    """The values within tables and lists, each with its place.

    >>> list(leaves({"a": [1, {"b": 2}]}))
    [(('a', 0), 1), (('a', 1, 'b'), 2)]
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, (*path, number))
    else:
        yield path, value


def near(name: str, known: Iterable[str]) -> str:
    """Which of the known was meant, if one is near; else all of them.

    >>> near("sed", ["seed", "runs"]), near("x", ["seed", "runs"])
    ('did you mean seed?', 'known are seed, runs')
    """
    known = list(known)
    return meant(name, known).removeprefix("; ") or f"known are {', '.join(known)}"


def _no_key(key: str, where: str, known: Iterable[str], *, settings: bool = False) -> str:
    said, hint = key if key.isidentifier() else shown(key), near(key, known)
    if settings and hint.startswith("known"):
        hint = f"a keyword of the class goes into settings = {{ {said} = ... }}"
    return f"{said} is no key of {where}; {hint}"


def _floor_keys(table: JsonObject | None) -> tuple[str, ...]:
    """The keys of a floor, or of all kinds of floors."""
    kind = (table or {}).get("kind", FLOORS[0])
    kinds = (kind,) if table is not None and kind in FLOORS else FLOORS
    return ("kind", *dict.fromkeys(key for one in kinds for key in keys_of(one)))


def _tables(named: Any) -> list[tuple[str, JsonObject]]:
    return [(name, one) for name, one in _keyed(named).items() if isinstance(one, dict)]


def _keyed(table: Any) -> JsonObject:
    return table if isinstance(table, dict) else {}


def _keys(table: Any) -> list[str]:
    return list(_keyed(table))


def _named(path: Place) -> str:
    return str(next(part for part in reversed(path) if isinstance(part, str)))


def _read(file: Path) -> str:
    try:
        folder, size = file.is_dir(), file.stat().st_size
        raw = b"" if folder or size > MOST_BYTES else file.read_bytes()
    except FileNotFoundError:
        raise InvalidInput(
            f"{file} is not there; `surefoot study new` prints a study file to start from"
        ) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InvalidInput(f"{file} cannot be read: {why}") from None
    if folder:
        raise InvalidInput(f"{file} is a folder; give a study file")
    if size > MOST_BYTES:
        raise InvalidInput(f"{file} has {size:,} bytes, a study file at most {MOST_BYTES:,}")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InvalidInput(f"{file}:{line}: not UTF-8; save the file in that encoding") from None


def _parsed(text: str, file: Path) -> JsonObject:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise InvalidInput(f"{file}:1: tables or lists of too many levels") from None
    except ValueError as error:  # a number of too many digits is no TOMLDecodeError
        what, *place = _LINE.split(str(error), maxsplit=1)
        line, column = place[:2] if place else (1, None)
        line = line or max(1, len(text.splitlines()))
        at = f" at column {column}" if column else ""
        raise InvalidInput(f"{file}:{line}: no TOML: {what[0].lower()}{what[1:]}{at}") from None
