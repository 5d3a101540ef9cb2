"""KL-MS weighs, draws and scores as its twin does, in every driver alike."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from driven import check_drivers, check_propensities
from naive import klms as naive
from surefoot.agents import Reason

NANO = 10**9


def taught(told):
    policy = sf.KLMS(len(told))
    for arm, rewards in enumerate(told):
        for reward in rewards:
            policy.update(arm, float(reward), None)
    return policy


@given(
    key=st.integers(0, 2**64 - 1),
    m=st.integers(1, 10**9),
    told=st.lists(
        st.lists(st.sampled_from([0, NANO]) | st.integers(0, NANO), max_size=6)
        | st.tuples(st.integers(0, 400), st.integers(0, 400)).map(
            lambda n: [0] * n[0] + [NANO] * n[1]
        ),
        min_size=1, max_size=6,
    ),
    data=st.data(),
)  # fmt: skip
def test_it_plays_as_the_twin(key, m, told, data):
    allowed = sorted(data.draw(st.sets(st.sampled_from(range(len(told))), min_size=1)))
    rewards = [[Fraction(units, NANO) for units in one] for one in told]
    policy = taught(rewards)
    waiting = [data.draw(st.integers(0, 2)) for _ in told]
    for arm, count in enumerate(waiting):
        for _ in range(count):
            policy.opened(arm, None)
    policy.key = key
    known = naive.known(rewards, waiting)
    arm, score = naive.choose(key, m, known, allowed)
    assert policy.peek(m, allowed) == (arm, pytest.approx(score, abs=1e-9))
    says = naive.propensities(known, allowed)
    assert policy.propensities(allowed=allowed) == pytest.approx(says, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_live_plain_and_compiled_make_the_same_plays(count):
    pytest.importorskip("numba")
    check_drivers(lambda n_arms, random: sf.KLMS(n_arms), count)


def test_it_draws_as_often_as_it_says():
    policy = taught([[1, 0, 1, 1], [0, 0, 1], [0.5, 0.5, 0.5], [1, 1, 0, 1, 0]])
    assert min(policy.propensities()) > 0.1
    check_propensities(policy)
    check_propensities(policy, allowed=[1, 3])


def test_two_arms_by_hand():
    """kl(0, 1/2) = ln 2: after n failures against one success in two, 2^-n to 1."""
    for n in (1, 3, 10):
        policy = taught([[1, 0], [0] * n])
        assert policy.propensities() == pytest.approx([1 / (1 + 2**-n), 2**-n / (1 + 2**-n)])


def test_an_arm_that_fell_far_behind_has_no_weight_that_a_float_could_hold():
    policy = taught([[1] * 900 + [0] * 100, [0] * 400])
    assert policy.propensities() == [1.0, 0.0]
    one = taught([[1], [0.999999999]])  # and none against an arm that always paid, as printed
    assert one.propensities() == [1.0, 0.0]
    one.key = 3
    assert one.peek(5) == (0, 1.0)


def test_a_default_above_every_mean_leaves_each_arm_what_is_said():
    """exp(-N kl(mean, mu0)) over the sum of the weights."""
    policy = taught([[1, 0, 0], [0, 0, 1, 0, 0], [0.25]])
    means, plays, mu0, keys = (1 / 3, 1 / 5, 1 / 4), (3, 5, 1), 0.6, 6000
    arms = naive.known([[1, 0, 0], [0, 0, 1, 0, 0], [Fraction(1, 4)]], [0, 0, 0])
    total = sum(naive.weights(arms, range(3)).values())
    played = [0] * 3
    for key in range(keys):
        policy.key = key
        arm, score = policy.peek(7)
        assert score > 1 / 3
        played[arm] += score > mu0
    for N, p, count in zip(plays, means, played, strict=True):
        share = math.exp(-N * naive.kl(p, mu0)) / total
        assert abs(count / keys - share) < 4.5 * (share * (1 - share) / keys) ** 0.5


def test_the_default_is_played_where_it_is_best_and_an_arm_where_that_is():
    for means, best in (([0.3, 0.4], Reason.DEFAULT_BEST), ([0.3, 0.8], Reason.SLACK_OK)):
        agent = sf.GenCB(sf.KLMS(2), sf.RewardFloor(0.6, 0.5), seed=0)
        arms, reasons = sf.BernoulliArms(means), []
        for _ in range(1500):
            play = agent.select()
            reasons.append(play.reason)
            paid = () if play.is_default else (arms.pull(3, play.turn, play.index),)
            agent.update(play, *paid)
        assert reasons[-500:].count(best) > 450


def test_it_learns_as_fast_as_the_theory_says():
    """Two arms, 1/2 and 1/4: regret about ln T Delta / kl, with a wide margin either way."""
    agents = {"it": sf.Plain(sf.KLMS(2), sf.RewardFloor(0.5, 0.5))}
    found = sf.simulate(
        agents, sf.BernoulliArms([0.25, 0.5]), horizon=3000, runs=8, seed=1, engine="plain"
    )
    theory = 0.25 * math.log(3000) / naive.kl(0.25, 0.5)
    assert theory / 4 < found.summary()["it"]["regret"]["mean"] < theory * 3


def test_open_plays_count_against_an_arm_as_its_mean_does():
    policy, rng = sf.KLMS(3), np.random.default_rng(0)
    arms = []
    for _ in range(60):
        arms.append(policy.select(None, rng))
        policy.opened(arms[-1], None)
    assert arms[:3] == [0, 1, 2]
    assert min(arms.count(arm) for arm in range(3)) >= 10
    waits, told = taught([[1, 0], [0]]), taught([[1, 0], [0, 0, 0]])
    for _ in range(2):
        waits.opened(1, None)
    assert waits.propensities() == told.propensities()


def test_unplayed_arms_come_first_and_surely():
    policy = taught([[1], [], []])
    assert policy.propensities() == [0, 1, 0]
    assert policy.propensities(allowed=[0, 2]) == [0, 0, 1]
    assert policy.best(None, np.random.default_rng(0)) == (1, math.inf)
