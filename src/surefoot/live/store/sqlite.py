"""A store in a SQLite file: nothing to install, nothing to run."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from surefoot._files import checked_path
from surefoot._redact import redacted
from surefoot.errors import DamagedFile, InvalidInput, StoreUnavailable
from surefoot.live.entries import wall_clock
from surefoot.live.store import sql
from surefoot.live.store.base import TIMEOUT, Clock, checked_clock, checked_timeout
from surefoot.live.store.database import DatabaseStore
from surefoot.live.store.writer import Job


class SQLiteStore(DatabaseStore):
    """A store in a SQLite file, which is made if it is not there.

    WAL and ``synchronous=FULL``: what is acknowledged survives a power cut. Several processes may
    open one file; they take turns, which is slower than one process with many threads.

    Holds when: the file is on a local disk that keeps what it has synced. Does not hold when: the
    file is on a network file system, whose locks and syncs SQLite cannot trust.
    """

    def __init__(
        self,
        path: str | Path,
        clock: Clock = wall_clock,
        timeout: float = TIMEOUT,
        *,
        read_only: bool = False,
    ) -> None:
        """Open the file; ``timeout`` is how many seconds to wait for another process's commit."""
        self._clock = checked_clock(clock)
        self._timeout = timeout = checked_timeout(timeout)
        name = repr(redacted(str(path)))
        if str(path) == ":memory:":
            raise InvalidInput("':memory:' is no file; use open_store(':memory:')")
        path = checked_path(path, "store").absolute()  # of the folder that the process is in now
        _check_place(path, name)
        self._read_file = ReadOnlyFile(path.resolve()) if read_only else None
        self._identity = FileIdentity(path, name)
        self._anchor: sa.Connection | None = None
        """Open as long as we are: the last connection to be closed, anybody's, deletes the log."""
        url = sa.URL.create("sqlite", database=str(path))
        engine = sa.create_engine(
            self._read_file.url if self._read_file else url,
            connect_args={"timeout": timeout},
            pool_timeout=timeout / 2,
        )
        sa.event.listen(engine, "connect", self._connected)
        writes = engine.execution_options(writes=True)
        sa.event.listen(writes, "begin", _begin)
        super().__init__(engine, writes, name, read_only, timeout)
        try:
            self._check()
            if not read_only:
                self._anchor = self._anchored()
                self._identity.watch("-wal", "-shm")
        except BaseException as problem:
            self.close()
            if "file is not a database" in str(problem):
                raise DamagedFile(f"{name} is no SQLite file") from problem
            raise

    def _anchored(self) -> sa.Connection:
        connection = self._reads.connect()
        connection.execute(sql.ACCOUNTS).all()  # from its first reading on it has the log
        connection.rollback()
        return connection

    def close(self) -> None:
        if self._anchor is not None and not self._writer.foreign:
            self._anchor.close()
        super().close()
        if self._read_file is not None and not self._writer.foreign:
            self._read_file.sweep()

    @property
    def _create(self) -> Any:
        return insert(sql.account).on_conflict_do_nothing()

    def now(self) -> int:
        return self._clock()

    def _time(self, connection: sa.Connection) -> int:
        return self._clock()

    def _connected(self, connection: Any, record: object) -> None:
        self._identity.check("nothing was done")  # a new connection may be to another file
        _prepare(connection, record)

    def _commit(self, jobs: list[Job[Any]]) -> None:
        self._identity.check("nothing was written")
        super()._commit(jobs)
        self._identity.check("what was being written may be lost: ask again with the same id")

    def _make_ready(self) -> None:
        # Where others open a new file at the same time, this fails at once and does not wait.
        stop = time.monotonic() + self._timeout
        while True:
            try:
                with self._reads.connect() as connection:
                    connection.exec_driver_sql("PRAGMA journal_mode = WAL")
            except sa.exc.OperationalError as problem:
                if "locked" not in str(problem) or time.monotonic() > stop:
                    raise
                time.sleep(0.01)
            else:
                return

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        self._writer.check()
        try:
            self._identity.check("it could not be read")
            with super()._reading() as connection:
                yield connection
            self._identity.check("it could not be read")
        finally:
            if self._read_file is not None:
                self._read_file.check()

    @contextmanager
    def _still(self) -> Iterator[sa.Connection]:
        with self._reading() as connection:
            connection.exec_driver_sql("BEGIN")
            yield connection


