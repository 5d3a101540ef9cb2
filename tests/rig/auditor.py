"""The auditor: what the diaries and the ledger say, and where they cannot both be right.

It imports nothing of the package. Amounts are fractions of the reward's unit, times are those of
the diaries. It accuses only where no order of events within the calls would explain what it saw.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from rig.diary import Call
from rig.ledger import Entry, Ledger

VALUE, FLOOR = Fraction(1, 2), Fraction(2, 5)
"""What the default is worth, and what each play must bring: see ``worker.fresh_agent``."""
UNITS = 10**9
SLOWEST = 10.0
"""How many seconds a call may take, whatever happens."""
AFTERMATH = 11.0
"""How long after a storm calls may still be refused."""
KINDS = ("violation", "lost", "double", "hang", "traceback", "other")
LONG = 3
"""How many findings of a kind are spelled out for an episode."""

_NEXT = {
    "outcome.settled": ({"open"}, "settled", True),
    "outcome.expired": ({"open"}, "expired", True),
    "outcome.late": ({"expired"}, "settled", True),
    "outcome.as_default": ({"open"}, "as default", True),
    "default.expired": ({"open"}, "lapsed", False),
    "decision.confirmed": ({"open", "lapsed"}, "confirmed", False),
    "decision.voided": ({"open", "lapsed"}, "void", None),
    "default.valued": ({"confirmed", "as default"}, "valued", None),
}
"""From which states a play may come, where it goes, whether it explores (None: either)."""
_AFTER = {
    "void": {"void"},
    "fall_back": {"as default", "confirmed", "valued"},
    "expire": {"expired", "settled"},
}
_DONE = {"booked", "booked_late", "repeated", "capped"}


class Finding(NamedTuple):
    """Something that must not be."""

    kind: str
    what: str


class Gap(NamedTuple):
    """What the rig took from the store: acknowledged in between, and gone by right."""

    since: float
    """From when on what was acknowledged may be missing."""
    until: float
    """When the store was as it is now."""
    worker: str | None = None
    """Whose; None: everybody's."""

    def covers(self, call: Call) -> bool:
        ended = self.until if call.ended is None else call.ended
        mine = self.worker in (None, call.worker)
        return mine and ended >= self.since and call.began <= self.until


class Facts(NamedTuple):
    """All that is known of an episode."""

    calls: list[Call]
    ledger: Ledger
    reserve: Fraction
    gaps: list[Gap]
    storms: list[tuple[float, float]]
    pauses: dict[int, list[tuple[float, float]]]
    """When a process was stopped."""
    deaths: dict[int, float]
    """When a process was killed."""
    over: float
    knowing: frozenset[str]
    """Workers whose diaries make one world: what they were given must be affordable in all."""
    windowed: bool = False
    """Whether plays expire by themselves, so that a report may come second by right."""
    damaged: bool = False
    """Whether the rig took rows from the ledger."""
    journals: str = ""
    """What stands in the journals that are left."""

    def excuses(self, call: Call) -> bool:
        """Whether it is the rig's doing that what was acknowledged is not in the ledger.

        A ledger that granted a lease and is gone can get no journal's steps any more: these stay in
        the journal, for whoever puts the ledger back.
        """
        play = call.told.get("play") or call.about.get("play")
        own, _, lease = play.partition(".")
        kept = lease or own.startswith("w-")
        there = kept and self.gaps and f'"{own}"' in self.journals
        return there or any(gap.covers(call) for gap in self.gaps)


class Play:
    """A play as the ledger has it."""

    def __init__(self, entry: Entry) -> None:
        lease, own = entry.payload.get("lease"), entry.payload.get("asked", entry.play)
        bare = lease is None or own.startswith(f"{lease}-")
        self.called = own if bare else f"{own}.{lease}"
        self.explores = entry.kind == "decision.held"
        self.index = entry.payload["index"] if self.explores else -1
        self.state, self.reward = "open", None


def audit(facts: Facts) -> list[Finding]:
    """Everything that is wrong."""
    found = [*promise(facts), *knew_better(facts)]
    plays: dict[str, Play] = {}
    found += walk(facts.ledger, plays)
    found += answers(facts, plays)
    found += reports(facts, plays)
    found += conduct(facts)
    found += [] if facts.damaged else tables(facts.ledger)
    return found


