"""Proved, not tried: each account of several floors sees a legal history of a single floor.

``SeveralBooks`` are run themselves, on integers of which nothing is known. Of two guarded measures
and an objective, in every state that a play can be in:

(a) a play explores only if every account affords its hold, and then every account books it;
(b) a report moves each account it names by what ``events.step`` says of that floor alone, and no
    other; or it is refused, and nothing at all has changed;
(c) a hold comes back by a void, or is changed for a deposit by a fall-back, only where nothing of
    the play was told and nothing expired.

What ``events.step`` does to one account is proved in ``test_events_proof``.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
import z3

from prover import Path, paths, plain
from surefoot import RewardFloor
from surefoot._exact import Unit
from surefoot.errors import PlayConflict
from surefoot.floors import Account, State, Terms
from surefoot.floors.events import Record, step
from surefoot.floors.linear import LinearFloor
from surefoot.floors.several import Floors
from surefoot.floors.several_books import REWARD, SeveralTerms

GUARDS = ("quality", "speed")
OPEN, SETTLED, EXPIRED, VOID, FELL_BACK = (
    State.OPEN, State.SETTLED, State.EXPIRED, State.VOID, State.FELL_BACK,
)  # fmt: skip
MADE = list(product((OPEN, SETTLED, EXPIRED), (OPEN, SETTLED, EXPIRED), (OPEN, SETTLED)))
EXPLORED = [*MADE, (VOID,) * 3, (FELL_BACK,) * 3]
DEFAULTS = [(OPEN,) * 3, (SETTLED,) * 3, (VOID,) * 3]
SOME = [("quality",), ("quality", "speed")]
TOLD = [*SOME, (REWARD,), ("quality", REWARD)]
REPORTS = [
    *[("settle", names) for names in TOLD],
    *[("expire", names) for names in SOME],
    ("void", ()),
    ("fall_back", ()),
]
Case = tuple[bool, tuple[State, ...], tuple[str, tuple[str, ...]]]
CASES: list[Case] = [
    *product((True,), EXPLORED, REPORTS),
    *product((False,), DEFAULTS, REPORTS),
]


class World:
    """Books with one play, of whose amounts nothing is known."""

    def __init__(self, path: Path, explores: bool) -> None:
        self.path = path
        floors = {name: RewardFloor(0.5, 0.1) for name in GUARDS}
        self.books = Floors(floors, (0, 1)).open()
        for books in self.books.all:
            account = Account(*map(path.fresh, ("reserve", "posted", "held")))
            path.assume(account.available >= 0)
            books.account = account
            books.low, books.high = path.fresh("low"), path.fresh("high")
        self.terms = SeveralTerms(*self.one())
        self.terms.each = (self.one(), self.one(), Terms(0, 0, 0, 0))
        self.explores = explores

    def one(self) -> Terms:
        names = ("value", "floor", "hold", "deposit")
        terms = Terms(*map(self.path.fresh, names))
        self.path.assume(terms.hold >= 0, terms.deposit >= 0)
        return terms

    def made(self, states: tuple[State, ...]) -> int:
        """Its play, in these states; what was told was within the range."""
        for books, terms in zip(self.books.all, self.terms.each, strict=True):
            books.plays.open(self.explores, terms)
        for books, state in zip(self.books.all, states, strict=True):
            record = books.plays.get(0)
            record.state = state
            if state is SETTLED and self.explores:
                record.reward = self.path.fresh("reward")
                self.path.assume(record.reward >= books.low, record.reward <= books.high)
        return 0

    def accounts(self) -> list[tuple[Any, ...]]:
        return [(plain(b.account.posted), plain(b.account.held)) for b in self.books.all]

    def records(self) -> list[tuple[State, Any]]:
        return [(b.plays.get(0).state, b.plays.get(0).reward) for b in self.books.all]


@pytest.fixture
def unread(monkeypatch):
    """What is told is read as it is: a number of which nothing is known."""
    monkeypatch.setattr(LinearFloor, "read", lambda floor, reward, what: reward)
    monkeypatch.setattr(Unit, "quick", lambda unit, reward: None)


def reported(case: Case) -> Iterator[Any]:
    """Every path of a report: the world after it, what it was, and what single floors say."""
    explores, states, (report, named) = case

    def run(path: Path) -> Any:
        world = World(path, explores)
        play = world.made(states)
        books, told = world.books, {name: path.fresh("told") for name in named}
        singles = {
            name: (Record(explores, own.plays.get(play).terms, *world.records()[place]), own)
            for place, (name, own) in enumerate(books.books.items())
        }
        before = world.accounts(), world.records()
        try:
            if report == "settle":
                measures = {name: told[name] for name in named if name != REWARD}
                books.told(play, told.get(REWARD), measures)
            elif report == "expire":
                books.expire(play, named)
            else:
                books.report(play, report)
        except PlayConflict:
            return world, before, None
        return world, before, moves(report, named, told, singles)

    for path, found in paths(run):
        yield path, *found


def moves(report: str, named: Any, told: Any, singles: Any) -> dict[str, Any]:
    """What ``events.step`` makes of the report under each floor that it names."""
    whole = report in {"void", "fall_back"}
    found = {}
    for name, (record, books) in singles.items():
        reported_played = report == "settle" and not record.explores and record.state is OPEN
        if name in named or whole or reported_played:
            low, high = (books.low, books.high) if name != REWARD else (told.get(name, 0),) * 2
            found[name] = step(record, report, told.get(name), low, high, True)
    return found


def test_a_play_explores_if_every_account_affords_it_and_then_all_hold():
    def run(path: Path) -> Any:
        world = World(path, True)
        before, allowed = world.accounts(), world.books.affords(world.terms)
        if allowed:
            world.books.decide(True, world.terms)
        return world, before, allowed

    seen = set()
    for path, (world, before, allowed) in paths(run):
        seen.add(bool(allowed))
        short = []
        for books, terms, was in zip(world.books.all, world.terms.each, before, strict=True):
            now = plain(books.account.posted), plain(books.account.held)
            held = plain(terms.hold) if allowed else 0
            assert not path.can_be(z3.Or(now[0] != was[0], now[1] != was[1] + held))
            assert not path.can_be(plain(books.account.available) < 0)
            short.append(plain(books.account.available) - (0 if allowed else plain(terms.hold)) < 0)
        assert allowed or not path.can_be(z3.Not(z3.Or(*short)))
    assert seen == {True, False}


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize("each", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_a_report_moves_each_account_as_its_own_floor_would_or_nothing(each):
    refused = 0
    for case in CASES[::each]:
        for path, world, (accounts, records), expected in reported(case):
            refused += expected is None
            wrong = []
            for place, name in enumerate(world.books.books):
                move, after = (expected or {}).get(name), world.records()[place]
                if move is None:
                    assert all(x is y for x, y in zip(after, records[place], strict=True)), case
                else:
                    assert move.outcome is not None, case
                    assert after[0] is move.state, case
                by = (0, 0)
                if move is not None and name != REWARD:  # the objective has no account here
                    by = plain(move.posted), plain(move.held)
                pairs = zip(world.accounts()[place], accounts[place], by, strict=True)
                wrong += [now - was != moved for now, was, moved in pairs]
            assert not path.can_be(z3.Or(*wrong)), case
    assert refused > len(CASES) // each // 9


@pytest.mark.usefixtures("unread")
def test_no_hold_comes_back_once_anything_was_told_or_expired():
    for explores, states, report in CASES:
        if explores and report[0] in {"void", "fall_back"}:
            for path, world, (accounts, _), expected in reported((explores, states, report)):
                released = [
                    path.can_be(now[1] < was[1])
                    for was, now in zip(accounts, world.accounts(), strict=True)
                ]
                if expected is not None and any(released):
                    assert states == (OPEN, OPEN, OPEN)
