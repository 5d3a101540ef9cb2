"""A store in PostgreSQL: many hosts on one ledger."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from surefoot._exact import shown
from surefoot._redact import redacted
from surefoot.live.store import sql
from surefoot.live.store.address import address
from surefoot.live.store.base import Clock, checked_clock
from surefoot.live.store.database import DatabaseStore

_NOW = sa.text("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)")


class PostgresStore(DatabaseStore):
    """A store in a PostgreSQL database, whose clock it takes unless it is given one.

    READ COMMITTED: a work starts once it has the lock of its account's row, so it sees what the
    work before it committed. ``synchronous_commit`` is on, whatever the server's default.

    Holds when: the server keeps what it has committed (``fsync`` on). Does not hold when: an
    asynchronous replica takes over, which may lack the last commits.
    """

    _lock_first = sa.text("SELECT pg_advisory_xact_lock(7133065)")  # a number of our own

    def __init__(
        self,
        url: str,
        clock: Clock | None = None,
        timeout: float = 30.0,
        *,
        read_only: bool = False,
    ) -> None:
        """Connect; ``timeout`` is how many seconds to wait for another process's commit."""
        self._clock = None if clock is None else checked_clock(clock)
        self._timeout = timeout
        where = address(url)
        writes = sa.create_engine(where, isolation_level="READ COMMITTED", pool_pre_ping=True)
        sa.event.listen(writes, "connect", self._prepare)
        reads = writes.execution_options(isolation_level="AUTOCOMMIT")
        super().__init__(reads, writes, f"database {shown(where.database)}", read_only)
        try:
            self._check()
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        url = self._writes.url.set(drivername="postgresql")
        return f"PostgresStore({redacted(url.render_as_string())!r})"

    @property
    def _create(self) -> Any:
        return insert(sql.account).on_conflict_do_nothing()

    def now(self) -> int:
        with self._reading() as connection:
            return self._time(connection)

    def _time(self, connection: sa.Connection) -> int:
        if self._clock is not None:
            return self._clock()
        moment: int = connection.execute(_NOW).scalar_one()
        return moment

    def _prepare(self, connection: Any, _: object) -> None:
        wait = int(self._timeout * 1000)
        with connection.cursor() as cursor:
            cursor.execute("SET synchronous_commit = on")
            if self._read_only:
                cursor.execute("SET default_transaction_read_only = on")
            cursor.execute(f"SET lock_timeout = {wait}")
            # A worker that is stopped in a transaction must not hold its account for ever.
            cursor.execute(f"SET idle_in_transaction_session_timeout = {2 * wait}")
        connection.commit()