def taken_back(facts: Facts) -> int:
    """How many acknowledgements the rig itself took back."""
    said = [call for call in facts.calls if call.told is not None and call.what in REPORTING]
    return sum(any(gap.covers(call) for gap in facts.gaps) for call in said)


REPORTING = ("select", "update", "void", "fall_back", "expire")


def era(facts: Facts, call: Call) -> int:
    """How often the store had been taken back when a call began."""
    return sum(gap.until <= call.began for gap in facts.gaps if gap.worker is None)


def name_of(facts: Facts, call: Call) -> str:
    """What a play is known by: a name that the store made up may come again in a store set back."""
    name = call.told["play"] if call.what == "select" else call.about["play"]
    return f"{era(facts, call)}:{name}" if name.startswith("p-") else name


def promise(facts: Facts) -> Iterable[Finding]:
    """At no moment was more at stake than was earned.

    An exploration counts from its answer on, a reward from the moment its client began to report
    it: if even that falls below 0, the promise is broken in every order of events.
    """
    moves: list[tuple[float, Fraction]] = []
    asked: set[str] = set()
    paid: set[str] = set()
    for call in sorted(facts.calls, key=lambda call: call.ended or call.began):
        if call.what == "select" and call.told is not None and call.worker in facts.knowing:
            name = name_of(facts, call)
            if name not in asked and call.told["index"] >= 0:
                moves.append((call.ended, -FLOOR))
            asked.add(name)
    for call in sorted(facts.calls, key=lambda call: call.began):
        brings = credit(call)
        if brings is not None and name_of(facts, call) in asked - paid:
            paid.add(name_of(facts, call))
            moves.append((call.began, brings))
    left = facts.reserve
    lowest = left
    for _, amount in sorted(moves, key=lambda move: (move[0], -move[1])):
        left += amount
        lowest = min(lowest, left)
    if lowest < 0:
        many = sum(amount < 0 for _, amount in moves)
        yield Finding("violation", f"{float(-lowest):.1f} more at stake than earned ({many} plays)")


def knew_better(facts: Facts) -> Iterable[Finding]:
    """Who was told more than a store that was set back knows explores on it no more.

    What is left of a lease that was granted before is paid for, and may still be spent; its first
    play may come a little later.
    """
    for gap in facts.gaps:
        wise = {call.worker for call in facts.calls if gap.worker is None and gap.covers(call)}
        leases = {
            call.told["lease"]
            for call in facts.calls
            if call.what == "select" and call.told is not None and call.began <= gap.until + 1
        }
        given = [
            call
            for call in facts.calls
            if call.what == "select" and call.told is not None and call.told["index"] >= 0
            and call.began > gap.until and call.worker in wise & facts.knowing
            and (call.told["lease"] is None or call.told["lease"] not in leases)
        ]  # fmt: skip
        if given:
            yield Finding("violation", f"{given[0]}: {len(given)} explored though they knew better")


def credit(call: Call) -> Fraction | None:
    """What a report says of a play's part of the promise; None if it says nothing."""
    if call.what not in ("update", "void", "fall_back") or "index" not in call.about:
        return None
    if call.about["index"] < 0:
        return VALUE - FLOOR if call.what != "void" else None
    return {"update": Fraction(call.about["reward"] or 0), "void": FLOOR, "fall_back": VALUE}[
        call.what
    ]


def walk(ledger: Ledger, plays: dict[str, Play]) -> Iterable[Finding]:
    """Each play is decided once and credited once."""
    rows: dict[str, Play] = {}
    for entry in ledger.entries:
        if entry.kind in ("decision.held", "decision.defaulted"):
            play = Play(entry)
            if entry.play in rows or play.called in plays:
                yield Finding("double", f"entry {entry.seq}: {play.called} is decided twice")
            rows[entry.play] = plays[play.called] = play
        elif entry.kind in _NEXT:
            play = rows.get(entry.play)
            before, after, explores = _NEXT[entry.kind]
            if play is None:
                yield Finding("other", f"entry {entry.seq}: {entry.kind} of no play")
                continue
            if play.state not in before or explores not in (None, play.explores):
                yield Finding("double", f"entry {entry.seq}: {entry.kind} after {play.state}")
            play.state = after
            play.reward = entry.payload.get("reward", play.reward)


