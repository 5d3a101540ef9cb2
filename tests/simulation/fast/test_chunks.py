"""Chunks taken at once leave the books of the plays one by one."""

import numpy as np
import pytest

import surefoot as sf
from reference import differences, plain_compiled
from surefoot.simulation.compiled import engine
from surefoot.simulation.fast import chunks
from surefoot.simulation.plan import Plan


def players(K, mu0, alpha, horizon):
    floor = sf.RewardFloor(mu0, alpha)
    return {
        "GenCB": sf.gencb_cmab(K, mu0, alpha),
        "competing": sf.GenCB(sf.UCB1(K), floor),
        "UCB1": sf.Plain(sf.UCB1(K), floor),
        "ConUCB": sf.ConUCB(K, mu0, alpha, 1 / horizon),
        "reserve": sf.GenCB(sf.UCB1(K), sf.RewardFloor(mu0, alpha, reserve=30)),
    }


@pytest.mark.parametrize("checkpoints", ["all", None, [1, 63, 64, 65, 127, 128, 6400, 6401]])
@pytest.mark.parametrize("means", [[0.8, 0.5, 0.2], [1.0, 0.0], [0.3], [0.6, 0.6, 0.6]])
def test_the_books_are_those_of_single_plays_at_any_checkpoint(means, checkpoints):
    for alpha in (0.05, 0.5):
        agents = players(len(means), 0.6, alpha, 20_000)
        plan = Plan(agents, sf.BernoulliArms(means), 20_000, 1, checkpoints)
        assert differences(plan) == []


def test_rewards_below_zero_and_above_one_are_as_exact():
    paid = {"arm": [0] * 4 + [1] * 3, "reward": [-1, 2.5, 1, 0.5, -0.25, 1, 0.75]}
    floor = sf.RewardFloor(0.5, 0.2, reward_range=(-1, 2.5))
    agents = {"a": sf.GenCB(sf.UCB1(2), floor), "b": sf.Plain(sf.UCB1(2), floor)}
    assert differences(Plan(agents, sf.ReplayLog(paid), 9000, 2, "all")) == []


def test_super_arms_are_summed_turn_by_turn():
    env = sf.CombinatorialArms.embedded(6, 3, sf.TopK(2), 4)
    agents = {"a": sf.C3UCB(env.X, sf.TopK(2), 1.0, 0.2), "b": sf.gencb_cccb(
        env.X, sf.TopK(2), 1.0, 0.2
    )}  # fmt: skip
    plan = Plan(agents, env, 3000, 3, "all")
    assert differences(plan) == []


def test_a_default_without_a_deposit_is_played_to_the_end():
    """alpha*mu0 below the unit: once the reserve is spent, the account never fills."""
    floor = sf.RewardFloor(0.5, 1e-9, reserve=0.5, places=6)
    plan = Plan({"a": sf.GenCB(sf.UCB1(2), floor)}, sf.BernoulliArms([0, 0]), 500, 0, [3, 400])
    assert differences(plan) == []
    assert plan.run(0, engine())["a"].books[-1, :2].tolist() == [500, 499]


def test_a_span_is_shorter_than_a_block_whatever_the_horizon():
    for horizon in (1, 63, 64, 65, 130):
        plan = Plan(players(2, 0.6, 0.5, 99), sf.BernoulliArms([0.9, 0.1]), horizon, 5, "all")
        assert differences(plan) == []
    assert chunks.blank(65, ([], []), 0.0, True).totals.shape == (2, 5)
    assert plain_compiled().survey(None, True, True) is None
    assert np.all(chunks.blank(64, ([], []), 0.0, True).before == 0)
