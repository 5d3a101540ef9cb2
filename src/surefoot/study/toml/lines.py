"""On which line of a TOML text each key and each member of a list stands."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Sequence

Place = tuple[str | int, ...]
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\n]+")
_BETWEEN = re.compile(r"(?:[ \t\r\n,]|#[^\n]*)*")
_QUOTED = re.compile(
    r'''"""(?:[^\\]|\\.)*?"{3,5}|'{3}.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|(?:'[^'\n]*')''', re.DOTALL
)


class Lines:
    """The line of every key, table and list member of a text that ``tomllib`` reads.

    >>> lines = Lines('seed = 0\\n[[agents]]\\nname = "a"\\n[grid]\\nK = [\\n  24,\\n  72]')
    >>> lines.of("agents", 0, "name"), lines.of("grid", "K", 1), lines.of("grid", "d")
    (3, 7, 4)
    """

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._ends = [i for i, letter in enumerate(text) if letter == "\n"]
        self._found: dict[Place, int] = {(): 1}
        self._counts: dict[Place, int] = {}
        self._document()

    def of(self, *path: str | int) -> int:
        """The line of a key, or of the innermost table or list around it that is there."""
        while path not in self._found:
            path = path[:-1]
        return self._found[path]

    def _document(self) -> None:
        base: Place = ()
        while self._skip() < len(self._text):
            if self._text[self._at] == "[":
                several = self._text.startswith("[[", self._at)
                start = self._at
                self._at += 1 + several
                base = self._head(self._key(), several)
                self._note(base, start)
                self._at = self._text.index("]", self._at) + 1 + several
            else:
                self._pair(base)

    def _head(self, parts: Sequence[str], several: bool) -> Place:
        """The path of a table, with the numbers of the lists of tables on the way."""
        path: Place = ()
        for number, part in enumerate(parts, 1):
            path = (*path, part)
            if path in self._counts and not (several and number == len(parts)):
                path = (*path, self._counts[path])
        if several:
            self._counts[path] = self._counts.get(path, -1) + 1
            path = (*path, self._counts[path])
        return path

    def _pair(self, base: Place) -> None:
        start = self._at
        path = (*base, *self._key())
        self._note(path, start)
        self._at = self._text.index("=", self._at) + 1
        self._value(path)

    def _key(self) -> list[str]:
        parts = []
        while True:
            self._blanks()
            if self._text[self._at] in "\"'":
                parts.append(tomllib.loads(f"key = {self._take(_QUOTED)}")["key"])
            else:
                parts.append(self._take(_BARE))
            self._blanks()
            if self._text[self._at] != ".":
                return parts
            self._at += 1

    def _value(self, path: Place) -> None:
        self._blanks()
        opened = self._text[self._at]
        if opened in "\"'":
            self._take(_QUOTED)
        elif opened == "[":
            self._members(path)
        elif opened == "{":
            self._at += 1
            while self._text[self._skip()] != "}":
                self._pair(path)
            self._at += 1
        else:
            self._take(_SCALAR)

    def _members(self, path: Place) -> None:
        self._at += 1
        number = 0
        while self._text[self._skip()] != "]":
            self._note((*path, number), self._at)
            self._value((*path, number))
            number += 1
        self._at += 1

    def _note(self, path: Place, at: int) -> None:
        line = bisect_left(self._ends, at) + 1
        for length in range(1, len(path) + 1):
            self._found.setdefault(path[:length], line)

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            raise ValueError(f"not TOML at {self._at}")
        self._at = found.end()
        return found.group()

    def _skip(self) -> int:
        """Go on to the next thing that is said."""
        self._take(_BETWEEN)
        return self._at

    def _blanks(self) -> None:
        while self._text[self._at] in " \t":
            self._at += 1
