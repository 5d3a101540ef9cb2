"""The default among the arms of a policy of means, under a mean-variance floor."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.agents.play import Reason
from surefoot.errors import InvalidInput
from surefoot.simulation.checks import has_kernels
from surefoot.simulation.compiled import PLAIN
from surefoot.simulation.plan import Plan
from surefoot.simulation.runner import choose


def played(agent, environment, plays):
    for _ in range(plays):
        play = agent.select()
        if play.is_default:
            agent.update(play)
        else:
            agent.update(play, environment.pull(7, play.turn, play.index))
    return agent


@given(
    low=st.fractions(-5, 5, max_denominator=20),
    width=st.fractions(Fraction(1, 10), 5, max_denominator=20),
    share=st.fractions(0, 1, max_denominator=50),
    times=st.sampled_from([Fraction(1), Fraction(11, 10), Fraction(3), Fraction(10**6)]),
    p=st.fractions(0, 1, max_denominator=1000),
)
def test_it_is_where_a_two_valued_arm_equals_the_default(low, width, share, times, p):
    low, width = round(low, 2), round(width, 2)
    mu0, rho = round(low + width * share, 4), width * times
    if not max(low, 0) <= mu0 <= low + width or mu0 == 0:
        return
    ends = tuple(float(end) for end in (low, low + width))
    floor = sf.MeanVarianceFloor(float(mu0), 0.5, float(rho), reward_range=ends)
    even = floor.even
    assert even is not None
    assert 0 <= even <= 1
    value = rho * (low + width * p) - width**2 * p * (1 - p)  # of an arm that pays both ends
    if abs(p - Fraction(even)) > Fraction(1, 10**9):
        assert (value > rho * mu0) == (p > even)


def test_below_the_width_a_larger_mean_may_be_worth_less():
    assert sf.MeanVarianceFloor(0.5, 0.2, 0.99).even is None
    assert sf.MeanVarianceFloor(1, 0.2, 2, reward_range=(0, 3)).even is None
    assert sf.MeanVarianceFloor(1, 0.2, 3, reward_range=(0, 3)).even == (1 / 3) ** 0.5


def test_an_arm_of_a_larger_mean_that_is_worth_less_is_given_up():
    """rho = 1, mu0 = .5: worth .36 at a mean of .6, against .5; even at .707."""
    floor = sf.MeanVarianceFloor(0.5, 0.2, 1)
    agent = played(sf.GenCB(sf.KLUCB(2), floor), sf.BernoulliArms([0.6, 0.6]), 3000)
    assert agent.books.explorations < 800  # 2,142 with mu0 for a rival
    assert agent.select().choice.rival == pytest.approx(0.5**0.5)


def test_a_better_one_is_not():
    floor = sf.MeanVarianceFloor(0.5, 0.2, 1)
    agent = played(sf.GenCB(sf.KLUCB(2), floor), sf.BernoulliArms([0.95, 0.1]), 3000)
    assert agent.books.explorations > 1000


class Scores(sf.UCB1):
    """Means as they are told, on the scale of the rewards."""

    unit_rewards = False


@pytest.mark.parametrize(("policy", "rival"), [(sf.UCB1, 2**-0.5), (Scores, 3 * 2**-0.5 - 1)])
def test_it_is_on_the_policys_own_scale(policy, rival):
    """On (-1, 2) with rho = 3, mu0 = .5 is half of the way: p^2 = 1/2."""
    floor = sf.MeanVarianceFloor(0.5, 0.5, 3, reward_range=(-1, 2))
    agent = sf.GenCB(policy(2), floor)
    while (play := agent.select()).choice is None:
        agent.update(play)
    assert play.choice.rival == pytest.approx(rival)


def test_a_policy_that_scores_mean_and_variance_is_compared_as_ever():
    agent = sf.GenCB(sf.MVUCB(2, 0.5), sf.MeanVarianceFloor(0.5, 0.2, 0.5))
    assert agent.default_competes
    assert agent.default_score(agent.books.terms()) == 0.25


def test_with_a_small_rho_it_does_not_compete_and_says_so():
    floor = sf.MeanVarianceFloor(0.5, 0.2, 0.9)
    agent = sf.GenCB(sf.KLUCB(2), floor)
    assert not agent.default_competes
    with pytest.raises(InvalidInput, match="default_competes = True: with rho below the width"):
        sf.GenCB(sf.KLUCB(2), floor, default_competes=True)
    while (play := agent.select()).is_default:
        agent.update(play)
    assert "; the default does not compete: with rho below the width" in agent.explain(play)
    older = sf.GenCB.from_config({"default_competes": True}, floor, sf.KLUCB(2))
    assert not older.default_competes


def test_from_the_first_reward_between_the_ends_on_it_competes_no_longer(tmp_path):
    agent = sf.GenCB(sf.KLUCB(2), sf.MeanVarianceFloor(0.5, 0.2, 1))
    agent = played(agent, sf.BernoulliArms([0.1, 0.1]), 200)
    while (play := agent.select()).is_default:
        agent.update(play)
    assert play.choice.rival is not None
    pending = play
    while (play := agent.select()).is_default:
        agent.update(play)
    agent.update(play, 0.5)
    for one in (agent, None):
        if one is None:
            agent.save(tmp_path / "a.json")
            one = sf.load(tmp_path / "a.json")
        while (play := one.select()).is_default:
            assert play.reason is Reason.SLACK_SHORT
            one.update(play)
        assert play.choice.rival is None
        assert "the default competes no longer: a reward between the ends" in one.explain(play)
    agent.void(pending)


def test_default_plays_of_every_kind_are_no_reward_between_the_ends():
    agent = sf.GenCB(sf.KLUCB(2), sf.MeanVarianceFloor(0.5, 0.2, 1))
    for turn in range(60):
        play = agent.select()
        if play.is_default:
            (agent.void if turn % 7 == 3 else agent.update)(play)
        elif turn % 3:
            agent.update(play, float(turn % 2))
        elif turn % 2:
            agent.fall_back(play)
        else:
            agent.expire(play)
        assert agent.books.two_valued
    assert agent.books.explorations > 5


def test_under_a_reward_floor_nothing_changes():
    agent = sf.GenCB(sf.KLUCB(2), sf.RewardFloor(0.5, 0.2))
    assert agent.default_score(agent.books.terms()) == 0.5
    assert agent.even is None


@given(
    low=st.fractions(-3, 3, max_denominator=10),
    width=st.fractions(Fraction(1, 10), 5, max_denominator=10),
    times=st.sampled_from([Fraction(1), Fraction(11, 10), Fraction(40)]),
    chances=st.tuples(*[st.fractions(0, 1, max_denominator=100)] * 2),
)
def test_of_two_valued_arms_the_larger_mean_is_worth_more(low, width, times, chances):
    worth = []
    for p in sorted(chances):
        mean = low + width * p
        square = (1 - p) * low**2 + p * (low + width) ** 2
        worth.append(times * width * mean - (square - mean**2))
    assert worth[0] < worth[1] or len({*chances}) == 1


def test_mean_policies_have_less_regret_on_coins_and_prefer_the_wrong_arm_to_a_sure_one():
    """rho = 1: always .6 is worth .6; 1 in seven of ten is worth .7 - .21 = .49."""
    floor = sf.MeanVarianceFloor(0.4, 0.9, 1)
    policies = sf.MVUCB(2, rho=1), sf.AdaUCB(2), sf.Thompson(2)
    agents = {type(one).__name__: sf.GenCB(one, floor, default_competes=False) for one in policies}
    regret = []
    for samples in ([[0, 0, 1, 1, 1], [0, 1, 1, 1, 1]], [[0.6], [0, 0, 0, 1, 1, 1, 1, 1, 1, 1]]):
        found = sf.simulate(
            agents, sf.EmpiricalArms(samples, (0, 1)), horizon=2500, runs=2, seed=0, engine="plain"
        ).summary()
        assert max(one["violating_rounds"]["max"] for one in found.values()) == 0
        regret.append({name: one["regret"]["mean"] for name, one in found.items()})
    coins, sure = regret
    assert max(coins["AdaUCB"], coins["Thompson"]) < coins["MVUCB"] / 2
    assert min(sure["AdaUCB"], sure["Thompson"]) > sure["MVUCB"]


COINS = {"arm": [0] * 4 + [1] * 4, "reward": [0, 0, 1, 1, 0, 1, 1, 1]}
MIXED = {"arm": [0] * 4 + [1] * 4, "reward": [0, 0, 1, 1, 0, 1, 1, 0.5]}


def test_a_log_of_coins_goes_to_the_engine():
    agent = sf.GenCB(sf.KLUCB(2), sf.MeanVarianceFloor(0.7, 0.2, 1))
    assert has_kernels(agent, sf.ReplayLog(COINS))
    assert not has_kernels(agent, sf.ReplayLog(MIXED))


@pytest.mark.parametrize(
    ("environment", "fast"),
    [
        (sf.BernoulliArms([0.75, 0.8]), True),
        pytest.param(sf.ReplayLog(COINS), True, marks=pytest.mark.slow),
        (sf.ReplayLog(MIXED), False),
        (sf.BetaArms([2, 3], [2, 2]), False),
    ],
    ids=["coins", "log of coins", "log", "beta"],
)
@pytest.mark.parametrize("rho", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_engine_and_live_agent_decide_alike(environment, fast, rho):
    floor = sf.MeanVarianceFloor(0.7, 0.2, rho)
    policies = sf.UCB1(2, c=0.05), sf.KLUCB(2), sf.AdaUCB(2), sf.Thompson(2)
    agents = {type(one).__name__: sf.GenCB(one, floor) for one in policies}
    plan = Plan(agents, environment, 800, 2, "all")
    assert bool(plan.paths) == fast
    traces = [plan.run(0, PLAIN)]
    if fast:
        pytest.importorskip("numba")
        traces.append(plan.run(0, choose("compiled")))
        plan.paths, plan.stepwise = [], [*agents]
        traces.append(plan.run(0, PLAIN))
    for name, (one, other) in itertools.product(agents, itertools.pairwise(traces)):
        assert np.array_equal(one[name].books, other[name].books)
