"""What a report books of one play: the floor's own books, opened for that play alone."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

from surefoot._exact import exact, shown
from surefoot.agents.play import short, unpaid
from surefoot.errors import InvalidInput
from surefoot.floors import Outcome, RewardBooks, RewardFloor
from surefoot.floors.plays import CAPPED, EXPIRED, FELL_BACK, OPEN, SETTLED, VOID, Plays, Record
from surefoot.live.given import Given

_STATES = {
    "open": OPEN, "settled": SETTLED, "late": SETTLED, "expired": EXPIRED, "voided": VOID,
    "as_default": FELL_BACK, "confirmed": SETTLED, "valued": SETTLED,
}  # fmt: skip
_FIRST = ("decision.confirmed", "decision.voided")
"""The first report of a default play, one of these."""
_FLAGS = {"breaches": "breach", "capped": "capped", "mismatches": "mismatch"}


class Told(NamedTuple):
    """A reward as reported: what is booked, and what the ledger keeps of it for the policy."""

    reward: Any
    text: Any

    @classmethod
    def of(cls, reward: Any, play: str) -> Told:
        """InvalidInput for what is no number."""
        if reward is None:
            return cls(None, None)
        number = exact(reward, f"reward of play {play}")
        return cls(number, short(number))


class Event(NamedTuple):
    """One entry to be appended."""

    kind: str
    d_posted: int
    d_held: int
    payload: dict[str, Any]


class OnePlay(Plays):
    """The record of one play, under the id the store knows it by."""

    def __init__(self, play: str, record: Record) -> None:
        super().__init__(keep=1)
        self._record = record
        kept: Any = self._live if record.state in (OPEN, EXPIRED, CAPPED) else self._closed
        kept[play] = record

    def get(self, play: Any) -> Record:
        """The record."""
        return self._record


class Report:
    """The books of one play as its row in the store says, and what reports do to them."""

    def __init__(
        self, floor: RewardFloor, row: Any, given: Given, worth: Any, window: bool = False
    ) -> None:
        self.row, self.given = row, given
        self.window = window or row.deadline is not None
        """Whether there is a reward window, in which defaults are reported too."""
        told = None if row.told is None else worth(row.told)
        state = _STATES[row.state] if not row.capped else CAPPED
        self.lapsed = row.role == "default" and row.state == "expired"
        """Whether it is a default play that was forgotten; for the books it is as open as ever."""
        if self.lapsed:
            state = OPEN
        if row.state == "as_default" or row.state == "valued":
            state = FELL_BACK if row.role == "explore" else SETTLED
        units = None if told is None else floor.read(told, "reward")
        record = Record(row.role == "explore", given.terms, state, units)
        self.record = record
        self.books: RewardBooks = floor.open(keep=1)
        self.books.plays = OnePlay(row.id, record)
        self.books.low, self.books.high = given.low, given.high
        self.books.ranges = [(0, given.low, given.high)]
        self.events: list[Event] = []

    def settle(self, told: Told) -> Outcome:
        """A reward, or that the default was played."""
        row, record = self.row, self.record
        of_default = row.role != "explore" or record.state is FELL_BACK
        if of_default and record.state is not OPEN:
            random = record.terms.high is not None and record.state is not VOID
            if random and record.reward is None and told.reward is not None:
                return self._book("default.valued", self.books.settle, told, told.reward)
            return self.books.settle(row.id, self._known(told.reward))
        if not of_default:
            if told.reward is None:
                raise unpaid(row.id, self.given.arm)
            late = record.state is EXPIRED
            kind = "outcome.late" if late else "outcome.settled"
            return self._book(kind, self.books.settle, told, told.reward)
        if record.terms.high is None or told.reward is None:
            return self._book("decision.confirmed", self.books.settle, told, told.reward)
        self._book("decision.confirmed", self.books.settle, Told(None, None), None)
        return self._book("default.valued", self.books.settle, told, told.reward)

    def _known(self, reward: Any) -> Any:
        """A reward of a default of known value that comes after its report is let go."""
        record = self.record
        told = record.explores or record.reward is not None or record.state is VOID
        return reward if told else None

    def expire(self) -> Outcome:
        """No reward came in time, or nobody said that the default was played."""
        if not self.record.explores:
            if self.lapsed or self.record.state is not OPEN or not self.window:
                return Outcome.REPEATED if self.lapsed else Outcome.IGNORED
            self.events.append(Event("default.expired", 0, 0, {}))
            return Outcome.BOOKED
        return self._book("outcome.expired", lambda play, _: self.books.expire(play))

    def void(self) -> Outcome:
        """It was never played."""
        return self._book("decision.voided", lambda play, _: self.books.void(play))

    def fall_back(self) -> Outcome:
        """The default was played instead."""
        explores = self.row.role == "explore"
        kind = "outcome.as_default" if explores else "decision.confirmed"
        return self._book(kind, lambda play, _: self.books.fall_back(play))

    def acknowledge(self) -> Outcome:
        """A reward above the range is what it was said to be."""
        return self._book("breach.acknowledged", lambda play, _: self.books.acknowledge(play))

    def _book(
        self,
        kind: str,
        report: Callable[[Any, Any], Outcome],
        told: Told | None = None,
        reward: Any = None,
    ) -> Outcome:
        books = self.books
        names = "required", *_FLAGS
        posted, held, *before = [
            books.account.posted, books.account.held, *(getattr(books, name) for name in names),
        ]  # fmt: skip
        outcome = report(self.row.id, reward)
        if outcome in (Outcome.REPEATED, Outcome.IGNORED):
            return outcome
        asked, *flags = [
            getattr(books, name) - was for name, was in zip(names, before, strict=True)
        ]
        payload: dict[str, Any] = {"asked": asked} if asked else {}
        payload |= {flag: True for flag, up in zip(_FLAGS.values(), flags, strict=True) if up}
        if told is not None and told.reward is not None:
            units = self.record.reward
            assert units is not None
            payload |= {"reward": units, "told": told.text}
        if kind == "breach.acknowledged":
            payload["play"] = self.row.id
        if kind == "outcome.late" or (self.lapsed and kind in _FIRST):
            payload |= self.given.again()
        event = Event(kind, books.account.posted - posted, books.account.held - held, payload)
        self.events.append(event)
        return outcome


def super_arm(actions: Any, row: Any, given: Given, reward: Any, base: Any) -> Told:
    """What a report of base rewards books and teaches; InvalidInput where there can be none."""
    if not (given.explores and actions.semi_bandit):
        raise InvalidInput(
            f"base_rewards of play {row.id}: it is no super arm; report reward alone"
        )
    parts = actions.base_rewards(row.id, given.arm, base)
    texts = [short(part) for part in parts]
    if reward is None:
        return Told(actions.super_arm_reward(parts, given.arm), texts)
    number = exact(reward, f"reward of play {row.id}")
    return Told(number, {"reward": short(number), "base": texts})


def worth_of(actions: Any, given: Given) -> Callable[[Any], Any]:
    """How a reward that the ledger tells becomes the number that was booked."""

    def worth(told: Any) -> Any:
        if isinstance(told, dict):
            return Decimal(told["reward"])
        if isinstance(told, list):
            return actions.super_arm_reward(tuple(map(Decimal, told)), given.arm)
        return Decimal(told)

    return worth


def needs_base(actions: Any, row: Any, given: Given) -> None:
    """InvalidInput for a super arm that is reported by its reward alone."""
    if given.explores and actions.semi_bandit and row.state in ("open", "expired"):
        raise InvalidInput(
            f"play {row.id} is the super arm {shown(given.arm)}: report base_rewards=, one for "
            "each of its base arms"
        )
