"""Epsilon-greedy draws and chooses as its twin does, in every driver alike."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from driven import check_drivers, check_propensities
from naive import epsilon_greedy as naive
from surefoot.agents import Reason
from surefoot.errors import InvalidInput
from surefoot.kernels import registry

NANO = 10**9
SHARES = st.integers(0, 16).map(lambda n: n / 16)


def make(n_arms, random):
    if random.random() < 0.5:
        return sf.EpsilonGreedy(n_arms, epsilon=float(random.choice([0, 0.1, 1])))
    return sf.EpsilonGreedy(n_arms, gap=float(random.choice([0.3, 1])), c=0.5)


@given(
    key=st.integers(0, 2**64 - 1),
    m=st.integers(1, 10**9),
    told=st.lists(
        st.lists(st.sampled_from([0, NANO]) | st.integers(0, NANO), max_size=4),
        min_size=1, max_size=8,
    ),
    epsilon=SHARES,
    gap=st.none() | st.sampled_from([0.25, 0.5, 1.0]),
    data=st.data(),
)  # fmt: skip
def test_it_plays_as_the_twin(key, m, told, epsilon, gap, data):
    K = len(told)
    allowed = sorted(data.draw(st.sets(st.sampled_from(range(K)), min_size=1)))
    policy = sf.EpsilonGreedy(K, gap=gap) if gap else sf.EpsilonGreedy(K, epsilon=epsilon)
    for arm, rewards in enumerate(told):
        for units in rewards:
            policy.update(arm, units / NANO, None)
    waiting = [data.draw(st.integers(0, 2)) for _ in told]
    for arm, count in enumerate(waiting):
        for _ in range(count):
            policy.opened(arm, None)
    policy.key, policy.turns = key, m - 1
    known = naive.means([[Fraction(units, NANO) for units in one] for one in told], waiting)
    draws = naive.share(K, m, Fraction(epsilon), Fraction(gap) if gap else None, Fraction(5))
    arm, score = naive.choose(key, m, known, allowed, draws)
    assert policy.peek(m, allowed) == (arm, pytest.approx(score, rel=1e-14))
    says = policy.propensities(allowed=allowed)
    assert says == pytest.approx([float(x) for x in naive.propensities(known, allowed, draws)])
    assert sum(says) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_live_plain_and_compiled_make_the_same_plays(count):
    pytest.importorskip("numba")
    check_drivers(make, count)


@pytest.mark.parametrize("options", [{"epsilon": 0.3}, {"gap": 1.0, "c": 0.5}, {"epsilon": 1}])
def test_it_draws_as_often_as_it_says(options):
    policy = sf.EpsilonGreedy(4, **options)
    for arm, reward in enumerate((0.2, 0.9, 0.1, 0.9)):
        policy.update(arm, reward, None)
    policy.turns = 5
    check_propensities(policy)
    check_propensities(policy, allowed=[0, 2, 3])


def test_the_schedule_is_that_of_the_paper():
    """K = 4 and d = 1/2: min(1, 80/m)."""
    policy = sf.EpsilonGreedy(4, gap=0.5)
    policy.update(0, 1.0, None)
    for arm in (1, 2, 3):
        policy.update(arm, 0.0, None)
    for m, share in ((1, 1), (80, 1), (100, 0.8), (8000, 0.01)):
        policy.turns = m - 1
        assert policy.propensities() == pytest.approx([1 - share * 3 / 4, *[share / 4] * 3])


def test_a_turn_that_draws_is_played_though_the_default_looks_better():
    """Else an arm with early bad luck would never be tried again."""
    agent = sf.GenCB(sf.EpsilonGreedy(2, epsilon=0.2), sf.RewardFloor(0.5, 0.9), seed=1)
    reasons = []
    for _ in range(400):
        play = agent.select()
        reasons.append(play.reason)
        agent.update(play, *(() if play.is_default else (0.0,)))
        if play.reason is Reason.SLACK_OK and len(reasons) > 5:
            assert play.choice.score == math.inf
    assert reasons.count(Reason.SLACK_OK) > 20
    assert reasons.count(Reason.DEFAULT_BEST) > 100


def test_an_epsilon_of_zero_is_greedy():
    policy, rng = sf.EpsilonGreedy(3, epsilon=0), np.random.default_rng(0)
    for arm, reward in ((0, 0.5), (1, 0.75), (2, 0.75)):
        assert policy.best(None, rng) == (arm, math.inf)
        policy.update(arm, reward, None)
    assert {policy.best(None, rng) for _ in range(50)} == {(1, 0.75)}


def test_equal_counts_and_sums_tie_in_any_order():
    policy = sf.EpsilonGreedy(2, epsilon=0)
    for arm, rewards in ((1, (0.1, 0.2, 0.3)), (0, (0.3, 0.1, 0.2))):
        for reward in rewards:
            policy.update(arm, reward, None)
    assert policy.peek(9)[0] == 0


def test_its_config_names_what_was_given():
    assert repr(sf.EpsilonGreedy(2)) == "EpsilonGreedy(n_arms=2, epsilon=0.1)"
    assert repr(sf.EpsilonGreedy(2, gap=0.2)) == "EpsilonGreedy(n_arms=2, gap=0.2, c=5.0)"
    policy = sf.EpsilonGreedy(2, gap=0.2, c=7)
    assert sf.EpsilonGreedy.from_config(policy.config()).record == policy.record


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"epsilon": -0.1}, r"epsilon = -0\.1 must lie in \[0, 1\]"),
        ({"epsilon": 1.1}, "epsilon = 1"),
        ({"epsilon": "0"}, "epsilon must be a number"),
        ({"gap": 0}, r"gap = 0 must lie in \(0, 1\]"),
        ({"gap": 2}, "gap = 2"),
        ({"gap": 0.1, "c": 0}, "c = 0 must be > 0"),
        ({"gap": 0.1, "epsilon": 0.1}, r"epsilon = 0\.1 and gap = 0\.1: give the probability"),
    ],
)
def test_arguments_that_are_none(options, says):
    with pytest.raises(InvalidInput, match=says):
        sf.EpsilonGreedy(2, **options)


@pytest.mark.parametrize("allowed", [[], [2], [-1, 0]])
def test_a_question_about_no_arm_is_refused(allowed):
    with pytest.raises(InvalidInput, match=r"allowed = \[.*\] must hold at least one arm"):
        sf.EpsilonGreedy(2).propensities(allowed=allowed)


def test_the_decreasing_schedule_learns():
    """Auer et al. 2002: the share of plays of the best arm tends to 1."""
    arms = sf.BernoulliArms([0.3, 0.9, 0.3])
    agents = {"it": sf.Plain(sf.EpsilonGreedy(3, gap=0.6), sf.RewardFloor(0.5, 0.5))}
    found = sf.simulate(agents, arms, horizon=4000, runs=3, seed=0, engine="plain")
    regret = found.summary()["it"]["regret"]["mean"]
    drawn = sum(min(1, 5 * 3 / 0.36 / m) for m in range(1, 4001)) * 0.4  # of the draws alone
    assert drawn * 0.8 < regret < drawn * 1.2 + 10


def test_it_is_registered():
    assert registry.KERNELS[type(sf.EpsilonGreedy(2).record)].take is registry.subtract


@pytest.mark.parametrize("n_arms", [1, 2, 3, 7])
def test_the_leader_has_one_probability_however_it_was_drawn(n_arms):
    """Not .85 where a coin drew it and .8499999999999999 where it won: tables group by it."""
    policy = sf.EpsilonGreedy(n_arms, epsilon=0.3)
    for arm in range(n_arms):
        policy.update(arm, float(arm == 0), None)
    won, drawn = (policy.chance(2, 0, None, None, score) for score in (1.0, math.inf))
    assert won == drawn
