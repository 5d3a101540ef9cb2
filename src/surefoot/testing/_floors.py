"""Helpers of the floor kit: the fate of each play, and the promise computed from it alone.

Amounts are fractions; the floor's own books are not used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from surefoot._exact import exact
from surefoot._types import Default, Number
from surefoot.errors import PlayConflict, SurefootError
from surefoot.floors import Floor, Outcome
from surefoot.floors.protocol import is_ceiling

REPORTS = ["settle", "settle", "settle", "expire", "void", "fall_back", "acknowledge"]


Asks = Callable[[Any], Any] | None


def rational(number: Number) -> Fraction:
    """The fraction a number stands for; a float stands for its shortest decimal."""
    return Fraction(exact(number, "number"))


@dataclass
class Fate:
    """One play; the fields fixed at its decision come first."""

    explores: bool
    default: tuple[Fraction, Fraction]
    """l and u; twice the known value of a default that has one."""
    known: bool
    """Whether the default has a known value."""
    given_up: tuple[Fraction, Fraction]
    """alpha, and the margin."""
    level: Fraction | None
    """The value that a reward floor holds it against; None: the default's own draw, at most u."""
    low: Fraction
    high: Fraction
    state: str = "open"
    reward: Fraction | None = None

    @classmethod
    def of(
        cls, explores: bool, floor: Floor, default: Any, asks: Asks = None, worth: Asks = None
    ) -> Fate:
        """A play that is decided now; ``asks``, ``worth``: what a floor of one's own says of it."""
        own: Any = floor
        given: Any = floor.default if default is None else default
        given = given if worth is None else worth(default)
        known = not isinstance(given, tuple | list)
        low, high = map(rational, (given, given) if known else given)
        costs = is_ceiling(own)
        low, high = (-high, -low) if costs else (low, high)
        if asks is None:
            assert hasattr(own, "alpha"), (
                f"{type(own).__name__} has no alpha: give the kit a method asks(self, default) "
                "that says what a play has to earn"
            )
            level, given_up = None, (rational(own.alpha), rational(getattr(own, "margin", 0)))
            if getattr(own, "against", "") == "fixed":
                level = high
                if own.target is not None:
                    level = (-1 if costs else 1) * rational(own.target)
        else:
            level, given_up = rational(asks(default)), (Fraction(0), Fraction(0))
        worst, best = map(rational, floor.reward_range)
        return cls(explores, (low, high), known, given_up, level, worst, best)

    @property
    def is_default(self) -> bool:
        """Whether the default is what was played, if anything was."""
        return not self.explores or self.state == "fell_back"

    @property
    def made(self) -> bool:
        """Whether it was surely played."""
        return self.state not in ("open", "void")

    @property
    def surplus(self) -> Fraction:
        """What it surely brings above what a reward floor asks: its worst where no reward came."""
        return self.paid - self.asked

    @property
    def paid(self) -> Fraction:
        """What it surely counts as; a reward above r_max in full once it is acknowledged."""
        if not self.is_default:
            if self.reward is None:
                return self.low
            return min(self.reward, self.high) if self.state == "capped" else self.reward
        if self.known or self.reward is None:
            return self.default[0]
        return min(self.reward, self.default[1])

    @property
    def asked(self) -> Fraction:
        """What a reward floor asks of it."""
        low, high = self.default
        if self.level is not None or not self.is_default:
            value = high if self.level is None else self.level
            return value - self.e(value)
        if self.known or self.reward is None:  # the least that any draw within l..u gives up
            return low - self.e(min(max(Fraction(0), low), high))
        return self.paid - min(self.e(self.reward), self.e(min(max(self.reward, low), high)))

    def e(self, value: Fraction) -> Fraction:
        """What a play gives up of such a value."""
        alpha, margin = self.given_up
        return alpha * abs(value) + margin

    @property
    def counted(self) -> Fraction | None:
        """Its reward as a mean-variance floor counts it; None where there is none."""
        if self.is_default:
            return self.default[0] if self.state in ("settled", "fell_back") else None
        return self.reward if self.state == "settled" else None


