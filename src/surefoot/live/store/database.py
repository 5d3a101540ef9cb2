"""A store in a database: what SQLite and PostgreSQL share.

A group of works is one transaction. It locks the accounts it moves, in the order of their names,
reads them, lets each work add its changes in memory, and writes all changes at the end: one
statement a table, guarded by what the works had seen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from surefoot._redact import redacted
from surefoot.errors import DamagedFile, InvalidInput, StoreUnavailable
from surefoot.live.entries import Entry
from surefoot.live.store import migrations, sql
from surefoot.live.store.base import (
    PAGE,
    TIMEOUT,
    AccountRow,
    LeaseRow,
    PlayRow,
    Store,
    checked_snapshot,
    new_account,
    page,
    same_account,
    unknown_account,
)
from surefoot.live.store.tx import Batch, Tx, Watermarks
from surefoot.live.store.writer import Job, Writer

T = TypeVar("T")
_LOCKED = ("SQLITE_BUSY", "55P03")
"""How SQLite and PostgreSQL say that they waited in vain for another process."""


class DatabaseStore(Store):
    """A store in a database that SQLAlchemy reaches; see ``SQLiteStore`` and ``PostgresStore``."""

    _lock_first = sa.text("SELECT 1")
    """What a migration runs first, so that two processes do not migrate at once."""

    def __init__(
        self,
        reads: sa.Engine,
        writes: sa.Engine,
        where: str,
        read_only: bool = False,
        timeout: float = TIMEOUT,
    ) -> None:
        self._reads = reads
        self._writes = writes
        self._where = where
        """What errors call it."""
        self._read_only = read_only
        self._known = Watermarks()
        self._writer = Writer(self._commit, timeout)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._where})"

    def open_account(self, account: str, places: int, strict: bool) -> AccountRow:
        asked = new_account(account, places, strict)

        def create(group: Group) -> AccountRow:
            found = _account(group.connection, account)
            if found is None:  # another process may make it at the same moment
                group.connection.execute(self._create, asked._asdict())
                found = _account(group.connection, account)
            return _existing(found, account)

        with self._reading() as connection:
            found = _account(connection, account)
        return same_account(found or self._write(Job(account, create)), asked)

    def accounts(self) -> list[str]:
        with self._reading() as connection:
            return list(connection.execute(sql.ACCOUNTS).scalars())

    def account(self, account: str) -> AccountRow:
        with self._reading() as connection:
            return _existing(_account(connection, account), account)

    def transact(self, account: str, work: Callable[[Tx], T]) -> T:
        job: Job[T] = Job(account, lambda group: group.batch(account).run(work))
        return self._write(job)

    def entries(self, account: str, after: int = 0, limit: int | None = None) -> Iterator[Entry]:
        start, stop = page(after, limit)
        self.account(account)
        return self._pages(account, start, stop)

    def _pages(self, account: str, start: int, stop: int | None) -> Iterator[Entry]:
        while stop is None or start < stop:
            most = PAGE if stop is None else min(PAGE, stop - start)
            with self._reading() as connection:  # read to its end: it holds back no writer
                rows = Rows(connection, account).read_entries(start, most)
            self._known.saw(account, rows)
            yield from rows
            if len(rows) < most:
                return
            start = rows[-1].seq

    def play(self, account: str, play: str) -> PlayRow | None:
        with self._reading() as connection:
            found = Rows(connection, account).read_play(play)
            if found is None:
                _existing(_account(connection, account), account)
            return found

    def snapshot(self, account: str, seq: int, blob: bytes, experiment: str = "") -> None:
        checked_snapshot(seq, blob, experiment)
        where = {"key_account": account, "key_experiment": experiment}
        new = {
            "account": account, "experiment": experiment, "seq": seq,
            "blob": blob, "checksum": _checksum(blob),
        }  # fmt: skip

        def write(group: Group) -> None:
            group.batch(account)  # locked: two processes may take the same snapshot
            kept = group.connection.execute(sql.SNAPSHOTS, where).all()
            drop = [row.seq for row in kept if row.seq == seq]
            drop += [row.seq for row in kept if row.seq != seq][1:]
            for old in drop:
                group.connection.execute(sql.DROP_SNAPSHOTS, {**where, "key_seq": old})
            group.connection.execute(sql.ADD_SNAPSHOT, new)

        self._write(Job(account, write))

    def latest_snapshot(self, account: str, experiment: str = "") -> tuple[int, bytes] | None:
        where = {"key_account": account, "key_experiment": experiment}
        with self._reading() as connection:
            _existing(_account(connection, account), account)
            for row in connection.execute(sql.SNAPSHOTS, where).all():
                if _checksum(row.blob) == row.checksum:
                    return row.seq, bytes(row.blob)
        return None

    def close(self) -> None:
        if self._writer.foreign:  # to close a parent's connection ends it for the parent
            return
        self._writer.close()
        self._reads.dispose()
        self._writes.dispose()

    @contextmanager
    def moment(self, account: str) -> Iterator[Moment]:
        """An account with all its rows, as of one moment; UnknownAccount if there is none."""
        with self._still() as connection:
            yield Moment(connection, account)

    def _still(self) -> AbstractContextManager[sa.Connection]:
        """A connection all of whose reads are of one moment."""
        raise NotImplementedError

    @property
    def _create(self) -> Any:
        """The statement that creates an account unless another process just did."""
        raise NotImplementedError

    def _time(self, connection: sa.Connection) -> int:
        """The store's clock, asked within a transaction."""
        raise NotImplementedError

    def _check(self) -> None:
        """Bring the schema up to date; DamagedFile, and nothing is touched, if it is not ours."""
        with self._reading() as connection:
            current = migrations.is_current(connection, self._where, self._read_only)
        if self._read_only and not current:
            raise DamagedFile(
                f"{self._where} is no ledger of surefoot, or an old one: open that once to write"
            )
        if self._read_only:
            return
        with reachable("it could not be made ready"):
            self._make_ready()
        if current:
            return
        with reachable("it could not be brought up to date"), self._writes.begin() as connection:
            connection.execute(self._lock_first)
            if not migrations.is_current(connection, self._where):
                migrations.upgrade(connection)

    def _make_ready(self) -> None:
        """What is to be done, each time it is opened to write, to what is known to be ours."""

    def _write(self, job: Job[T]) -> T:
        if self._read_only:
            raise InvalidInput(f"{self._where} was opened to be read; open it without read_only")
        return self._writer.do(job)

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        self._writer.check()
        with reachable("it could not be read"), _begun(self._reads) as connection:
            yield connection

    def _commit(self, jobs: list[Job[Any]]) -> None:
        """Run a group of jobs and commit what they changed."""
        with reachable("nothing was written"):
            connection = _begun(self._writes)
        with connection:
            with reachable("nothing was written"):
                group = Group(connection, self._time, self._known)
                for job in sorted(jobs, key=lambda job: str(job.account)):
                    job.attempt(group)
                    if isinstance(job.error, SQLAlchemyError):  # the transaction is over, for all
                        raise job.error
                group.write()
            with reachable("it broke in a commit, which may be kept or not: try the same id again"):
                connection.commit()
            group.committed()


