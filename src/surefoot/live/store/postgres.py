"""A store in PostgreSQL: many hosts on one ledger.

Nothing that it needs lives in a session, which a pooler may hand to somebody else between two
transactions: each transaction says itself what it is and how long it waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from math import ceil
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from surefoot._exact import shown
from surefoot._redact import redacted
from surefoot.errors import InvalidInput, MissingExtra
from surefoot.live.store import sql
from surefoot.live.store.base import TIMEOUT, Clock, checked_clock, checked_timeout
from surefoot.live.store.database import DatabaseStore

_NOW = sa.text("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)")
_KEEPS = sa.text(
    "SELECT current_setting('fsync'), current_setting('synchronous_commit'), (SELECT min(relname)"
    " FROM pg_class WHERE relkind = 'r' AND relpersistence <> 'p' AND pg_table_is_visible(oid)"
    " AND relname IN :ours)"
).bindparams(sa.bindparam("ours", sorted(sql.metadata.tables), expanding=True))


class PostgresStore(DatabaseStore):
    """A store in a PostgreSQL database, whose clock it takes unless it is given one.

    READ COMMITTED: a work starts once it has the lock of its account's row, so it sees what the
    work before it committed. ``synchronous_commit`` is on, whatever the server's default. Behind a
    pooler it may be one connection a transaction, as PgBouncer's ``pool_mode = transaction`` has
    it.

    Holds when: the server keeps what it has committed; opening it to write is InvalidInput where
    ``fsync`` is off or a table of ours is not logged. Does not hold when: an asynchronous replica
    takes over, which may lack the last commits.
    """

    _lock_first = sa.text("SELECT pg_advisory_xact_lock(7133065)")  # a number of our own

    def __init__(
        self,
        url: str,
        clock: Clock | None = None,
        timeout: float = TIMEOUT,
        *,
        read_only: bool = False,
    ) -> None:
        """Connect; ``timeout``: how many seconds to wait for a lock, a statement, the network."""
        self._clock = None if clock is None else checked_clock(clock)
        self._timeout = timeout = checked_timeout(timeout)
        self._patience = timeout + max(0.5, timeout / 10)
        """How long an answer may take: the server ends a wait of its own before, and says why."""
        where = address(url)
        engine = sa.create_engine(where, pool_timeout=timeout / 2)
        sa.event.listen(engine, "do_connect", self._connect)
        reads, writes = (engine.execution_options(writes=writes) for writes in (False, True))
        sa.event.listen(reads, "begin", partial(self._begin, self._beginning(writes=False)))
        sa.event.listen(writes, "begin", partial(self._begin, self._beginning(not read_only)))
        super().__init__(reads, writes, f"database {shown(where.database)}", read_only, timeout)
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

    @contextmanager
    def _still(self) -> Iterator[sa.Connection]:
        with self._reading() as connection:
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield connection

    def _connect(self, _: object, __: object, args: list[Any], options: dict[str, Any]) -> Any:
        from surefoot.live.store.patient import Patient, bounds

        # A prepared statement is the session's: through a pooler it is there for somebody else.
        ours = {"autocommit": True, "prepare_threshold": None}  # we say BEGIN ourselves
        connection = Patient.connect(*args, **{**bounds(self._timeout), **options, **ours})
        connection.patience = self._patience
        return connection

    def _beginning(self, writes: bool) -> str:
        """What a transaction starts with, in one message; it ends with the transaction.

        A worker that is stopped in a transaction must not hold its account for ever.
        """
        wait = ceil(self._timeout * 1000)
        settings = {
            "lock_timeout": wait,
            "statement_timeout": wait + max(wait // 20, 100),
            "idle_in_transaction_session_timeout": 2 * wait,
        } | ({"synchronous_commit": "on"} if writes else {})
        # That of a writer is as the server has it: an operator may have made a database read-only.
        begin = f"BEGIN ISOLATION LEVEL READ COMMITTED{'' if writes else ' READ ONLY'}"
        return "; ".join([begin, *(f"SET LOCAL {name} = {settings[name]}" for name in settings)])

    def _begin(self, beginning: str, connection: sa.Connection) -> None:
        # A connection that lay idle may have died: if so, there is time for another.
        wire: Any = connection.connection.dbapi_connection
        wire.patience = self._timeout / 4 if wire.idle else self._patience
        connection.exec_driver_sql(beginning)
        wire.patience, wire.idle = self._patience, True

    def _make_ready(self) -> None:
        """InvalidInput where the server does not keep what it says it has committed."""
        with self._writes.begin() as connection:
            fsync, commits, unlogged = connection.execute(_KEEPS).one()
        if fsync != "on":
            raise InvalidInput(
                f"{self._where}: fsync is {fsync} on this server, so a crash may take what it has "
                "acknowledged; set fsync = on in postgresql.conf and reload it"
            )
        if commits != "on":
            raise InvalidInput(
                f"{self._where}: synchronous_commit stays {commits} in a transaction that sets it "
                "on; connect without the proxy that drops SET LOCAL"
            )
        if unlogged is not None:
            raise InvalidInput(
                f"{self._where}: table {unlogged!r} is not logged, so a crash empties it; run "
                f'ALTER TABLE "{unlogged}" SET LOGGED'
            )


def address(url: str) -> sa.URL:
    """The address that a URL says; InvalidInput that names what is wrong with it, and no password.

    Options after the ``?`` are those of libpq, each once; ``host`` may come again for more hosts.
    MissingExtra without the driver, or without the libpq that it needs.
    """
    try:
        from psycopg import pq
    except ImportError as problem:  # it is not there, or finds no libpq: several lines say so
        said = " ".join(str(problem).split())
        raise MissingExtra(
            f"PostgreSQL needs psycopg and the library libpq ({said}); in Surefoot's folder run: "
            "pip install '.[live]', which brings both"
        ) from None
    place = url.partition("://")[2].partition("?")[0]
    if "\0" in url or place.count("@") > 1:
        raise _refused(url, "has an '@' or a NUL too many; in a password write '@' as %40")
    try:
        url.encode()
        read = sa.make_url(url).set(drivername="postgresql+psycopg")
        dialect: Any = PGDialect_psycopg
        _, options = dialect().create_connect_args(read)
        for host in str(options.get("host", "")).split(","):
            host.encode("ascii" if host.startswith("/") else "idna")
    except (sa.exc.ArgumentError, ValueError):
        raise _refused(
            url,
            "is no address; write postgresql://user@host:port/database, several hosts as "
            "postgresql://user@/database?host=a:5432&host=b:5432",
        ) from None
    if "@" in place and not place.startswith("@") and read.username is None:
        raise _refused(url, "has a '/' or ':' in its user; write '/' as %2F and ':' as %3A")
    if read.port is not None and not 0 < read.port < 65_536:
        raise _refused(url, f"has the port {read.port}; a port is within 1..65535")
    known = {option.keyword.decode() for option in pq.Conninfo.get_defaults()}
    for name, value in read.query.items():
        if name not in known:
            raise _refused(url, f"has the option {shown(name)}, which libpq does not know")
        if isinstance(value, tuple) and name != "host":
            raise _refused(url, f"has the option {name} {len(value)} times; give it once")
    return read


def _refused(url: str, why: str) -> InvalidInput:
    return InvalidInput(f"{shown(url)} {why}")
