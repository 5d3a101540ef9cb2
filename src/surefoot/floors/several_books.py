"""Several floors by name: one account each, one play in all of them.

A play explores if every account affords its hold. Each account then sees a legal history of its own
floor, whatever comes of the others', so every promise holds. What must not be is that a hold comes
back once the play was made: a play is void, or fell back, in all accounts or in none.

Order against interrupts: each account holds before its books open the play, the objective's open it
last, and all records are closed before an account moves. Broken off in between, and sent again,
each account has booked too little at most, and ids stay in step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

from surefoot._exact import first_few, shown
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput, PlayConflict
from surefoot.floors.books import Books
from surefoot.floors.events import (
    BOOKED,
    CANCEL,
    EXPIRE,
    EXPIRED,
    OPEN,
    SETTLE,
    Move,
    Outcome,
    Record,
    Terms,
)
from surefoot.floors.objective import ObjectiveBooks
from surefoot.floors.plays import said
from surefoot.floors.protocol import is_ceiling
from surefoot.floors.reward_books import Account, RewardBooks

if TYPE_CHECKING:
    from surefoot.floors.several import Floors

REWARD = "reward"
"""The name of the objective, and of the floor that guards it."""
WEIGHTS = (
    Outcome.BREACH, Outcome.CAPPED, Outcome.BOOKED_LATE, BOOKED, Outcome.REPEATED, Outcome.IGNORED,
)  # fmt: skip
_WEIGHT = {outcome: weight for weight, outcome in enumerate(WEIGHTS)}
Judged = tuple[str, Books, Record, Move]
"""What a report comes to in the books of one name."""


def weightiest(outcomes: Iterable[Outcome]) -> Outcome:
    """Of what a report came to for each measure, what matters most.

    >>> weightiest([Outcome.REPEATED, Outcome.CAPPED, Outcome.BOOKED])
    <Outcome.CAPPED: 'capped'>
    """
    return min(outcomes, key=_WEIGHT.__getitem__)


class SeveralTerms(Terms):
    """What a play is worth to the objective's books, and with it to those of each floor."""

    each: tuple[Terms, ...]
    """In the order of ``SeveralBooks.books``."""


def _together(each: Iterable[Terms]) -> SeveralTerms:
    """The terms of all books, the objective's last, as one."""
    found = tuple(each)
    terms = SeveralTerms(*found[-1])
    terms.each = found
    return terms


def _is_plain(books: Books) -> bool:
    """Whether they afford what is available, no more and no less."""
    kind = type(books)
    usual = kind.affords is RewardBooks.affords and kind.standing is RewardBooks.standing
    return usual and type(books.account) is Account and books.floor.checkpoint is None


