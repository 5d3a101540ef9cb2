"""Change a store behind its back, whatever it keeps its rows in: edits, deletions, a restore."""

import copy
from contextlib import contextmanager

import sqlalchemy as sa

from surefoot.live import MemoryStore
from surefoot.live.store import sql

TABLES = (sql.account, sql.entry, sql.play, sql.lease, sql.snapshot)


@contextmanager
def unguarded(store):
    """A transaction that may change entries, as whoever owns the database can."""
    with store._writes.connect() as connection, connection.begin():
        if connection.dialect.name == "sqlite":
            for name in ("update", "delete", "replace"):
                connection.execute(sa.text(f"DROP TRIGGER IF EXISTS entry_no_{name}"))
        else:
            connection.execute(sa.text("ALTER TABLE entry DISABLE TRIGGER ALL"))
        yield connection


def run(store, *statements):
    with unguarded(store) as connection:
        for statement in statements:
            connection.execute(sa.text(statement))


def set_account(store, **fields):
    """Edit the row of the account ``default``."""
    if isinstance(store, MemoryStore):
        found = store._accounts["default"]
        found.row = found.row._replace(**fields)
    else:
        run(store, f"UPDATE account SET {_said(fields)} WHERE name = 'default'")


def set_entry(store, seq, **fields):
    if isinstance(store, MemoryStore):
        entries = store._accounts["default"].entries
        entries[seq - 1] = entries[seq - 1]._replace(**fields)
    else:
        run(store, f"UPDATE entry SET {_said(fields)} WHERE seq = {seq}")


def set_play(store, play, **fields):
    if isinstance(store, MemoryStore):
        found = store._accounts["default"]
        found.plays[play] = found.plays[play]._replace(**fields)
        if found.plays[play].state == "open":
            found.waiting[play] = found.plays[play]
    else:
        run(store, f"UPDATE play SET {_said(fields)} WHERE id = '{play}'")


def drop_play(store, play):
    if isinstance(store, MemoryStore):
        del store._accounts["default"].plays[play]
    else:
        run(store, f"DELETE FROM play WHERE id = '{play}'")


def backup(store):
    """All rows there are."""
    if isinstance(store, MemoryStore):
        return copy.deepcopy(store._accounts)
    with store._reads.connect() as connection:
        return {t: [dict(row._mapping) for row in connection.execute(sa.select(t))] for t in TABLES}


def restore(store, kept):
    """Put back the rows of a backup, and no others."""
    if isinstance(store, MemoryStore):
        store._accounts = copy.deepcopy(kept)
        return
    with unguarded(store) as connection:
        for table in reversed(TABLES):
            connection.execute(sa.delete(table))
        for table in TABLES:
            if kept[table]:
                connection.execute(sa.insert(table), kept[table])


def _said(fields):
    return ", ".join(f"{name} = {_literal(value)}" for name, value in fields.items())


def _literal(value):
    return f"'{value}'" if isinstance(value, str) else str(value)
