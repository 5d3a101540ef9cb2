"""A ball's optimum is the best of numeric optimisation; what is no set or feature is refused."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from surefoot.errors import InvalidInput
from surefoot.policies import Ball, Polytope
from surefoot.policies.sets import feature_rows, norms, within


def value(x, theta, inverse, beta):
    return float(x @ theta + beta * math.sqrt(x @ inverse @ x))


def searched(ball, theta, inverse, beta):
    """The best of local searches from every axis and both signs, and from random points."""
    rng = np.random.default_rng(0)
    _, axes = np.linalg.eigh(inverse)
    starts = [*axes.T, *-axes.T, *rng.normal(size=(3, ball.d))]

    def loss(y):
        return -value(ball.radius * y / np.linalg.norm(y), theta, inverse, beta)

    return -min(minimize(loss, start, method="BFGS", tol=1e-12).fun for start in starts)


def instance(seed, d, spread):
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(d, d)))
    eigenvalues = 10.0 ** rng.uniform(-spread, 0, size=d)
    inverse = basis @ np.diag(eigenvalues) @ basis.T
    return rng.normal(size=d), (inverse + inverse.T) / 2, float(10 ** rng.uniform(-2, 2)), basis


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.floats(0, 3))
def test_the_optimum_of_a_ball_is_that_of_numeric_optimisation(seed, d, spread):
    theta, inverse, beta, _ = instance(seed, d, spread)
    ball = Ball(2.5, d)
    x, best = ball.optimum(theta.tolist(), inverse.ravel().tolist(), beta)
    assert math.isclose(np.linalg.norm(x), 2.5, rel_tol=1e-12)
    assert math.isclose(value(np.array(x), theta, inverse, beta), best, rel_tol=1e-10)
    assert best >= searched(ball, theta, inverse, beta) * (1 - 1e-9)


@pytest.mark.parametrize("along", [0.0, 1e-300, -1e-17, 1e-9, -1e-3])
@pytest.mark.parametrize("beta", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("inverse", [[1.0, 0.25, 0.1], [1.0, 1.0, 0.1], [1.0, 1 - 1e-15, 0.5]])
def test_the_hard_case_and_what_comes_near_it(along, beta, inverse):
    """theta has next to nothing along the longest axis of the ellipsoid."""
    ball, theta, inverse = Ball(1.0, 3), np.array([along, 0.0, 1.0]), np.diag(inverse)
    x, best = ball.optimum(theta, inverse, beta)
    assert math.isclose(value(np.array(x), theta, inverse, beta), best, rel_tol=1e-10)
    assert best >= searched(ball, theta, inverse, beta) * (1 - 1e-9)


def test_without_an_estimate_the_least_known_direction_is_played():
    x, best = Ball(3.0, 2).optimum([0.0, 0.0], [0.25, 0.0, 0.0, 1.0], 2.0)
    assert (x, best) == ((0.0, 3.0), 6.0)


def test_without_a_radius_the_estimate_is_followed():
    x, best = Ball(1.0, 2).optimum([3.0, 4.0], [1.0, 0.0, 0.0, 0.5], 0.0)
    assert np.allclose(x, [0.6, 0.8])
    assert math.isclose(best, 5.0)
    assert Ball(1.0, 2).optimum([0.0, 0.0], [1.0, 0.0, 0.0, 1.0], 0.0)[1] == 0.0


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_no_mixture_of_vertices_is_better_than_the_optimum(seed, d):
    theta, inverse, beta, _ = instance(seed, d, 2)
    rng = np.random.default_rng(seed)
    vertices = rng.normal(size=(6, d))
    x, best = Polytope(vertices).optimum(theta.tolist(), inverse.ravel().tolist(), beta)
    assert x in Polytope(vertices).vertices
    assert math.isclose(value(np.array(x), theta, inverse, beta), best, rel_tol=1e-12)
    mixtures = rng.dirichlet(np.full(6, 0.3), size=50) @ vertices
    assert all(value(y, theta, inverse, beta) <= best + 1e-9 for y in [*mixtures, *vertices])


def test_the_first_of_equal_vertices_is_taken():
    assert Polytope([[0, 1], [1, 0], [1, 0]]).optimum([1, 1], [1, 0, 0, 1], 1.0)[0] == (0.0, 1.0)


def test_sets_know_their_longest_point_and_their_settings():
    assert (Ball(2, 3).bound, Polytope([[3, 4], [1, 0]]).bound) == (2.0, 5.0)
    for one in (Ball(2, 3), Polytope([[3, 4], [1, 0]])):
        assert type(one)(**one.config()) == one


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ball(0, 2), "radius = 0 must be > 0"),
        (lambda: Ball(-1, 2), "radius = -1 must be > 0"),
        (lambda: Ball(math.nan, 2), "radius must be finite"),
        (lambda: Ball("1", 2), "radius must be a number"),
        (lambda: Ball(1, 0), "d = 0 must be an int >= 1"),
        (lambda: Ball(1, True), "d = True must be an int >= 1"),
        (lambda: Ball(1, 2.0), "d = 2.0 must be an int >= 1"),
        (lambda: Polytope([]), "vertices is of shape (0,)"),
        (lambda: Polytope([1, 2]), "vertices is of shape (2,)"),
    ],
)
def test_what_is_no_set_is_named(make, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        make()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (None, "X is None; it must be an array of shape (2, 3)"),
        ([[1, 2, 3], [4, 5]], "it must be an array of shape (2, 3)"),
        ([[1, 2, 3]], "X is of shape (1, 3); it must be of shape (2, 3)"),
        ([[1, 2], [3, 4]], "X is of shape (2, 2)"),
        ([[[1]]], "X is of shape (1, 1, 1)"),
        ([["1", "2", "3"]] * 2, "features must be numbers"),
        ([[1, 2, None]] * 2, "X has dtype object"),
        (np.ma.masked_array([[1.0, 2.0, 3.0]] * 2, [[0, 0, 1]] * 2), "or gaps"),
        ([[1, 2, 3], [4, math.nan, 6]], "X[1][1] is nan"),
        ([[1, 2, math.inf], [4, 5, 6]], "X[0][2] is inf"),
        ([[1, 2, 3], [1e51, 5, 6]], "X[1][0] is 1e+51"),
    ],
)
def test_what_are_no_features_is_named(rows, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        feature_rows(rows, "X", 3, 2)


def test_features_are_a_copy():
    given = np.ones((2, 2))
    rows = feature_rows(given, "X")
    given[0, 0] = 7.0
    assert rows[0, 0] == 1.0


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e40])
def test_norms_neither_vanish_nor_overflow(scale):
    assert np.allclose(
        norms(np.array([[3.0, 4.0], [0.0, 0.0]]) * scale), [5 * scale, 0], rtol=1e-12, atol=0
    )


def test_a_row_that_is_too_long_is_named():
    within(np.array([[3.0, 4.0]]), 5.0, "context")
    with pytest.raises(InvalidInput, match=re.escape("context[1] has norm 5, above feature_bound")):
        within(np.array([[1.0, 0.0], [3.0, 4.0]]), 4.9, "context")
