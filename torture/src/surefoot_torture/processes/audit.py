"""An audit: what diaries say was acknowledged, against the ledger and its account, in fractions."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from surefoot.live.entries import Entry, exported
from surefoot.live.ids import public_id
from surefoot.live.store import open_store
from surefoot.verifier import verify
from surefoot_torture.faults.arms import Counted
from surefoot_torture.processes.children import opened, read

_EXPIRED = "outcome.expired", "default.expired"
_KINDS = {
    "update": ("outcome.settled", "outcome.late", "decision.confirmed"),
    "capped": ("outcome.settled", "outcome.late"),
    "expire": _EXPIRED,
    "void": ("decision.voided",),
    "fall_back": ("outcome.as_default", "decision.confirmed"),
    "acknowledge": ("breach.acknowledged",),
}
"""As which entries a report may be in the ledger."""
_REPORTS = {kind for kinds in _KINDS.values() for kind in kinds}


class Told:
    """What some diaries say together."""

    def __init__(self, lines: Iterable[list[Any]]) -> None:
        self.plays: dict[str, int] = {}
        self.reports: set[tuple[str, str, str | None]] = set()
        """What was acknowledged."""
        self.made: set[tuple[str, str, str | None]] = set()
        """What was meant, acknowledged or not: nothing else may be in the ledger."""
        self.problems: list[str] = []
        for what, *rest in lines:
            if what == "play":
                self.plays[rest[0]] = rest[1]
            elif what == "made":
                self.made.add(tuple(rest))
            elif what == "told":
                self.reports.add(tuple(rest[:3]))
            elif what == "fault":
                self.problems.append(rest[0])

    def __len__(self) -> int:
        return len(self.plays) + len(self.reports)


class Terms(NamedTuple):
    """What one play must earn, may lose, and brings if the default is played."""

    floor: Fraction
    hold: Fraction
    deposit: Fraction
    explores: bool


class Books:
    """The books of a ledger in fractions, from its configurations, decisions and rewards alone."""

    def __init__(self, places: int) -> None:
        self.unit = Fraction(10) ** -places
        self.posted = self.held = self.reserve = Fraction(0)
        self.plays: dict[str, Terms] = {}
        self.rewards: dict[str, Fraction] = {}
        self.lent: dict[str, Fraction] = {}
        """What is left of each lease."""
        self.forfeited: set[str] = set()

    def take(self, entry: Entry) -> None:
        """Move by one entry."""
        kind, told = entry.kind, entry.payload
        if kind in ("experiment.opened", "experiment.configured"):
            floor = told["floor"]
            self.alpha, self.value = Fraction(floor["alpha"]), Fraction(floor["default"])
            self.low, self.high = floor["low"] * self.unit, floor["high"] * self.unit
        elif kind.startswith("endowment."):
            self.reserve += (1 if kind.endswith("granted") else -1) * told["amount"] * self.unit
        elif kind in ("decision.held", "decision.defaulted"):
            self._decided(str(entry.play), kind.endswith("held"), told.get("lease"))
        elif kind.startswith("lease."):
            self._leased(kind, told)
        elif kind in _REPORTS:
            self._reported(str(entry.play), kind, told)

    def _decided(self, play: str, explores: bool, lease: str | None) -> None:
        floor = (1 - self.alpha) * self.value
        hold = max(Fraction(0), floor - self.low)
        self.plays[play] = Terms(floor, hold, self.value - floor, explores)
        if explores and lease is None:
            self.held += hold
        elif explores:
            self._draw(str(lease), hold)

    def _draw(self, lease: str, hold: Fraction) -> None:
        self.lent[lease] -= hold
        if lease in self.forfeited:
            self.posted, self.held = self.posted + hold, self.held + hold

    def _leased(self, kind: str, told: dict[str, Any]) -> None:
        lease = told["lease"]
        if kind == "lease.granted":
            self.lent[lease] = told["amount"] * self.unit
            self.held += self.lent[lease]
            return
        self.held -= self.lent[lease]
        if kind == "lease.forfeited":
            self.forfeited.add(lease)
            self.posted -= self.lent[lease]

    def _reported(self, play: str, kind: str, told: dict[str, Any]) -> None:
        terms = self.plays[play]
        if terms.explores and kind not in ("outcome.late", "breach.acknowledged"):
            self.held -= terms.hold
        if kind == "outcome.expired":
            self.posted -= terms.hold
        elif kind in ("outcome.as_default", "decision.confirmed"):
            self.posted += terms.deposit
        elif kind == "breach.acknowledged":
            self.posted += self.rewards[play] - self.high
        elif kind not in ("decision.voided", "default.expired"):
            reward = self.rewards[play] = Fraction(told["told"])
            late = terms.hold if kind == "outcome.late" else 0
            self.posted += min(reward, self.high) - terms.floor + late

    @property
    def slack(self) -> Fraction:
        """What may still be lost."""
        return self.reserve + self.posted - self.held

    def truth(self, made: Iterable[tuple[str, str, str | None]]) -> Fraction:
        """What may still be lost by what really happened: an open exploration is at its worst."""
        worth = {play: -terms.hold * terms.explores for play, terms in self.plays.items()}
        for play, what, reward in made:
            terms = self.plays.get(play)
            if terms is None or what in ("expire", "acknowledge"):
                continue
            if what == "void":
                worth[play] = Fraction(0)
            elif what == "fall_back" or not terms.explores:
                worth[play] = terms.deposit
            else:
                worth[play] = Fraction(str(reward)) - terms.floor
        return self.reserve + sum(worth.values())


def audit(
    address: str, name: str, diaries: Iterable[Path], journal: Path | None = None
) -> dict[str, Any]:
    """Open a Live on what killed processes left, and say what is wrong.

    The answer has ``problems``, how many ``entries`` there are, how many plays and reports were
    ``acknowledged``, and the ``seconds`` of the recovery.
    """
    told = Told(each for diary in diaries for each in read(diary))
    start = time.perf_counter()
    with open_store(address) as store:
        live = opened(store, name, journal)
        seconds = time.perf_counter() - start
        row, entries = store.transact(name, lambda tx: (tx.row, list(tx.entries())))
        problems = [f"degraded: {live.degraded}"] if live.degraded else []
        stated = live.account
        said = [Fraction(amount) for amount in (stated.slack, stated.held, stated.reserve)]
        problems += Counted(entries, name).wrong(live.arms(), row.places)
        if journal is not None:
            live.close()
    problems += found(row, entries, told, said)
    return {
        "problems": problems, "entries": row.seq, "acknowledged": len(told), "seconds": seconds,
    }  # fmt: skip


def found(
    row: Any, entries: list[Entry], told: Told, stated: list[Fraction] | None = None
) -> list[str]:
    """What is wrong with a ledger; ``stated``: slack, held and reserve as its Live says."""
    known = as_public_id(entries)
    problems = [*told.problems, *lost(known, told), *twice(known), *unsaid(known, told)]
    books = Books(row.places)
    for entry in known:
        books.take(entry)
    sums = [books.slack, books.held, books.reserve]
    kept = [amount * books.unit for amount in (row.available, row.held, row.reserve)]
    problems += [
        f"slack, held and reserve are {said}, but add up to {sums}"
        for said in (kept, stated or kept)
        if said != sums
    ]
    if (truth := books.truth(told.made)) < books.slack:
        problems.append(f"the books are at {books.slack}, above the truth, {truth}")
    report = verify(exported(row.name, row.places, entries), row.head)
    return [*problems, *report["problems"]]


def as_public_id(entries: list[Entry]) -> list[Entry]:
    """The entries with each play under the name that its caller was told."""
    names: dict[str | None, str] = {
        entry.play: public_id(entry.play, entry.payload)
        for entry in entries
        if entry.play is not None and entry.kind in ("decision.held", "decision.defaulted")
    }
    return [entry._replace(play=names.get(entry.play, entry.play)) for entry in entries]


def lost(entries: list[Entry], told: Told) -> list[str]:
    """What was acknowledged and is not in the ledger."""
    decided = {
        entry.play: entry.payload.get("index", -1) if entry.kind == "decision.held" else -1
        for entry in entries
        if entry.kind in ("decision.held", "decision.defaulted")
    }
    there = {(entry.play, entry.kind) for entry in entries if entry.kind in _REPORTS}
    problems = [
        f"play {play} was acknowledged as arm {index}, but is {decided.get(play, 'lost')}"
        for play, index in told.plays.items()
        if decided.get(play) != index
    ]
    problems += [
        f"{what} of play {play} was acknowledged, but is lost"
        for play, what, _ in sorted(told.reports, key=str)
        if not any((play, kind) in there for kind in _KINDS[what])
    ]
    return problems


def twice(entries: list[Entry]) -> list[str]:
    """What is in the ledger more than once: a decision, or a reward."""
    final = _REPORTS - {*_EXPIRED, "breach.acknowledged"}
    counts = Counter(
        (entry.play, "reported" if entry.kind in final else entry.kind)
        for entry in entries
        if entry.play is not None
    )
    return [f"play {play} was {what} {n} times" for (play, what), n in counts.items() if n > 1]


def unsaid(entries: list[Entry], told: Told) -> list[str]:
    """What is in the ledger though nobody reported it; an expiry needs nobody."""
    made = {(play, kind) for play, what, _ in told.made for kind in _KINDS[what]}
    rewards = {(play, reward and Fraction(reward)) for play, _, reward in told.made}
    problems = []
    for entry in entries:
        if entry.kind not in _REPORTS or entry.kind in _EXPIRED:
            continue
        reward = entry.payload.get("told")
        if (entry.play, entry.kind) not in made:
            problems.append(f"entry {entry.seq}, {entry.kind} of {entry.play}, nobody reported")
        elif reward is not None and (entry.play, Fraction(reward)) not in rewards:
            problems.append(f"entry {entry.seq} credits {entry.play} with {reward}, nobody did")
    return problems