def _check_place(path: Path, name: str) -> None:
    """Whether a regular file is there or can be made; SQLite would open a pipe or a device."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        place = Path(os.path.realpath(path))  # a link may lead to what is not there
        if not place.parent.is_dir():
            raise InvalidInput(f"the folder of {name} does not exist; make it first") from None
        return
    except OSError as problem:
        raise StoreUnavailable(f"{name} cannot be opened: {problem.strerror}") from None
    if stat.S_ISDIR(mode):
        raise InvalidInput(f"{name} is a folder; name a file in it")
    if not stat.S_ISREG(mode):
        raise InvalidInput(f"{name} is a pipe, a socket or a device; name a file")


class FileIdentity:
    """Whether an open file, and the log beside it, are still what others find at its path.

    A file that was deleted, moved or replaced can be written to as before, and nobody else will
    ever read it; without its log, or the log's index, two processes write past each other.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._name = name
        self._paths = [path]
        self._seen: dict[Path, tuple[int, int]] = {}
        self._lost: str | None = None
        self._look()

    def watch(self, *ends: str) -> None:
        """Look at the log as well, which from here on stays as long as we do."""
        file = self._paths[0].resolve()  # SQLite's log is beside the file that a link leads to
        self._paths += [Path(f"{file}{end}") for end in ends]
        self._look()

    def check(self, what: str) -> None:
        """StoreUnavailable, from the first time on, if one of them is another; ``what`` befell."""
        if self._lost is None:
            self._look()
        if self._lost is not None:
            raise StoreUnavailable(
                f"{self._lost} while it was open, {what}; put the ledger back where it was, and "
                "open this store again"
            )

    def _look(self) -> None:
        for path in self._paths:
            now, seen = _inode(path), self._seen.get(path)
            if now == seen:
                continue
            if seen is not None:
                how = "deleted or moved" if now is None else "replaced"
                self._lost = f"the file {self._name} was {how}"
                if path is not self._paths[0]:
                    self._lost = f"the log {path.name!r} of {self._name} was {how}"
                return
            if now is not None:
                self._seen[path] = now


def _inode(path: Path) -> tuple[int, int] | None:
    """What tells a file from any other; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


class ReadOnlyFile:
    """A file that is only read, and the log beside it: how to read it, and leave no trace.

    SQLite makes a log to read a file that has one in use, and leaves it there if it may not write.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._logs = [path.with_name(path.name + end) for end in ("-wal", "-journal")]
        self._quiet = not any(log.exists() for log in self._logs)
        """Whether no process is using the file, and none has died in doing so."""
        ours = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
        # No log can be made here, or one that its writers could not use.
        self._still = self._state() if self._quiet and not ours else None
        """A mark that changes when the file is written to, for a reader without locks."""

    @property
    def url(self) -> sa.URL:
        """The address for SQLAlchemy."""
        query = {"uri": "true", "mode": "ro"}
        if self._still is not None:
            query["immutable"] = "1"
        return sa.URL.create("sqlite", database=f"file:{quote(str(self._path))}", query=query)

    def check(self) -> None:
        """StoreUnavailable if the file is read without locks and somebody writes to it now."""
        if self._still is not None and self._state() != self._still:
            raise StoreUnavailable(
                f"{str(self._path)!r} is being written to by another process; open it again"
            )

    def sweep(self) -> None:
        """Let SQLite end the log that our reading made, unless others are using it."""
        if self._quiet and self._still is None and self._logs[0].exists():
            with suppress(sqlite3.Error), closing(sqlite3.connect(self._path)) as connection:
                connection.execute("SELECT 1 FROM sqlite_master")

    def _state(self) -> tuple[Any, ...]:
        found = self._path.stat()
        return found.st_mtime_ns, found.st_size, [log.exists() for log in self._logs]


def _prepare(connection: Any, _: object) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves
    for pragma in ("synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: sa.Connection) -> None:
    # A transaction that reads first and upgrades later fails at once when another process writes.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
