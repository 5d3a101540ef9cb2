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


@pytest.mark.parametrize(("default", "wins"), [(0.05, False), (0.75, True)])
@pytest.mark.parametrize("policy", [sf.UCB1, sf.KLUCB])
def test_without_a_guard_the_turns_are_shared_until_the_default_wins(
    policy, default, wins, monkeypatch
):
    monkeypatch.setattr(worlds, "BLOCK", 64)
    environment, floor = sf.BernoulliArms([0.2, 0.3]), sf.RewardFloor(default, 0.5)
    agents = {
        "guarded": sf.GenCB(policy(2), floor, default_competes=True),
        "unguarded": sf.Plain(policy(2), floor),
    }
    plan, terms = Plan(agents, environment, 2000, 3), floor.terms()
    world = World(environment.record, environment.means, agents["guarded"].default_score(terms))
    walks = []
    runner = WorldRunner(plan, "guarded")
    monkeypatch.setattr(runner, "_blocks", counted(runner._blocks, walks))
    found = runner.run(world, [terms], plan.checkpoints, plan.key(0), PLAIN, free=[terms])
    for one, trace in zip(found, plan.run(0, PLAIN).values(), strict=True):
        assert (one.trace.books == trace.books).all()
        assert one.trace.losses[:, MEAN] == pytest.approx(trace.losses[:, MEAN])
    assert found[1].plays.sum() == plan.horizon
    assert len(walks) == 1 + wins


def counted(blocks, walks):
    def walk(world, *rest):
        walks.append(world.rival)
        return blocks(world, *rest)

    return walk
