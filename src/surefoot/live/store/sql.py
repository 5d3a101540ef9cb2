"""The tables of the ledger and the statements on them, the same in every database.

What must never be is refused by the database itself: an account below 0, a hold below 0, a play
decided twice, an entry changed. A bug of ours cannot commit what a CHECK forbids.
"""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa

from surefoot.live.entries import Entry, canonical
from surefoot.live.store.base import AccountRow, LeaseRow, PlayRow

VERSION = "0002"
"""The newest migration; a test compares."""
READABLE = {"0001", VERSION}
"""The versions that can be read as they are: what changed since is an index."""

metadata = sa.MetaData()

account = sa.Table(
    "account",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("places", sa.Integer, nullable=False),
    sa.Column("strict", sa.Boolean, nullable=False),
    sa.Column("breached", sa.Boolean, nullable=False),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("head", sa.Text, nullable=False),
    sa.Column("posted", sa.BigInteger, nullable=False),
    sa.Column("held", sa.BigInteger, nullable=False),
    sa.Column("reserve", sa.BigInteger, nullable=False),
    sa.CheckConstraint("held >= 0", name="held_not_below_0"),
    sa.CheckConstraint("reserve >= 0", name="reserve_not_below_0"),
    sa.CheckConstraint(
        "NOT strict OR breached OR reserve + posted - held >= 0", name="available_not_below_0"
    ),
)