class Rows:
    """What is committed of an account, as a transaction reads it (``tx.Committed``)."""

    def __init__(self, connection: sa.Connection, account: str) -> None:
        self.connection = connection
        self._account = account

    def read_entries(self, after: int, most: int) -> list[Entry]:
        return [sql.as_entry(row) for row in self._rows(sql.ENTRIES, after=after, most=most)]

    def read_ends(self, seq: int) -> list[Entry]:
        return [sql.as_entry(row) for row in self._rows(sql.ENDS, seq=seq)]

    def read_play(self, play: str) -> PlayRow | None:
        rows = self._rows(sql.PLAY, key_id=play)
        return sql.as_play(rows[0]) if rows else None

    def read_plays(self, plays: list[str]) -> list[PlayRow]:
        some = (plays[start : start + PAGE] for start in range(0, len(plays), PAGE))
        return [sql.as_play(row) for ids in some for row in self._rows(sql.PLAYS, ids=ids)]

    def read_due(self, now: int, limit: int) -> list[PlayRow]:
        return [sql.as_play(row) for row in self._rows(sql.DUE, now=now, most=limit)]

    def read_lease(self, lease: str) -> LeaseRow | None:
        rows = self._rows(sql.LEASE, key_id=lease)
        return LeaseRow(*rows[0]) if rows else None

    def read_leases(self) -> list[LeaseRow]:
        return [LeaseRow(*row) for row in self._rows(sql.OPEN_LEASES)]

    def _rows(self, statement: Any, **where: Any) -> Sequence[Any]:
        return self.connection.execute(statement, {"key_account": self._account, **where}).all()


class Moment(Rows):
    """One account as it stood at one moment, however long it takes to read it."""

    def __init__(self, connection: sa.Connection, account: str) -> None:
        super().__init__(connection, account)
        self.row = _existing(_account(connection, account), account)

    def entries(self) -> Iterator[Entry]:
        """All its entries, in order, streamed."""
        return map(sql.as_entry, self._paged(sql.ENTRIES))

    def plays(self) -> Iterator[PlayRow]:
        """All its plays, in the order of their seq, streamed."""
        return map(sql.as_play, self._paged(sql.NEXT_PLAYS))

    def leases(self) -> Iterator[LeaseRow]:
        """All its leases."""
        return (LeaseRow(*row) for row in self._rows(sql.LEASES))

    def _paged(self, statement: Any) -> Iterator[Any]:
        after = -(1 << 63)  # an edited row may have any number
        while rows := self._rows(statement, after=after, most=PAGE):
            yield from rows
            after = rows[-1].seq