class SeveralBooks(Books):
    """The books one agent keeps of several floors.

    ``plays``, ``counters``, ``low`` and ``high`` are those of the objective: of the floor named
    "reward", or of books that hold nothing. A play has one id in all books.
    """

    several = True
    floor: Floors

    def __init__(self, floors: Floors, guards: dict[str, Books], objective: Books) -> None:
        self.guards, self.objective = guards, objective
        # The objective's come last: a play that they know is open in all.
        others = {name: books for name, books in guards.items() if name != REWARD}
        self.books: dict[str, Books] = {**others, REWARD: objective}
        self.all, self._items = tuple(self.books.values()), tuple(self.books.items())
        self.unit_reward = objective.unit_reward  # type: ignore[method-assign]
        self.learns = any(books.learns for books in self.all)
        for name, books in self.books.items():
            books.measure = name
        self.plays, self.counters, self.measure = objective.plays, objective.counters, REWARD
        self._take_in(floors)

    def _take_in(self, floors: Floors) -> None:
        """Keep what follows from the floors as they stand."""
        self.floor = floors
        self.low, self.high = self.objective.low, self.objective.high
        self.ceilings = [n for n, one in self.guards.items() if is_ceiling(one.floor)]
        # Whether some account forfeits what is above its own most: 0 if one does.
        self.max_slack = None if all(one.max_slack is None for one in self.all) else 0
        places = [books.floor.places for name, books in self._items if name in self.guards]
        self._gates = tuple(
            (books, 10 ** (max(places) - books.floor.places), _is_plain(books))
            for name, books in self._items
            if name in self.guards
        )
        """The books of each floor, by what its amounts are multiplied to be of one unit with the
        others', and whether its account alone decides."""
        self.cuts = isinstance(self.objective, ObjectiveBooks) and floors.bounded
        """Whether an objective that no floor guards is cut to its range."""
        self._constant = all(type(books).terms is RewardBooks.terms for books in self.all)
        self._own_terms: SeveralTerms | None = None
        self._weighed: Terms | None = None
        """The terms that were weighed since an account moved, and what came of it."""
        self._binds = 0

    def forfeit(self) -> None:
        """Let each account give up what is above its own most."""
        self._weighed = None
        for books in self.all:
            if books.max_slack is not None:
                books.forfeit()

    def terms(self, default: Any = None) -> SeveralTerms:
        """What the next play is worth; ``default``: its own values, by name."""
        if default is not None:
            return _together(self._each(self.by_name(default, "default")))
        own = self._own_terms
        if own is None or not self._constant:
            found = _together(self._each({}))
            if own is None or own.each != found.each:
                own = self._own_terms = found
        return own

    def _each(self, values: Mapping[str, Any]) -> Iterator[Terms]:
        """What the next play is worth to each floor; ``values``: its own defaults, by name."""
        for name, books in self._items:
            try:
                yield books.terms(values.get(name))
            except InvalidInput as error:
                raise InvalidInput(f"{name!r}: {error}") from None

    def by_name(self, given: Any, what: str) -> Mapping[str, Any]:
        """Values by the names of floors; InvalidInput for anything else."""
        if not isinstance(given, Mapping):
            raise InvalidInput(
                f"{what} = {shown(given)}: this agent has several floors; give a dict by their "
                f"names, {first_few(list(self.guards))}"
            )
        for name in given:
            self.named(name, f"{what}:")
        return given

    def named(self, name: Any, what: str) -> Books:
        """The books of one floor; InvalidInput if there is none of that name."""
        books = self.guards.get(name) if isinstance(name, str) else None
        if books is None:
            missing = name is None and not what.endswith(":")  # else it is one of those given
            which = "is missing" if missing else f"{shown(name)} is none of this agent's"
            raise InvalidInput(f"{what} {which}; name one of {first_few(list(self.guards))}")
        return books

    def affords(self, terms: Terms) -> bool:
        """The gate: whether every account affords its hold."""
        return self._weigh(terms) >= 0

    def _weigh(self, terms: Terms) -> int:
        """The least that exploring would leave of an account; below zero where one refuses."""
        least = at = 0
        each = terms.each  # type: ignore[attr-defined]
        for place, ((books, scale, plain), own) in enumerate(zip(self._gates, each, strict=False)):
            if plain:
                account: Any = books.account
                left = (account.reserve + account.posted - account.held - own.hold) * scale
            else:
                available, _, _, ahead = books.standing(own)
                left = (available + ahead - own.hold) * scale
                # It may ask more than a slack, or less.
                left = max(left, 0) if books.affords(own) else min(left, -1)
            if left < least or place == 0:
                least, at = left, place
        self._binds = at
        self._weighed = terms  # last: an interrupt leaves nothing that was weighed
        return least

    def binding(self, terms: Terms) -> tuple[str, Books, Terms]:
        """The floor that exploring would leave the least, its books, and its terms.

        Ties go to the first; of floors that refuse, it is one of them.
        """
        if self._weighed is not terms:
            self._weigh(terms)
        name, books = self._items[self._binds]
        return name, books, terms.each[self._binds]  # type: ignore[attr-defined]

    def decide(self, explores: bool, terms: Terms) -> int:
        """Book a decision; returns its play id."""
        self._weighed = None
        number = self.plays.next_id
        each: tuple[Terms, ...] = terms.each  # type: ignore[attr-defined]
        for books, own in zip(self.all, each, strict=False):
            books.plays.next_id = number  # an interrupt may have left it one ahead
            books.decide(explores, own)
        return number

    def enter(self, play: int, feeds: bool | None) -> None:
        """Tell each floor whose default is learned whether a play just opened feeds that."""
        for books in self.all:
            books.enter(play, feeds)

    def told(self, play: int, reward: Any, measures: Mapping[str, Any]) -> dict[str, Outcome]:
        """Book what came of a play, all of it or nothing; returns what it came to, by name.

        ``measures``: by the names of floors. A default play is reported played by it, to each
        floor, whatever is told of it.
        """
        silent = reward is None and not measures
        judged: list[Judged] = []
        for name, books in self._items:
            record, move = books.plays.get(play), None
            value = measures.get(name) if books is not self.objective else reward
            state, explores = record.state, record.explores
            if value is None and not silent:
                waits = state is OPEN or state is EXPIRED
                if explores or not waits:
                    continue
            if record.terms is books._usual_terms and state is OPEN:  # as in Books.report
                usual = type(value) is float if explores else value is None
                move = books._usual.get(value) if usual else None
            if move is None:
                move = books.judged(play, record, SETTLE, value)
            judged.append((name, books, record, move))
        return self._book(play, judged)

    def expire(self, play: int, names: Iterable[str] | None = None) -> Outcome:
        """No measure came in time, or none of those named: the worst is booked of each."""
        return weightiest(self.expired_of(play, names).values())

    def expired_of(self, play: int, names: Iterable[str] | None = None) -> dict[str, Outcome]:
        """As ``expire``; returns what it came to, by name."""
        judged: list[Judged] = []
        for name in self.guards if names is None else names:
            books = self.guards[name]
            record = books.plays.get(play)
            judged.append((name, books, record, books.judged(play, record, EXPIRE)))
        return self._book(play, judged)

    def waits_in_vain(self, play: int) -> bool:
        """Whether the objective of an exploration is not told, and no measure is open any more."""
        record = self.plays.get(play)
        waits = record.explores and record.state is OPEN
        return waits and all(
            books.plays.get(play).state is not OPEN for books in self.guards.values()
        )

    def report(self, play: int, report: str, reward: Any = None) -> Outcome:
        """Book a report of the whole play: in all books, or in none."""
        return weightiest(self.whole(play, report, reward).values())

    def whole(self, play: int, report: str, reward: Any = None) -> dict[str, Outcome]:
        """As ``report``; returns what it came to, by name."""
        if report is SETTLE:
            return self.told(play, reward, {})
        if report is EXPIRE:
            return self.expired_of(play)
        judged: list[Judged] = []
        for name, books in self.books.items():
            record = books.plays.get(play)
            judged.append((name, books, record, books.came_to(play, record, report)))
        outcomes = [move.outcome for *_, move in judged]
        # Of a play that was made no hold may come back, though some measure be open.
        made = report == CANCEL and BOOKED in outcomes and Outcome.IGNORED in outcomes
        if made or None in outcomes:
            booked = ", ".join(f"{name} is {record.state}" for name, _, record, _ in judged)
            raise PlayConflict(
                f"play {play}: {said(report, judged[-1][2])} contradicts what is booked of it "
                f"({booked}); the books stand as they are: tell what is open, or expire it"
            )
        return self._book(play, judged)

    def _book(self, play: int, judged: list[Judged]) -> dict[str, Outcome]:
        """Book what a report comes to: all records are closed before an account moves."""
        outcomes: dict[str, Outcome] = {}
        self._weighed = None
        for name, books, record, move in judged:
            outcome, event, _, state, units, _, _, _, _ = move
            if event is None:
                record.reward = units
            else:
                books.plays.close(play, state, units)
            assert outcome is not None
            outcomes[name] = outcome
        for _, books, _, move in judged:
            books.post(move)
        return outcomes

    def acknowledge_of(self, play: int, name: str) -> Outcome:
        """An operator confirms a measure above its range: the rest of it is credited."""
        books = self.named(name, "name of the measure")
        self._weighed = None
        return books.acknowledge(play)

    def held_out(self, play: int) -> None:
        """Expect the draws of a default play that was held out."""
        for books in self.all:
            books.held_out(play)

    def changing(self, name: Any) -> Books:
        """The books of one floor that is about to change; its old terms are not used again."""
        books = self.named(name, "floor")
        self._own_terms = None  # first: an interrupt may leave the change half made
        return books

    def changed(self, name: str) -> None:
        """Take in that the books of one floor have changed it."""
        self._take_in(self.floor.replaced(name, self.guards[name].floor))

    @property
    def two_valued(self) -> bool:
        """Whether each objective so far is known to have been at an end of its range."""
        return self.objective.two_valued

    @property
    def promise_void(self) -> bool:
        """Whether a breach has ended a promise for good."""
        return any(books.promise_void for books in self.guards.values())

    def snapshot(self) -> JsonObject:
        """JSON-able state."""
        return {"each": {name: books.snapshot() for name, books in self.books.items()}}

    @classmethod
    def restored(cls, floor: Any, state: JsonObject) -> Self:
        """The inverse of ``snapshot``."""
        fresh, saved = floor.open(), state["each"]
        if set(saved) != set(fresh.books):
            raise ValueError(f"the books are of {sorted(saved)}, not of {sorted(fresh.books)}")
        each = {
            name: type(books).restored(books.floor, saved[name])
            for name, books in fresh.books.items()
        }
        ids = {name: books.plays.next_id for name, books in each.items()}
        if not 0 <= max(ids.values()) - ids[REWARD] <= 1 or ids[REWARD] > min(ids.values()):
            raise ValueError(f"the next plays are {ids}, not one in all books")
        guards = {name: each[name] for name in floor.floors}
        return cls(floor, guards, each[REWARD])
