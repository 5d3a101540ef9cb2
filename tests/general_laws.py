"""The general floor and its twin side by side: any terms that are legal, any order of reports.

A side is (the floor's class, the twin's class): rewards, or costs. ``history`` is an adversary's
schedule, and yields what books and twin made of each event.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from naive.account import Contradiction
from naive.general import CostAccount, GeneralAccount
from surefoot import CostCeiling, RewardFloor
from surefoot.errors import PlayConflict

REPORTS = ("settle", "settle", "settle", "expire", "void", "fall_back", "acknowledge")


@dataclass
class Sides:
    """Books of the product and their twin: what is decided and reported goes to both."""

    books: Any
    """They keep a cost as the reward that is minus it."""
    twin: GeneralAccount

    @classmethod
    def of(cls, settings: dict[str, Any], costs: bool) -> "Sides":
        books = (CostCeiling if costs else RewardFloor)(**settings).open()
        return cls(books, (CostAccount if costs else GeneralAccount)(**settings))

    def decide(self, own: Any, explore: bool) -> tuple[Any, Any]:
        if self.books.max_slack is not None:
            self.books.forfeit()
        self.twin.forfeit()
        terms = self.books.terms(own)
        gates = self.books.affords(terms), self.twin.allows(own)
        explore = explore and gates[0]
        play = self.books.explore(terms) if explore else self.books.default(terms)
        assert play == self.twin.decide(explore, own)
        return gates

    def report(self, name: str, number: int, *told: Any) -> tuple[str, str]:
        before = self.books.snapshot()
        try:
            ours = str(getattr(self.books, name)(number, *map(self.books.floor.to_books, told)))
        except PlayConflict:
            ours = "contradiction"
            assert self.books.snapshot() == before
        try:
            return ours, getattr(self.twin, name)(number, *told)
        except Contradiction:
            return ours, "contradiction"

    def change(self, rng: random.Random, digits: int) -> None:
        """Plays to come on other terms; a reserve put in or taken out; saved and loaded."""
        kind = rng.choice(("terms", "added", "withdrawn", "loaded"))
        if kind == "terms" and self.twin.level is None:
            alpha, margin = some(rng, 0, 1, digits) * Decimal("0.99"), some(rng, 0, 1, digits) / 4
            self.books.change(alpha=alpha, margin=margin)
            self.twin.alpha, self.twin.margin = Fraction(alpha), Fraction(margin)
        elif kind == "added":
            amount = 1 + some(rng, 0, 1, digits)  # less than a unit is refused
            self.books.add_reserve(amount)
            self.twin.reserve += self.twin.down(Fraction(amount))
        elif kind == "withdrawn":
            most = min(self.available, self.twin.reserve)
            unit = Fraction(10) ** -self.books.floor.places
            if most > 0:
                part = unit * rng.randint(1, int(most / unit))
                self.books.withdraw_reserve(Decimal(part.numerator) / part.denominator)
                self.twin.reserve -= part
        elif kind == "loaded":
            state = json.loads(json.dumps(self.books.snapshot()))
            self.books = type(self.books).restored(self.books.floor, state)

    def amount(self, units: int) -> Fraction:
        return units * Fraction(10) ** -self.books.floor.places

    @property
    def available(self) -> Fraction:
        return self.amount(self.books.account.available)


def check_table(seed: int, costs: bool) -> None:
    """On the lattice the books are the twin, to the unit, and judge every report as it does."""
    for sides, (ours, theirs) in history(seed, costs, 3, 9, outside=True):
        assert ours == theirs
        assert sides.available == sides.twin.available()


def check_rounding(seed: int, costs: bool, places: int) -> None:
    """Of defaults of a known value the books are the twin to the unit, whatever is finer."""
    for sides, _ in history(seed, costs, 6, places, outside=True, interval=False):
        assert sides.available == sides.twin.available()


def check_promise(seed: int, costs: bool, places: int = 4) -> None:
    """However fine the numbers are, books never overstate what is kept of the promise."""
    for sides, _ in history(seed, costs, 6, places, outside=False):
        gone = sides.twin.forfeited - sides.amount(sides.books.forfeited)
        assert 0 <= sides.available <= sides.twin.promise() + gone


def case(rng: random.Random, costs: bool, digits: int, places: int, interval: bool) -> Any:
    """Settings that a floor takes; amounts of so many digits."""
    low, high = sorted((some(rng, -1, 1, digits), some(rng, -1, 2, digits)))
    if costs:
        low, high = rng.choice((Decimal(0), abs(low))), 1 + abs(high)
    elif rng.random() < 0.3:
        low = Decimal(0)
    high = max(high, low + max(Decimal("0.1"), 2 * Decimal(10) ** -places))
    alphas = ("0", "0.05", "0.5", "1", "1.5", "3") if costs else ("0", "0.05", "0.5", "0.97")
    alpha = rng.choice((Decimal(rng.choice(alphas)), some(rng, 0, 1, digits) * Decimal("0.99")))
    fixed = interval and rng.random() < 0.4
    settings = {
        "alpha": alpha,
        "cost_range" if costs else "reward_range": (low, high),
        "reserve": rng.choice((0, 0, 1, some(rng, 0, 2, digits))),
        "places": places,
        "margin": rng.choice((0, 0, some(rng, 0, 1, digits) / 4)),
        "max_slack": rng.choice((None, None, some(rng, 0, 3, digits))),
    }
    own = one_default(rng, low, high, digits, interval)
    settings["default"] = None if rng.random() < 0.4 and not fixed else own
    if fixed:
        settings |= fixed_level(settings, own, costs)
    return settings, (low, high)


def fixed_level(settings: Any, own: Any, costs: bool) -> Any:
    """A promise against the best the default can do, where even at its worst the default keeps it;
    else against "realised"."""
    make = CostAccount if costs else GeneralAccount
    fixed = {**settings, "default": own, "against": "fixed"}
    return {"against": "fixed"} if make(**fixed).terms().d >= 0 else {}


def one_default(rng: random.Random, low: Any, high: Any, digits: int, interval: bool) -> Any:
    if not interval:
        return between(rng, low, high, digits)
    ends = sorted(between(rng, low, high, digits) for _ in range(2))
    if low < 0 < high and rng.random() < 0.3:
        ends = sorted(
            (between(rng, low, Decimal(0), digits), between(rng, Decimal(0), high, digits))
        )
    return tuple(ends)


def some(rng: random.Random, low: int, high: int, digits: int) -> Decimal:
    return Decimal(rng.randint(low * 10**digits, high * 10**digits)).scaleb(-digits)


def between(rng: random.Random, low: Decimal, high: Decimal, digits: int) -> Decimal:
    """An end, or anything of so many digits between."""
    share = rng.choice((0, 10**digits, *[rng.randint(0, 10**digits)] * 4))
    return round(low + (high - low) * Decimal(share).scaleb(-digits), digits)


def history(
    seed: int,
    costs: bool,
    digits: int,
    places: int,
    outside: bool,
    interval: bool | None = None,
    turns: int = 70,
) -> Iterator[tuple[Sides, tuple[Any, Any]]]:
    """``outside``: whether a report may break what was declared of range or interval.

    ``interval``: whether defaults are intervals; None: in half of the schedules.
    """
    rng = random.Random(seed)
    interval = rng.random() < 0.5 if interval is None else interval
    settings, (low, high) = case(rng, costs, digits, places, interval)
    sides, latest = Sides.of(settings, costs), 0
    for turn in range(turns):
        if turn < 25:
            own = one_default(rng, low, high, digits, interval)
            own = None if settings["default"] is not None else own
            yield sides, sides.decide(own, explore=rng.random() < 0.8)
        if rng.random() < 0.05:
            sides.change(rng, digits)
            yield sides, (None, None)
        for _ in range(rng.choice((0, 1, 2))):
            latest = rng.choice((latest, rng.randrange(len(sides.twin.plays))))
            name = rng.choice(REPORTS)
            told = [value(rng, sides, latest, (low, high), digits, outside)]
            yield sides, sides.report(name, latest, *(told if name == "settle" else []))


def value(
    rng: random.Random, sides: Sides, number: int, ends: Any, digits: int, outside: bool
) -> Any:
    """What is told of a play: mostly what was told before, or what it may pay."""
    play = sides.twin.plays[number]
    if play.reward is not None and rng.random() < 0.3:
        return Decimal(play.reward.numerator) / play.reward.denominator
    low, high = ends
    if not play.explores and rng.random() < 0.5:
        return None
    if not play.explores or play.state == "fell_back":
        low, high = play.default if isinstance(play.default, tuple) else ends
        low, high = (Decimal(x.numerator) / x.denominator for x in map(Fraction, (low, high)))
    told = between(rng, low, high, digits)
    return rng.choice((told, told, told, high + 1, low - 1)) if outside else told
