from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import environments as naive
from surefoot._exact import shown
from surefoot.environments import BernoulliArms, LinearArms
from surefoot.environments._kernels import draws_for
from surefoot.environments.linear import embedding
from surefoot.errors import InvalidInput

sizes = st.tuples(st.integers(1, 12), st.integers(2, 9), st.integers(0, 2**70))


@given(sizes)
def test_means_of_the_embedding_surely_are_probabilities(size):
    X, theta = embedding(*size)
    means = naive.linear_means(X.tolist(), theta.tolist())
    assert all(0 <= mean <= 1 for mean in means)
    assert LinearArms(X, theta).means.tolist() == list(map(float, means))


@given(sizes)
def test_norms_of_the_embedding(size):
    X, theta = embedding(*size)
    assert X.shape == size[:2]
    for norm, most in [*((row, 2) for row in X), (theta, Fraction(1, 2))]:
        square = sum(naive.fraction(x) ** 2 for x in norm.tolist())
        assert most - Fraction(1, 10**12) < square <= most
    assert (X[:, -1] == 1).all()
    assert theta[-1] == 0.5


def test_directions_of_the_embedding_are_uniform():
    X, _ = embedding(4000, 4, seed=5)
    assert np.abs(X[:, :3].mean(axis=0)).max() < 4 * np.sqrt(1 / 3 / 4000)
    # On the sphere of R^3 each coordinate is uniform on [-1, 1].
    counts = np.histogram(X[:, 0], bins=8, range=(-1, 1))[0]
    assert ((counts - 500) ** 2 / 500).sum() < 24.3  # chi-square, 7 degrees, 1 in 1000


def test_equal_seeds_give_equal_instances():
    one, other = embedding(5, 4, 7), embedding(5, 4, np.random.SeedSequence(7))
    assert (one[0] == other[0]).all()
    assert (one[1] == other[1]).all()
    assert (one[0] != embedding(5, 4, [7, 1])[0]).any()


@given(st.integers(0, 2**64 - 1), st.integers(1, 10**9), sizes)
def test_rewards_are_those_of_bernoulli_arms(key, turn, size):
    linear = LinearArms.embedded(*size)
    plain = BernoulliArms(linear.means)
    assert draws_for(linear)
    for arm in range(linear.n_arms):
        assert linear.pull(key, turn, arm) == plain.pull(key, turn, arm)
        assert linear.value(arm) == plain.value(arm)
    assert (linear.best, linear.variances.tolist()) == (plain.best, plain.variances.tolist())


def test_a_float_means_its_shortest_decimal():
    # As binary fractions 0.7 + 0.1 + 0.2 differs from 1; in decimals it does not.
    assert LinearArms([[0.7, 0.1, 0.2]], [1, 1, 1]).means.tolist() == [1.0]
    with pytest.raises(InvalidInput, match="outside"):
        LinearArms([[0.7, 0.1, np.nextafter(0.2, 1)]], [1, 1, 1])


def test_features_are_kept_and_cannot_be_changed():
    X = np.array([[0.5, 0.25]])
    arms = LinearArms(X, (1, 2))
    X[0, 0] = 9
    assert (arms.X.tolist(), arms.theta.tolist()) == ([[0.5, 0.25]], [1.0, 2.0])
    for array in (arms.X, arms.theta):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert repr(arms) == "LinearArms(1 arms, 2 features)"


@pytest.mark.parametrize(
    ("X", "theta", "said"),
    [
        ([[1, 0], [0, 2]], [0.5, 1], "arm 1 has mean <x, theta> = 2.0, outside [0, 1]"),
        ([[-1, 0]], [0.5, 1], "arm 0 has mean <x, theta> = -0.5, outside"),
        ([], [1], "X is empty"),
        ([[]], [1], "X[0] is empty"),
        ([[1]], [], "theta is empty"),
        ([[1], [1, 1]], [1], "X[1] has 2 features, X[0] 1"),
        ([[1, 1]], [1], "X has 2 features an arm, theta 1"),
        ([[float("nan")]], [1], "X[0][0] must be finite, got nan"),
        ([[1]], [float("inf")], "theta[0] must be finite, got inf"),
        ([["1"]], [1], "X[0][0] must be a number, got '1'"),
        (np.ones(3), [1], "must be a list of rows"),
        (np.ones((1, 1, 1)), [1], "must be a list of rows"),
        (None, [1], "X = None must be a list of rows"),
        ([1], [1], "X[0] = 1 must be a list of numbers"),
        ("ab", [1], "X = 'ab' must be a list of rows"),
        ([[1]], 1, "theta = 1 must be a list of numbers"),
        (np.ma.array([[0.5]], mask=True), [1], "X[0][0] must be a number"),
    ],
    ids=shown,
)
def test_refused(X, theta, said):
    with pytest.raises(InvalidInput) as error:
        LinearArms(X, theta)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ((0, 2, 1), "n_arms = 0 must be an int >= 1"),
        ((True, 2, 1), "n_arms = True"),
        ((1, 1, 1), "d = 1 must be an int >= 2"),
        ((1, 2.0, 1), "d = 2.0"),
        ((1, 2, None), "seed = None must be an int >= 0"),
        ((1, 2, -1), "seed = -1"),
        ((1, 2, "x"), "seed = 'x'"),
        ((1, 2, True), "seed = True"),
    ],
    ids=shown,
)
def test_no_embedding(size, said):
    with pytest.raises(InvalidInput, match=said):
        embedding(*size)
