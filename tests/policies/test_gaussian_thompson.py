"""Gaussian Thompson sampling draws as its twin does, in every driver alike."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import surefoot as sf
from driven import check_drivers
from naive import gaussian_thompson as naive
from surefoot.errors import InvalidInput
from surefoot.kernels import normal_quantile
from surefoot.policies.gaussian_thompson import _FARTHEST

NANO = 10**9


@given(
    key=st.integers(0, 2**64 - 1),
    m=st.integers(1, 10**9),
    told=st.lists(
        st.lists(st.sampled_from([0, NANO]) | st.integers(0, NANO), max_size=30),
        min_size=1, max_size=8,
    ),
    noise=st.sampled_from([0.01, 0.5, 1.0]),
    data=st.data(),
)  # fmt: skip
def test_it_samples_as_the_twin(key, m, told, noise, data):
    allowed = sorted(data.draw(st.sets(st.sampled_from(range(len(told))), min_size=1)))
    policy = sf.GaussianThompson(len(told), noise=noise)
    for arm, rewards in enumerate(told):
        for units in rewards:
            policy.update(arm, units / NANO, None)
    waiting = [data.draw(st.integers(0, 2)) for _ in told]
    for arm, count in enumerate(waiting):
        for _ in range(count):
            policy.opened(arm, None)
    policy.key = key
    rewards = [[Fraction(units, NANO) for units in one] for one in told]
    thetas = naive.samples(key, m, rewards, waiting, noise)
    top = max(thetas[arm] for arm in allowed)
    arm, theta = policy.peek(m, allowed)
    assert arm in allowed
    assert theta == pytest.approx(top, rel=1e-12, abs=1e-12)
    assert thetas[arm] == pytest.approx(top, rel=1e-12, abs=1e-12)
    if top == math.inf:
        assert arm == min(one for one in allowed if thetas[one] == top)


def test_no_quantile_is_farther_out_than_what_is_left_out_for():
    assert normal_quantile(1 - 2**-53) < _FARTHEST
    assert normal_quantile(2**-53) > -_FARTHEST


@pytest.mark.slow
def test_live_plain_and_compiled_make_the_same_plays():
    """The fast suite compares its kernels, plain and compiled, in test_compiled.py."""
    pytest.importorskip("numba")
    check_drivers(
        lambda K, random: sf.GaussianThompson(K, noise=float(random.choice([0.2, 1]))), 100
    )


def test_samples_are_of_the_posterior():
    policy = sf.GaussianThompson(1)
    for reward in (1, 0, 0.5):
        policy.update(0, reward, None)
    policy.key = 11
    thetas = [policy.peek(m)[1] for m in range(1, 4001)]
    assert stats.kstest(thetas, stats.norm(1.5 / 3, 0.5 / 3**0.5).cdf).pvalue > 0.01


def test_a_burst_before_any_reward_is_of_every_arm():
    policy, rng = sf.GaussianThompson(4), np.random.default_rng(0)
    arms = []
    for _ in range(40):
        arms.append(policy.select(None, rng))
        policy.opened(arms[-1], None)
    assert arms[:4] == [0, 1, 2, 3]
    assert min(arms.count(arm) for arm in range(4)) >= 4


def test_under_a_small_noise_an_arm_better_than_a_good_default_is_found():
    """With a prior around 0 it would hardly ever draw above .8."""
    agent = sf.GenCB(sf.GaussianThompson(2, noise=0.1), sf.RewardFloor(0.8, 0.5), seed=0)
    for _ in range(60):
        play = agent.select()
        agent.update(play, *(() if play.is_default else (0.9,)))
    assert agent.books.explorations > 40


def test_any_reward_is_corrected_to_the_last_unit():
    policy, once = sf.GaussianThompson(2), sf.GaussianThompson(2)
    for old, new in ((0.0, 0.3), (0.25, 1.0), (1 / 3, 0.1)):
        policy.update(0, old, None)
        policy.correct(0, old, new, None)
        once.update(0, new, None)
    assert policy.state() == once.state()


def test_live_a_missing_reward_is_taught_at_its_worst_and_taken_back():
    agent = sf.GenCB(sf.GaussianThompson(2), sf.RewardFloor(0.5, 0.5, reserve=5), seed=0)
    with sf.Live(agent, ":memory:", reward_window=60) as live:
        assert live.config["settings"]["learn_missing"] == "worst"


def test_more_noise_explores_more():
    spread = []
    for noise in (0.1, 0.5, 2.0):
        policy, rng = sf.GaussianThompson(5, noise=noise), np.random.default_rng(0)
        for arm in range(5):
            for _ in range(20):
                policy.update(arm, arm / 5, None)
        spread.append(np.mean([policy.select(None, rng) == 4 for _ in range(300)]))
    assert spread[0] > spread[1] > spread[2]


@pytest.mark.parametrize("noise", [0, -1, math.inf, "1"])
def test_a_noise_that_is_none(noise):
    with pytest.raises(InvalidInput, match=r"^noise (= .* )?must be"):
        sf.GaussianThompson(2, noise=noise)
