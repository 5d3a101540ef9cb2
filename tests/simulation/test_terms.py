"""The compiled engine keeps floors of any sign, margins and ceilings as the live agent does."""

import pytest

import surefoot as sf

FLOORS = [
    sf.RewardFloor(0.5, 0.1, margin=0.05),
    sf.RewardFloor(-0.25, 0.1, (-1, 1), margin=0.02),
    sf.RewardFloor(0, 0, (-1, 1), margin=0.01),
    sf.RewardFloor(0.5, 0, reserve=3),  # it spends what it has, and then stays at the default
    sf.RewardFloor(0.5, 0.999, reserve=1, margin=2),
    sf.CostCeiling(0.5, 0.1, (0, 1)),
    sf.CostCeiling(0.25, 1.5, (0, 1), margin=0.01),
    sf.CostCeiling(0.5, 0, (0, 1), reserve=3),
]


class Live(sf.GenCB):
    """Driven play by play, since a class of one's own may do something else."""


@pytest.mark.parametrize("floor", FLOORS, ids=str)
def test_every_play_of_the_engine_is_the_live_agents(floor):
    frames = []
    for kind in (sf.GenCB, Live):
        agents = {
            "UCB1": kind(sf.UCB1(3), floor),
            "funded": kind(sf.UCB1(3), floor, fund=True),
            "Thompson": kind(sf.Thompson(3), floor, default_competes=False),
        }
        found = sf.simulate(agents, sf.BernoulliArms([0.6, 0.5, 0.3]), 500, runs=2, seed=5)
        frames.append(found.frame)
        assert ("stepwise" in set(found.engines.values())) is (kind is Live)
    for column in ("agent", "run", "t", "slack", "received"):
        assert frames[0][column].to_list() == frames[1][column].to_list()
