"""The live driver decides as the full argmax does, however few indices it computes anew."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import ConUCB
from surefoot.kernels import registry
from surefoot.kernels.policy import IndexPolicy
from surefoot.policies import KLUCB, UCB1, AdaUCB

MAKERS = {
    "UCB1": UCB1,
    "UCB1, narrow": lambda n: UCB1(n, c=0.02),
    "KLUCB": KLUCB,
    "KLUCB, c=3": lambda n: KLUCB(n, c=3),
    "AdaUCB": AdaUCB,
    "ConUCB": lambda n: ConUCB(n, 0.5, 0.1, 0.01).bounds,
}
REWARDS = {
    "coins": (0.0, 1.0),
    "tenths": tuple(tenths / 10 for tenths in range(11)),
    "rare": (0.0,) * 19 + (1.0,),
}


def full(policy: IndexPolicy, turn: int, allowed=None):
    """The argmax over all arms, nothing passed over."""
    arms = range(policy.n_arms) if allowed is None else allowed
    return registry.argmax(policy.record, policy._lists(), turn, arms)


@pytest.mark.parametrize("rewards", REWARDS.values(), ids=list(REWARDS))
@pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
@settings(max_examples=30, deadline=None)
@given(
    n_arms=st.integers(1, 12), delay=st.integers(0, 30), opens=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_every_decision_is_that_of_the_full_argmax(make, rewards, n_arms, delay, opens, seed):
    rng, policy, waiting = random.Random(seed), make(n_arms), []
    for turn in range(1, 150):
        expected = full(policy, turn)
        assert policy.best(None, None) == expected
        waiting.append(expected[0])
        if opens:
            policy.opened(expected[0], None)
        while len(waiting) > delay or (waiting and rng.random() < 0.1):
            arm = waiting.pop(rng.randrange(len(waiting)))
            if not opens or rng.random() < 0.8:  # else it is void
                policy.update(arm, rng.choice(rewards), None)
            if opens:
                policy.closed(arm, None)
        if rng.random() < 0.02:
            saved = json.loads(json.dumps(policy.state()))
            policy = make(n_arms)
            policy.restore(saved)


@pytest.mark.parametrize("make", [UCB1, KLUCB, AdaUCB])
def test_a_long_run_is_that_of_the_full_argmax(make):
    rng, policy = random.Random(1), make(24)
    for turn in range(1, 3000):
        arm, score = policy.best(None, None)
        assert (arm, score) == full(policy, turn)
        policy.update(arm, float(rng.random() < 0.3 - arm / 100), None)


def test_few_indices_are_computed_anew(monkeypatch):
    calls, rng, record = 0, random.Random(2), type(UCB1(72).record)
    kernels = registry.INDEX_KERNELS[record]

    def counted(*arguments):
        nonlocal calls
        calls += 1
        return kernels.index(*arguments)

    counting = kernels._replace(index=counted)
    monkeypatch.setitem(registry.INDEX_KERNELS, record, counting)
    policy = UCB1(72)
    for turn in range(4000):
        if turn == 2000:
            calls = 0
        arm = policy.select(None, None)
        policy.update(arm, float(rng.random() < 0.8 - arm / 120), None)
    assert 1 <= calls / 2000 < 72 / 6


def test_allowed_restricts_and_ties_go_to_the_lowest():
    policy = UCB1(4)
    assert policy.best(None, None, [2, 3]) == (2, float("inf"))
    for arm in range(4):
        policy.update(arm, 0.5, None)
    assert policy.select(None, None) == 0
    assert policy.best(None, None, [1, 3])[0] == 1


def test_peek_takes_no_turn():
    policy = UCB1(2)
    policy.update(0, 1.0, None)
    policy.update(1, 0.0, None)
    assert policy.peek(5) == policy.peek(5)
    assert policy.peek(1) != policy.peek(5)
    assert policy.turns == 0


def test_rewards_may_come_before_any_turn_and_twice_for_one():
    policy = KLUCB(2)
    for _ in range(3):
        policy.update(1, 0.0, None)
    assert policy.select(None, None) == 0


@pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
def test_state_is_json_and_of_its_own_number_of_arms(make):
    policy = make(3)
    policy.update(policy.select(None, None), 0.3, None)
    state = json.loads(json.dumps(policy.state()))
    same = make(3)
    same.restore(state)
    assert same.state() == policy.state() == state
    other = make(4)
    before = other.state()
    with pytest.raises(ValueError, match="not of 4 arms"):
        other.restore(state)
    assert other.state() == before


def test_a_state_replaces_what_was_there():
    fresh, other = UCB1(2), UCB1(2)
    for reward in (0.0, 1.0):
        for arm in range(2):
            fresh.update(arm, 1.0 - reward * arm, None)
            other.update(arm, reward * arm, None)
    other.select(None, None)
    other.restore(fresh.state())
    assert [other.best(None, None) for _ in range(9)] == [fresh.best(None, None) for _ in range(9)]


def test_a_state_is_a_copy():
    policy = UCB1(2)
    state = policy.state()
    policy.update(0, 1.0, None)
    assert state == {"turns": 0, "arms": [[0, 0], [0, 0], [0, 0]]}
    other = UCB1(2)
    other.restore(state)
    other.update(0, 1.0, None)
    assert state["arms"] == [[0, 0], [0, 0], [0, 0]]


def test_settings_build_the_same_policy():
    policy = UCB1(arms=["UA", "AA"], c=0.5)
    again = UCB1(**json.loads(json.dumps(policy.config())))
    assert (again.arms, again.record) == (policy.arms, policy.record)
    assert repr(policy) == "UCB1(n_arms=2, c=0.5)"


def test_a_policy_is_fresh_until_it_takes_a_turn_or_a_reward():
    policy = UCB1(2)
    assert policy.fresh
    policy.update(0, 0.5, None)
    assert not policy.fresh
    policy = UCB1(2)
    policy.select(None, None)
    assert not policy.fresh
