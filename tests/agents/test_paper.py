"""The paper's names build the algorithms as printed."""

import random
from fractions import Fraction

import pytest

from naive import gencb
from naive.mean_variance import NaiveMeanVariance, choose
from surefoot import MVUCB, UCB1, GenCB, MeanVarianceFloor, RewardFloor, gencb_cmab, mv_cucb
from surefoot.agents import gencb_cccb, gencb_clb
from surefoot.errors import InvalidInput
from surefoot.oracles import Matching, TopK
from surefoot.policies import C2UCB, Ball, LinUCB, Ridge


def test_gencb_cmab_is_gencb_over_ucb1_as_printed():
    agent = gencb_cmab(n_arms=3, default=0.7, alpha=0.05, seed=1)
    assert type(agent) is GenCB
    assert type(agent.policy) is UCB1
    assert agent.floor == RewardFloor(0.7, 0.05)
    assert agent.default_competes is False


def test_gencb_cmab_plays_on_where_the_default_is_best():
    """As printed it never plays the default by choice."""

    def reward(turn, arm):
        return int(random.Random(f"{turn} {arm}").random() < 0.1)

    agent, played = gencb_cmab(2, 0.9, 0.3), []
    for _ in range(1500):
        play = agent.select()
        agent.update(play, None if play.is_default else reward(play.turn, play.index))
        played.append(play.index)
    assert played == gencb.decisions(2, 0.9, 0.3, reward, 1500)
    assert sum(arm >= 0 for arm in played) > 450


@pytest.mark.parametrize("settings", [(0, 0.7, 0.05), (3, 1.7, 0.05), (3, 0.7, 0), (3, None, "x")])
def test_what_it_is_not_defined_for_is_refused(settings):
    with pytest.raises(InvalidInput):
        gencb_cmab(*settings)


def test_mv_cucb_is_gencb_over_mv_ucb_with_the_printed_test():
    agent = mv_cucb(n_arms=3, default=0.7, alpha=0.05, rho=10, seed=1)
    assert type(agent) is GenCB
    assert type(agent.policy) is MVUCB
    assert (agent.policy.rho, agent.policy.reward_range) == (10, (0, 1))
    assert agent.floor == MeanVarianceFloor(0.7, 0.05, 10, check="paper")
    assert agent.default_competes is False


@pytest.mark.parametrize(("mu0", "alpha", "rho"), [(0.7, 0.05, 10), (0.9, 0.3, 2), (0.5, 0.5, 10)])
def test_every_decision_is_that_of_the_printed_algorithm(mu0, alpha, rho):
    agent, twin = mv_cucb(3, mu0, alpha, rho), NaiveMeanVariance(mu0, alpha, rho, check="paper")
    arms, m = [[], [], []], 0
    for _ in range(250):
        play, expected = agent.select(), -1
        if twin.allows():
            m += 1
            expected = choose(arms, m, rho)[0]
        assert play.index == expected
        assert play.id == twin.decide(expected >= 0)
        reward = None if expected < 0 else random.Random(f"{m} {expected}").randint(0, 1)
        agent.update(play, reward)
        twin.settle(play.id, reward)
        if expected >= 0:
            arms[expected].append(Fraction(reward))
    assert m > 10


@pytest.mark.parametrize(
    "settings", [(0, 0.7, 0.05, 10), (3, 1.7, 0.05, 10), (3, 0.7, 0.05, 0), (3, 0.3, 0.05, 1)]
)
def test_what_mv_cucb_is_not_defined_for_is_refused(settings):
    with pytest.raises(InvalidInput):
        mv_cucb(*settings)


def test_gencb_clb_is_gencb_over_linucb_as_printed():
    agent = gencb_clb([[1, 0], [0, 1]], 0.7, 0.05, seed=1, ridge=Ridge(theta_bound=2))
    assert type(agent) is GenCB
    assert type(agent.policy) is LinUCB
    assert (agent.policy.theta_bound, agent.policy.radius) == (2, "paper")
    assert agent.floor == RewardFloor(0.7, 0.05)
    assert agent.default_competes is False
    assert gencb_clb(Ball(1, 2), 0.7, 0.05).policy.n_arms is None


@pytest.mark.parametrize(("oracle", "most"), [(TopK(3), 3), (Matching((2, 2)), 2)], ids=str)
def test_gencb_cccb_is_gencb_over_c2ucb_as_printed(oracle, most):
    agent = gencb_cccb([[1, 0], [0, 1], [1, 1], [0, 0]], oracle, 0.7, 0.05, labels=[*"abcd"])
    assert type(agent) is GenCB
    assert type(agent.policy) is C2UCB
    assert agent.floor == RewardFloor(0.7, 0.05, (0, most))
    assert (agent.default_competes, agent.labels) == (False, ("a", "b", "c", "d"))


@pytest.mark.parametrize(
    "build",
    [
        lambda: gencb_clb([1], 0.7, 0.05),
        lambda: gencb_clb([[1]], None, "x"),
        lambda: gencb_clb([[1]], 0.7, 0.05, ridge=Ridge(radius="x")),
        lambda: gencb_cccb([[1]], TopK(2), 0.7, 0.05),
        lambda: gencb_cccb([[1]], TopK(1), 1.5, 0.05),
    ],
    ids=["shape", "default", "radius", "oracle", "range"],
)
def test_what_the_linear_ones_are_not_defined_for_is_refused(build):
    with pytest.raises(InvalidInput):
        build()
