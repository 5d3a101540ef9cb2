"""The account and the books of a floor on a sum of rewards.

The account is the sample-path constraint, kept prepaid and with holds:

    available = reserve + posted - held   must never go below zero

Source: Du, Wang, Huang 2021, Algorithm 1, line 3. With floor f = (1-alpha)*mu0, worst reward
r_min and hold h = max(0, f - r_min), the paper's test r_S + N0*mu0 >= (1-alpha)*mu0*t is
``affords(h)`` when rewards are immediate, r_min = 0 and the reserve is empty. Holds that are not
settled yet are what make it true under delay, loss and reordering as well (ours).

All amounts are integers of one unit. Only a hold can lower what is available, so only a hold needs
asking first; every other event commutes. What each event moves is said in ``events``.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from surefoot._exact import exact, shown
from surefoot._types import JsonObject, Number
from surefoot.errors import InvalidInput, PlayConflict
from surefoot.floors.books import Books
from surefoot.floors.checkpoint import still_to_come
from surefoot.floors.events import Move, Terms
from surefoot.floors.learned import LearnedDefault

if TYPE_CHECKING:
    from surefoot.floors.linear import LinearFloor
    from surefoot.floors.plays import Plays


@dataclass(slots=True)
class Account:
    """The books of one promise: three integers, what is asked of them, and how they move.

    >>> from surefoot.floors.events import Record, Terms, decided, step
    >>> terms = Terms(value=7, floor=6, hold=5, deposit=1)
    >>> account = Account(reserve=5)
    >>> account.affords(terms.hold)
    True
    >>> account.book(decided(True, terms))
    >>> account.available, account.affords(terms.hold)
    (0, False)
    >>> account.book(step(Record(True, terms), "settle", 8, low=1, high=10))
    >>> account.available
    7

    Holds when: no reward is below r_min and each play is reported at most once (``events.step``
    sees to that). Does not hold when: r_min is wrong; then the truth is booked, and available can
    fall below zero.
    """

    reserve: int = 0
    posted: int = 0
    held: int = 0

    @property
    def available(self) -> int:
        """What may still be lost if every open play pays its worst."""
        return self.reserve + self.posted - self.held

    def affords(self, hold: int) -> bool:
        """Whether an exploration that can lose ``hold`` may be decided; a tie is allowed."""
        return self.reserve + self.posted - self.held >= hold

    @property
    def spare(self) -> int:
        """The most of the reserve that can be withdrawn: open plays may still lose the rest."""
        return max(0, min(self.available, self.reserve))

    def book(self, move: Move) -> None:
        """Let an event move the money."""
        # In this order an interrupt books too little: what is released is released last.
        _, _, _, _, _, posted, held, _, _ = move
        self.posted += posted
        self.held += held

    def numbers(self) -> list[int]:
        """All there is to it, to be written down; ``Account(*numbers)`` is its equal."""
        return [self.reserve, self.posted, self.held]


class RewardBooks(Books):
    """The books one agent keeps of a floor on a sum of rewards.

    A reward above the range is credited as the range's end, for now. Floor and reserve may change
    between plays: a play keeps the terms and the range it was decided with, so whatever is reported
    of it later moves the account as it would have without the change.
    """

    account: Account
    floor: LinearFloor
    caps = True
    _own_terms: Terms | None = None
    """Those of the floor's constant default, once they were asked for."""

    def __init__(self, floor: LinearFloor, account: Account, plays: Plays) -> None:
        super().__init__(floor, account, plays)
        self.measure = floor.measure
        self._limit()

    def _limit(self) -> None:
        limit = self.floor.max_slack
        self.max_slack = None if limit is None else self.floor.unit.floor(limit)

    def forfeit(self) -> None:
        """Give up what is above ``max_slack``."""
        assert self.max_slack is not None
        over = self.account.available - self.max_slack
        if over > 0:
            self.account.posted -= over  # first: an interrupt may book too little
            self.forfeited += over

    def terms(self, default: Any = None) -> Terms:
        """What the next play is worth."""
        if default is not None:
            return _checked(self.floor.terms(default), self.floor)
        found = self._own_terms
        if found is None:
            found = self._own_terms = _checked(self.floor.terms(), self.floor)
        return found

    def affords(self, terms: Terms) -> bool:
        """The gate; with a checkpoint the default plays until then are spent beforehand."""
        if self.floor.checkpoint is None:
            return self.account.affords(terms.hold)
        return self.account.affords(terms.hold - self.ahead(terms))

    def standing(self, terms: Terms) -> tuple[int, int, int, int]:
        """What a play at these terms tells of the books: slack, held, waiting and ahead."""
        account, held = self.account, self.account.held
        ahead = 0 if self.floor.checkpoint is None else self.ahead(terms)
        return account.reserve + account.posted - held, held, self.counters["pending"], ahead

    def ahead(self, terms: Terms) -> int:
        """What the default brings until the next checkpoint, after the next play; in units."""
        if self.floor.checkpoint is None:
            return 0
        return still_to_come(self.known, self.floor.checkpoint) * terms.deposit

    def range_of(self, play: int) -> tuple[int, int]:
        """The range of rewards that a play was decided with, in units."""
        if len(self.ranges) == 1:
            return self.low, self.high
        _, low, high = self.ranges[bisect_right(self.ranges, play, key=lambda each: each[0]) - 1]
        return low, high

    def change(self, **settings: Any) -> None:
        """Change the floor for the plays to come; each play keeps what it was decided with.

        ``settings``: those of the floor's own class but for reserve and places. Raises InvalidInput
        for any other, or a value it refuses. To or from a checkpoint, or under one: PlayConflict
        while plays are open, or while more is spent than there is.
        """
        floor = self.floor.changed(**settings)
        if isinstance(floor.default, LearnedDefault) is not self.learns:
            raise InvalidInput(
                f"default = {shown(floor.default)} cannot take the place of {self.floor.default}: "
                "a default is learned from the first play on, or never; start a new agent"
            )
        if self.floor.checkpoint is not None or floor.checkpoint is not None:
            self._check_nothing_ahead()
        low, high = map(floor.unit.floor, floor.reward_range)
        # In this order an interrupt leaves no terms of a floor that is gone.
        self._usual_terms, self._own_terms, self.floor = None, None, floor
        self._limit()
        if (low, high) != (self.low, self.high):
            if self.ranges[-1][0] == self.plays.next_id:
                del self.ranges[-1]
            self.ranges.append((self.plays.next_id, low, high))
            self.low, self.high = low, high

    def _check_nothing_ahead(self) -> None:
        waiting, account = self.pending + self.unreported, self.account
        if waiting or account.held or account.available < 0:  # an interrupt may leave a hold
            amount = self.floor.unit.decimal
            raise PlayConflict(
                f"a floor with checkpoints changes only with no play open ({waiting} are), nothing "
                f"held ({amount(account.held):f} is) and a slack >= 0 (it is "
                f"{amount(account.available)}): what is spent beforehand counts on equal plays; "
                "report or void the open ones first"
            )

    def add_reserve(self, amount: Number) -> None:
        """Let ``amount`` > 0 more be lost from now on; rounded down to the unit."""
        added = self.floor.unit.floor(_positive(amount))
        if not added:
            raise InvalidInput(
                f"amount = {shown(amount)} is less than a unit of the books, "
                f"{self.floor.unit.decimal(1)}; add that at least"
            )
        self.set_reserve(self.account.reserve + added)

    def withdraw_reserve(self, amount: Number) -> None:
        """Take ``amount`` > 0 out of the reserve again, rounded up to the unit.

        Raises InvalidInput for more than the reserve, or than is available: open plays may lose it.
        """
        unit, account = self.floor.unit, self.account
        taken, most = unit.ceil(_positive(amount)), account.spare
        if taken > most:
            raise InvalidInput(
                f"amount = {shown(amount)} cannot be withdrawn: the most is {unit.decimal(most)}, "
                f"of a reserve of {unit.decimal(account.reserve)} and a slack of "
                f"{unit.decimal(account.available)}"
            )
        self.set_reserve(account.reserve - taken)

    def set_reserve(self, reserve: int) -> None:
        """Let the reserve be so many units, whatever it was."""
        self.floor = self.floor.with_reserve(self.floor.unit.decimal(reserve))
        self._own_terms = None
        self.account.reserve = reserve

    def snapshot(self) -> JsonObject:
        """JSON-able state."""
        gone = {"forfeited": self.forfeited} if self.forfeited else {}
        return {**super().snapshot(), "ranges": [list(each) for each in self.ranges], **gone}

    @classmethod
    def restored(cls, floor: Any, state: JsonObject) -> Self:
        """The inverse of ``snapshot``."""
        books = super().restored(floor, state)
        books.forfeited = state.get("forfeited", 0)
        if "ranges" in state:  # files older than changes have none
            books.ranges = [(first, low, high) for first, low, high in state["ranges"]]
            if not books.ranges or books.ranges[-1][1:] != (books.low, books.high):
                raise ValueError(f"the ranges {books.ranges} do not end with the floor's")
        return books

    @classmethod
    def _account(cls, floor: LinearFloor, numbers: list[int]) -> Account:
        return Account(*numbers)

    def _covers_pending(self) -> bool:
        return self.account.held >= self.plays.holds()


def _positive(amount: Number) -> Any:
    value = exact(amount, "amount")
    if value <= 0:
        raise InvalidInput(
            f"amount = {shown(amount)} must be > 0; a reserve is added or withdrawn, each with a "
            "method of its own"
        )
    return value


def _checked(terms: Terms, floor: Any) -> Terms:
    """What a floor says a play is worth, which may be a user's own code, if books can be kept."""
    whole = type(terms) is Terms and all(type(x) is int for x in terms[:8] if x is not None)
    if not whole or None in terms[:4] or terms.hold < 0:
        raise InvalidInput(
            f"{type(floor).__name__}.terms returned {shown(terms)}; it returns Terms in whole "
            "units of the books with a hold >= 0: known_terms(value, asked) makes them"
        )
    return terms
