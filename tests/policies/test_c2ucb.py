"""C2UCB chooses as the pseudo-code does over all super arms, live and as the engine's kernels."""

import json
import math
import re
from decimal import Decimal, localcontext
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gram_cases import network
from naive import c2ucb as naive
from ridges import ridged
from surefoot.errors import InvalidInput
from surefoot.kernels import registry
from surefoot.oracles import Enumerated, ShortestPath, TopK
from surefoot.policies import C2UCB, Ridge

RADII = st.sampled_from(["paper", "determinant"])
SEEDS = st.integers(0, 10**6)
X3 = [[1, 0], [0, 1], [0.6, 0.8]]


def rows_of(rng, K, d):
    X = rng.normal(size=(K, d))
    return X / np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]


def twin_of(policy):
    return naive.C2UCB(
        policy.theta_bound, policy.feature_bound, policy.noise, policy.ridge, policy.radius
    )


def most(arm, weights):
    return max(weights[e] for e in arm)


@settings(max_examples=20, deadline=None)
@given(SEEDS, RADII, st.integers(1, 4), st.integers(2, 6), st.sampled_from([None, most]))
def test_in_lockstep_with_the_twin(seed, radius, d, K, f):
    rng = np.random.default_rng(seed)
    X, k = rows_of(rng, K, d), int(rng.integers(1, K))
    every = list(combinations(range(K), k))
    oracle = TopK(k) if f is None else Enumerated(every, f=f)
    policy = C2UCB(
        X, oracle, ridge=Ridge(theta_bound=0.7, feature_bound=1, noise=0.5, radius=radius)
    )
    twin = twin_of(policy)
    for m in range(1, 25):
        rows = rows_of(rng, K, d) if m % 3 == 0 else None
        arm, score = policy.best(rows, rng)
        seen = X if rows is None else rows
        values = twin.values(seen, m, every, f)
        best = max(values.values())
        assert math.isclose(score, best, rel_tol=1e-9)
        assert math.isclose(values[arm], best, rel_tol=1e-9)
        rewards = tuple(np.round(rng.random(k), 3).tolist())
        policy.update(arm, rewards, rows)
        twin.learn(seen, arm, rewards)
    assert np.allclose(policy.theta_hat, twin.theta(d), rtol=1e-9, atol=1e-12)


@settings(max_examples=10, deadline=None)
@given(SEEDS, RADII)
def test_the_kernels_play_what_the_class_plays(seed, radius):
    rng = np.random.default_rng(seed)
    policy = C2UCB(rows_of(rng, 7, 3), TopK(3), ridge=Ridge(noise=0.5, radius=radius))
    record = policy.record
    state = registry.init(record, 7)
    assert registry.width(record) == 3
    for m in range(1, 40):
        arm, score = policy.best(None, rng)
        assert registry.best(record, state, m, 0, None, range(len(policy.features))) == (0, score)
        assert tuple(registry.member(record, state, 0, i) for i in range(3)) == arm
        rewards = tuple(float(r) for r in rng.integers(2, size=3))
        policy.update(arm, rewards, None)
        for e, reward in zip(arm, rewards, strict=True):
            registry.update(record, state, e, reward)
    assert [list(row) for row in state[:6]] == policy.state()["ridge"]


@settings(max_examples=20, deadline=None)
@given(SEEDS, RADII)
def test_the_kernels_play_paths_as_the_class_does_whatever_their_length(seed, radius):
    rng = np.random.default_rng(seed)
    oracle = ShortestPath(*network(rng))
    K, most = oracle.n_base, oracle.size[1]
    policy = C2UCB(rows_of(rng, K, 3), oracle, ridge=Ridge(noise=0.5, radius=radius))
    record = policy.record
    state = registry.init(record, K)
    assert registry.width(record) == most
    for m in range(1, 30):
        arm, score = policy.best(None, rng)
        assert registry.best(record, state, m, 0, None, range(len(policy.features))) == (0, score)
        members = [registry.member(record, state, 0, i) for i in range(most)]
        assert members == [*arm, *[-1] * (most - len(arm))]
        rewards = tuple(float(r) for r in rng.integers(2, size=len(arm)))
        policy.update(arm, rewards, None)
        for e, reward in zip(arm, rewards, strict=True):
            registry.update(record, state, e, reward)
    assert [list(row) for row in state[:6]] == policy.state()["ridge"]


class Mine(TopK):
    """A user's own oracle, which happens to have a k."""

    def __call__(self, weights):
        return (0,)


def test_only_sums_over_fixed_rows_have_a_record_and_only_for_some_oracles():
    way = [("s", "a"), ("a", "t"), ("s", "t")]
    assert C2UCB(X3, TopK(2)).record.k == 2
    assert C2UCB(X3, ShortestPath(way, "s", "t")).record.k == 2
    assert C2UCB(X3, TopK(2), f=most).record is None
    assert C2UCB(X3, Mine(2)).record is None
    assert C2UCB(X3, Enumerated([[0], [1, 2]])).record is None
    assert C2UCB(X3, lambda w: [0]).record is None
    ring = ShortestPath([*way, ("a", "b"), ("b", "a")], "s", "t")
    assert C2UCB([*X3, [0, 1], [1, 0]], ring).record is None


def test_the_first_bounds_by_hand():
    """V = I, theta_hat = 0: every row of norm 1 has the bound beta."""
    arm, score = C2UCB(X3, TopK(2), ridge=Ridge(theta_bound=2)).best(None, None)
    assert arm == (0, 1)
    assert math.isclose(score, 2 * (math.sqrt(2 * math.log(2 * (1 + 3))) + 2))


