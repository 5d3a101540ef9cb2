"""Open plays of linear policies are in V as their twins have them, and in no estimate."""

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from naive import lints as naive
from naive.linucb import LinUCB as Twin
from surefoot.errors import InvalidInput
from surefoot.kernels import registry, warm
from surefoot.policies._optimist import Optimist
from surefoot.policies.lints import Sampler

SEEDS = st.integers(0, 10**6)
X4 = np.array([[1, 0, 0.2], [0, 1, -0.5], [0.6, 0.6, 0], [0.1, 0, 0.3]])
KINDS = {
    "LinUCB": lambda: sf.LinUCB(X4),
    "determinant": lambda: sf.LinUCB(X4, ridge=sf.Ridge(noise=0.5, radius="determinant")),
    "any rows": lambda: sf.LinUCB(dim=3, ridge=sf.Ridge(feature_bound=1.2)),
    "ball": lambda: sf.LinUCB(sf.Ball(1.1, 3)),
    "C2UCB": lambda: sf.C2UCB(X4, sf.TopK(2)),
    "C2UCB, list": lambda: sf.C2UCB(X4, sf.Enumerated([[0], [1, 2], [2, 3]])),
    "LinTS": lambda: sf.LinTS(X4),
    "LinTS, any rows": lambda: sf.LinTS(dim=3, ridge=sf.Ridge(feature_bound=1.2)),
    "LinTS, ball": lambda: sf.LinTS(sf.Ball(1.1, 3)),
    "CombLinTS": lambda: sf.LinTS(X4, oracle=sf.TopK(2)),
    "CombLinTS, list": lambda: sf.LinTS(X4, oracle=sf.Enumerated([[0], [1, 2], [2, 3]])),
}
every_kind = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)


def context_of(policy, rng):
    """One that the policy takes, or None."""
    if getattr(policy, "set", None) is not None or (policy.n_arms and rng.integers(2)):
        return None
    K = policy.n_arms or int(rng.integers(1, 6))
    return rng.uniform(-0.6, 0.6, (K, 3))


def played(policy, arm, context):
    """The features of a play."""
    if getattr(policy, "set", None) is not None:
        return [np.array(arm)]
    rows = X4 if context is None else context
    return [rows[e] for e in np.atleast_1d(arm)]


def reward_of(policy, arm, rng):
    return tuple(rng.random(len(arm))) if policy.semi_bandit else float(rng.random())


def course(policy, rng, turns):
    """Turns whose plays are opened; some are told and closed, late, in any order; some void."""
    waiting = []
    for _ in range(turns):
        context = context_of(policy, rng)
        arm, _ = policy.best(context, rng)
        policy.opened(arm, context)
        waiting.append((arm, context))
        yield waiting
        while waiting and rng.random() < 0.5:
            arm, context = waiting.pop(int(rng.integers(len(waiting))))
            if rng.random() < 0.7:
                policy.update(arm, reward_of(policy, arm, rng), context)
            policy.closed(arm, context)


def close(one, other):
    return np.allclose(one, other, rtol=1e-7, atol=1e-7)


@every_kind
@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_scores_are_the_twins_and_the_estimate_is_of_told_rewards(make, seed):
    policy, rng, history = make(), np.random.default_rng(seed), []
    told = policy.update

    def update(arm, reward, context):
        history.extend(zip(played(policy, arm, context), np.atleast_1d(reward), strict=True))
        told(arm, reward, context)

    policy.update = update
    twin = Twin(policy.theta_bound, policy.feature_bound, policy.noise, policy.ridge, policy.radius)
    twin.history = history
    for m, waiting in enumerate(course(policy, rng, 25), start=1):
        rows = rng.uniform(-0.6, 0.6, (policy.n_arms or 4, 3))
        twin.open = [x for play in waiting for x in played(policy, *play)]
        assert close(policy.theta_hat, twin.theta(3))
        if isinstance(policy, Sampler):
            given = policy.ridge, policy.scale, m + 1, policy.key, tuple(twin.open)
            theta = naive.sample(history, 3, *given)
            assert close(policy.sample(m + 1), theta)
            scores = rows @ theta
        else:
            many = policy.n_arms if policy.semi_bandit else 1
            scores = twin.bounds(rows, m + 1, per_turn=many)
        if getattr(policy, "set", None) is None:
            flat = policy._flattened(np.ascontiguousarray(rows))
            assert close(policy._scores(flat, m + 1), scores)