class Group:
    """One transaction and the changes that its works have made so far."""

    def __init__(
        self, connection: sa.Connection, time: Callable[[sa.Connection], int], known: Watermarks
    ) -> None:
        self.connection = connection
        self._time = time
        self._known = known
        self._batches: dict[str, Batch] = {}

    def batch(self, account: str) -> Batch:
        """The changes of an account, which is locked from here on; UnknownAccount if none is."""
        found = self._batches.get(account)
        if found is None:
            locked = _existing(_account(self.connection, account, sql.LOCK_ACCOUNT), account)
            rows = Rows(self.connection, account)
            audit = self._known.audit(locked, rows)
            found = Batch(locked, rows, self._time(self.connection), audit)
            self._batches[account] = found
        return found

    def committed(self) -> None:
        """Remember what was acknowledged: it must never be gone again."""
        for batch in self._batches.values():
            if batch.audit.doubt is None:
                self._known.keep(batch.row)

    def write(self) -> None:
        """Send all changes, guarded: StoreUnavailable if the ledger is not what the works saw."""
        changed = [batch for batch in self._batches.values() if batch.entries]
        if not changed:
            return
        move = sql.MOVE_ACCOUNT
        accounts = [move.values(b.row._asdict(), b.found) for b in changed]
        self._guarded(move.statement, accounts)
        self._send(
            sql.ADD_ENTRIES,
            [
                sql.entry_values(batch.row.name, row, text)
                for batch in changed
                for row, text in zip(batch.entries, batch.texts, strict=True)
            ],
        )
        for batch in changed:
            name = batch.row.name
            plays = {row.id: sql.play_values(name, row) for row in batch.plays.values()}
            leases = {row.id: row._asdict() | {"account": name} for row in batch.leases.values()}
            self._write(sql.ADD_PLAYS, sql.MOVE_PLAYS, plays, batch.was)
            self._write(sql.ADD_LEASES, sql.MOVE_LEASES, leases, batch.was_leases)

    def _write(
        self,
        add: sa.Insert,
        move: sql.Move,
        rows: dict[str, dict[str, Any]],
        was: Mapping[str, PlayRow | LeaseRow | None],
    ) -> None:
        """Rows by their ids: those that are new, and those that were committed before."""
        self._send(add, [row for key, row in rows.items() if was[key] is None])
        moved = [
            move.values(row, before)
            for key, row in rows.items()
            if (before := was[key]) is not None
        ]
        self._guarded(move.statement, moved)

    def _send(self, statement: Any, rows: list[dict[str, Any]]) -> int:
        return self.connection.execute(statement, rows).rowcount if rows else 0

    def _guarded(self, statement: Any, rows: list[dict[str, Any]]) -> None:
        if self._send(statement, rows) != len(rows):
            raise StoreUnavailable(
                "the ledger was changed by something other than a store; nothing was written"
            )


def _begun(engine: sa.Engine) -> sa.Connection:
    """A connection in a transaction. One that lay idle may have died: then there is another."""
    for last in (False, True):
        connection = engine.connect()
        try:
            connection.begin()
        except BaseException as problem:
            connection.close()
            died = isinstance(problem, DBAPIError) and problem.connection_invalidated
            if last or not died:
                raise
        else:
            return connection
    raise AssertionError


@contextmanager
def reachable(what: str) -> Iterator[None]:
    """Turn the errors of a database into StoreUnavailable, which says what became of the work."""
    try:
        yield
    except SQLAlchemyError as problem:
        said = getattr(problem, "orig", problem)
        text = redacted(" ".join(str(said).split()))
        raise StoreUnavailable(f"the store failed, {what}: {text}{_remedy(said)}") from problem


def _remedy(said: Any) -> str:
    """What to do where another process had a lock for longer than one waits for it."""
    code = getattr(said, "sqlite_errorname", None) or getattr(said, "sqlstate", None) or ""
    if not code.startswith(_LOCKED):
        return ""
    return " (another process holds it; once that is done, ask again with the same id)"


def _account(
    connection: sa.Connection, account: str, statement: Any = sql.ACCOUNT
) -> AccountRow | None:
    if not isinstance(account, str):
        return None
    row = connection.execute(statement, {"key_name": account}).first()
    return None if row is None else AccountRow(*row)


def _existing(row: AccountRow | None, account: str) -> AccountRow:
    if row is None:
        raise unknown_account(account)
    return row


def _checksum(blob: bytes) -> str:
    return hashlib.sha256(blob).hexdigest()