entry = sa.Table(
    "entry",
    metadata,
    sa.Column("account", sa.Text, sa.ForeignKey("account.name"), primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("experiment", sa.Text, nullable=False),
    sa.Column("play", sa.Text),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("config_version", sa.BigInteger, nullable=False),
    sa.Column("d_posted", sa.BigInteger, nullable=False),
    sa.Column("d_held", sa.BigInteger, nullable=False),
    sa.Column("posted", sa.BigInteger, nullable=False),
    sa.Column("held", sa.BigInteger, nullable=False),
    sa.Column("reserve", sa.BigInteger, nullable=False),
    sa.Column("payload", sa.Text, nullable=False),
    sa.Column("prev", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
)

play = sa.Table(
    "play",
    metadata,
    sa.Column("account", sa.Text, sa.ForeignKey("account.name"), primary_key=True),
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("experiment", sa.Text, nullable=False),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("arm", sa.Text, nullable=False),
    sa.Column("index", sa.BigInteger, nullable=False),
    sa.Column("hold", sa.BigInteger, nullable=False),
    sa.Column("floor", sa.BigInteger, nullable=False),
    sa.Column("deposit", sa.BigInteger, nullable=False),
    sa.Column("low", sa.BigInteger, nullable=False),
    sa.Column("high", sa.BigInteger, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("reward", sa.BigInteger),
    sa.Column("told", sa.Text, nullable=False),
    sa.Column("capped", sa.Boolean, nullable=False),
    sa.Column("request", sa.Text),
    sa.Column("deadline", sa.BigInteger),
    sa.Column("lease", sa.Text),
    sa.UniqueConstraint("account", "seq", name="one_play_an_entry"),
    sa.CheckConstraint("role IN ('explore', 'default')", name="role_known"),
    sa.CheckConstraint("hold >= 0", name="hold_not_below_0"),
    sa.CheckConstraint(
        "state IN ('open', 'settled', 'expired', 'late', 'voided', 'as_default', 'confirmed',"
        " 'valued')",
        name="state_known",
    ),
)
_WAITING = sa.text("state = 'open' AND deadline IS NOT NULL")
sa.Index(
    "play_waiting",
    play.c.account,
    play.c.deadline,
    sqlite_where=_WAITING,
    postgresql_where=_WAITING,
)

lease = sa.Table(
    "lease",
    metadata,
    sa.Column("account", sa.Text, sa.ForeignKey("account.name"), primary_key=True),
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("experiment", sa.Text, nullable=False),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("epoch", sa.BigInteger, nullable=False),
    sa.Column("amount", sa.BigInteger, nullable=False),
    sa.Column("spent", sa.BigInteger, nullable=False),
    sa.Column("expires", sa.BigInteger, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.CheckConstraint("0 <= spent AND spent <= amount", name="spent_within_amount"),
    sa.CheckConstraint("state IN ('open', 'returned', 'forfeited')", name="lease_state_known"),
)

snapshot = sa.Table(
    "snapshot",
    metadata,
    sa.Column("account", sa.Text, sa.ForeignKey("account.name"), primary_key=True),
    sa.Column("experiment", sa.Text, primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True),
    sa.Column("blob", sa.LargeBinary, nullable=False),
    sa.Column("checksum", sa.Text, nullable=False),
)


def _key(table: sa.Table, column: str) -> sa.ColumnElement[bool]:
    return table.c[column] == sa.bindparam(f"key_{column}")


def _body(table: sa.Table) -> list[sa.Column[Any]]:
    return [column for column in table.c if column.name != "account"]


ACCOUNT = sa.select(account).where(_key(account, "name"))
LOCK_ACCOUNT = ACCOUNT.with_for_update(key_share=True)
"""SQLite has no such lock, and needs none: its one writer has the whole file."""
ACCOUNTS = sa.select(account.c.name).order_by(account.c.name)
MOVE_ACCOUNT = (
    sa.update(account)
    .where(_key(account, "name"), _key(account, "seq"), _key(account, "head"))
    .values({c.name: sa.bindparam(c.name) for c in account.c if c.name not in {"name", "places"}})
)
"""Guarded: it moves the account only from the end of the chain that the works started from."""

ADD_ENTRIES = sa.insert(entry)
ENTRIES = (
    sa.select(*_body(entry))
    .where(_key(entry, "account"), entry.c.seq > sa.bindparam("after"))
    .order_by(entry.c.seq)
    .limit(sa.bindparam("most"))
)

_NEWEST = sa.select(sa.func.max(entry.c.seq)).where(_key(entry, "account")).scalar_subquery()
ENDS = (
    sa.select(*_body(entry))
    .where(_key(entry, "account"), entry.c.seq.in_([sa.bindparam("seq"), _NEWEST]))
    .order_by(entry.c.seq)
)
"""One entry by its number, and the newest one."""

ADD_PLAYS = sa.insert(play)
PLAY = sa.select(*_body(play)).where(_key(play, "account"), _key(play, "id"))
PLAYS = sa.select(*_body(play)).where(
    _key(play, "account"), play.c.id.in_(sa.bindparam("ids", expanding=True))
)
NEXT_PLAYS = (
    sa.select(*_body(play))
    .where(_key(play, "account"), play.c.seq > sa.bindparam("after"))
    .order_by(play.c.seq)
    .limit(sa.bindparam("most"))
)
DUE = (
    sa.select(*_body(play))
    .where(_key(play, "account"), _WAITING, play.c.deadline < sa.bindparam("now"))
    .order_by(play.c.deadline, play.c.seq)
    .limit(sa.bindparam("most"))
)
MOVE_PLAYS = (
    sa.update(play)
    .where(_key(play, "account"), _key(play, "id"), _key(play, "state"), _key(play, "capped"))
    .values({name: sa.bindparam(name) for name in ("state", "reward", "told", "capped")})
)
"""Guarded: it moves a play only from the state that the work saw."""

ADD_LEASES = sa.insert(lease)
LEASE = sa.select(*_body(lease)).where(_key(lease, "account"), _key(lease, "id"))
LEASES = sa.select(*_body(lease)).where(_key(lease, "account"))
OPEN_LEASES = (
    sa.select(*_body(lease)).where(_key(lease, "account"), lease.c.state == "open")
).order_by(lease.c.id)
MOVE_LEASES = (
    sa.update(lease)
    .where(_key(lease, "account"), _key(lease, "id"), _key(lease, "state"), _key(lease, "spent"))
    .values(state=sa.bindparam("state"), spent=sa.bindparam("spent"))
)

SNAPSHOTS = (
    sa.select(snapshot.c.seq, snapshot.c.blob, snapshot.c.checksum)
    .where(_key(snapshot, "account"), _key(snapshot, "experiment"))
    .order_by(snapshot.c.seq.desc())
)
ADD_SNAPSHOT = sa.insert(snapshot)
DROP_SNAPSHOTS = sa.delete(snapshot).where(
    _key(snapshot, "account"), _key(snapshot, "experiment"), _key(snapshot, "seq")
)


def account_values(row: AccountRow) -> dict[str, Any]:
    """An account as a row of its table."""
    return row._asdict()


def entry_values(name: str, row: Entry, text: str) -> dict[str, Any]:
    """An entry as a row of its table, with the canonical text of its payload."""
    return {**row._asdict(), "account": name, "payload": text}


def as_entry(row: Any) -> Entry:
    """The inverse of ``entry_values``."""
    found = Entry(*row)
    return found._replace(payload=_read(row.payload))


def play_values(name: str, row: PlayRow) -> dict[str, Any]:
    """A play as a row of its table."""
    return {
        **row._asdict(),
        "account": name,
        "arm": canonical(row.arm),
        "told": canonical(row.told),
    }


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


def lease_values(name: str, row: LeaseRow) -> dict[str, Any]:
    """A lease as a row of its table."""
    return {**row._asdict(), "account": name}


def as_lease(row: Any) -> LeaseRow:
    """The inverse of ``lease_values``."""
    return LeaseRow(*row)
