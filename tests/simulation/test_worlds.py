"""One agent in many worlds: the books are those of a plan of the same world, floor by floor."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.simulation import worlds
from surefoot.simulation.compiled import PLAIN
from surefoot.simulation.loop import MEAN
from surefoot.simulation.plan import Plan
from surefoot.simulation.worlds import World, WorldRunner

FLOORS = [sf.RewardFloor(0.5, alpha) for alpha in (0.02, 0.1, 0.5)]


@pytest.mark.parametrize("competes", [None, False])
@pytest.mark.parametrize("policy", [sf.UCB1, sf.KLUCB, sf.AdaUCB])
def test_a_world_is_played_as_a_plan_plays_it(policy, competes, monkeypatch):
    monkeypatch.setattr(worlds, "BLOCK", 64)
    environment = sf.BernoulliArms([0.5, 0.8, 0.5])  # arms tie with each other and the default
    agents = {
        str(i): sf.GenCB(policy(3), floor, default_competes=competes)
        for i, floor in enumerate(FLOORS)
    }
    plan = Plan(agents, environment, 300, 3)
    first = agents["0"]
    rival = first.default_score(FLOORS[0].terms()) if first.default_competes else -np.inf
    world = World(environment.record, environment.means, rival)
    terms = [floor.terms() for floor in FLOORS]
    found = WorldRunner(plan, "0").run(world, terms, plan.checkpoints, plan.key(0), PLAIN)
    wanted = list(plan.run(0, PLAIN).values())
    for one, trace in zip(found, wanted, strict=True):
        assert (one.trace.books == trace.books).all()
        assert one.trace.losses[:, MEAN] == pytest.approx(trace.losses[:, MEAN])
    assert len({int(trace.books[-1, 1]) for trace in wanted}) > 1
