"""MV-UCB is its formula to the last bit, and equal histories tie exactly."""

import math
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from naive.mean_variance import choose
from surefoot import MVUCB
from surefoot.errors import InvalidInput
from surefoot.kernels import registry

GRID = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)
NANOS = st.integers(0, 10**9).map(lambda billionths: billionths / 10**9)
RHOS = st.sampled_from([0.1, 1, 2.5, 10, 60])


def taught(n_arms, rho, rewards):
    """A policy that has learnt (arm, reward) pairs, and each arm's rewards."""
    policy, arms = MVUCB(n_arms, rho), [[] for _ in range(n_arms)]
    for arm, reward in rewards:
        policy.update(arm, reward, None)
        arms[arm].append(Fraction(repr(reward)))
    return policy, arms


@given(
    rewards=st.lists(st.tuples(st.integers(0, 4), GRID), max_size=60),
    rho=RHOS,
    turn=st.integers(1, 10**9),
)
def test_choice_and_index_are_the_twins_to_the_last_bit(rewards, rho, turn):
    policy, arms = taught(5, rho, rewards)
    assert policy.peek(turn) == choose(arms, turn, rho)


@settings(max_examples=30)
@given(
    n_arms=st.integers(1, 8),
    rho=RHOS,
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["bernoulli", "equal", "beta"]),
)
def test_a_run_is_the_twins(n_arms, rho, seed, kind):
    rng = random.Random(seed)
    policy, arms = taught(n_arms, rho, [])
    for turn in range(1, 200):
        arm = policy.select(None, None)
        assert arm == choose(arms, turn, rho)[0]
        mean = 0.5 if kind == "equal" else (arm + 1) / (n_arms + 1)
        reward = round(rng.betavariate(1, 2), 3) if kind == "beta" else int(rng.random() < mean)
        policy.update(arm, float(reward), None)
        arms[arm].append(Fraction(repr(reward)))


@given(rewards=st.lists(NANOS, min_size=1, max_size=40), rho=RHOS)
def test_sums_of_squares_are_exact(rewards, rho):
    policy, _ = taught(1, rho, [(0, reward) for reward in rewards])
    plays, total, high, low = (row[0] for row in policy._state[:4])
    units = [round(reward * 10**9) for reward in rewards]
    assert (plays, total) == (len(units), sum(units))
    assert high * 10**9 + low == sum(unit * unit for unit in units)
    assert 0 <= low < 10**9


@given(st.data())
def test_equal_histories_tie_whatever_the_order(data):
    rewards = data.draw(st.lists(NANOS, min_size=1, max_size=20))
    pairs = [(arm, reward) for arm in (0, 1) for reward in rewards]
    policy, _ = taught(2, 1, data.draw(st.permutations(pairs)))
    turn = data.draw(st.integers(1, 10**6))
    assert policy.peek(turn, [0])[1] == policy.peek(turn, [1])[1]
    assert policy.peek(turn)[0] == 0


@given(
    rewards=st.lists(st.tuples(st.integers(0, 2), NANOS), min_size=1, max_size=30),
    rho=RHOS,
    turns=st.lists(st.integers(1, 10**9), min_size=2, max_size=20),
)
def test_scale_and_index_never_fall_as_the_ceilings_need(rewards, rho, turns):
    policy, _ = taught(3, rho, rewards)
    scales = [registry.scale(policy.record, turn) for turn in sorted(turns)]
    assert scales == sorted(scales)
    for arm in range(3):
        indices = [
            registry.index(policy.record, policy._state, arm, scale, -math.inf) for scale in scales
        ]
        assert indices == sorted(indices)


def test_the_index_by_hand():
    policy, _ = taught(2, 2, [(0, 0.5), (0, 1.0), (1, 1.0)])
    radius = math.log(24) + 3 * math.log(7)
    assert policy.peek(7, [0])[1] == 1.5 - 0.0625 + 7 * math.sqrt(radius / 4)
    assert policy.peek(7, [1])[1] == 2 + 7 * math.sqrt(radius / 2)


def test_a_billion_turns_of_seventy_two_arms_have_a_radius():
    """12 K m^3 leaves an int64 at m = 220,188."""
    policy, _ = taught(72, 1, [(arm, 1.0) for arm in range(72)])
    assert policy.peek(10**9)[1] == 1 + 6 * math.sqrt((math.log(864) + 3 * math.log(10**9)) / 2)


def test_a_constant_arm_has_no_variance_below_zero():
    """In floats the mean of three squares of .7 is less than the square of their mean."""
    policy, _ = taught(1, 1, [(0, 0.7)] * 3)
    assert registry.index(policy.record, policy._state, 0, 0.0, -math.inf) == 2.1 / 3


def test_unplayed_arms_come_first_in_order():
    policy = MVUCB(3, 1)
    for expected in range(3):
        assert policy.best(None, None) == (expected, math.inf)
        policy.update(expected, 1.0, None)
    assert policy.best(None, None)[1] < math.inf


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rho": 0}, "rho = 0 must be > 0"),
        ({"rho": -1}, "rho = -1 must be > 0"),
        ({"rho": None}, "rho must be a number, got None"),
        ({"rho": math.nan}, "rho must be finite"),
        ({"rho": 1.1e300}, "rho = 1.1e+300 must be at most 1e+300 times the width of the rewards"),
        ({"rho": 1e300, "reward_range": (0, 0.5)}, "must be at most 1e+300 times the width"),
        ({"rho": 1, "reward_range": (1, 0)}, "must have r_min < r_max"),
        ({"rho": 1, "reward_range": 1}, "must be a pair"),
        ({"rho": 1, "n_arms": 0}, "n_arms = 0 must be an int in 1.."),
        ({"rho": 1, "arms": ["a"]}, "give exactly one"),
    ],
)
def test_what_is_no_setting_is_named(settings, message):
    with pytest.raises(InvalidInput) as error:
        MVUCB(**{"n_arms": 2, **settings})
    assert message in str(error.value)


def test_another_range_is_the_unit_one_with_rho_over_its_width():
    policy = MVUCB(2, 3, reward_range=(-1, 5))
    assert policy.record == MVUCB(2, 0.5).record
    assert policy.sure(0.25) == 0.125
    assert repr(policy) == "MVUCB(n_arms=2, rho=3, reward_range=(-1, 5))"


def test_config_comes_back():
    policy = MVUCB(None, Decimal("0.1"), (-1, 2.5), arms=["a", 7])
    again = MVUCB.from_config(policy.config())
    assert (again.arms, again.record) == (("a", 7), policy.record)
    assert again.config() == policy.config()


def test_the_engine_makes_the_plays_of_the_live_driver():
    class Driven(MVUCB):
        """Overrides what the kernels stand for, so it is driven play by play."""

        def update(self, arm, reward, context):
            super().update(arm, reward, context)

    floor = sf.RewardFloor(0.9, 0.2)
    agents = {
        "engine": sf.GenCB(MVUCB(2, 3), floor, default_competes=True),
        "live": sf.GenCB(Driven(2, 3), floor, default_competes=True),
    }
    environment = sf.BernoulliArms([0.2, 0.1])  # the default wins turns once the radius allows it
    result = sf.simulate(agents, environment, 3000, seed=2, checkpoints="all")
    one, other = (result.runs[0][name].books for name in agents)
    assert np.array_equal(one, other)
    assert one[-1, 1] > 0
