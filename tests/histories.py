"""Histories: books and their `Fraction` twin side by side, through any order of events."""

import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from naive.account import Contradiction, NaiveAccount
from surefoot.errors import PlayConflict
from surefoot.floors import RewardBooks, statement

Make = Callable[..., RewardBooks]
"""Opens books on a reward floor of these settings."""


def decimals(low: Any, high: Any, places: int) -> st.SearchStrategy[Decimal]:
    """Decimals of so many places in low..high, the ends included."""
    first, last = (int(Decimal(end).scaleb(places)) for end in (low, high))
    return st.integers(first, last).map(lambda n: Decimal(n).scaleb(-places))


@st.composite
def floors(draw: st.DrawFn, decimals_of: int, least_places: int) -> dict[str, Any]:
    """Settings of a floor: constant or per-play default, any range, with or without reserve."""
    some = decimals_of
    low = draw(st.just(Decimal(0)) | decimals("-1", "0.4", some))
    high = draw(st.just(Decimal(1)) | decimals("0.5", "1.5", some))
    return {
        "default": draw(st.none() | decimals(max(low, Decimal("0.1")), "0.5", some)),
        "alpha": draw(st.just(Decimal("0.5")) | decimals("0.02", "0.98", some)),
        "reward_range": (low, high),
        "reserve": draw(st.sampled_from((0, 0, 1, 3)) | decimals("0", "2", some)),
        "places": draw(st.none() | st.integers(least_places, 9)),
    }


class Pair:
    """Books and their twin: what is decided and reported goes to both."""

    def __init__(self, make: Make, floor: dict[str, Any]) -> None:
        names = ("default", "alpha", "reward_range", "reserve")
        self.books, self.twin = make(**floor), NaiveAccount(*(floor[name] for name in names))

    def decide(self, own: Any, explore: bool) -> tuple[bool, bool]:
        """Explore if that is wanted and the books allow it; whether they and their twin do."""
        terms = self.books.floor.terms(own)
        gates = self.books.affords(terms), self.twin.allows(own)
        explore = explore and gates[0]
        play = self.books.explore(terms) if explore else self.books.default(terms)
        assert play == self.twin.decide(explore, own)
        return gates

    def report(self, name: str, *arguments: Any) -> tuple[str, str]:
        """Make one report; what the books and what the twin made of it."""
        before = self.books.snapshot()
        try:
            ours = str(getattr(self.books, name)(*arguments))
        except PlayConflict:
            ours = "contradiction"
            assert self.books.snapshot() == before
        try:
            return ours, getattr(self.twin, name)(*arguments)
        except Contradiction:
            return ours, "contradiction"

    def amount(self, units: int) -> Fraction:
        return units * Fraction(10) ** -self.books.floor.places

    @property
    def available(self) -> Fraction:
        return self.amount(self.books.account.available)


PICKS = st.none() | st.integers(0, 999)
"""Which play a report is about: any, an exploration if even, the latest one reported if None."""


class Histories(RuleBasedStateMachine):
    """Everything that can happen to books on the lattice, each report judged as the twin does."""

    make: ClassVar[Make]

    @initialize(floor=floors(decimals_of=4, least_places=8))
    def open(self, floor: dict[str, Any]) -> None:
        self.pair = Pair(type(self).make, floor)
        self.low, self.high = floor["reward_range"]
        self.outcomes: list[str] = []
        self.latest = 0

    @rule(
        share=st.integers(0, 100),
        explore=st.sampled_from((True, True, True, False)),
        batch=st.integers(1, 4),
        reported=st.booleans(),
    )
    def decide(self, share: int, explore: bool, batch: int, reported: bool) -> None:
        cents = min(max(Decimal(share) / 100, self.low), self.high)
        own = None if self.pair.twin.default else cents
        for _ in range(batch):
            ours, theirs = self.pair.decide(own, explore)
            assert ours == theirs
            if reported and not self.pair.twin.plays[-1].explores:
                self.report("settle", len(self.pair.twin.plays) - 1, None)

    @rule(pick=PICKS, share=st.sampled_from((0, 0, 1, 50, 100, 101, 250, -1)))
    @precondition(lambda self: self.pair.twin.plays)
    def settle(self, pick: int | None, share: int) -> None:
        """A reward of the range, its ends above all, or outside it, or the one it had before."""
        number = self.number(pick)
        play = self.pair.twin.plays[number]
        if not play.explores and share % 2:
            self.report("settle", number, None)
        elif play.reward is not None and share == 50:
            self.report("settle", number, play.reward.numerator / Decimal(play.reward.denominator))
        else:
            self.report("settle", number, self.low + (self.high - self.low) * share / 100)

    @rule(
        pick=PICKS,
        name=st.sampled_from(("expire", "void", "fall_back", "acknowledge", "expire")),
    )
    @precondition(lambda self: self.pair.twin.plays)
    def end(self, pick: int | None, name: str) -> None:
        self.report(name, self.number(pick))

    @rule()
    def save_and_load(self) -> None:
        state = json.loads(json.dumps(self.pair.books.snapshot()))
        self.pair.books = type(self.pair.books).restored(self.pair.books.floor, state)

    def number(self, pick: int | None) -> int:
        if pick is None:
            return self.latest
        plays = self.pair.twin.plays
        explored = [number for number, play in enumerate(plays) if play.explores]
        among = explored if explored and pick % 2 == 0 else range(len(plays))
        return among[pick // 2 % len(among)]

    def report(self, name: str, number: int, *reward: Any) -> None:
        ours, theirs = self.pair.report(name, number, *reward)
        assert ours == theirs, (name, number, reward)
        self.outcomes.append(ours)
        self.latest = number

    @invariant()
    def what_is_available_is_the_table(self) -> None:
        twin, account = self.pair.twin, self.pair.books.account
        assert self.pair.available == twin.available()
        assert self.pair.amount(account.held) == twin.held()
        assert self.pair.available <= twin.promise()
        assert self.pair.available >= 0 or twin.breached

    @invariant()
    def the_statement_is_what_happened(self) -> None:
        ours, twin = statement(self.pair.books), self.pair.twin
        assert ours.slack == ours.reserve + ours.earned - ours.required - ours.held
        assert (ours.earned, ours.required) == (twin.earned(), twin.required())
        assert ours.pending == twin.count(True, "open")
        assert ours.unreported == twin.count(False, "open")
        made = ("open", "settled", "capped", "expired")
        assert ours.explorations == twin.count(True, *made)
        assert ours.default_plays == twin.count(False, *made) + twin.count(True, "fell_back")
        assert ours.plays == ours.explorations + ours.default_plays
        assert ours.voided == twin.count(True, "void") + twin.count(False, "void")
        assert ours.breaches == self.outcomes.count("breach")
        assert ours.capped == self.outcomes.count("capped")
        defaults = [play for play in twin.plays if not play.explores]
        assert ours.mismatches == sum(p.reward not in {None, p.value} for p in defaults)
