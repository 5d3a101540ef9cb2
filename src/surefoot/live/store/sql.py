"""The tables of the ledger and the statements on them, the same in every database.

What must never be is refused by the database itself: an account below 0, a hold below 0, a play
decided twice, an entry changed. A bug of ours cannot commit what a CHECK forbids.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import sqlalchemy as sa

from surefoot.floors.events import LEASES as LEASE_EVENTS
from surefoot.live.entries import Entry, canonical
from surefoot.live.store.base import AccountRow, LeaseRow, PlayRow
from surefoot.live.store.tx import STATES

VERSION = "0002"
"""The newest migration; a test compares."""
READABLE = {"0001", VERSION}
"""The versions that can be read as they are: what changed since is an index."""

metadata = sa.MetaData()
_TEXTS = {
    "name", "head", "kind", "experiment", "play", "actor", "payload", "prev", "hash", "id", "role",
    "arm", "state", "told", "request", "lease", "owner",
}  # fmt: skip
_BOOLS = {"strict", "breached", "capped"}
_NULLABLE = {"play", "reward", "request", "deadline", "lease"}


def _columns(row: Any, key: str) -> Iterator[sa.Column[Any]]:
    """The fields of a row as columns, in their order: what is selected is a row again."""
    for name in row._fields:
        kind: Any = sa.Integer if name == "places" else sa.BigInteger
        kind = sa.Text if name in _TEXTS else sa.Boolean if name in _BOOLS else kind
        yield sa.Column(name, kind, primary_key=name == key, nullable=name in _NULLABLE)


def _one_of(column: str, names: Iterable[str]) -> str:
    """What a CHECK says of a column whose values are listed elsewhere."""
    return f"{column} IN ({', '.join(map(repr, dict.fromkeys(names)))})"


def _owner() -> sa.Column[Any]:
    return sa.Column("account", sa.Text, sa.ForeignKey("account.name"), primary_key=True)


account = sa.Table(
    "account",
    metadata,
    *_columns(AccountRow, "name"),
    sa.CheckConstraint("held >= 0", name="held_not_below_0"),
    sa.CheckConstraint("reserve >= 0", name="reserve_not_below_0"),
    sa.CheckConstraint(
        "NOT strict OR breached OR reserve + posted - held >= 0", name="available_not_below_0"
    ),
)
entry = sa.Table("entry", metadata, _owner(), *_columns(Entry, "seq"))
play = sa.Table(
    "play",
    metadata,
    _owner(),
    *_columns(PlayRow, "id"),
    sa.UniqueConstraint("account", "seq", name="one_play_an_entry"),
    sa.CheckConstraint(_one_of("role", (role for role, _ in STATES)), name="role_known"),
    sa.CheckConstraint("hold >= 0", name="hold_not_below_0"),
    sa.CheckConstraint(_one_of("state", (name for _, name in STATES)), name="state_known"),
)
_WAITING = sa.text("state = 'open' AND deadline IS NOT NULL")
sa.Index(
    "play_waiting", play.c.account, play.c.deadline,
    sqlite_where=_WAITING, postgresql_where=_WAITING,
)  # fmt: skip
lease = sa.Table(
    "lease",
    metadata,
    _owner(),
    *_columns(LeaseRow, "id"),
    sa.CheckConstraint("0 <= spent AND spent <= amount", name="spent_within_amount"),
    sa.CheckConstraint(
        _one_of("state", ("open", *(how for how in LEASE_EVENTS if how != "granted"))),
        name="lease_state_known",
    ),
)
snapshot = sa.Table(
    "snapshot",
    metadata,
    _owner(),
    sa.Column("experiment", sa.Text, primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True),
    sa.Column("blob", sa.LargeBinary, nullable=False),
    sa.Column("checksum", sa.Text, nullable=False),
)


def _is(table: sa.Table, *columns: str) -> list[sa.ColumnElement[bool]]:
    return [table.c[column] == sa.bindparam(f"key_{column}") for column in columns]


def _of_account(table: sa.Table) -> sa.Select[Any]:
    """The rows of one account, without its name."""
    return sa.select(*list(table.c)[1:]).where(*_is(table, "account"))


class Move(NamedTuple):
    """An update that finds its row only as the works saw it."""

    statement: sa.Update
    guard: tuple[str, ...]
    fields: tuple[str, ...]

    @classmethod
    def of(cls, table: sa.Table, guard: tuple[str, ...], fields: tuple[str, ...]) -> Move:
        """``guard``: which columns have to be as they were; ``fields``: which are written."""
        values: dict[str, Any] = {field: sa.bindparam(field) for field in fields}
        return cls(sa.update(table).where(*_is(table, *guard)).values(values), guard, fields)

    def values(
        self, row: dict[str, Any], before: AccountRow | PlayRow | LeaseRow
    ) -> dict[str, Any]:
        """What the statement is executed with, to put ``row`` in the place of ``before``."""
        # Only the account's name is not a field of the rows of plays and leases.
        keys = {f"key_{name}": getattr(before, name, row.get("account")) for name in self.guard}
        return {field: row[field] for field in self.fields} | keys


ACCOUNT = sa.select(account).where(*_is(account, "name"))
LOCK_ACCOUNT = ACCOUNT.with_for_update(key_share=True)
"""SQLite has no such lock, and needs none: its one writer has the whole file."""
ACCOUNTS = sa.select(account.c.name).order_by(account.c.name)
MOVE_ACCOUNT = Move.of(
    account,
    ("name", "seq", "head"),
    ("strict", "breached", "seq", "head", "posted", "held", "reserve"),
)

_AFTER: sa.BindParameter[int] = sa.bindparam("after")
_MOST: sa.BindParameter[int] = sa.bindparam("most")
_NEWEST = sa.select(sa.func.max(entry.c.seq)).where(*_is(entry, "account")).scalar_subquery()
ADD_ENTRIES = sa.insert(entry)
ENTRIES = _of_account(entry).where(entry.c.seq > _AFTER).order_by(entry.c.seq).limit(_MOST)
ENDS = (
    _of_account(entry).where(entry.c.seq.in_([sa.bindparam("seq"), _NEWEST])).order_by(entry.c.seq)
)
"""One entry by its number, and the newest one."""

ADD_PLAYS = sa.insert(play)
PLAY = _of_account(play).where(*_is(play, "id"))
PLAYS = _of_account(play).where(play.c.id.in_(sa.bindparam("ids", expanding=True)))
NEXT_PLAYS = _of_account(play).where(play.c.seq > _AFTER).order_by(play.c.seq).limit(_MOST)
DUE = (
    _of_account(play)
    .where(_WAITING, play.c.deadline < sa.bindparam("now"))
    .order_by(play.c.deadline, play.c.seq)
    .limit(_MOST)
)
MOVE_PLAYS = Move.of(
    play, ("account", "id", "state", "capped"), ("state", "reward", "told", "capped")
)

ADD_LEASES = sa.insert(lease)
LEASES = _of_account(lease)
LEASE = LEASES.where(*_is(lease, "id"))
OPEN_LEASES = LEASES.where(lease.c.state == "open").order_by(lease.c.id)
MOVE_LEASES = Move.of(lease, ("account", "id", "state", "spent"), ("state", "spent"))

SNAPSHOTS = (
    sa.select(snapshot.c.seq, snapshot.c.blob, snapshot.c.checksum)
    .where(*_is(snapshot, "account", "experiment"))
    .order_by(snapshot.c.seq.desc())
)
ADD_SNAPSHOT = sa.insert(snapshot)
DROP_SNAPSHOTS = sa.delete(snapshot).where(*_is(snapshot, "account", "experiment", "seq"))


def entry_values(name: str, row: Entry, text: str) -> dict[str, Any]:
    """An entry as a row of its table, with the canonical text of its payload."""
    return {**row._asdict(), "account": name, "payload": text}


def as_entry(row: Any) -> Entry:
    """The inverse of ``entry_values``."""
    found = Entry(*row)
    return found._replace(payload=_read(row.payload))


def play_values(name: str, row: PlayRow) -> dict[str, Any]:
    """A play as a row of its table."""
    texts = {"arm": canonical(row.arm), "told": canonical(row.told)}
    return {**row._asdict(), "account": name, **texts}


def as_play(row: Any) -> PlayRow:
    """The inverse of ``play_values``."""
    found = PlayRow(*row)
    return found._replace(arm=_read(row.arm), told=_read(row.told))


def _read(text: Any) -> Any:
    """The value of a JSON text; the text where somebody made it none, for others to refuse."""
    try:
        return json.loads(text)
    except ValueError:
        return text
