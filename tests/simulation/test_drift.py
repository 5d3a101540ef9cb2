"""Policies that forget, in a world that drifts: the promise holds at every play."""

import numpy as np
import pytest

import surefoot as sf
from driven import live
from surefoot.simulation.loop import LEAST
from surefoot.simulation.plan import Plan
from surefoot.simulation.runner import choose

ARMS = sf.BernoulliArms([0.9, 0.5, 0.2])
CHANGES = {101: [0.0, 0.5, 0.9], 201: [0.0, 0.9, 0.1], 301: [0.1, 0.0, 0.2]}
WORLDS = {
    "jumps": sf.Drifting(ARMS, CHANGES),
    "lines": sf.Drifting(ARMS, CHANGES, smooth=True),
    "late": sf.Delayed(sf.Drifting(ARMS, CHANGES), (0, 20)),
}
POLICIES = {
    "UCB1, discount": lambda: sf.UCB1(3, discount=0.9),
    "UCB1, window": lambda: sf.UCB1(3, window=25),
    "Thompson, discount": lambda: sf.Thompson(3, discount=0.9),
    "Thompson, window": lambda: sf.Thompson(3, window=25),
}


@pytest.mark.parametrize("world", WORLDS)
def test_the_promise_holds_under_drift_and_all_drivers_agree(world):
    floor = sf.RewardFloor(0.5, 0.2)
    agents = {name: sf.GenCB(make(), floor) for name, make in POLICIES.items()}
    plan = Plan(agents, WORLDS[world], 400, 5, "all")
    assert set(plan.by_play) == set(agents)
    for run in range(2):
        traces = plan.run(run, choose("plain"))
        for name, trace in traces.items():
            assert trace.books[-1, LEAST] >= 0
            driven = live(plan, name, run)
            assert (driven.books == trace.books).all()
            assert (driven.losses == trace.losses).all()


def test_without_a_guard_the_same_drift_breaks_the_floor():
    agents = {
        name: guard(sf.Thompson(3), sf.RewardFloor(0.7, 0.05))
        for name, guard in (("free", sf.Plain), ("guarded", sf.GenCB))
    }
    result = sf.simulate(agents, WORLDS["jumps"], 400, 5, seed=2, engine="plain")
    broken = {name: result.measure(name, "violating_rounds")[:, -1] for name in agents}
    assert (broken["free"] > 0).all()
    assert np.count_nonzero(broken["guarded"]) == 0
