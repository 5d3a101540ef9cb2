"""Each floor of several keeps the books that it would keep alone, learned defaults too."""

import copy
import random
from decimal import Decimal

import pytest

import surefoot as sf
from surefoot.errors import PlayConflict
from surefoot.floors import State

MORE = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10)]
FLOORS = {
    "quality": sf.RewardFloor(
        sf.LearnedDefault((0.1, 0.9), 0.4), 0.2, places=6, max_slack=2, margin=0.01
    ),
    "gain": sf.RewardFloor(
        sf.LearnedDefault((-0.8, -0.1), 0.4), 0.3, reward_range=(-1, 1), reserve=3, places=6
    ),
    "cost": sf.CostCeiling((0.2, 0.4), 1.5, (0, 1), reserve=2),
}
ENDS = {"quality": (0, 1), "gain": (-1, 1), "cost": (0, 1)}


class Mirror:
    """An agent of several floors, and each floor's books by themselves."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.agent = sf.GenCB(sf.UCB1(2), FLOORS, seed=seed, objective_range=(0, 1))
        self.alone = {name: floor.open() for name, floor in FLOORS.items()}

    def decide(self):
        agent, feeding = self.agent, copy.copy(self.agent.feeding)
        allowed = [] if self.rng.random() < 0.1 else None
        play = agent.select(allowed=allowed)
        feeds = feeding.feeds(play, None, allowed, None)
        for books in self.alone.values():
            if books.max_slack is not None:
                books.forfeit()
            fed = (feeds,) if books.learns else ()
            books.decide(not play.is_default, books.terms(), *fed)

    def drawn(self, name, explores):
        low, high = ENDS[name] if explores or name != "cost" else (0.2, 0.4)
        return self.rng.choice((low, high, round(self.rng.uniform(low, high), 2)))

    def report(self, number):
        explores = self.alone["cost"].plays.get(number).explores
        names = self.rng.sample([*FLOORS], self.rng.randint(1, 3))
        kind = self.rng.choices(("tell", "expire", "void", "fall_back"), (12, 4, 1, 1))[0]
        told = {name: self.drawn(name, explores) for name in names}
        try:
            if kind == "tell":
                self.agent.update(number, measures=told)
            elif kind == "expire":
                self.agent.expire(number, names)
            else:
                getattr(self.agent, kind)(number)
        except PlayConflict:
            return
        for name, books in self.alone.items():
            waits = books.plays.get(number).state in (State.OPEN, State.EXPIRED)
            if kind == "tell" and name in told:
                paid = Decimal(repr(told[name]))
                books.settle(number, -paid if name == "cost" else paid)
            elif kind == "tell" and not explores and waits:
                books.settle(number, None)
            elif kind == "expire" and name in names:
                books.expire(number)
            elif kind in {"void", "fall_back"}:
                getattr(books, kind)(number)

    def check(self):
        for name, books in self.alone.items():
            assert self.agent.books.guards[name].snapshot() == books.snapshot(), name


@pytest.mark.parametrize("seed", [0, *MORE])
def test_each_account_is_that_of_its_floor_alone(seed):
    revalued = explored = 0
    for each in range(6):
        mirror = Mirror(10 * seed + each)
        for turn in range(120):
            mirror.decide()
            mirror.report(turn if mirror.rng.random() < 0.8 else mirror.rng.randrange(turn + 1))
            mirror.check()
        revalued += len(mirror.alone["quality"].news) + len(mirror.alone["gain"].news)
        explored += mirror.alone["cost"].explorations
    assert min(revalued, explored) > 30
