"""What a store has, read by SQL of the rig's own: no line of the package is asked."""

import json
import sqlite3
from contextlib import closing
from typing import Any, NamedTuple

import psycopg

COLUMNS = "seq, kind, experiment, play, d_posted, d_held, posted, held, reserve, payload, hash"


class Entry(NamedTuple):
    """An entry; amounts in units."""

    seq: int
    kind: str
    experiment: str
    play: str | None
    d_posted: int
    d_held: int
    posted: int
    held: int
    reserve: int
    payload: dict
    hash: str


class Ledger(NamedTuple):
    """An account: its entries, its row (seq, head, posted, held, reserve), its play rows."""

    entries: list[Entry]
    row: tuple | None
    plays: dict[str, str]
    """The state of each play."""


NOTHING = Ledger([], None, {})


def read(address: str, account: str) -> Ledger:
    """The account as committed; nothing if there is no such file, table or account."""
    try:
        if address.startswith("postgresql://"):
            with psycopg.connect(address, connect_timeout=10) as connection:
                return read_with(connection, account, "%s")
        with closing(sqlite3.connect(f"file:{address}?mode=ro", uri=True)) as file:
            return read_with(file, account, "?")
    except (sqlite3.OperationalError, psycopg.errors.UndefinedTable) as problem:
        if "unable to open" in str(problem) or "exist" in str(problem) or "no such" in str(problem):
            return NOTHING
        raise


def read_with(connection: Any, account: str, mark: str) -> Ledger:
    def rows(statement: str) -> list[tuple]:
        return connection.execute(statement.format(mark), (account,)).fetchall()

    found = rows(f"SELECT {COLUMNS} FROM entry WHERE account = {{}} ORDER BY seq")
    row = rows("SELECT seq, head, posted, held, reserve FROM account WHERE name = {}")
    plays = rows("SELECT id, state FROM play WHERE account = {}")
    entries = [Entry(*line[:9], json.loads(line[9]), line[10]) for line in found]
    return Ledger(entries, row[0] if row else None, dict(plays))
