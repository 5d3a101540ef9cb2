from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.environments import BernoulliArms, CombinatorialArms
from surefoot.environments._kernels import draws_for
from surefoot.environments.linear import embedding
from surefoot.errors import InvalidInput
from surefoot.oracles import Enumerated, TopK


@given(st.integers(1, 7), st.integers(2, 5), st.integers(0, 999), st.data())
def test_the_best_super_arm_is_the_best_of_all(n, d, seed, data):
    k = data.draw(st.integers(1, n))
    env = CombinatorialArms.embedded(n, d, TopK(k), seed)
    values = {action: env.value(action) for action in combinations(range(n), k)}
    assert env.best == max(values.values())
    for action, value in values.items():
        assert value == pytest.approx(sum(env.means[e] for e in action), abs=1e-12)
    assert env.reward_range == (0, k)


@given(st.integers(0, 2**64 - 1), st.integers(1, 10**9))
def test_each_base_arm_pays_as_a_bernoulli_arm(key, turn):
    X, theta = embedding(5, 3, 2)
    env = CombinatorialArms(X, theta, TopK(2))
    plain = BernoulliArms(env.means)
    assert draws_for(env)
    assert env.semi_bandit
    for e in range(5):
        assert env.pull(key, turn, e) == plain.pull(key, turn, e)
    assert env.variances.tolist() == (env.means * (1 - env.means)).tolist()


def worst(super_arm, weights):
    return min(weights[e] for e in super_arm)


def test_f_is_of_the_true_means():
    X, theta = [[1, 0], [0, 1], [1, 1]], [0.25, 0.5]
    pairs = [(0, 1), (1, 2), (0, 2)]
    env = CombinatorialArms(X, theta, Enumerated(pairs, worst), worst)
    assert [env.value(pair) for pair in pairs] == [0.25, 0.5, 0.25]
    assert env.best == 0.5
    own = CombinatorialArms(X, theta, Enumerated(pairs, worst))
    assert (own.f, own.best) == (worst, 0.5)
    assert CombinatorialArms(X, theta, Enumerated(pairs)).best == 1.25


class Sized:
    """An oracle that says what it is told of its size."""

    def __init__(self, size):
        self.size = size

    def __call__(self, weights):
        return (0,)


@pytest.mark.parametrize(
    ("oracle", "f", "said"),
    [
        (None, None, "oracle = None must be callable"),
        (np.argmax, None, "size = None of the oracle must be a pair of ints"),
        (Sized(2), None, "size = 2 of the oracle"),
        (Sized((1, 2, 3)), None, r"size = \(1, 2, 3\) of the oracle"),
        (Sized((0, 0)), None, r"size = \(0, 0\) of the oracle"),
        (Sized((1, 1.0)), None, r"size = \(1, 1.0\) of the oracle"),
        (Sized((1, True)), None, r"size = \(1, True\) of the oracle"),
        (Enumerated([[0]], n_base=7), None, "the oracle is for 7 base arms, X has 2"),
        (TopK(1), "sum", "f = 'sum' must be a function"),
    ],
)
def test_refused(oracle, f, said):
    with pytest.raises(InvalidInput, match=said):
        CombinatorialArms([[1], [0.5]], [0.5], oracle, f)


def test_bad_base_arms_are_refused_as_linear_arms_are():
    with pytest.raises(InvalidInput, match=r"arm 0 has mean <x, theta> = 2\.0"):
        CombinatorialArms([[2]], [1], TopK(1))
