"""LinUCB chooses as the pseudo-code does, live and as the engine's kernels."""

import json
import math
import re
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive.linucb import LinUCB as Twin
from ridges import ridged
from surefoot.errors import InvalidInput
from surefoot.kernels import registry
from surefoot.policies import Ball, LinUCB, Polytope, Ridge

RADII = st.sampled_from(["paper", "determinant"])
SEEDS = st.integers(0, 10**6)


def rows_of(rng, K, d):
    X = rng.normal(size=(K, d))
    return X / np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]


def twin_of(policy):
    return Twin(policy.theta_bound, policy.feature_bound, policy.noise, policy.ridge, policy.radius)


def close(score, best):
    return math.isclose(score, best, rel_tol=1e-9, abs_tol=1e-9)


@settings(max_examples=15, deadline=None)
@given(SEEDS, RADII, st.integers(1, 5), st.integers(1, 8), st.sampled_from([None, 3.0]))
def test_in_lockstep_with_the_twin_over_fixed_rows(seed, radius, d, K, ridge):
    rng = np.random.default_rng(seed)
    X = rows_of(rng, K, d) * 10.0 ** rng.integers(-2, 1)
    policy = LinUCB(X, ridge=Ridge(theta_bound=0.7, noise=0.5, penalty=ridge, radius=radius))
    twin = twin_of(policy)
    for m in range(1, 40):
        arm, score = policy.best(None, rng)
        bounds = twin.bounds(X, m)
        assert close(score, bounds.max())
        assert close(bounds[arm], bounds.max())
        reward = round(float(rng.random()), 3)
        policy.update(arm, reward, None)
        twin.history.append((X[arm], reward))
    assert np.allclose(policy.theta_hat, twin.theta(d), rtol=1e-9, atol=1e-12)


@settings(max_examples=15, deadline=None)
@given(SEEDS, RADII, st.booleans())
def test_in_lockstep_with_the_twin_over_contexts(seed, radius, fixed):
    """Rows that change at every play, learnt late and out of order."""
    rng = np.random.default_rng(seed)
    given = {"arms": rows_of(rng, 4, 3)} if fixed else {"dim": 3}
    policy = LinUCB(**given, ridge=Ridge(feature_bound=1.0, radius=radius))
    twin, pending = twin_of(policy), []
    for m in range(1, 40):
        X = rows_of(rng, 4 if fixed else rng.integers(1, 9), 3)
        arm, score = policy.best(X, rng)
        bounds = twin.bounds(X, m)
        assert close(score, bounds.max())
        assert close(bounds[arm], bounds.max())
        pending.append((arm, X))
        if len(pending) > 3:
            arm, X = pending.pop(rng.integers(3))
            policy.update(arm, 0.5, X)
            twin.history.append((X[arm], 0.5))


@settings(max_examples=10, deadline=None)
@given(SEEDS, RADII)
def test_in_lockstep_with_the_twin_over_a_ball(seed, radius):
    """No point of a fine circle has a larger bound than the one chosen."""
    rng = np.random.default_rng(seed)
    policy, theta = LinUCB(Ball(2.0, 2), ridge=Ridge(radius=radius)), rows_of(rng, 1, 2)[0]
    twin, angles = twin_of(policy), np.linspace(0, 2 * math.pi, 3001)
    circle = 2 * np.column_stack([np.cos(angles), np.sin(angles)])
    for m in range(1, 15):
        point, score = policy.best(None, rng)
        assert close(score, twin.bounds(np.array([point]), m)[0])
        assert score >= twin.bounds(circle, m).max() - 1e-9
        reward = float(np.array(point) @ theta) + rng.normal() / 10
        policy.update(point, reward, None)
        twin.history.append((np.array(point), reward))


@given(SEEDS)
def test_a_polytope_is_its_vertices_as_rows(seed):
    rng = np.random.default_rng(seed)
    X = rows_of(rng, 5, 3)
    one, other = LinUCB(Polytope(X)), LinUCB(X)
    for _ in range(20):
        (point, score), (arm, same) = one.best(None, rng), other.best(None, rng)
        assert (point, score) == (tuple(X[arm]), same)
        one.update(point, 0.25, None)
        other.update(arm, 0.25, None)


@settings(max_examples=10, deadline=None)
@given(SEEDS, RADII)
def test_the_kernels_play_what_the_class_plays(seed, radius):
    rng = np.random.default_rng(seed)
    policy = LinUCB(rows_of(rng, 6, 3), ridge=Ridge(noise=0.5, radius=radius))
    record = policy.record
    state = registry.init(record, 6)
    for m in range(1, 60):
        arm, score = policy.best(None, rng)
        assert registry.best(record, state, m, 0, None, range(len(policy.features))) == (arm, score)
        assert (registry.width(record), registry.member(record, state, arm, 0)) == (1, arm)
        reward = float(rng.integers(2))
        policy.update(arm, reward, None)
        registry.update(record, state, arm, reward)
    assert [list(row) for row in state[:6]] == policy.state()["ridge"]


def test_only_fixed_rows_have_a_record():
    assert LinUCB(Ball(1, 2)).record is None
    assert LinUCB(dim=2, ridge=Ridge(feature_bound=1)).record is None


def test_the_first_bound_by_hand():
    """V = 4 I, theta_hat = 0: beta ||x||/2, with beta = sqrt(2 ln(2 (1 + 1))) + 2 S."""
    policy = LinUCB([[2, 0], [0, 1]], ridge=Ridge(theta_bound=3))
    assert (policy.ridge, policy.feature_bound) == (4.0, 2.0)
    arm, score = policy.best(None, None)
    assert arm == 0
    assert math.isclose(score, math.sqrt(2 * math.log(4)) + 6)


