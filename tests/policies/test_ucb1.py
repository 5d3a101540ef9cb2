"""UCB1 is S/N + sqrt(2 ln m / N) to the last bit, and exact sums tie exactly."""

import math
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import ucb
from surefoot import UCB1
from surefoot.errors import InvalidInput

GRID = st.integers(0, 1000).map(lambda thousandths: thousandths / 1000)


def taught(n_arms, rewards):
    """A policy that has learnt (arm, reward) pairs, and what a twin would know of them."""
    policy = UCB1(n_arms)
    plays, sums = [0] * n_arms, [Fraction(0)] * n_arms
    for arm, reward in rewards:
        policy.update(arm, reward, None)
        plays[arm] += 1
        sums[arm] += Fraction(repr(reward))
    return policy, plays, sums


@given(
    rewards=st.lists(st.tuples(st.integers(0, 4), GRID), max_size=60),
    turn=st.integers(1, 10**9),
    allowed=st.sets(st.integers(0, 4), min_size=1),
)
def test_choice_and_index_are_the_twins_to_the_last_bit(rewards, turn, allowed):
    policy, plays, sums = taught(5, rewards)
    assert policy.peek(turn) == ucb.choose(plays, sums, turn)
    assert policy.peek(turn, sorted(allowed)) == ucb.choose(plays, sums, turn, allowed)


@settings(max_examples=30)
@given(n_arms=st.integers(1, 8), seed=st.integers(0, 2**32 - 1), equal=st.booleans())
def test_a_run_is_the_twins(n_arms, seed, equal):
    rng = random.Random(seed)
    policy, plays, sums = taught(n_arms, [])
    for turn in range(1, 300):
        arm = policy.select(None, None)
        assert arm == ucb.choose(plays, sums, turn)[0]
        reward = float(rng.random() < (0.5 if equal else (arm + 1) / (n_arms + 1)))
        policy.update(arm, reward, None)
        plays[arm] += 1
        sums[arm] += Fraction(reward)


def test_the_index_by_hand():
    policy, _, _ = taught(2, [(0, 0.1), (0, 0.2), (1, 0.0)])
    expected = (0.3 / 2 + math.sqrt(2 * math.log(7) / 2), math.sqrt(2 * math.log(7) / 1))
    assert policy.peek(7, [0])[1] == expected[0]
    assert policy.peek(7, [1])[1] == expected[1]


@given(st.data())
def test_equal_counts_and_equal_sums_tie_whatever_the_order(data):
    rewards = data.draw(st.lists(GRID, min_size=1, max_size=20))
    other = data.draw(st.permutations(rewards))
    pairs = [(0, reward) for reward in rewards] + [(1, reward) for reward in other]
    policy, _, _ = taught(2, data.draw(st.permutations(pairs)))
    turn = data.draw(st.integers(1, 10**6))
    assert policy.peek(turn, [0])[1] == policy.peek(turn, [1])[1]
    assert policy.peek(turn)[0] == 0


def test_equal_sums_of_different_rewards_tie():
    """0.1 + 0.2 and 0.3 + 0.0 differ as floats."""
    policy, _, _ = taught(3, [(2, 0.3), (2, 0.0), (1, 0.1), (1, 0.2), (0, 0.0), (0, 0.0)])
    assert policy.peek(6)[0] == 1


def test_unplayed_arms_come_first_in_order():
    policy = UCB1(4)
    for expected in range(4):
        assert policy.best(None, None) == (expected, math.inf)
        policy.update(expected, 1.0, None)
    assert policy.best(None, None)[1] < math.inf


def test_the_clock_counts_turns_and_not_rewards():
    policy, _, _ = taught(2, [(0, 1.0), (1, 0.0)])
    for _ in range(9):
        policy.select(None, None)
    assert policy.best(None, None) == policy.peek(10)
    assert policy.turns == 10


@pytest.mark.parametrize("c", [0, -1, math.inf, math.nan, "2", None, 1.1e300, Decimal("1e400")])
def test_a_constant_that_is_none(c):
    with pytest.raises(
        InvalidInput, match=r"^c (= .* )?must be (finite|a number|> 0 and at most 1e\+300)"
    ):
        UCB1(2, c=c)


@pytest.mark.parametrize("c", [1, Decimal(1), np.float32(1), np.int64(1)])
def test_a_constant_of_any_kind_of_number(c):
    assert UCB1(2, c=c).record == UCB1(2, c=1.0).record


def test_the_constant_is_the_one_under_the_root():
    policy = UCB1(1, c=0.5)
    policy.update(0, 0.0, None)
    assert policy.peek(9) == (0, math.sqrt(0.5 * math.log(9)))
