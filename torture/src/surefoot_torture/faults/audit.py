"""The audit at the end of a simulation: the ledger against the diary, entry by entry."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import floor
from typing import Any

from surefoot_torture.faults.judge import Ack, Judge, Known, Page, Worth

_NEXT = {
    "outcome.settled": ({"open"}, "settled", True),
    "outcome.expired": ({"open"}, "expired", True),
    "outcome.late": ({"expired"}, "settled", True),
    "outcome.as_default": ({"open"}, "as default", True),
    "decision.confirmed": ({"open", "forgotten"}, "confirmed", False),
    "decision.voided": ({"open", "forgotten"}, "void", None),
    "default.expired": ({"open"}, "forgotten", False),
    "default.valued": ({"confirmed", "as default"}, "valued", None),
}
"""From which states a play may come, where it goes, and whether it explores (None: either)."""

_DONE = ("booked", "booked_late", "capped", "repeated")
_AFTER: dict[str, tuple[set[str], set[str]]] = {
    "reward": ({"settled"}, {"void", "as default", "settled"}),
    "default": ({"confirmed", "valued", "as default"}, {"void", "settled", "expired"}),
    "expire": ({"expired", "settled"}, set()),
    "void": ({"void"}, {"expired", "settled"}),
    "fall back": ({"as default", "confirmed", "valued"}, {"void", "settled", "expired"}),
    "acknowledge": ({"settled"}, {"open", "expired", "void", "as default", "confirmed", "valued"}),
}
"""Where a play must be in the end if a report was booked, and if it was refused as a conflict."""


class Entered:
    """A play as the ledger has it."""

    __slots__ = (
        "called", "experiment", "explores", "lease", "reward", "seq", "settled", "state", "whole",
        "worth",
    )  # fmt: skip

    def __init__(self, entry: Any, worth: Worth) -> None:
        self.experiment, self.seq = entry.experiment, entry.seq
        self.explores = entry.kind == "decision.held"
        self.lease: str | None = entry.payload.get("lease")
        own = entry.payload.get("asked", entry.play)
        bare = self.lease is None or own.startswith(f"{self.lease}-")
        self.called = own if bare else f"{own}.{self.lease}"
        """What its client knows it by."""
        self.worth = worth
        self.state, self.reward, self.whole = "open", 0, False
        self.settled = False
        """Whether it has a place in the order of settlements."""

    def books(self) -> tuple[int, int]:
        """What it adds to posted and to held, as it stands."""
        known, state = self.worth, self.state
        if state == "settled":
            return (self.reward if self.whole else min(self.reward, known.high)) - known.floor, 0
        if state == "expired":
            return -known.hold, 0
        if state in ("as default", "confirmed"):
            return known.deposit, 0
        if state == "valued":
            return known.deposit + known.above(self.reward), 0
        return 0, known.hold if state == "open" and self.explores else 0


class Lease:
    """A lease as the ledger has it."""

    def __init__(self, amount: int) -> None:
        self.rest, self.state = amount, "open"

    def books(self) -> tuple[int, int]:
        """What it adds to posted and to held."""
        posted = -self.rest if self.state == "forfeited" else 0
        return posted, self.rest if self.state == "open" else 0


class Audit:
    """Takes the entries of an account in order; stops at the first that cannot be."""

    def __init__(self, judge: Judge, leased: bool = False) -> None:
        self.judge, self.leased = judge, leased
        self._called: dict[str, Entered] = {}
        """The plays by what their clients know them by: one id asked for may be two plays."""
        self.second: set[tuple[str, str]] = set()
        """Reports that were taken under a lease and came second: play and kind."""
        self.posted = self.held = self.reserve = self.seq = 0
        self.plays: dict[str, Entered] = {}
        self.leases: dict[str, Lease] = {}
        self.versions: dict[str, int] = {}
        self.paused: set[str] = set()
        self.decided: list[Entered | int] = []
        self.settled: list[Entered | int] = []
        """The orders of decisions and of settlements; a number is a change of the reserve."""
        self.over = False

    @property
    def available(self) -> int:
        """What might be lost after the entries so far."""
        return self.reserve + self.posted - self.held

    def take(self, entries: Iterable[Any]) -> None:
        """Walk the ledger."""
        for entry in entries:
            self._take(entry)
            totals = self.reserve, self.posted, self.held
            said = entry.reserve, entry.posted, entry.held
            if totals != said and not self.over:
                self._stop("wrong", entry, f"has the totals {said}, its plays {totals}")
            elif self.available < 0 and not self.over:
                self._stop("violation", entry, f"leaves {self.available} units")
            if self.over:
                return

    def _stop(self, kind: str, entry: Any, what: str) -> None:
        self.judge.wrong(kind, f"entry {entry.seq} ({entry.kind} of {entry.play}) {what}")
        self.over = True

    def _take(self, entry: Any) -> None:
        kind, told = entry.kind, entry.payload
        self.seq += 1
        if kind in ("experiment.opened", "experiment.configured"):
            self.versions[entry.experiment] = self.versions.get(entry.experiment, 0) + 1
        elif kind == "experiment.state":
            change = self.paused.add if told["state"] == "paused" else self.paused.discard
            change(entry.experiment)
        elif kind.startswith("endowment."):
            amount = told["amount"] if kind.endswith("granted") else -told["amount"]
            self.reserve += amount
            self.decided.append(amount)
            self.settled.append(amount)
        elif kind in ("decision.held", "decision.defaulted"):
            self._decision(entry)
        elif kind.startswith("lease."):
            self._lease(entry)
        elif kind == "assumption.broken":
            play = self._called.get(told["play"]) or self.plays.get(told["play"])
            if play is None:
                self._stop("wrong", entry, f"is about {told['play']}, which is no play")
            else:
                self.second.add((play.called, told["how"]))
        elif kind in _NEXT or kind == "breach.acknowledged":
            self._report(entry)

    def _decision(self, entry: Any) -> None:
        told, explores = entry.payload, entry.kind == "decision.held"
        version, newest = entry.config_version, self.versions[entry.experiment]
        if version > newest or (version < newest and not self.leased):
            self._stop("wrong", entry, f"is under configuration {version}: {newest}")
            return
        own = read(told.get("default"))
        worth = self.judge.worth(entry.experiment, version - 1, own)
        play = Entered(entry, worth)
        if entry.play in self.plays or play.called in self._called:
            self._stop("double", entry, "is decided twice")
            return
        self.plays[entry.play] = self._called[play.called] = play
        self.decided.append(play)
        if explores:
            self._explores(entry, play)
        elif told["reason"] == "SLACK_SHORT" and not self.leased and self.available >= worth.hold:
            self._stop("wrong", entry, f"plays safe with {self.available} of {worth.hold} units")

    def _explores(self, entry: Any, play: Entered) -> None:
        hold = play.worth.hold
        if entry.experiment in self.paused and not self.leased:
            self._stop("wrong", entry, "explores in a pause")
        lease = None if play.lease is None else self.leases.get(play.lease)
        if lease is not None:
            self._rest(lease, hold)
            if lease.rest < 0 or lease.state == "returned":
                self._stop("violation", entry, f"overdraws its lease, which is {lease.state}")
        elif play.lease is not None or self.available < hold:
            self._stop("violation", entry, f"explores with {self.available} of {hold} units")
        self.held += hold

    def _rest(self, lease: Lease, spent: int) -> None:
        posted, held = lease.books()
        lease.rest -= spent
        self.posted += lease.books()[0] - posted
        self.held += lease.books()[1] - held

    def _lease(self, entry: Any) -> None:
        name, kind = entry.payload["lease"], entry.kind.removeprefix("lease.")
        lease = self.leases.get(name)
        if kind == "granted":
            amount = entry.payload["amount"]
            if lease is not None or not 0 < amount <= self.available:
                self._stop("violation", entry, f"grants {amount} of {self.available} units")
            self.leases[name] = Lease(amount)
            self.held += amount
        elif lease is None or lease.state != "open":
            self._stop("double", entry, "closes a lease that is not open")
        else:
            posted, held = lease.books()
            lease.state = kind
            self.posted += lease.books()[0] - posted
            self.held += lease.books()[1] - held

    def _report(self, entry: Any) -> None:
        told, kind = entry.payload, entry.kind
        play = self.plays.get(entry.play or told.get("play"))
        if play is None:
            self._stop("wrong", entry, "is about no play")
            return
        posted, held = play.books()
        if kind == "breach.acknowledged":
            if play.state != "settled" or play.whole or play.reward <= play.worth.high:
                self._stop("double", entry, f"follows {play.state}")
            play.whole = True
        else:
            before, after, explores = _NEXT[kind]
            if play.state not in before or explores not in (None, play.explores):
                self._stop("double", entry, f"follows {play.state}")
            play.state = after
        if "reward" in told:
            play.reward = told["reward"]
        self.posted += play.books()[0] - posted
        self.held += play.books()[1] - held
        if not play.settled:
            play.settled = True
            self.settled.append(play)

    def close(self, row: Any) -> None:
        """Compare what it all came to with the account, the diary, and the promise."""
        if self.over:
            return
        totals = self.reserve, self.posted, self.held, self.seq
        if totals != (row.reserve, row.posted, row.held, row.seq):
            self.judge.wrong("wrong", f"the account is {row}, its entries come to {totals}")
        if self.reserve != self.judge.reserve:
            self.judge.wrong("wrong", f"reserve {self.reserve}, granted {self.judge.reserve}")
        self._in_order("decided", self.decided)
        self._in_order("settled", self.settled)
        for name, page in self.judge.pages.items():
            self._compare(name, page)

    def _in_order(self, order: str, items: list[Entered | int]) -> None:
        """The promise over the first plays of an order, however many, as they ended in truth."""
        scale = 10**self.judge.places
        books, truth = 0, Fraction(0)
        for item in items:
            if isinstance(item, int):
                books, truth = books + item, truth + Fraction(item, scale)
            else:
                posted, held = item.books()
                page = self.judge.pages.get(item.called)
                brought = None if page is None else self.judge.brought(page)
                books += posted - held
                truth += Fraction(posted - held, scale) if brought is None else brought
            if books < 0 or truth < 0:
                self.judge.wrong("violation", f"the first plays as {order} miss the promise")
                return

    def _compare(self, name: str, page: Page) -> None:
        """What was acknowledged of a play is in the ledger."""
        play, judge = self._called.get(name), self.judge
        if play is None:
            self._uncovered(name, page)
            unsaid = self.leased and page.answer is None  # a bare id, which may be two plays
            for ack in page.acks:
                if not ack.excused and not (unsaid and ack.outcome == "PlayConflict"):
                    judge.wrong("lost", f"play {name} ({ack.kind}: {ack.outcome})")
            return
        if page.acks and page.acks[0].kind == "answer" and not page.acks[0].excused:
            answer = page.answer
            if answer.is_default == play.explores or answer.seq not in (None, play.seq):
                judge.wrong("lost", f"play {name} was answered as {answer}")
            given = page.worth
            if given is None or (given.told(), given.low) != (play.worth.told(), play.worth.low):
                judge.wrong("wrong", f"play {name} was answered with {page.worth}")
        for ack in page.acks:
            if ack.kind != "answer" and not ack.excused:
                self._reported(name, page, play, ack)
        if play.state == "settled" and not any(
            reward is not None and _units(reward, judge.places) == play.reward
            for reward in page.reported
        ):
            judge.wrong("wrong", f"play {name} got {play.reward} units, which nobody reported")

    def _uncovered(self, name: str, page: Page) -> None:
        """An exploration whose record is gone was paid for: its lease was forfeited."""
        answer, worth = page.answer, page.worth
        if answer is None or worth is None or answer.is_default:
            return
        lease = self.leases.get(answer.lease)
        if lease is not None and lease.state == "forfeited":
            lease.rest -= worth.hold
        if lease is None or lease.state != "forfeited" or lease.rest < 0:
            self.judge.wrong("violation", f"the loss of {name} is covered by no forfeited lease")

    def _reported(self, name: str, page: Page, play: Entered, ack: Ack) -> None:
        booked, conflicts = _AFTER[ack.kind]
        if ack.kind == "expire" and not play.explores:
            booked = {"forgotten", "confirmed", "valued", "void"}
        same = ack.reward is None or _units(ack.reward, self.judge.places) == play.reward
        if ack.outcome in _DONE:
            kept = play.state in booked and (same or play.state not in ("settled", "valued"))
            if ack.kind == "default" and ack.reward is not None and play.worth.upper is not None:
                kept = play.state == "valued" and same
            if ack.kind == "acknowledge":
                kept = play.whole
            if self.leased and ack.kind == "expire":
                return  # what another worker knew came first: an expiry yields to all of it
            if not kept and (name, ack.kind.replace(" ", "_")) not in self.second:
                what = f"{ack.kind} of {name} ({ack.outcome}): it is {play.state}"
                self.judge.wrong("lost", what)
        elif ack.outcome == "PlayConflict":
            due = play.state in conflicts and not (
                ack.kind == "reward" and play.state == "settled" and same
            )
            if not due and not (self.leased and ack.kind not in ("reward", "default")):
                self.judge.wrong("lost", f"{ack.kind} of {name} was refused: it is {play.state}")
        elif ack.outcome == "UnknownPlay":
            self.judge.wrong("lost", f"{ack.kind} of {name}: it was not known")
        elif ack.outcome != "ignored" or ack.kind not in ("expire", "void", "acknowledge"):
            self.judge.wrong("wrong", f"{ack.kind} of {name} brought {ack.outcome}")


def read(told: Any) -> Known:
    """A default of a play's own, as its entry tells it."""
    if told is None:
        return None
    return (Fraction(told[0]), Fraction(told[1])) if isinstance(told, list) else Fraction(told)


def _units(reward: Fraction, places: int) -> int:
    scaled: Fraction = reward * 10**places
    return floor(scaled)
