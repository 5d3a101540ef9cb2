"""A store in a SQLite file: nothing to install, nothing to run."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

from surefoot._exact import shown
from surefoot.errors import DamagedFile, InvalidInput
from surefoot.live.store import sql
from surefoot.live.store.base import wall_clock
from surefoot.live.store.database import DatabaseStore


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
        clock: Callable[[], int] = wall_clock,
        timeout: float = 30.0,
    ) -> None:
        """Open the file; ``timeout`` is how many seconds to wait for another process's commit."""
        self._clock = clock
        path = Path(path)
        if not path.parent.is_dir():
            raise InvalidInput(f"the folder of {shown(str(path))} does not exist; make it first")
        if path.is_dir():
            raise InvalidInput(f"{shown(str(path))} is a folder; name a file in it")
        engine = sa.create_engine(
            sa.URL.create("sqlite", database=str(path)), connect_args={"timeout": timeout}
        )
        sa.event.listen(engine, "connect", lambda connection, _: _prepare(connection, timeout))
        writes = engine.execution_options(writes=True)
        sa.event.listen(writes, "begin", _begin)
        super().__init__(engine, writes)
        try:
            self._migrate()
        except BaseException as problem:
            self.close()
            if "file is not a database" in str(problem):
                raise DamagedFile(f"{shown(str(path))} is no SQLite file") from problem
            raise

    @property
    def _create(self) -> Any:
        return insert(sql.account).on_conflict_do_nothing()

    def now(self) -> int:
        return self._clock()

    def _time(self, connection: sa.Connection) -> int:
        return self._clock()


def _prepare(connection: Any, timeout: float) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves
    for pragma in ("synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")
    # Where others open a new file at the same time, this fails at once and does not wait.
    stop = time.monotonic() + timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as problem:
            if "locked" not in str(problem) or time.monotonic() > stop:
                raise
            time.sleep(0.01)
        else:
            return


def _begin(connection: sa.Connection) -> None:
    # A transaction that reads first and upgrades later fails at once when another process writes.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
