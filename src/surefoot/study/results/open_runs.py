"""Long runs on disk while they are under way, so that another process can go on with them.

``OUT/open/<cell>-<run>.npz`` is a run between two blocks: what ``numpy.savez`` writes, no pickle,
whose last 64 bytes, the comment of the archive, are the SHA-256 of all before them. So nothing of a
damaged file is ever parsed. Losing one costs time alone.
"""

from __future__ import annotations

import hashlib
import io
import re
import time
import warnings
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from surefoot._types import JsonObject
from surefoot.simulation.stops import State, document_of, text_of
from surefoot.study.files import replacing

FOLDER = "open"
EVERY = 30.0
"""Seconds between two times that a run is kept."""
WORTH = 3.0
"""Seconds of work that are kept of a run that is given up."""
FORMAT = 1
_HEAD = "run"
"""The array that says, as JSON, whose state it is."""
_DIGITS = 64
_NAME = re.compile(r"\.?([0-9a-f]{16})-(\d+)(?:\.[0-9a-f]{32})?\.npz")
"""A file of ours, or a draft that a killed process left."""


class OpenRun:
    """One run of one plan, kept every ``EVERY`` seconds; a ``Keeper`` of ``Plan.run``.

    ``cells``: those of the panels of the plan, in their order. A file that is damaged, or of
    another run, is ignored with a warning, and so is a folder that nothing can be written to.

    Holds when: equal cells are equal panels on equal versions. Does not hold when: an agent cannot
    be saved, as ``state()`` of its policy fails: then its part of the run starts again.
    """

    def __init__(
        self,
        out: Path,
        cells: Sequence[str],
        run: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.file = open_file(out, cells, run)
        self._head: JsonObject = {"format": FORMAT, "cells": list(cells), "run": run}
        self._clock, self._kept, self._told = clock, clock(), False

    def kept(self) -> State | None:
        """The state on disk, if it is whole and of this run."""
        self._kept = self._clock()
        try:
            return self._read(self.file.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            _warn(f"{self.file} {_reason(error)}: run {self._head['run']} starts again")
            return None

    def keep(self, state: Callable[[], State], ending: bool) -> None:
        """Write the state if it is time, or if the run is given up and this much was done."""
        if self._clock() - self._kept < (WORTH if ending else EVERY):
            return
        try:
            self._write(packed({_HEAD: text_of(self._head), **state()}))
        except OSError as error:
            if not self._told:
                _warn(f"{self.file} {_reason(error)}: if it is killed, the run starts again")
            self._told = True
        self._kept = self._clock()

    def _write(self, data: bytes) -> None:
        try:
            with replacing(self.file) as draft:
                draft.write_bytes(data)
        except FileNotFoundError:  # another run's end has just removed the folder
            with replacing(self.file) as draft:
                draft.write_bytes(data)

    def _read(self, data: bytes) -> State:
        state = unpacked(data)
        head = document_of(state.pop(_HEAD)) if _HEAD in state else None
        if head != self._head:
            alike = isinstance(head, dict) and head.get("format") == FORMAT
            raise ValueError("is another study's" if alike else "has another version's format")
        return state


def open_file(out: Path, cells: Sequence[str], run: int) -> Path:
    """Where a run of a plan is kept: by its first cell.

    >>> open_file(Path("out"), ["0123456789abcdef"], 7).as_posix()
    'out/open/0123456789abcdef-7.npz'
    """
    return out / FOLDER / f"{cells[0]}-{run}.npz"


def count(out: Path) -> int:
    """How many runs are kept in a study's folder while they are under way; drafts are none."""
    try:
        names = [file.name for file in (out / FOLDER).iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return 0
    return sum(bool(_NAME.fullmatch(name)) and not name.startswith(".") for name in names)


def discard(out: Path, cells: Sequence[str], runs: Sequence[int]) -> None:
    """Remove what was kept of finished runs, and the folder, if nothing is left there."""
    _remove(out, lambda cell, run: cell in cells and run in runs)


def clear(out: Path) -> None:
    """Remove what was kept of any run; files that no study wrote stay."""
    _remove(out, lambda cell, run: True)


def _remove(out: Path, which: Callable[[str, int], bool]) -> None:
    folder = out / FOLDER
    with suppress(FileNotFoundError, NotADirectoryError):
        for file in list(folder.iterdir()):
            named = _NAME.fullmatch(file.name)
            if named and which(named[1], int(named[2])):
                file.unlink(missing_ok=True)
    with suppress(OSError):  # there is none, or another run is open
        folder.rmdir()


def packed(state: State) -> bytes:
    """A state as the bytes of a file."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **state)
    with zipfile.ZipFile(file, "a") as archive:
        archive.comment = b"0" * _DIGITS
    body = file.getvalue()[:-_DIGITS]
    return body + hashlib.sha256(body).hexdigest().encode()


def unpacked(data: bytes) -> State:
    """The inverse of ``packed``; ValueError for any other bytes.

    >>> unpacked(packed({"sums": np.array([1, 2])}))
    {'sums': array([1, 2])}
    >>> unpacked(b"half of it")
    Traceback (most recent call last):
    ...
    ValueError: is damaged
    """
    body, digest = data[:-_DIGITS], data[-_DIGITS:]
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise ValueError("is damaged")
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return dict(archive)


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return f"is out of reach ({error.strerror or error})"
    return str(error)


def _warn(what: str) -> None:
    warnings.warn(what, RuntimeWarning, stacklevel=3)
