"""Kept by rank-one updates, the ridge is what a fresh solve of exact sums gives."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.ridge import Ridge
from surefoot._jit import HELPERS
from surefoot.policies import _ridge

CASES = {
    "plain": (5, 8, 1.0, False),
    "duplicates": (7, 14, 1.0, True),
    "tiny": (5, 10, 1e-8, False),
    "huge": (5, 10, 1e8, False),
    "wide": (63, 20, 1.0, True),
}


def problem(case):
    """Rows, lambda, and theta* of a named case."""
    d, K, scale, doubled = CASES[case]
    rng = np.random.default_rng(d)
    X = scale * rng.normal(size=(K, d))
    X /= max(1.0, np.linalg.norm(X, axis=1).max() / scale)
    if doubled:
        X[K // 2 :] = X[: K - K // 2]
    L = float(np.linalg.norm(X, axis=1).max())
    return X, max(1.0, L * L), rng.normal(size=d) / scale / 3


def play(learn, ridge, X, lam, theta, steps):
    """Learn ``steps`` rewards of a few levels; how often each row had each of them."""
    rng = random.Random(steps)
    flat = X.ravel().copy()
    table = [[round(float(x @ theta) + noise, 3) for noise in (-0.5, 0.25)] for x in X]
    counts = {}
    for _ in range(steps):
        row, level = rng.randrange(len(X)), rng.randrange(2)
        learn(ridge, flat, row, table[row][level], lam)
        counts[row, level] = counts.get((row, level), 0) + 1
    return {(row, table[row][level]): count for (row, level), count in counts.items()}


def check(ridge, X, lam, counts):
    """Against the twin, at the promised accuracy."""
    twin = Ridge(X.shape[1], lam)
    for (row, reward), count in counts.items():
        twin.learn(X[row], reward, count)
    found, flat = [0.0] * len(X), X.ravel().tolist()
    _ridge.scores(ridge, flat, 2.0, found)
    assert np.allclose(found, twin.bounds(X, 2.0), rtol=1e-8, atol=0)
    assert math.isclose(ridge[_ridge.LOGDET][0], twin.log_det(), rel_tol=1e-8, abs_tol=1e-9)
    inverse = np.array(ridge[_ridge.INVERSE]).reshape(X.shape[1], -1)
    assert np.array_equal(inverse, inverse.T)
    assert np.linalg.eigvalsh(inverse).min() > 0


@pytest.mark.parametrize("case", [case for case in CASES if case != "wide"])
def test_after_ten_thousand_observations_scores_are_those_of_a_fresh_solve(case):
    X, lam, theta = problem(case)
    ridge = _ridge.fresh(X.shape[1], lam)
    check(ridge, X, lam, play(_ridge.learn, ridge, X, lam, theta, 10_000))


def test_sixty_three_features():
    X, lam, theta = problem("wide")
    ridge = _ridge.fresh(63, lam)
    check(ridge, X, lam, play(_ridge.learn, ridge, X, lam, theta, 600))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_after_a_million_observations_scores_are_those_of_a_fresh_solve(case):
    numba = pytest.importorskip("numba")
    from numba.extending import register_jitable

    while HELPERS:
        register_jitable(HELPERS.pop())
    X, lam, theta = problem(case)
    ridge = tuple(np.array(row) for row in _ridge.fresh(X.shape[1], lam))
    counts = play(numba.njit(_ridge.learn), ridge, X, lam, theta, 1_000_000)
    check(ridge, X, lam, counts)


FEATURES = st.lists(st.floats(-1, 1), min_size=3, max_size=3)


@given(st.lists(st.tuples(FEATURES, st.floats(-2, 2)), max_size=12), FEATURES)
def test_every_quantity_is_the_twins(history, x):
    ridge, twin = _ridge.fresh(3, 2.0), Ridge(3, 2.0)
    for row, reward in history:
        _ridge.learn(ridge, row, 0, reward, 2.0)
        twin.learn(row, reward)
    assert np.allclose(ridge[_ridge.THETA], twin.theta(), rtol=1e-10, atol=1e-12)
    assert math.isclose(_ridge.norm(ridge, x, 0), twin.norm(x), rel_tol=1e-10, abs_tol=1e-12)
    assert math.isclose(ridge[_ridge.LOGDET][0], twin.log_det(), rel_tol=1e-10, abs_tol=1e-12)
    before = [list(row) for row in ridge]
    _ridge.refresh(ridge, 2.0)
    for list_before, list_after in zip(before[:2], ridge[:2], strict=True):
        assert np.allclose(list_before, list_after, rtol=1e-10, atol=1e-13)


@given(st.lists(st.tuples(FEATURES, st.floats(-2, 2)), max_size=12), st.floats(0, 9))
def test_a_score_is_mean_and_norm_to_the_last_bit(history, beta):
    ridge, flat = _ridge.fresh(3, 2.0), [x for row, _ in history for x in row]
    for row, reward in history:
        _ridge.learn(ridge, row, 0, reward, 2.0)
    found, rows = [0.0] * len(history), range(len(history))
    _ridge.scores(ridge, flat, beta, found)
    assert found == [_ridge.mean(ridge, flat, k) + beta * _ridge.norm(ridge, flat, k) for k in rows]


def test_a_rebuild_comes_every_512_observations():
    ridge, ages = _ridge.fresh(1, 1.0), []
    for _ in range(1030):
        _ridge.learn(ridge, [0.5], 0, 1.0, 1.0)
        ages.append(ridge[_ridge.LOGDET][1])
    assert [n + 1 for n, age in enumerate(ages) if age == 0] == [512, 1024]


def test_a_small_lambda_loses_no_digits_to_a_first_long_feature():
    """Sherman-Morrison alone would keep 1/lambda - 1/lambda here."""
    ridge = _ridge.fresh(2, 1e-9)
    _ridge.learn(ridge, [1e3, 1e3], 0, 1.0, 1e-9)
    _ridge.learn(ridge, [1e3, -1e3], 0, 0.0, 1e-9)
    assert np.allclose(ridge[_ridge.THETA], [5e-4, 5e-4], rtol=1e-9)
    assert math.isclose(_ridge.norm(ridge, [1e3, 0.0], 0), math.sqrt(0.5), rel_tol=1e-9)


def test_a_pivot_is_never_below_lambda():
    """Rounding makes V singular, which it is not."""
    ridge = _ridge.fresh(2, 1e-6)
    for _ in range(2000):
        _ridge.learn(ridge, [1e9, 1e9 / 3], 0, 1.0, 1e-6)
    _ridge.refresh(ridge, 1e-6)
    assert all(map(math.isfinite, ridge[_ridge.INVERSE] + ridge[_ridge.THETA]))
    assert ridge[_ridge.INVERSE][0] > 0


@pytest.mark.parametrize(
    ("values", "chosen"),
    [
        ([1.0], 0),
        ([1.0, 1.0 + 5e-10], 0),
        ([1.0, 1.0 + 2e-9], 1),
        ([0.0, 5e-10], 0),
        ([-1e6, -1e6 + 5e-4], 0),
        ([1e6, 1e6 + 2e-3], 1),
        ([0.0, 3.0, 3.0], 1),
    ],
)
def test_ties_go_to_the_lowest_within_a_billionth(values, chosen):
    assert _ridge.first_best(values) == chosen
