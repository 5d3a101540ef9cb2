"""The rows of a ledger against its entries: what answers ids and keeps totals, derived anew.

Agents look up plays, leases and totals in tables, which sum up the entries. Nothing chains these
rows, so an edit of one is seen only by deriving it again. This text shares none with the stores'
``moves``, so that two have to agree.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from typing import Any, NamedTuple, Self

from surefoot.live.entries import GENESIS, Entry

FIXED = (
    "experiment", "seq", "role", "arm", "index", "hold", "floor", "deposit", "low", "high",
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
GRANTED = ("owner", "epoch", "amount", "expires")
_QUICK = "PRAGMA synchronous = OFF"
_PLAYS = (
    "CREATE TABLE play (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, fixed TEXT, state TEXT,"
    " reward TEXT, told TEXT, capped TEXT)"
)
NAMED = 10
"""How many differences are named."""


class Tables(NamedTuple):
    """The rows of one account at the moment at which its entries were read."""

    account: dict[str, Any]
    plays: Iterable[dict[str, Any]]
    """In the order of their seq."""
    leases: Iterable[dict[str, Any]]


class Derived:
    """The rows that entries lead to; ``take`` has the next one.

    They are in a file that SQLite keeps for itself and deletes, so memory stays as it is however
    many plays there are: about 150 bytes of disk a play.

    Holds when: the entries are right, which is the verifier's to say. Does not hold when: they were
    edited as the rows were.
    """

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        for statement in (_QUICK, "BEGIN", _PLAYS):
            self._db.execute(statement)
        self._leases: dict[str, dict[str, Any]] = {}
        self._last: Entry | None = None
        self._strict = False
        self._problems: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def take(self, entry: Entry) -> None:
        """The next entry. Whether it may follow is the verifier's to say."""
        told: Any = entry.payload if isinstance(entry.payload, dict) else {}
        self._last = entry
        if entry.kind in ("decision.held", "decision.defaulted"):
            self._decided(entry, told)
        elif entry.kind in AFTER:
            self._moved(entry.play, AFTER[entry.kind], told)
        elif entry.kind == "breach.acknowledged":
            self._set("capped = 'false'", (), entry.play or told.get("play"))
        elif entry.kind == "lease.granted":
            said = {name: told.get(name) for name in GRANTED}
            row = {"experiment": entry.experiment, **said, "spent": 0, "state": "open"}
            self._leases[str(told.get("lease"))] = row
        elif entry.kind.startswith("lease."):
            if lease := self._leases.get(str(told.get("lease"))):
                lease["state"] = entry.kind.partition(".")[2]
        elif entry.kind == "experiment.opened":
            floor = told.get("floor")
            self._strict |= isinstance(floor, dict) and floor.get("strict") is True

    def _decided(self, entry: Entry, told: dict[str, Any]) -> None:
        explores = entry.kind == "decision.held"
        low = told.get("low" if explores else "value", 0)
        said = {
            "experiment": entry.experiment, "seq": entry.seq,
            "role": "explore" if explores else "default",
            "arm": told.get("arm"), "index": told.get("index", -1),
            "hold": told.get("hold") if explores else 0, "floor": told.get("floor", 0),
            "deposit": told.get("deposit", 0), "low": low, "high": told.get("high", low),
            "request": told.get("request"), "deadline": told.get("deadline"),
            "lease": told.get("lease"),
        }  # fmt: skip
        values = entry.seq, entry.play, _text([said[name] for name in FIXED])
        try:
            self._db.execute(
                "INSERT INTO play VALUES (?, ?, ?, '\"open\"', 'null', 'null', 'false')", values
            )
        except sqlite3.IntegrityError:
            self._problems.append(f"entry {entry.seq:,}: play {entry.play} was decided before")
        lease = self._leases.get(str(told.get("lease")))
        if explores and lease and isinstance(said["hold"], int):
            lease["spent"] += said["hold"]

    def _moved(self, play: Any, state: str, told: dict[str, Any]) -> None:
        if "reward" not in told:
            self._set("state = ?", (_text(state),), play)
            return
        values = state, told["reward"], told.get("told"), told.get("capped") is True
        setting = "state = ?, reward = ?, told = ?, capped = ?"
        self._set(setting, tuple(map(_text, values)), play)

    def _set(self, what: str, values: tuple[str, ...], play: Any) -> None:
        self._db.execute(f"UPDATE play SET {what} WHERE id = ?", (*values, play))  # noqa: S608

    def problems(self, tables: Tables) -> list[str]:
        """What the tables say differently: at most ``NAMED`` sentences, and how many more."""
        found = chain(
            self._problems,
            self._account(tables.account),
            self._of_plays(iter(tables.plays)),
            _compared("lease", self._leases, {row["id"]: row for row in tables.leases}),
        )
        named = [problem for problem, _ in zip(found, range(NAMED), strict=False)]
        more = sum(1 for _ in found)
        return [*named, f"{more:,} more rows are not what the entries say"] if more else named

    def _account(self, row: dict[str, Any]) -> Iterator[str]:
        last = self._last
        due = {"seq": 0, "head": GENESIS, "posted": 0, "held": 0, "reserve": 0, "breached": False}
        if last is not None:
            below = last.reserve + last.posted - last.held < 0
            due = {name: getattr(last, name) for name in ("seq", "posted", "held", "reserve")}
            due |= {"head": last.hash, "breached": row["strict"] and below}
        due |= {"strict": True} if self._strict else {}
        yield from _differing("account", row["name"], row, due)

    def _of_plays(self, rows: Iterator[dict[str, Any]]) -> Iterator[str]:
        """Both are in the order of their seq."""
        with closing(self._db.execute("SELECT * FROM play ORDER BY seq")) as derived:
            row, due = next(rows, None), derived.fetchone()
            while row is not None or due is not None:
                if row is None or (due is not None and due[0] < row["seq"]):
                    yield f"play {due[1]}: its row is gone; entry {due[0]:,} decided it"
                    due = derived.fetchone()
                elif due is None or row["seq"] < due[0]:
                    yield f"play {row['id']}: no entry decided it, its row names {row['seq']:,}"
                    row = next(rows, None)
                else:
                    yield from _differing("play", due[1], row, _as_row(due))
                    row, due = next(rows, None), derived.fetchone()


def _as_row(found: Any) -> dict[str, Any]:
    _, play, fixed, *moved = found
    said = dict(zip(FIXED, json.loads(fixed), strict=True))
    said |= dict(zip(MOVED, map(json.loads, moved), strict=True))
    return {"id": play, **said}


def _compared(
    what: str, derived: dict[str, dict[str, Any]], rows: dict[str, dict[str, Any]]
) -> Iterator[str]:
    for name in sorted({*derived, *rows}):
        if name not in rows:
            yield f"{what} {name}: its row is gone"
        elif name not in derived:
            yield f"{what} {name}: no entry granted it"
        else:
            yield from _differing(what, name, rows[name], derived[name])


def _differing(what: str, name: str, row: dict[str, Any], due: dict[str, Any]) -> Iterator[str]:
    """One sentence of a row, with all that differs."""
    wrong = [
        "{} is {}, expected {}".format(field, *_said(row[field], value))
        for field, value in due.items()
        if type(row[field]) is not type(value) or row[field] != value
    ]
    if wrong:
        yield f"{what} {name}: its row's {', its '.join(wrong)}"


def _said(*values: Any) -> Iterator[str]:
    """Strings as they are; beside anything else, all as JSON."""
    plain = all(isinstance(value, str) for value in values)
    for text in values if plain else map(_text, values):
        yield text if len(text) <= 80 else f"{text[:77]}..."


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