@every_kind
@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_what_is_closed_leaves_nothing_behind(make, seed):
    """To the last bit, in whatever order, while others are open."""
    policy, rng = make(), np.random.default_rng(seed)
    for waiting in course(policy, rng, 15):  # noqa: B007  (the last one is what is open)
        pass
    before = json.dumps(policy.state())
    context = context_of(policy, rng)
    chosen = policy.peek(20, context)
    more = []
    for _ in range(6):
        rows = context_of(policy, rng)
        arm, _ = policy.peek(20, rows)
        policy.opened(arm, rows)
        more.append((arm, rows))
        policy.peek(20, context)  # so that it is counted
    assert json.dumps(policy.state()) != before
    rng.shuffle(more)
    for arm, rows in more:
        policy.closed(arm, rows)
    assert json.dumps(policy.state()) == before
    assert policy.peek(20, context) == chosen
    for arm, rows in waiting:
        policy.closed(arm, rows)
    assert "open" not in policy.state()


def test_an_open_play_that_is_closed_before_the_next_decision_costs_nothing(monkeypatch):
    policy, rng = sf.LinUCB(X4), np.random.default_rng(0)
    monkeypatch.setattr(policy, "_count", lambda *_: pytest.fail("it was counted"))
    for _ in range(5):
        rows = X4[::-1] / 2
        arm = policy.select(rows, rng)
        policy.opened(arm, rows)
        policy.update(arm, 0.5, rows)
        policy.closed(arm, rows)
        policy.peek(9)


@every_kind
def test_a_state_with_open_plays_comes_back(make):
    policy, rng = make(), np.random.default_rng(3)
    for waiting in course(policy, rng, 20):  # noqa: B007
        pass
    again = make()
    again.restore(json.loads(json.dumps(policy.state())))
    assert not again.fresh
    context = context_of(policy, rng)
    for arm, rows in waiting:
        assert again.peek(30, context) == policy.peek(30, context)
        for one in (again, policy):
            one.closed(arm, rows)
    assert again.state() == policy.state()


def test_of_two_opened_between_decisions_the_first_may_be_closed_first():
    policy, other = sf.LinUCB(X4), sf.LinUCB(X4)
    policy.opened(0, None)
    policy.opened(1, None)
    policy.closed(0, None)
    other.opened(1, None)
    assert policy.state() == other.state()


def test_a_play_that_was_never_opened_may_be_closed():
    """As one that was given out before its policy heard of such things."""
    policy, other = sf.LinUCB(X4), sf.LinUCB(X4)
    policy.closed(1, None)
    assert policy.state() == other.state()


@pytest.mark.parametrize("call", ["opened", "closed"])
def test_what_is_no_action_is_named_and_changes_nothing(call):
    policy = sf.LinUCB(X4)
    with pytest.raises(InvalidInput, match=re.escape("arm = 4 must be in 0..3")):
        getattr(policy, call)(4, None)
    assert policy.fresh


@pytest.mark.parametrize("kind", ["LinUCB", "determinant", "C2UCB", "LinTS", "CombLinTS"])
def test_the_kernels_count_as_the_class_does(kind):
    policy, rng = KINDS[kind](), np.random.default_rng(1)
    policy.best(None, rng)
    record, key = policy.record, getattr(policy, "key", 0)
    state, waiting = registry.init(record, 4), []
    for m in range(2, 60):
        chosen, score = policy.best(None, rng)
        number, found = registry.best(record, state, m, key, None, range(4))
        assert found == score
        arms = [registry.member(record, state, number, i) for i in range(registry.width(record))]
        assert arms == np.atleast_1d(chosen).tolist()
        waiting.append((chosen, arms))
        policy.opened(chosen, None)
        for e in arms:
            registry.opened(record, state, e, 1)
        while len(waiting) > m % 5:
            chosen, arms = waiting.pop(int(rng.integers(len(waiting))))
            rewards = [float(reward) for reward in rng.integers(2, size=len(arms))]
            policy.update(chosen, tuple(rewards) if policy.semi_bandit else rewards[0], None)
            for e, reward in zip(arms, rewards, strict=True):
                registry.update(record, state, e, reward)
                registry.opened(record, state, e, -1)
            policy.closed(chosen, None)


def test_compiled_and_plain_policies_count_alike(monkeypatch):
    pytest.importorskip("numba")
    plain = {kind: make() for kind, make in KINDS.items()}
    both = {kind: warm.LIVE[kind] for kind in (Optimist, Sampler)}
    monkeypatch.setattr(warm, "_READY", {})
    monkeypatch.setattr(warm, "wrappers", lambda: both)
    warm.warm_up()
    for kind, one in plain.items():
        other, rngs = KINDS[kind](), [np.random.default_rng(5) for _ in range(2)]
        assert (one._compiled is None, other._compiled is None) == (True, False)
        for waiting, same in zip(course(one, rngs[0], 60), course(other, rngs[1], 60), strict=True):
            assert [arm for arm, _ in waiting] == [arm for arm, _ in same]
            assert one.peek(99, X4) == other.peek(99, X4) if one.numbered or one.n_arms else True
        assert json.loads(json.dumps(other.state())) == one.state()
