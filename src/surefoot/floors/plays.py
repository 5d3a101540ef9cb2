"""The plays the books remember: each is known by its id as long as a report can be judged."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from surefoot._exact import shown
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput, PlayConflict, UnknownPlay
from surefoot.floors.events import (
    ACKNOWLEDGE,
    CANCEL,
    CAPPED,
    EXPIRED,
    FALL_BACK,
    FELL_BACK,
    OPEN,
    SETTLE,
    VOID,
    Record,
    State,
    Terms,
)

_reward = attrgetter("reward")


class Plays:
    """Gives out play ids and keeps the record of every play that can still change.

    Plays that can still change (open, expired, capped) are kept until they do. Of the others the
    last ``keep`` to be closed stay, so that a repeat is not taken for a contradiction. Memory grows
    with what can still change, never with how long the agent has run.
    """

    __slots__ = ("_closed", "_live", "_order", "keep", "next_id")

    def __init__(self, keep: int = 100_000) -> None:
        self.keep = keep
        self.next_id = 0
        self._live: dict[int, Record] = {}
        self._closed: dict[int, Record] = {}
        self._order = deque[int]()
        """The closed plays, oldest first: a dict would search all it has deleted to find that."""

    def open(self, explores: bool, terms: Terms) -> int:
        """Start a play and return its id; ids are dense and start at 0."""
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

    def knows(self, play: int) -> bool:
        """Whether a report of the play could still be judged."""
        return play in self._live or play in self._closed

    def live(self) -> Iterable[tuple[int, Record]]:
        """The plays that can still change, with their ids."""
        return self._live.items()

    def close(self, play: int, state: State, reward: int | None = None) -> None:
        """Move a play to its next state; what is final stays as it is, but for what it paid."""
        live = self._live.get(play)
        record = live or self._closed[play]
        # In this order an interrupt leaves the play known, and closed or untouched.
        record.reward = reward
        record.state = state
        if live and state is not EXPIRED and state is not CAPPED:
            # In this order an interrupt forgets at most a play too few.
            self._closed[play] = record
            del self._live[play]
            self._order.append(play)
            if len(self._order) > self.keep:
                del self._closed[self._order.popleft()]

    def rewards(self, plays: Sequence[int]) -> list[int | None]:
        """What these plays were told to have paid; None too where that is kept no longer."""
        try:
            return list(map(_reward, map(self._closed.__getitem__, plays)))
        except KeyError:  # some wait for an operator, or were closed too long ago
            found = [self._live.get(play) or self._closed.get(play) for play in plays]
            return [None if record is None else record.reward for record in found]

    def open_since(self, first: int) -> list[int]:
        """The plays from id ``first`` on that are still open."""
        return [play for play, r in self._live.items() if play >= first and r.state is OPEN]

    def waiting(self) -> tuple[int, int]:
        """How many explorations are open, and how many default plays."""
        explore = [r.explores for r in self._live.values() if r.state is OPEN]
        return sum(explore), len(explore) - sum(explore)

    def holds(self) -> int:
        """What the explorations that are still open hold together."""
        records = self._live.values()
        return sum(r.terms.hold for r in records if r.explores and r.state is OPEN)

    def unknown(self) -> int:
        """How many explorations, expired ones included, have no reward yet."""
        return sum(r.explores and r.state is not CAPPED for r in self._live.values())

    def snapshot(self) -> JsonObject:
        """JSON-able state."""
        return {
            "keep": self.keep,
            "next_id": self.next_id,
            "live": _rows(self._live),
            "closed": _rows(self._closed),
            **({"drawn": drawn} if (drawn := self._drawn()) else {}),
        }

    def _drawn(self) -> list[int]:
        """The default plays that are expected to tell a draw of their own."""
        kept = (self._live, self._closed)
        return [play for records in kept for play, record in records.items() if record.drawn]

    @classmethod
    def restored(cls, state: JsonObject) -> Plays:
        """The inverse of ``snapshot``."""
        plays = cls(state["keep"])
        plays.next_id = state["next_id"]
        plays._live = _records(state["live"])
        plays._closed = _records(state["closed"])
        plays._order.extend(plays._closed)
        for play in state.get("drawn", ()):
            plays.get(play).drawn = True
        return plays


def _rows(records: Mapping[int, Record]) -> list[list[Any]]:
    return [[play, r.explores, *r.terms, r.state.value, r.reward] for play, r in records.items()]


def _records(rows: list[list[Any]]) -> dict[int, Record]:
    return {
        play: Record(explores, Terms.of(terms), State(state), reward)
        for play, explores, *terms, state, reward in rows
    }


_SAID = {
    CANCEL: "a void",
    FALL_BACK: "a report that the default was played instead",
    ACKNOWLEDGE: "acknowledging a reward above the range",
}


def conflict(
    play: Any, record: Record, report: str, reward: Any = None, measure: str = "reward"
) -> PlayConflict:
    """The error for a report that contradicts what is booked; ``reward``: as it was given."""
    state = "executed as default" if record.state is FELL_BACK else record.state.value
    told = said(report, record, f"{measure} {reward}")
    return PlayConflict(
        f"play {play} is {state}: {told} contradicts it; the books stand as they are"
    )


def said(report: str, record: Record, told: str = "") -> str:
    """What a report says, in words; ``told``: what it tells of a play that was made."""
    if report in (SETTLE, FALL_BACK) and not record.explores and record.state is VOID:
        return "a report that it was played"
    return _SAID.get(report, told)


def checked_keep(keep: Any) -> int:
    """How many closed plays to remember, if it is a number of them."""
    if type(keep) is not int or keep < 0:
        raise InvalidInput(f"keep = {shown(keep)} must be an int >= 0")
    return keep
