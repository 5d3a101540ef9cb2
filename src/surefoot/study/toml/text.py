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
from surefoot.study.near import meant
from surefoot.study.own_problem import KINDS, EnvironmentEntry
from surefoot.study.panel import Panel
from surefoot.study.toml.lines import Lines, Place

FORMAT = 1
MOST_BYTES = 1_000_000
TABLES = ("setting", "printed", "chosen")
"""Tables of the fields of a panel; the last two are those of the paper's panels."""
COMMON = ("horizon", "runs", "seed")
"""Fields that may also stand above the tables."""
LATER = ("floors", "measures")
"""Tables that a later release reads."""
TOP = (
    "surefoot", "problem", "source", "because", *COMMON, *TABLES, "grid", "agents", "environment",
    "outputs", *LATER,
)  # fmt: skip
_ELSEWHERE = ("problem", "source", "because", "agents", "varied", "home", "curves", "environment")
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
        for name in LATER:
            if name in self.document:
                self.fail(f"[{name}] is reserved: several floors come with a later release", name)

    def _unknown(self) -> Iterator[tuple[Place, str]]:
        """The keys that are not known, and what to say of each."""
        top = self.document
        kind = KINDS.get(str(top.get("problem")))
        fields = () if kind is None else fields_of(kind)
        for key in top:
            if key in fields and key not in TOP:
                yield (key,), f"{key} is a key of [setting]; put it below that, or below [grid]"
            elif key not in TOP:
                yield (key,), _no_key(key, "a study file", TOP)
        for table in (*TABLES, "grid"):
            known = (*fields, *(("agents", "environment") if table == "grid" else ()))
            for key in _keys(top.get(table)) if kind else ():
                if key in TOP and key not in known:
                    yield (table, key), f"{key} is no key of [{table}]; put it above the tables"
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

    def _check_shapes(self) -> None:
        """Refuse what is no table where one belongs, and values that no key takes."""
        for name in (*TABLES, "grid", "environment", "outputs"):
            if not isinstance(self.document.get(name, {}), dict):
                self.fail(f"{name} must be a table: [{name}], and its keys below", name)
        entries = self.document.get("agents", [{}])
        if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
            self.fail("agents must be tables: [[agents]], and the keys of each below", "agents")
        if not entries:
            self.fail("agents = [] has none; leave it out for the paper's", "agents")
        for path, value in leaves(self.document):
            if not isinstance(value, str | int | float):
                self.fail(f"{_named(path)} = {value}: no key of a study file takes a date", *path)
            owner = path[1] if path[0] == "grid" else path[0]
            free = str(owner).split(".")[0] in ("agents", "environment")
            if free and isinstance(value, float) and not math.isfinite(value):
                self.fail(f"{_named(path)} = {value} must be a finite number", *path)

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
        if problem != "own" and "environment" in self.document:
            self.fail(f'[environment] needs problem = "own", not {shown(problem)}', "environment")
        if problem == "own" and "environment" not in self.document:
            self.fail('problem = "own" needs [environment] with a path', "problem")
        if problem == "own" and "agents" not in self.document:
            self.fail('problem = "own" needs [[agents]]', "problem")
        return KINDS[problem]


def fields_of(kind: type[Panel]) -> tuple[str, ...]:
    """The keys of ``[setting]`` for a problem.

    >>> fields_of(KINDS["own"])
    ('alpha', 'runs', 'horizon', 'seed', 'ties', 'default', 'reward_range')
    """
    named = (field.alias or name for name, field in kind.model_fields.items())
    return tuple(name for name in named if name not in _ELSEWHERE)


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


def _keys(table: Any) -> list[str]:
    return list(table) if isinstance(table, dict) else []


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
