import random

import pytest

from surefoot.live import MemoryStore
from surefoot_torture.faults.plan import planned
from surefoot_torture.faults.workers import Clock
from surefoot_torture.faults.world import TROUBLES, World


@pytest.fixture
def make():
    def make(seed, **changes):
        rng, clock = random.Random(seed), Clock()
        plan = planned(rng, (20, 30))._replace(**changes)
        return World(plan, rng, MemoryStore(clock), clock, "a")

    return make


def test_without_trouble_every_client_is_answered(make):
    world = make(2, loss=0.0, doubled=0.0, late=0.0, trouble=0.0)
    world.run()
    assert world.judge.decided == world.plan.decisions
    assert (world.troubles, sum(world.judge.problems.values())) == (0, 0)


def test_messages_are_lost_and_doubled(make):
    world = make(2, loss=0.5, doubled=0.5)
    world.run()
    assert world.messages > world.plan.decisions
    assert not world.judge.problems


@pytest.mark.parametrize("kind", sorted(set(TROUBLES)))
def test_each_trouble_happens_and_breaks_nothing(make, kind, monkeypatch):
    monkeypatch.setattr("surefoot_torture.faults.world.TROUBLES", (kind,))
    world = make(4, trouble=0.6)
    world.run()
    assert world.troubles == int(0.6 * world.plan.decisions)
    assert not world.judge.problems
