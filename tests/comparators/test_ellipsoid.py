"""The closed form of the ellipsoid's least value is what a search over it finds."""

import math

import numpy as np
import pytest

from surefoot.comparators.clucb import KERNELS, CLUCBRecord
from surefoot.comparators.ellipsoid import Linear, beta, ellipsoid, fresh, lower, units_of_one
from surefoot.floors import RewardFloor
from surefoot.policies import Ridge, _ridge

OPTIONS = Ridge(noise=0.5)


def learnt(seed, n=30, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(5, d))
    given = ellipsoid(X, 0.1, "arms", OPTIONS, "determinant")
    policy = Linear(X, None, CLUCBRecord(X, *given.settings, -math.inf), KERNELS, given.bound)
    for _ in range(n):
        policy.update(int(rng.integers(5)), float(rng.random()), None)
    return rng, policy


@pytest.mark.parametrize("seed", range(5))
def test_the_least_value_is_the_least_over_the_ellipsoid(seed):
    rng, policy = learnt(seed)
    state, radius = policy.lists, beta(policy.record, policy.lists, 31)
    u = rng.normal(size=3)
    theta, inverse = np.array(state[_ridge.THETA]), np.array(state[_ridge.INVERSE]).reshape(3, 3)
    least = lower(state, u.tolist(), 0, radius)
    root = np.linalg.cholesky(inverse)
    directions = rng.normal(size=(20_000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    values = (theta + radius * directions @ root.T) @ u
    assert least <= values.min() + 1e-9
    assert values.min() - least < 1e-3 * radius * np.linalg.norm(root.T @ u)


def test_the_sum_of_features_is_bounded_jointly():
    """Never worse than the sum of the plays' own bounds, by the triangle inequality."""
    rng, policy = learnt(1, n=0)
    played = [int(rng.integers(5)) for _ in range(30)]
    for k in played:
        policy.update(k, float(rng.random()), None)
    policy.peek(31)
    state, radius = policy.lists, beta(policy.record, policy.lists, 31)
    apart = sum(lower(state, policy.plain.features, k, radius) for k in [*played, 0])
    assert policy.pledge(0) > apart + 1


def test_the_two_forms_of_the_radius():
    X = np.eye(2)
    for form, expected in (
        ("paper", math.sqrt(2 * math.log((1 + 5) / 0.1))),
        ("determinant", math.sqrt(2 * math.log(10))),
    ):
        settings = ellipsoid(X, 0.1, "arms", Ridge(), form).settings
        record = CLUCBRecord(X, *settings, -math.inf)
        assert beta(record, fresh(record, 2), 5) == pytest.approx(expected + 1)


def test_the_units_of_a_reward_of_one():
    assert units_of_one(RewardFloor(0.5, 0.5)) == 1e9
    assert units_of_one(RewardFloor(500, 0.5, (0, 1000), places=-1)) == 0.1


def test_a_state_of_other_features_is_not_restored():
    _, policy = learnt(0)
    _, other = learnt(0, d=2)
    with pytest.raises(ValueError, match="of other features"):
        policy.restore(other.state())