def answers(facts: Facts, plays: dict[str, Play]) -> Iterable[Finding]:
    """What was answered is in the ledger, and is what everybody was answered."""
    given: dict[str, tuple[int, int]] = {}
    for call in facts.calls:
        if call.what != "select" or call.told is None:
            continue
        name, index = name_of(facts, call), call.told["index"]
        before = given.setdefault(name, (index, era(facts, call)))
        if before[0] != index and before[1] == era(facts, call):
            yield Finding("double", f"{name} was answered with arm {before[0]} and arm {index}")
        asked = call.about.get("id")
        if asked is not None and call.told["play"].partition(".")[0] != asked:
            yield Finding("double", f"{call} was answered as {call.told['play']}")
        if facts.excuses(call):
            continue
        play = plays.get(call.told["play"])
        if play is None:
            yield Finding("lost", f"{call}: not in the ledger")
        elif play.index != index:
            yield Finding("double", f"{call}: arm {index}, in the ledger {play.index}")


def reports(facts: Facts, plays: dict[str, Play]) -> Iterable[Finding]:
    """What was acknowledged of a play is in the ledger."""
    for call in facts.calls:
        if call.what not in REPORTING[1:] or call.told is None or "nonsense" in call.about:
            continue
        play = plays.get(call.about["play"])
        if call.told["outcome"] not in _DONE or facts.excuses(call):
            continue
        if play is None:
            yield Finding("lost", f"{call}: {call.told['outcome']}, and not in the ledger")
            continue
        due = _AFTER.get(call.what) or ({"settled"} if play.explores else {"confirmed", "valued"})
        reward = call.about["reward"]
        same = reward is None or play.reward == reward * UNITS
        if play.state not in due or not same:
            said = f"{call.told['outcome']}, in the ledger {play.state} {play.reward or ''}"
            yield Finding("lost", f"{call}: {said}")


def conduct(facts: Facts) -> Iterable[Finding]:
    """No call hung, none failed in a way that no user can catch, none was refused for nothing."""
    for call in facts.calls:
        took = lasted(facts, call)
        if took > SLOWEST:
            yield Finding("hang", f"{call}: {took:.0f} s" + " and more" * (call.ended is None))
        if call.crash is not None:
            yield Finding("traceback", f"{call}: {call.crash.strip().splitlines()[-1]}")
        if "\n" in call.text.strip():
            yield Finding("other", f"{call}: an error of several lines: {call.text!r}")
        if call.error is not None and not excused(facts, call):
            yield Finding("other", f"{call}: refused for nothing: {call.error}: {call.text}")


def lasted(facts: Facts, call: Call) -> float:
    """How many seconds a call took, but for those in which its process was stopped or queued."""
    end = call.ended
    if end is None:
        end = facts.deaths.get(call.life, facts.over)
    stops = facts.pauses.get(call.life, [])
    stopped = sum(max(0.0, min(end, until) - max(call.began, since)) for since, until in stops)
    return end - call.began - stopped - call.queued


def excused(facts: Facts, call: Call) -> bool:
    """Whether a call had a reason to be refused."""
    if "-child" in call.worker or "nonsense" in call.about or facts.gaps:
        return True
    if facts.windowed and call.error == "PlayConflict" and call.what in ("void", "fall_back"):
        return True
    end = call.ended or facts.over
    return any(call.began <= until + AFTERMATH and end >= since for since, until in facts.storms)


def tables(ledger: Ledger) -> Iterable[Finding]:
    """The account and its plays are what the entries say."""
    if ledger.row is None or not ledger.entries:
        return
    last = ledger.entries[-1]
    says = last.seq, last.hash, last.posted, last.held, last.reserve
    if ledger.row != says:
        yield Finding("other", f"the account is {ledger.row}, its entries end at {says}")
    decided = {e.play for e in ledger.entries if e.kind.startswith("decision.") and e.play}
    if missing := decided - set(ledger.plays):
        yield Finding("other", f"{len(missing)} plays have entries and no row")