@dataclass
class Outcomes:
    """All plays of one floor, and which report each allows."""

    floor: Floor
    asks: Asks = None
    worth: Asks = None
    plays: list[Fate] = field(default_factory=list)
    sure: Fraction = Fraction(0)
    """The surplus of all plays that are surely made."""
    moments: tuple[int, Fraction, Fraction] = (0, Fraction(0), Fraction(0))
    """How many rewards a mean-variance floor counts, their sum and that of their squares."""

    def decide(self, explores: bool, default: Default | None = None) -> int:
        """One more play; returns its number."""
        self.plays.append(Fate.of(explores, self.floor, default, self.asks, self.worth))
        return len(self.plays) - 1

    def report(self, name: str, number: int, reward: Any = None) -> Outcome | None:
        """Take a report; what the books must make of it, None for a contradiction."""
        play = self.plays[number]
        self._count(play, -1)
        if name == "settle":
            verdict = self._settle(play, None if reward is None else rational(reward))
        else:
            verdict = getattr(self, f"_{name}")(play)
        self._count(play, +1)
        return verdict

    def _count(self, play: Fate, sign: int) -> None:
        self.sure += sign * play.surplus * play.made
        if (reward := play.counted) is not None:
            n, total, squares = self.moments
            self.moments = n + sign, total + sign * reward, squares + sign * reward**2

    def _settle(self, play: Fate, told: Fraction | None) -> Outcome | None:
        if not play.explores or (play.state == "fell_back" and not play.known):
            return self._settle_default(play, told)
        assert told is not None
        if play.state not in ("open", "expired"):
            repeats = play.state in ("settled", "capped") and told == play.reward
            return Outcome.REPEATED if repeats else None
        late, play.reward, play.state = play.state == "expired", told, "settled"
        if told > play.high and self.floor.rho is None:
            play.state = "capped"
            return Outcome.CAPPED
        if not play.low <= told <= play.high:
            return Outcome.BREACH
        return Outcome.BOOKED_LATE if late else Outcome.BOOKED

    def _settle_default(self, play: Fate, told: Fraction | None) -> Outcome | None:
        if play.state == "void" or (told is not None and play.reward not in (None, told)):
            return None
        first, news = play.state == "open", told is not None and play.reward is None
        play.reward = play.reward if told is None else told
        if first:
            play.state = "settled"
        if not first and (play.known or not news):
            return Outcome.REPEATED
        inside = told is None or play.known or play.default[0] <= told <= play.default[1]
        return Outcome.BOOKED if inside else Outcome.BREACH

    def _expire(self, play: Fate) -> Outcome | None:
        if play.state == "open" and play.explores:
            play.state = "expired"
            return Outcome.BOOKED
        return Outcome.REPEATED if play.state == "expired" else Outcome.IGNORED

    def _void(self, play: Fate) -> Outcome | None:
        if play.state == "expired":
            return None
        if play.state != "open":
            return Outcome.REPEATED if play.state == "void" else Outcome.IGNORED
        play.state = "void"
        return Outcome.BOOKED

    def _fall_back(self, play: Fate) -> Outcome | None:
        if not play.explores:
            return self._settle_default(play, None)
        if play.state != "open":
            return Outcome.REPEATED if play.state == "fell_back" else None
        play.state = "fell_back"
        return Outcome.BOOKED

    def _acknowledge(self, play: Fate) -> Outcome | None:
        if play.state != "capped":
            return Outcome.IGNORED if play.state == "settled" else None
        play.state = "settled"
        return Outcome.BOOKED

    def count(self, explores: bool, *states: str) -> int:
        """How many plays stand so."""
        return sum(play.explores == explores and play.state in states for play in self.plays)

    @property
    def booked(self) -> list[Fate]:
        """The plays that are surely made."""
        return [play for play in self.plays if play.made]

    def least(self) -> Fraction:
        """The margin of the promise if everything unknown turns out worst."""
        if self.floor.rho is not None:
            return min(self._slacks(self.floor), default=Fraction(0))
        return min(self._surpluses(self.floor), default=Fraction(0))

    def _surpluses(self, floor: Floor) -> Iterator[Fraction]:
        """Reward received above what is asked, for each number of open plays that were made."""
        sure = rational(floor.reserve) + self.sure
        waiting = [play for play in self.plays if play.state == "open"]
        if floor.checkpoint is None:
            yield sure + sum(min(Fraction(0), play.surplus) for play in waiting)
            return
        n, known = floor.checkpoint, len(self.booked)  # one default for all, so numbers are enough
        losses = [play.surplus for play in waiting if play.explores]
        gains = [play.surplus for play in waiting if not play.explores]
        for i in range(len(losses) + 1):
            for j in range(len(gains) + 1):
                if (known + i + j) % n == 0:
                    yield sure + sum(losses[:i]) + sum(gains[:j])

    def _slacks(self, floor: Any) -> Iterator[Fraction]:
        """n*MV - (1-alpha)*rho*mu0*n, for every set of pending rewards, each at an end."""
        rho, low, high = map(rational, (floor.rho, *floor.reward_range))
        asked = _asked_each(floor)
        n, total, squares = self.moments
        for some in range(self.unknown + 1):
            for tops in range(some + 1):
                N, k = n + some, some - tops
                R, Q = total + k * low + tops * high, squares + k * low**2 + tops * high**2
                if N:
                    yield rho * R - Q + R * R / N - asked * N

    @property
    def unknown(self) -> int:
        """How many explorations, expired ones included, have no reward yet."""
        return self.count(True, "open", "expired")

    def required(self) -> Fraction:
        """What the plays booked so far had to earn."""
        if self.floor.rho is not None:
            return _asked_each(self.floor) * self.moments[0]
        return sum((play.asked for play in self.booked), Fraction(0))