def test_ties_go_to_the_lowest_row_and_allowed_restricts():
    policy = LinUCB([[1, 0], [0, 1], [1e-12, 1]])
    assert policy.select(None, None) == 0
    assert policy.best(None, None, [2, 1])[0] == 1
    assert policy.best(None, None, [2])[0] == 2
    assert policy.turns == 3


POLICIES = {
    "rows": lambda: LinUCB([[1, 0], [0, 1]], labels=["a", "b"], ridge=Ridge(radius="determinant")),
    "contexts": lambda: LinUCB(dim=2, ridge=Ridge(feature_bound=1, noise=0.5)),
    "ball": lambda: LinUCB(Ball(1, 2)),
    "polytope": lambda: LinUCB(Polytope([[1, 0], [0, 1]]), ridge=Ridge(penalty=2)),
}


@pytest.mark.parametrize("make", POLICIES.values(), ids=POLICIES)
def test_config_and_state_come_back(make):
    policy = make()
    context = [[1, 0], [0, 0.5]] if policy.n_arms is None and policy.numbered else None
    for _ in range(5):
        policy.update(policy.select(context, None), 0.5, context)
    again = LinUCB.from_config(json.loads(json.dumps(policy.config())))
    again.restore(json.loads(json.dumps(policy.state())))
    assert (again.config(), again.state()) == (policy.config(), policy.state())
    assert again.best(context, None) == policy.best(context, None)
    assert repr(again) == repr(policy)


def test_a_state_of_another_dimension_is_refused():
    with pytest.raises(ValueError, match="not of dimension d = 3"):
        LinUCB(dim=3, ridge=Ridge(feature_bound=1)).restore(LinUCB(Ball(1, 2)).state())


CALLS = [
    ("contexts", lambda p: p.select(None, None), "context is None"),
    ("contexts", lambda p: p.select([[1, 0, 0]], None), "must be of shape (K, 2)"),
    ("contexts", lambda p: p.select([[1, 0], [math.nan, 0]], None), "context[1][0] is nan"),
    ("contexts", lambda p: p.check([[0, 0], [3, 4]]), "context[1] has norm 5"),
    ("contexts", lambda p: p.update(1, 1.0, [[1, 0]]), "arm = 1 must be in 0..0"),
    ("contexts", lambda p: p.update(0, 1.0, None), "context is None; it must be an array"),
    ("contexts", lambda p: p.update(0, 1.0, [[math.inf, 0]]), "context[0][0] is inf"),
    ("rows", lambda p: p.select([[1, 0]], None), "must be of shape (2, 2)"),
    ("rows", lambda p: p.best(None, None, []), "allowed = [] must be some of 0..1"),
    ("rows", lambda p: p.best(None, None, [0, 2]), "allowed = [0, 2] must be some of 0..1"),
    ("rows", lambda p: p.update(2, 1.0, None), "arm = 2 must be in 0..1"),
    ("rows", lambda p: p.update(True, 1.0, None), "arm = True must be an int"),
    ("rows", lambda p: p.update(0, math.nan, None), "reward must be finite"),
    ("rows", lambda p: p.update(0, -math.inf, None), "reward must be finite, got -inf"),
    ("rows", lambda p: p.update(0, "1", None), "reward must be a number"),
    ("rows", lambda p: p.update(0, 1e60, None), "rescale the rewards"),
    ("ball", lambda p: p.check([[1, 0]]), "a Ball takes none"),
    ("ball", lambda p: p.best(None, None, [0]), "the points of a Ball have no numbers"),
    ("ball", lambda p: p.update((1.0,), 1.0, None), "action is of shape (1, 1)"),
    ("ball", lambda p: p.update((math.nan, 0.0), 1.0, None), "action[0][0] is nan"),
    ("ball", lambda p: p.update((3.0, 4.0), 1.0, None), "action[0] has norm 5"),
]


@pytest.mark.parametrize(("kind", "call", "message"), CALLS)
def test_a_bad_call_changes_nothing(kind, call, message):
    policy = POLICIES[kind]()
    before = json.dumps(policy.state())
    with pytest.raises(InvalidInput, match=re.escape(message)):
        call(policy)
    assert json.dumps(policy.state()) == before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "give exactly one"),
        ({"arms": [[1]], "dim": 1}, "give exactly one"),
        ({"dim": 0, "feature_bound": 1}, "dim = 0 must be an int >= 1"),
        ({"dim": True, "feature_bound": 1}, "dim = True must be an int >= 1"),
        ({"dim": 10**9, "feature_bound": 1}, "1000000000 features are more than 4,096"),
        ({"dim": 2}, "needs ridge=Ridge(feature_bound=...)"),
        ({"arms": [1, 2]}, "arms is of shape (2,)"),
        ({"arms": [[1], [math.nan]]}, "arms[1][0] is nan"),
        ({"arms": [[3, 4]], "feature_bound": 4}, "below the largest norm of arms, 5"),
        ({"arms": Ball(1, 2), "labels": ["a"]}, "this set has none"),
        ({"arms": [[1], [2]], "labels": ["a"]}, "got 1 labels for 2 arms"),
        ({"arms": [[1]], "radius": "wide"}, "radius = 'wide' must be one of"),
    ],
)
def test_what_is_no_setting_is_named(settings, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        LinUCB(**ridged(settings))


@pytest.mark.slow
def test_a_play_of_fourteen_rows_of_seven_features_takes_under_half_a_millisecond():
    rng = np.random.default_rng(0)
    policy, plays = LinUCB(rows_of(rng, 14, 7)), 300
    start = perf_counter()
    for _ in range(plays):
        policy.update(policy.select(None, rng), 0.5, None)
    assert (perf_counter() - start) / plays < 5e-4
