"""The journal: a worker's own file, written before it answers, so that its death loses nothing.

One line a step, with a checksum; a lock that the kernel drops with the process tells a journal in
use from one left behind. What is written survives the process. A power cut may take what was not
synced: the kernel's boot id, kept in the first line, tells the one from the other.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from surefoot._files import sync_folder
from surefoot._types import JsonObject
from surefoot.errors import DamagedFile, InvalidInput, StoreUnavailable
from surefoot.live.entries import canonical
from surefoot.live.store.base import check_process

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_SUFFIX = ".journal"
_FULL = (errno.ENOSPC, errno.EDQUOT)


def boot_id() -> str:
    """The id of this start of the machine; empty where the kernel has none."""
    try:
        return _BOOT.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


class Header(NamedTuple):
    """The first line: the journal's account, experiment and owner."""

    account: str
    experiment: str
    ledger: str
    """The hash of the account's first entry: accounts of two stores may have one name."""
    owner: str
    boot: str
    durable: bool


class Journal:
    """An append-only file, locked by the process that made it.

    Raises StoreUnavailable if a line cannot be written: then the file is as it was before.
    InvalidInput for a folder that cannot hold it.
    """

    def __init__(self, folder: Path, header: Header) -> None:
        self.path = folder / f"{header.owner}{_SUFFIX}"
        self._draft = folder / f".{header.owner}.new"
        self._sync = header.durable
        self._process = os.getpid()
        first = _line(header._asdict())
        self._start = len(first)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self._made(first, sync=True)
            try:
                sync_folder(folder)  # a step must not outlive the name it is found by
            except BaseException:
                self.close()
                raise
        except OSError as problem:
            remedy = "make room there, or name" if problem.errno in _FULL else "name"
            raise InvalidInput(
                f"journal = {str(folder)!r} cannot hold a journal: {problem.strerror}; {remedy} a "
                "folder on a local disk"
            ) from problem

    def _made(self, data: bytes, sync: bool) -> int:
        """Make the file, or another in its place, all or nothing; returns it, open and locked."""
        file = os.open(self._draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        try:
            # It gets its name once it is locked; without the lock it would count as left behind.
            fcntl.flock(file, fcntl.LOCK_EX)  # a clean-up may hold it for a moment
            _write_all(file, data)
            if sync:
                os.fsync(file)
            self._draft.rename(self.path)
        except BaseException:
            self._draft.unlink(missing_ok=True)
            os.close(file)
            raise
        return file

    def write(self, steps: list[JsonObject]) -> None:
        """Append steps; once this returns, they survive the process."""
        self.check()
        if not os.fstat(self._file).st_nlink:
            raise StoreUnavailable(
                f"the journal {str(self.path)!r} was deleted, nothing was decided or booked: close "
                "this agent, which enters what it knows, and open it again"
            )
        end = self.end
        try:
            self._append(steps)
            if self._sync:
                os.fdatasync(self._file)
        except OSError as problem:
            os.ftruncate(self._file, end)
            raise StoreUnavailable(
                f"the journal {str(self.path)!r} cannot be written, nothing was decided or "
                f"booked: {problem.strerror}"
            ) from problem

    def check(self) -> None:
        """InvalidInput in a forked child, and once it is closed."""
        check_process(self._process, "agent")
        if self._file < 0:
            raise InvalidInput("this agent is closed; open it again")

    def _append(self, values: list[JsonObject]) -> None:
        _write_all(self._file, b"".join(map(_line, values)))

    @property
    def end(self) -> int:
        """How many bytes it has."""
        return os.fstat(self._file).st_size

    def steps(self) -> list[JsonObject]:
        """The steps written since it was last cleared."""
        lines = os.pread(self._file, self.end - self._start, self._start).split(b"\n")
        return [step for step in map(_parsed, lines[:-1]) if step is not None]

    def forget(self, end: int) -> None:
        """Forget the steps before ``end``, which are in the ledger; later ones stay."""
        rest = os.pread(self._file, self.end - end, end)
        if not rest:
            os.ftruncate(self._file, self._start)
            return
        with suppress(OSError):  # they may stay: a step in the ledger is not entered again
            old, first = self._file, os.pread(self._file, self._start, 0)
            self._file = self._made(first + rest, self._sync)
            os.close(old)
            if self._sync:
                sync_folder(self.path.parent)

    def remove(self) -> None:
        """Delete the file; its steps are in the ledger."""
        self.path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Close the file and leave it behind, as a killed process does."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class LeftBehind(NamedTuple):
    """A journal that no process uses any more, locked until it is closed."""

    header: Header
    steps: list[JsonObject]
    whole: bool
    """Whether every answered step is surely there."""
    path: Path


def left_behind(folder: Path, own: Header) -> Iterator[LeftBehind]:
    """The journals of an experiment whose workers are gone; each is locked while it is looked at.

    ``own``: as of a journal that would be begun now, whatever its owner.
    Whoever takes one deletes its file once its steps are in the ledger. DamagedFile for one that
    may be the experiment's and is of another version; it stays where it is. What is left of a
    journal that was never ready is removed.
    """
    for path in sorted([*folder.glob(f"*{_SUFFIX}"), *folder.glob(".*.new")]):
        try:
            file = os.open(path, os.O_RDWR)
        except (FileNotFoundError, IsADirectoryError, PermissionError):
            continue
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.fstat(file).st_nlink:
                continue
            if path.suffix != _SUFFIX:
                _remove_unready(path)
                continue
            found = _read(path, own)
            if found is not None:
                yield found
        except BlockingIOError:
            continue
        finally:
            os.close(file)


def _remove_unready(path: Path) -> None:
    """Remove a draft, which has a first line and no step; an empty one is about to be locked."""
    first, _, steps = path.read_bytes().partition(b"\n")
    if _parsed(first) is not None and not steps:
        path.unlink()


def _read(path: Path, own: Header) -> LeftBehind | None:
    """A journal, if it is the experiment's."""
    first, *lines = path.read_bytes().split(b"\n")
    said = _parsed(first)
    if said is None or (said.get("account"), said.get("experiment")) != own[:2]:
        return None
    lines = lines[:-1]  # after the last line feed nothing was answered
    if said.keys() != set(Header._fields):
        if not lines:
            return None
        raise DamagedFile(
            f"{str(path)!r} is a journal of another version of surefoot, and may hold plays that "
            "are not in the ledger; open the experiment with that version first, which enters them"
        )
    header, steps = Header(**said), [_parsed(line) for line in lines]
    if header.ledger != own.ledger:
        return None
    survived = header.durable or header.boot == own.boot != ""
    whole = survived and None not in steps
    return LeftBehind(header, [step for step in steps if step is not None], whole, path)


def _write_all(file: int, data: bytes) -> None:
    if os.write(file, data) != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _line(value: JsonObject) -> bytes:
    text = canonical(value).encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _parsed(line: bytes) -> JsonObject | None:
    """The step of a line; None if it is not whole."""
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % zlib.crc32(text) or not text:
        return None
    value = json.loads(text)
    return value if isinstance(value, dict) else None