def _asked_each(floor: Any) -> Fraction:
    """(1-alpha)*rho*mu0."""
    alpha, rho, mu0 = map(rational, (floor.alpha, floor.rho, floor.default))
    return (1 - alpha) * rho * mu0


class Pair:
    """Books and outcomes side by side: each play is decided and reported in both."""

    def __init__(self, floor: Floor, asks: Asks = None, worth: Asks = None) -> None:
        self.floor, self.books = floor, floor.open()
        self.outcomes = Outcomes(floor, asks, worth)

    def decide(self, explores: bool, default: Any) -> int:
        """One play: an exploration if that is wanted and the gate is open."""
        return self.force(explores and self.books.affords(self.books.terms(default)), default)

    def force(self, explores: bool, default: Any) -> int:
        """One play, whatever the gate says."""
        terms = self.books.terms(default)
        play = self.books.explore(terms) if explores else self.books.default(terms)
        assert play == self.outcomes.decide(explores, default)
        return play

    def report(self, name: str, play: int, *reward: Any) -> Outcome | None:
        """One report, judged as the outcomes say; a contradiction changes nothing."""
        before = self.books.snapshot()
        expected = self.outcomes.report(name, play, *reward)
        try:
            made: Outcome | None = getattr(self.books, name)(play, *reward)
        except PlayConflict:
            made = None
            assert self.books.snapshot() == before
        assert made == expected, f"{name}{reward} of {self.outcomes.plays[play]}: {made}"
        return made


