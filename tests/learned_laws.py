"""A learned default's books and their twin side by side, on an adversary's schedules.

The adversary knows everything: the default pays as it likes, late or never, and explorations pay
the least that was declared whenever that hurts.
"""

import json
import random
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

from naive.learned import LATTICE, LearnedAccount
from surefoot import CostCeiling, LearnedDefault, RewardFloor

PLACES = 6
"""The ends are hundredths then, few enough to look at each."""
SHAPES = (
    ((0, 1), (1, 90), "0.05"),
    ((0, 1), (10, 60), "0.5"),
    ((-1, 0), (-90, -10), "0.1"),
    ((-1, 0), (-60, -5), "1.5"),
    ((-1, 1), (5, 80), "0.2"),
    ((-1, 1), (-80, -5), "0.2"),
    (("-0.25", "0.75"), (2, 70), "0.05"),
    ((-1, 1), (-50, 50), "0"),
)
"""The range, between what hundredths the mean lies, and alpha. Only alpha = 0 may straddle 0, and
only what costs may have an alpha above 1: the books have it as minus the costs."""
MEANS = 3
"""At so many means, the ends among them, the accounts are compared."""


class Sides:
    """Books and twin: what is decided and reported goes to both."""

    def __init__(self, rng: random.Random) -> None:
        (low, high), (lo, hi), alpha = rng.choice(SHAPES)
        self.range = Decimal(low), Decimal(high)
        between = Decimal(lo) / 100, Decimal(hi) / 100
        margin = rng.choice((Decimal(0), Decimal("0.03")) if alpha != "0" else (Decimal("0.05"),))
        delta = rng.choice(("0.05", "0.4", "0.8"))
        settings: dict[str, Any] = {
            "alpha": Decimal(alpha),
            "reward_range": self.range,
            "reserve": rng.choice((0, 0, Decimal("1.5"))),
            "places": PLACES,
            "margin": margin,
            "max_slack": rng.choice((None, None, Decimal("0.8"))),
        }
        self.books = opened(between, Decimal(delta), settings).open()
        self.twin = LearnedAccount(between, delta, **settings)

    def decide(self, explore: bool, feeds: bool | None) -> tuple[bool, bool]:
        if self.books.max_slack is not None:
            self.books.forfeit()
        self.twin.forfeit()
        terms = self.books.terms()
        gates = self.books.affords(terms), self.twin.allows()
        assert self.books.standing(terms)[0] - terms.hold == self.twin.left()
        explore = explore and gates[0]
        play = self.books.decide(explore, terms, feeds=feeds)
        assert play == self.twin.decide(explore, feeds)
        return gates

    def report(self, name: str, number: int, *told: Any) -> None:
        getattr(self.books, name)(number, *told)
        getattr(self.twin, name)(number, *told)

    def change(self, alpha: Decimal) -> None:
        self.books.change(alpha=alpha)
        self.twin.alpha = Fraction(alpha)

    def save_and_load(self) -> None:
        state = json.loads(json.dumps(self.books.snapshot()))
        self.books = type(self.books).restored(self.books.floor, state)

    def check(self) -> None:
        """The same ends, and at every mean between them the same account."""
        books, twin = self.books, self.twin
        assert tuple(books.ends) == (twin.low, twin.high)
        for step in range(MEANS):
            mu = twin.low + (twin.high - twin.low) * step // (MEANS - 1) // LATTICE * LATTICE
            ours = books.account.at(mu)
            assert (ours.available, ours.held) == (twin.at(mu), twin.held(mu)), mu
        assert books.account.available == twin.available()

    def check_promise(self) -> None:
        """At every mean that is not refuted: received >= what was asked, at the worst."""
        assert self.twin.is_refuted or self.least() >= 0

    def least(self) -> Fraction:
        """The account where it is least, of some means on and off the lattice."""
        low, high = self.twin.low, self.twin.high
        return min(self.twin.at(low + (high - low) * step // 5) for step in range(1, 5))


def opened(between: Any, delta: Decimal, settings: dict[str, Any]) -> Any:
    """The floor, or the ceiling on costs where nothing is earned."""
    low, high = settings["reward_range"]
    if high > 0:
        return RewardFloor(LearnedDefault(between, delta), **settings)
    costs = tuple(-end for end in reversed(between))
    rest = {name: value for name, value in settings.items() if name != "reward_range"}
    return CostCeiling(LearnedDefault(costs, delta), cost_range=(-high, -low), **rest)


def legal(rng: random.Random, sides: Sides, number: int) -> tuple[Any, ...] | None:
    """A report that contradicts none before it."""
    play, (low, high) = sides.twin.plays[number], sides.range
    paid = rng.choice((low, low, high, low + (high - low) * rng.randint(0, 100) / 100))
    if play.explores:
        if play.state == "open":
            ends = [("expire",), ("void",), ("fall_back",)]
            return rng.choice([("settle", paid), ("settle", low), ("settle", 2 * high), *ends])
        return ("settle", paid) if play.state == "expired" else None
    if play.state == "void":
        return None
    told = ("settle", None if play.reward is not None else sides.draw(rng))
    if play.state == "settled":
        return rng.choice([told, ("expire",)])
    return rng.choice([told, told, told, ("settle", None), ("expire",), ("void",)])


def check(seed: int, **how: Any) -> None:
    """One schedule, looked at after every event."""
    for sides, gates in history(seed, **how):
        assert gates is None or gates[0] == gates[1]
        sides.check()
        sides.check_promise()


def history(seed: int, turns: int = 90, prompt: bool = False) -> Iterator[tuple[Sides, Any]]:
    """What the gates say at each decision, or None after another event.

    ``prompt``: nearly all are default plays, each reported at once.
    """
    rng = random.Random(seed)
    sides = Sides(rng)
    sides.draw = draws(rng, sides)  # type: ignore[attr-defined]
    explores, at_once = rng.choice((0.2, 0.6)), rng.choice((0.5, 0.9, 1))
    if prompt:
        explores, at_once = 0.02, 1
    for turn in range(turns):
        feeds = prompt or rng.choices((True, False, None), (16, 4, 1))[0]
        yield sides, sides.decide(rng.random() < explores, feeds)
        numbers = {turn, rng.randrange(turn + 1)} if rng.random() < 0.8 else ()
        if not sides.twin.plays[turn].explores and rng.random() < at_once:
            sides.report("settle", turn, sides.draw(rng))
            yield sides, None
            numbers = () if prompt else numbers
        for number in numbers:
            report = legal(rng, sides, number)
            if report is not None:
                sides.report(report[0], number, *report[1:])
                yield sides, None
        if rng.random() < 0.03:
            sides.save_and_load()
        if rng.random() < 0.03 and sides.twin.alpha:
            sides.change(Decimal(rng.randint(1, 90)) / 100)
        if rng.random() < 0.03:
            sides.twin.reserve += 10**PLACES // 10
            sides.books.add_reserve(Decimal("0.1"))


def draws(rng: random.Random, sides: Sides) -> Any:
    """How the default pays: at a mean it keeps, or first well and then badly, or the reverse."""
    low, high = sides.range
    kind = rng.choice(("coin", "coin", "turns", "level"))
    level = rng.choice((0, 100, rng.randint(0, 100), rng.randint(0, 100)))
    mean, count = level / 100, 0

    def draw(rng: random.Random) -> Decimal:
        nonlocal count
        count += 1
        if kind == "level":
            return low + (high - low) * level / 100
        chance = mean if kind == "coin" or count < 30 else 1 - mean
        return high if rng.random() < chance else low

    return draw
