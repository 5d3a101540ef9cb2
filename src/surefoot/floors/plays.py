"""The life of each play: which reports are legal, which repeat, which contradict.

    open -> settled | expired | void | fallen back        expired -> settled, once

A reward above the declared range settles as "capped" until an operator acknowledges it.

A report that repeats what is booked changes nothing; one that contradicts it is an error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from surefoot._exact import shown
from surefoot.errors import PlayConflict, UnknownPlay


class State(StrEnum):
    """Where a play stands."""

    OPEN = "open"
    SETTLED = "settled"
    CAPPED = "capped"
    EXPIRED = "expired"
    VOID = "void"
    FELL_BACK = "fell_back"


OPEN, SETTLED, CAPPED, EXPIRED, VOID, FELL_BACK = State
# Names of a module, as the books are on every play's way: before Python 3.12 ``State.OPEN`` takes
# longer than what is then done with it.


class Outcome(StrEnum):
    """What a report did to the books."""

    BOOKED = "booked"
    BOOKED_LATE = "booked_late"
    BREACH = "breach"
    CAPPED = "capped"
    REPEATED = "repeated"
    IGNORED = "ignored"


class Terms(NamedTuple):
    """What one play is worth to the books, fixed when it is decided; integers of the unit.

    A default play counts as ``value``. Where the default is only known to lie in an interval, that
    is l until its reward x is known, and then x, but no more than u; each unit above l adds
    ``lost/whole`` to what it posts: alpha against the default's own draws, 1 against a fixed level.
    """

    value: int
    """The known value of the default at this play; the l of an interval."""
    floor: int
    """f: what this play must earn for the promise, rounded up."""
    hold: int
    """The most an exploration can lose: max(0, f - r_min), or a mean-variance account's risk."""
    deposit: int
    """What a reported default play adds, rounded down."""
    high: int | None = None
    """The u of an interval; None for a default of known value."""
    lost: int = 0
    whole: int = 1

    def paid(self, reward: int | None) -> tuple[int, int]:
        """What a default play that paid ``reward`` posts, and what it had to earn.

        None: it was played, and what it paid is not known (yet).

        >>> Terms(40, 30, 30, 20, high=60, lost=1, whole=2).paid(50)
        (25, 25)
        """
        if self.high is None:
            return self.deposit, self.floor
        counted = self.value if reward is None else min(reward, self.high)
        above = self.lost * counted // self.whole - self.lost * self.value // self.whole
        return self.deposit + above, counted - self.deposit - above

    def __repr__(self) -> str:
        shown_fields = self._fields[: 4 if self.high is None else None]
        return f"Terms({', '.join(f'{name}={getattr(self, name)}' for name in shown_fields)})"


@dataclass(slots=True)
class Record:
    """One play as the books remember it."""

    explores: bool
    terms: Terms
    state: State = OPEN
    reward: int | None = None
    """The reported reward in units, as it was before any capping; None if none was reported."""


class Plays:
    """Gives out play ids and keeps the record of every play that can still change.

    Plays that can still change (open, expired, capped) are kept until they do. Of the others the
    last ``keep`` to be closed stay, so that a repeat can be told from a contradiction. Memory grows
    with what can still change, never with how long the agent has run.
    """

    __slots__ = ("_closed", "_live", "_order", "keep", "known", "next_id", "pending", "unreported")

    def __init__(self, keep: int = 100_000) -> None:
        self.keep = keep
        self.next_id = 0
        self.pending = 0
        """How many explorations have neither reward nor end."""
        self.unreported = 0
        """How many default plays were decided and not yet reported as played."""
        self.known = 0
        """How many plays count as made: explorations that are not void, defaults reported."""
        self._live: dict[int, Record] = {}
        self._closed: dict[int, Record] = {}
        self._order = deque[int]()
        """The closed plays, oldest first: a dict would search all it has deleted to find that."""

    def open(self, explores: bool, terms: Terms) -> int:
        """Start a play and return its id; ids are dense and start at 0."""
        # In this order an interrupt leaves at most a play that is counted and never made.
        if explores:
            self.pending += 1
            self.known += 1
        else:
            self.unreported += 1
        play = self.next_id
        self.next_id = play + 1
        self._live[play] = Record(explores, terms)
        return play

    def get(self, play: Any) -> Record:
        """The record of a play; UnknownPlay if it was never given out or is kept no longer."""
        if type(play) is int:
            record = self._live.get(play) or self._closed.get(play)
            if record is not None:
                return record
            if 0 <= play < self.next_id:
                raise UnknownPlay(
                    f"play {play} was closed long ago: only the newest {self.keep} closed plays "
                    "are kept; its books stand as they are"
                )
        raise UnknownPlay(
            f"play {shown(play)} was never given out by this agent (next id {self.next_id}); "
            "report the play that select() returned, or its id"
        )

    def close(self, play: int, state: State, reward: int | None = None) -> None:
        """Move a play to its next state; only an expired or a capped one can move again."""
        record = self._live[play]
        was_open = record.state is OPEN
        # In this order an interrupt leaves the play known, and closed or untouched.
        record.reward = reward
        record.state = state
        if was_open:
            if record.explores:
                self.known -= state is VOID
                self.pending -= 1
            else:
                self.known += state is not VOID
                self.unreported -= 1
        if state is not EXPIRED and state is not CAPPED:
            # In this order an interrupt forgets at most a play too few.
            self._closed[play] = record
            del self._live[play]
            self._order.append(play)
            if len(self._order) > self.keep:
                del self._closed[self._order.popleft()]

    def open_since(self, first: int) -> list[int]:
        """The plays from id ``first`` on that are still open."""
        return [play for play, r in self._live.items() if play >= first and r.state is OPEN]

    def holds(self) -> int:
        """What the explorations that are still open hold together."""
        records = self._live.values()
        return sum(r.terms.hold for r in records if r.explores and r.state is OPEN)

    def unknown(self) -> int:
        """How many explorations, expired ones included, have no reward yet."""
        return sum(r.explores and r.state is not CAPPED for r in self._live.values())

    def snapshot(self) -> dict[str, Any]:
        """JSON-able state."""
        return {
            "keep": self.keep,
            "next_id": self.next_id,
            "known": self.known,
            "live": _rows(self._live),
            "closed": _rows(self._closed),
        }

    @classmethod
    def restored(cls, state: dict[str, Any]) -> Plays:
        """The inverse of ``snapshot``."""
        plays = cls(state["keep"])
        plays.next_id = state["next_id"]
        plays.known = state.get("known", 0)
        plays._live = _records(state["live"])
        for record in plays._live.values():
            if record.state is OPEN:
                plays.pending += record.explores
                plays.unreported += not record.explores
        plays._closed = _records(state["closed"])
        plays._order.extend(plays._closed)
        return plays


def _rows(records: Mapping[int, Record]) -> list[list[Any]]:
    return [[play, r.explores, *r.terms, r.state.value, r.reward] for play, r in records.items()]


def _records(rows: list[list[Any]]) -> dict[int, Record]:
    return {
        play: Record(explores, Terms(*terms), State(state), reward)
        for play, explores, *terms, state, reward in rows
    }


def conflict(play: int, record: Record, report: str) -> PlayConflict:
    """The error for a report that contradicts what is booked."""
    fell_back = record.state is FELL_BACK
    state = "executed as default" if fell_back else record.state.value
    return PlayConflict(
        f"play {play} is {state}: {report} contradicts it; the books stand as they are"
    )