def test_f_is_the_oracles_own_unless_given():
    oracle = Enumerated([[0, 1], [2]], f=most)
    assert C2UCB(X3, oracle).f is most
    assert C2UCB(X3, oracle, f=min).f is min
    assert C2UCB(X3, TopK(1)).f is None


def test_value_is_the_exact_sum_in_any_decimal_context():
    policy = C2UCB(X3, TopK(2))
    with localcontext(prec=2):
        assert policy.value((0.1, 0.2, 1e-20)) == Decimal("0.30000000000000000001")
    assert policy.value(()) == 0
    with pytest.raises(InvalidInput, match="base reward must be finite"):
        policy.value((0.1, math.nan))


def test_value_of_an_f_is_f_of_the_base_rewards():
    def first_twice(arm, weights):
        return 2 * weights[0] + sum(weights[e] for e in arm)

    policy = C2UCB(X3, TopK(2), f=first_twice)
    assert policy.value((0.5, 0.25)) == Decimal("1.75")
    assert policy.value((0.5, 0.25), (1, 2)) == Decimal("0.75")
    with pytest.raises(InvalidInput, match="got 1 base rewards for the super arm"):
        policy.value((0.5,), (1, 2))


def test_config_and_state_come_back():
    policy = C2UCB(
        X3, TopK(2), labels=["a", "b", "c"], ridge=Ridge(noise=0.5, radius="determinant")
    )
    for _ in range(5):
        policy.update(policy.select(None, None), (0.5, 0.25), None)
    config = policy.config()
    json.dumps({**config, "oracle": config["oracle"].config()})
    again = C2UCB.from_config(config)
    again.restore(json.loads(json.dumps(policy.state())))
    assert (again.config(), again.state(), again.arms) == (config, policy.state(), policy.arms)
    assert again.best(None, None) == policy.best(None, None)
    assert repr(again) == repr(policy)


def test_a_function_is_not_saved():
    with pytest.raises(InvalidInput, match="is a function, which cannot be saved"):
        C2UCB(X3, TopK(2), f=most).config()
    oracle = Enumerated([[0]], f=most, n_base=3)
    assert C2UCB(X3, oracle).config()["oracle"] is oracle


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "the oracle's answer is None"),
        (3, "the oracle's answer is 3"),
        ("01", "the oracle's answer is '01'"),
        ([], "must hold at least one base arm"),
        ([0, 0], "must hold at least one base arm, each once"),
        ([0, 3], "holds 3; a base arm is an int in 0..2"),
        ([-1], "holds -1"),
        ([True], "holds True"),
        ([1.0], "holds 1.0"),
    ],
)
def test_an_answer_that_is_no_super_arm_takes_no_turn(answer, message):
    policy = C2UCB(X3, lambda w: answer)
    with pytest.raises(InvalidInput, match=re.escape(message)):
        policy.select(None, None)
    assert policy.turns == 0


def test_an_oracle_may_answer_in_any_order_and_container():
    policy = C2UCB(X3, lambda w: np.array([2, 0]))
    arm = policy.select(None, None)
    assert arm == (0, 2)
    assert {type(e) for e in arm} == {int}


CALLS = [
    (lambda p: p.select([[1, 0]], None), "must be of shape (3, 2)"),
    (lambda p: p.check([[1, 0], [0, 1], [3, 4]]), "context[2] has norm 5"),
    (lambda p: p.best(None, None, [0]), "a super arm is not one of a list"),
    (lambda p: p.update((0, 1), (1.0, math.nan), None), "the reward of base arm 1 must be finite"),
    (lambda p: p.update((0, 1), (1.0, None), None), "the reward of base arm 1 must be a number"),
    (lambda p: p.update((0, 1), (1.0, 1e99), None), "rescale the rewards"),
    (lambda p: p.update((0, 1), (1.0,), None), "must hold one reward for each of (0, 1)"),
    (lambda p: p.update((0, 1), 1.0, None), "reward = 1.0 must hold one reward for each"),
    (lambda p: p.update((1, 0), (1.0, 0.0), None), "in ascending order"),
    (lambda p: p.update((0, 3), (1.0, 0.0), None), "arm holds 3"),
    (lambda p: p.update((0, 1), (1.0, 0.0), [[math.nan, 0]] * 3), "context[0][0] is nan"),
]


@pytest.mark.parametrize(("call", "message"), CALLS)
def test_a_bad_call_changes_nothing(call, message):
    policy = C2UCB(X3, TopK(2))
    policy.update(policy.select(None, None), (1.0, 0.5), None)
    before = json.dumps(policy.state())
    with pytest.raises(InvalidInput, match=re.escape(message)):
        call(policy)
    assert json.dumps(policy.state()) == before


def test_an_f_that_fails_takes_no_turn():
    policy = C2UCB(X3, TopK(2), f=lambda arm, weights: math.nan)
    with pytest.raises(InvalidInput, match=re.escape("C2UCB.best returned ((0, 1), nan)")):
        policy.select(None, None)
    assert policy.turns == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"base_arms": [1, 2]}, "base_arms is of shape (2,)"),
        ({"oracle": None}, "oracle = None must be a callable"),
        ({"oracle": TopK}, "must be a callable, e.g. TopK(3)"),
        ({"oracle": TopK(4)}, "does not fit 3 base arms"),
        ({"oracle": Enumerated([[0, 3]])}, "does not fit 3 base arms"),
        ({"f": 3}, "f = 3 must be a function"),
        ({"labels": ["a"]}, "got 1 labels for 3 arms"),
        ({"feature_bound": 0.5}, "above feature_bound = 0.5"),
    ],
)
def test_what_is_no_setting_is_named(settings, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        C2UCB(**{"base_arms": X3, "oracle": TopK(2), **ridged(settings)})