class FloorMaker:
    """A test class that makes a floor, its defaults and its rewards."""

    plays = 300
    """How many plays the worst case lasts; at least one of them has to be an exploration."""

    asks: Asks = None
    """For a floor of your own: a method that says what a play has to earn, given its own default
    (None: the constant one), written apart from the floor. None: what a RewardFloor asks."""

    worth: Asks = None
    """Where ``make_default`` brings no numbers: a method that says what such a default is worth,
    or (l, u) of a random one. None: the defaults say it themselves."""

    def make_floor(self) -> Floor:
        """Make the floor under test."""
        raise NotImplementedError

    def make_default(self, rng: np.random.Generator) -> Any:
        """The default of one play, for a floor that has no constant one."""
        floor: Any = self.make_floor()
        value, high = self.make_reward(rng), floor.reward_range[1]
        given: Any
        if getattr(floor, "against", "") == "fixed":
            value, given = high, (high, high)
        else:
            given = value if rng.random() < 0.5 else (value, high)
        return floor.to_books(given) if hasattr(floor, "to_books") else given

    def make_reward(self, rng: np.random.Generator) -> Decimal:
        """A reward within the range and of the books' unit."""
        unit, (low, high) = self.make_floor().unit, self.make_floor().reward_range
        between = unit.decimal(int(rng.integers(unit.ceil(low), unit.floor(high), endpoint=True)))
        return (low, high, between, between)[rng.integers(4)]

    def pair(self) -> Pair:
        """The floor's books, with nothing in them."""
        return Pair(self.make_floor(), self.asks, self.worth)

    def default(self, rng: np.random.Generator) -> Any:
        """One play's own default: None where the floor has a constant one."""
        return self.make_default(rng) if self.make_floor().default is None else None

    def saved_up(self, plays: int = 0) -> Pair:
        """Books after so many default plays."""
        pair, rng = self.pair(), np.random.default_rng(0)
        for _ in range(plays):
            pair.report("settle", pair.decide(False, self.default(rng)), None)
        return pair

    def explored(self, pair: Pair) -> int:
        """The first exploration that is afforded; until then the default is played."""
        rng = np.random.default_rng(0)
        for _ in range(self.plays):
            play = pair.decide(True, self.default(rng))
            if pair.outcomes.plays[play].explores:
                return play
            pair.report("settle", play, None)
        raise AssertionError(f"the floor affords no exploration in {self.plays} plays")

    def history(self, seed: int) -> Iterator[Pair]:
        """Books after each event of an adversary's schedule: any report, of any play, in any order.

        The larger the seed modulo 3, the more was saved up before.
        """
        rng, pair, latest = np.random.default_rng(seed), self.saved_up((10, 40, 120)[seed % 3]), 0
        for turn in range(60):
            if turn < 20:
                play = pair.decide(rng.random() < 0.9, self.default(rng))
                yield pair
                if not pair.outcomes.plays[play].explores and rng.random() < 0.5:
                    pair.report("settle", play, None)
            plays = pair.outcomes.plays
            explored = [number for number, fate in enumerate(plays) if fate.explores] or [0]
            for _ in range(rng.integers(3)):
                latest = int(rng.choice([latest, rng.choice(explored), rng.integers(len(plays))]))
                name = str(rng.choice(REPORTS))
                pair.report(name, latest, *self.reported(pair, latest, rng)[: name == "settle"])
                yield pair

    def reported(self, pair: Pair, play: int, rng: np.random.Generator) -> list[Any]:
        """The reward reported of a play; None: only that the default was played."""
        fate = pair.outcomes.plays[play]
        if fate.explores and (fate.known or not fate.is_default):
            return [self.make_reward(rng)]
        if fate.known or rng.random() < 0.5:
            return [None]
        low, high = fate.default
        value = low + (high - low) * int(rng.integers(5)) / 4
        return [Decimal(value.numerator) / value.denominator]


def refused(call: Any, *arguments: Any) -> None:
    """A call must raise an error of ours."""
    try:
        call(*arguments)
    except SurefootError:
        return
    raise AssertionError(f"{call.__name__}{arguments} was not refused")


def after(books: Any, reports: Sequence[Sequence[tuple[Any, ...]]], rng: Any) -> str:
    """The books after these reports of each play, in order; those of different plays in any."""
    waiting = [list(own) for own in reports]
    order = [play for play, own in enumerate(reports) for _ in own]
    rng.shuffle(order)
    for play in order:
        name, *arguments = waiting[play].pop(0)
        getattr(books, name)(*arguments)
    state = books.snapshot()
    state["plays"] = [sorted(state["plays"][rows]) for rows in ("live", "closed")]
    return repr(state)
