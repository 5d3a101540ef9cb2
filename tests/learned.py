"""Books of a learned default in the hands of a test, and mutants of what feeds its sequence."""

import random
from collections.abc import Callable, Iterator
from typing import Any

from surefoot import GenCB, LearnedDefault, Reason, RewardFloor, Thompson
from surefoot.agents.feeding import Feeding
from surefoot.floors import LearnedBooks
from surefoot.floors.feed import LOST, Feed


def opened(
    between: Any = (0, 1), delta: Any = 0.05, alpha: Any = 0.05, **settings: Any
) -> LearnedBooks:
    """Fresh books of a learned default."""
    floor = RewardFloor(LearnedDefault(between, delta), alpha, **settings)
    books = floor.open()
    assert isinstance(books, LearnedBooks)
    return books


def refuted(books: LearnedBooks, mu0: Any) -> bool:
    """Whether the mean itself was left out."""
    unit = books.floor.unit
    ends = books.ends
    return books.feed is None or not ends[0] <= unit.floor(RewardFloor(mu0, 0.5).default) <= ends[1]


def default_play(books: LearnedBooks, feeds: bool = True) -> int:
    """Decide a default play."""
    return books.decide(False, books.terms(), feeds)


class OnArrival(Feed):
    """Plays are fed as their rewards arrive."""

    def tell(self, play: int, fed: Any) -> None:
        super().tell(play, fed)
        self._order.remove(play)
        self._order.appendleft(play)


class LostSkipped(Feed):
    """What is never told is left out."""

    def tell(self, play: int, fed: Any) -> None:
        super().tell(play, fed)
        if fed == LOST:
            self.leave_out(play)


class FedBy:
    """Books whose feed is a mutant."""

    def __init__(self, feeder: type[Feed]) -> None:
        self.books = type("Mutant", (LearnedBooks,), {"feeder": feeder})

    def __call__(self) -> LearnedBooks:
        floor = RewardFloor(LearnedDefault((0, 1)), 0.05)
        return self.books.opened(floor, 1_000)


def delayed_good_news(books: LearnedBooks, mu0: float, plays: int, rng: random.Random) -> None:
    """Zeros are told at once, ones 200 plays late."""
    late: list[int] = []
    for number in range(plays):
        play, paid = default_play(books), rng.random() < mu0
        if paid:
            late.append(play)
        else:
            books.settle(play, 0.0)
        while late and late[0] <= number - 200:
            books.settle(late.pop(0), 1.0)


def lost_good_news(books: LearnedBooks, mu0: float, plays: int, rng: random.Random) -> None:
    """Half of the ones are never told."""
    for _ in range(plays):
        play, paid = default_play(books), rng.random() < mu0
        if paid and rng.random() < 0.5:
            books.expire(play)
        else:
            books.settle(play, float(paid))


class Fed(Feeding):
    """Plays of some reasons feed as well."""

    reasons: Iterator[Reason] | tuple[Reason, ...] = ()

    def feeds(self, play: Any, *given: Any) -> bool | None:
        fed = super().feeds(play, *given)
        return True if play.reason in self.reasons else fed


class NoArmFeeds(Fed):
    """A default play feeds where no arm was allowed and the gate was open."""

    reasons = (Reason.NO_ALLOWED_ARM,)


class ChoicesFeed(Feeding):
    """What the policy chose feeds although other plays were picked."""

    def feeds(self, play: Any, context: Any, allowed: Any, default: Any) -> bool | None:
        fed = super().feeds(play, context, allowed, default)
        own = context is None and allowed is None
        return True if own and play.reason is Reason.DEFAULT_BEST else bool(fed)


class AllowedFirst(GenCB):
    """``allowed`` is looked at before the gate."""

    def propose(self, context: Any, allowed: Any, terms: Any) -> Any:
        if allowed is not None and not allowed:
            return self.new_play(-1, None, Reason.NO_ALLOWED_ARM, terms, None, 1.0)
        return super().propose(context, allowed, terms)


def agent_of(
    kind: type[GenCB] = GenCB,
    feeding: Callable[[], Feeding] = Feeding,
    competes: bool = False,
) -> GenCB:
    """An agent of three arms under a learned default."""
    floor = RewardFloor(LearnedDefault((0, 1)), 0.2)
    agent = kind(Thompson(n_arms=3), floor, seed=1, default_competes=competes)
    agent.feeding = feeding()
    return agent


def picked(agent: GenCB, mu0: float, plays: int, rng: random.Random, without: float) -> None:
    """No arm is allowed to those who would pay ``without`` for the default."""
    for _ in range(plays):
        paid = float(rng.random() < mu0)
        play = agent.select(allowed=[] if paid == without else None)
        agent.update(play, paid if play.is_default else 0.1 * mu0)


def segments(agent: GenCB, mu0: float, plays: int, rng: random.Random) -> None:
    """Two kinds of visitors, each second one: those who pay more are given ``allowed``."""
    for _ in range(plays):
        rich = rng.random() < 0.5
        paid = float(rng.random() < (1.6 if rich else 0.4) * mu0)
        play = agent.select(allowed=[0, 1] if rich else None)
        agent.update(play, paid if play.is_default else 0.9 * 0.8 * mu0)


def violates(mu0: float, plays: int, seed: int, alpha: float = 0.05) -> bool:
    """Whether a run breaks the promise; each exploration pays .9(1-alpha)mu0, surely.

    So the account stays close to zero at the end that is asked. Below zero at mu0 it can only be
    once mu0 was left out.
    """
    books, rng, mu = opened(alpha=alpha), random.Random(seed), round(mu0 * 10**9)
    sure = round(0.9 * (1 - alpha) * mu0, 9)
    for _ in range(plays):
        terms = books.terms()
        if books.affords(terms):
            books.settle(books.decide(True, terms), sure)
        else:
            books.settle(books.decide(False, terms, True), float(rng.random() < mu0))
        if books.ends[1] < mu and books.account.at(mu).available < 0:
            return True
    return False
