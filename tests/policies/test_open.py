"""Plays whose rewards are still to come count with the mean kept."""

import json
import math

import pytest

from surefoot.comparators import moss
from surefoot.kernels import IndexKernels, IndexPolicy, add_units, count_and_sum, registry
from surefoot.policies import KLUCB, MVUCB, UCB1, AdaUCB, Thompson

MAKERS = {
    "UCB1": UCB1,
    "KLUCB": KLUCB,
    "AdaUCB": AdaUCB,
    "MVUCB": lambda n: MVUCB(n, rho=3),
    "MOSS": lambda n: IndexPolicy(moss.MOSSRecord(300.0), n),
}
every = pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))


def index_of(policy, turn=1000):
    """The index of a policy's only arm."""
    return policy.peek(turn)[1]


def taught(make, rewards):
    policy = make(1)
    for reward in rewards:
        policy.update(0, reward, None)
    return policy


@every
def test_open_plays_count_as_if_they_had_brought_the_mean(make):
    policy = taught(make, (0.0, 1.0))
    for _ in range(4):
        policy.opened(0, None)
    assert index_of(policy) == pytest.approx(index_of(taught(make, (0.0, 1.0) * 3)), abs=1e-12)


@every
def test_before_any_reward_the_mean_is_a_half(make):
    policy = make(1)
    assert index_of(policy) == math.inf
    policy.opened(0, None)
    assert index_of(policy) == pytest.approx(index_of(taught(make, (0.5,))), abs=1e-12)


@every
def test_the_rewards_that_come_close_what_was_opened_to_the_last_bit(make):
    late, prompt = make(3), make(3)
    for number in range(4):
        late.opened(number % 3, None)
    assert late.state()["arms"] != prompt.state()["arms"]
    for number in range(4):
        for policy in (late, prompt):
            policy.update(number % 3, number / 7, None)
        late.closed(number % 3, None)
    assert late.state()["arms"] == prompt.state()["arms"]
    assert late.peek(50) == prompt.peek(50)


@every
def test_a_burst_without_rewards_is_spread_over_the_arms(make):
    policy, arms = make(4), []
    for _ in range(40):
        arms.append(policy.select(None, None))
        policy.opened(arms[-1], None)
    assert [arms.count(arm) for arm in range(4)] == [10] * 4


@every
def test_what_was_saved_before_open_plays_were_counted_is_read(make):
    policy = make(2)
    for _ in range(5):
        policy.update(policy.select(None, None), 0.3, None)
    old = json.loads(json.dumps(policy.state()))
    assert old["arms"].pop() == [0, 0]
    again = make(2)
    again.restore(old)
    assert again.state() == policy.state()
    policy.opened(0, None)
    again.restore(json.loads(json.dumps(policy.state())))
    assert again.state() == policy.state() != old


@every
def test_a_play_from_before_is_closed_without_having_been_opened(make):
    policy = make(2)
    before = policy.state()
    policy.closed(1, None)
    assert policy.state() == before
    with pytest.raises(IndexError):
        policy.opened(2, None)


def test_a_policy_without_the_kernel_hears_nothing():
    policy = Thompson(2)
    before = policy.state()
    policy.opened(0, None)
    assert policy.state() == before


def test_a_state_of_one_list_too_few_is_another_policys():
    with pytest.raises(ValueError, match="not of 2 arms"):
        Thompson(2).restore(UCB1(2).state())


def test_the_kernel_is_kept_and_its_arguments_are_counted():
    kernels = IndexKernels(
        count_and_sum, lambda policy, m: 0.0, lambda p, s, k, y, b: 0.0, add_units
    )
    assert kernels.opened is registry.unopened
    assert registry.KERNELS[type(UCB1(1).record)].opened is registry.count_open
    with pytest.raises(registry.InvalidInput, match="opened of UCB1Record takes 1 arguments"):
        registry.register(type(UCB1(1).record), kernels._replace(opened=lambda policy: None))
