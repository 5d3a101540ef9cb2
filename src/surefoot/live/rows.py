"""The rows of a ledger against its entries: what answers ids and keeps totals, derived anew.

Agents look up plays, leases and totals in tables, which sum up the entries. Nothing chains these
rows, so an edit of one is seen only by deriving it again. This text shares none with the stores'
transactions, so that two have to agree.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain, islice
from typing import Any, Self

from surefoot._types import JsonObject
from surefoot.live.entries import Entry
from surefoot.live.store.base import AccountRow, LeaseRow, PlayRow

Row = AccountRow | PlayRow | LeaseRow

FIXED = (
    "id", "experiment", "seq", "role", "arm", "index", "hold", "floor", "deposit", "low", "high",
    "request", "deadline", "lease",
)  # fmt: skip
"""What a decision says of its play for good."""
MOVED = ("state", "reward", "told", "capped")
"""What is reported of it."""
AFTER = {
    "outcome.settled": "settled", "outcome.expired": "expired", "outcome.late": "late",
    "outcome.as_default": "as_default", "decision.confirmed": "confirmed",
    "decision.voided": "voided", "default.valued": "valued", "default.expired": "expired",
}  # fmt: skip
"""What a play is after an entry about it."""
_PLAYS = (
    "CREATE TABLE play (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, fixed TEXT, state TEXT,"
    " reward TEXT, told TEXT, capped TEXT)"
)
NAMED = 10
"""How many differences are named."""


class Derived:
    """The rows that entries lead to; ``take`` has the next one.

    They are in a file that SQLite keeps for itself and deletes, so memory stays as it is however
    many plays there are: about 150 bytes of disk a play.

    Holds when: the entries are right, which is the verifier's to say. Does not hold when: they were
    edited as the rows were.
    """

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        for statement in ("PRAGMA synchronous = OFF", "BEGIN", _PLAYS):
            self._db.execute(statement)
        self._leases: dict[str, LeaseRow] = {}
        self._last: Entry | None = None
        self._strict = False
        self._problems: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def take(self, entry: Entry) -> None:
        """The next entry. Whether it may follow is the verifier's to say."""
        payload: Any = entry.payload if isinstance(entry.payload, dict) else {}
        self._last = entry
        if entry.kind in ("decision.held", "decision.defaulted"):
            self._decided(entry, payload)
        elif entry.kind in AFTER:
            self._moved(entry.play, AFTER[entry.kind], payload)
        elif entry.kind == "breach.acknowledged":
            self._set("capped = 'false'", (), entry.play or payload.get("play"))
        elif entry.kind == "lease.granted":
            self._leases[str(payload.get("lease"))] = LeaseRow(
                payload.get("lease"), entry.experiment, payload.get("owner"), payload.get("epoch"),
                payload.get("amount"), 0, payload.get("expires"),
            )  # fmt: skip
        elif entry.kind.startswith("lease."):
            if held := self._leases.get(str(payload.get("lease"))):
                self._leases[str(held.id)] = held._replace(state=entry.kind.partition(".")[2])
        elif entry.kind == "experiment.opened":
            floor = payload.get("floor")
            self._strict |= isinstance(floor, dict) and floor.get("strict") is True

    def _decided(self, entry: Entry, payload: JsonObject) -> None:
        explores = entry.kind == "decision.held"
        low = payload.get("low" if explores else "value", 0)
        said = {
            "id": entry.play, "experiment": entry.experiment, "seq": entry.seq,
            "role": "explore" if explores else "default",
            "arm": payload.get("arm"), "index": payload.get("index", -1),
            "hold": payload.get("hold") if explores else 0, "floor": payload.get("floor", 0),
            "deposit": payload.get("deposit", 0), "low": low, "high": payload.get("high", low),
            "request": payload.get("request"), "deadline": payload.get("deadline"),
            "lease": payload.get("lease"),
        }  # fmt: skip
        row = entry.seq, entry.play, _text([said[name] for name in FIXED]), _text("open")
        try:
            self._db.execute("INSERT INTO play VALUES (?, ?, ?, ?, 'null', 'null', 'false')", row)
        except sqlite3.IntegrityError:
            self._problems.append(f"entry {entry.seq:,}: play {entry.play} was decided before")
        lease = self._leases.get(str(payload.get("lease")))
        if explores and lease and isinstance(said["hold"], int):
            self._leases[str(lease.id)] = lease._replace(spent=lease.spent + said["hold"])

    def _moved(self, play: Any, state: str, payload: JsonObject) -> None:
        if "reward" not in payload:
            self._set("state = ?", (_text(state),), play)
            return
        values = state, payload["reward"], payload.get("told"), payload.get("capped") is True
        setting = "state = ?, reward = ?, told = ?, capped = ?"
        self._set(setting, tuple(map(_text, values)), play)

    def _set(self, what: str, values: tuple[str, ...], play: Any) -> None:
        self._db.execute(f"UPDATE play SET {what} WHERE id = ?", (*values, play))  # noqa: S608

    def problems(
        self, account: AccountRow, plays: Iterable[PlayRow], leases: Iterable[LeaseRow]
    ) -> list[str]:
        """What the tables say differently: at most ``NAMED`` sentences, and how many more.

        The rows are those of the moment at which the entries were read; plays in the order of
        their seq.
        """
        found = chain(
            self._problems,
            self._account(account),
            self._of_plays(iter(plays)),
            self._of_leases({row.id: row for row in leases}),
        )
        named = list(islice(found, NAMED))
        more = sum(1 for _ in found)
        return [*named, f"{more:,} more rows are not what the entries say"] if more else named

    def _account(self, row: AccountRow) -> Iterator[str]:
        last, due = self._last, AccountRow(row.name, row.places, row.strict or self._strict)
        if last is not None:
            below = row.strict and last.reserve + last.posted - last.held < 0
            due = AccountRow(
                row.name, row.places, due.strict, below, last.seq, last.hash, last.posted,
                last.held, last.reserve,
            )  # fmt: skip
        yield from _differing("account", row, due)

    def _of_plays(self, rows: Iterator[PlayRow]) -> Iterator[str]:
        """Both are in the order of their seq."""
        with closing(self._db.execute("SELECT * FROM play ORDER BY seq")) as derived:
            row, due = next(rows, None), derived.fetchone()
            while row is not None or due is not None:
                if row is None or (due is not None and due[0] < row.seq):
                    yield f"play {due[1]}: its row is gone; entry {due[0]:,} decided it"
                    due = derived.fetchone()
                elif due is None or row.seq < due[0]:
                    yield f"play {row.id}: no entry decided it, its row names {row.seq:,}"
                    row = next(rows, None)
                else:
                    yield from _differing("play", row, _as_row(due))
                    row, due = next(rows, None), derived.fetchone()

    def _of_leases(self, rows: dict[str, LeaseRow]) -> Iterator[str]:
        for name in sorted({*self._leases, *rows}):
            if name not in rows:
                yield f"lease {name}: its row is gone"
            elif name not in self._leases:
                yield f"lease {name}: no entry granted it"
            else:
                yield from _differing("lease", rows[name], self._leases[name])


def _as_row(found: tuple[Any, ...]) -> PlayRow:
    _, _, fixed, *moved = found
    said = zip(FIXED + MOVED, [*json.loads(fixed), *map(json.loads, moved)], strict=True)
    return PlayRow(**dict(said))


def _differing(what: str, row: Row, due: Row) -> Iterator[str]:
    """One sentence of a row, with all that differs."""
    wrong = [
        "{} is {}, expected {}".format(field, *_said(found, value))
        for field, found, value in zip(row._fields, row, due, strict=True)
        if type(found) is not type(value) or found != value
    ]
    if wrong:
        yield f"{what} {due[0]}: its row's {', its '.join(wrong)}"


def _said(*values: Any) -> Iterator[str]:
    """Strings as they are; beside anything else, all as JSON."""
    plain = all(isinstance(value, str) for value in values)
    for text in values if plain else map(_text, values):
        yield text if len(text) <= 80 else f"{text[:77]}..."


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
