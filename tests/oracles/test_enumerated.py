"""A list of super arms, against a look at each in fractions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import oracles as naive
from surefoot.errors import InvalidInput
from surefoot.oracles import Enumerated

N = 5
quarters = st.integers(-8, 8).map(lambda n: n / 4)
lists = st.lists(
    st.sets(st.integers(0, N - 1), min_size=1), min_size=1, max_size=12, unique_by=frozenset
)


@given(lists, st.lists(quarters, min_size=N, max_size=N))
def test_the_largest_sum_ties_to_the_lexicographically_smallest(super_arms, weights):
    arms = [tuple(sorted(arm)) for arm in super_arms]
    assert Enumerated(super_arms, n_base=N)(weights) == naive.best(arms, weights)[0]


@given(lists, st.lists(st.floats(-1, 1), min_size=N, max_size=N))
def test_no_super_arm_beats_it_by_more_than_one_rounding(super_arms, weights):
    arm = Enumerated(super_arms, n_base=N)(weights)
    most = max(naive.total(other, weights) for other in super_arms)
    assert float(naive.total(arm, weights)) == float(most)


def test_a_sum_does_not_depend_on_the_order_of_its_terms():
    """Added from the left, .3 + .2 + .1 is below .1 + .2 + .3."""
    assert Enumerated([[0, 1, 2], [3, 4, 5]])([0.3, 0.2, 0.1, 0.1, 0.2, 0.3]) == (0, 1, 2)


def test_cancelling_weights_hide_no_difference():
    assert Enumerated([[0, 1, 2], [3]])([1e16, 1.0, -1e16, 0.5]) == (0, 1, 2)
    assert Enumerated([[0, 1, 2], [3]])([1e16, 1.0, -1e16, 1.5]) == (3,)


def test_super_arms_are_kept_in_order_whatever_order_they_came_in():
    oracle = Enumerated([[2, 0], np.array([1]), {0, 1}])
    assert oracle.super_arms == ((0, 1), (0, 2), (1,))
    assert (oracle.n_base, oracle.size) == (3, (1, 2))
    assert oracle == Enumerated([[1], [0, 1], [0, 2]])


def test_base_arms_of_no_super_arm_may_come_last():
    assert Enumerated([[0], [1]], n_base=4)([1.0, 2.0, 9.0, 9.0]) == (1,)
    with pytest.raises(InvalidInput, match="got 4 weights for 2 base arms"):
        Enumerated([[0], [1]])([1.0, 2.0, 9.0, 9.0])


@given(lists, st.lists(quarters, min_size=N, max_size=N))
def test_any_f_is_maximised_ties_to_the_lexicographically_smallest(super_arms, weights):
    def f(arm, w):
        return max(w[e] for e in arm)

    arms = sorted(tuple(sorted(arm)) for arm in super_arms)
    values = [f(arm, weights) for arm in arms]
    best = arms[values.index(max(values))]
    assert Enumerated(super_arms, f, n_base=N)(weights) == best


def test_f_cannot_change_the_weights():
    def f(arm, w):
        w[0] = 9.0
        return 1.0

    w = np.zeros(2)
    with pytest.raises(ValueError, match="read-only"):
        Enumerated([[0], [1]], f)(w)
    assert w.tolist() == [0.0, 0.0]
    assert w.flags.writeable


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, "1", 1j])
def test_an_f_that_returns_no_finite_number_is_refused(value):
    with pytest.raises(InvalidInput, match=r"f returned .* for super arm \(0,\)"):
        Enumerated([[0], [1]], lambda arm, w: value)([1.0, 1.0])


def test_an_oracle_with_an_f_cannot_be_saved():
    with pytest.raises(InvalidInput, match="cannot be saved as JSON; build the oracle anew"):
        Enumerated([[0]], lambda arm, w: 1.0).config()


@pytest.mark.parametrize(
    ("super_arms", "message"),
    [
        ([], "super_arms is empty"),
        (None, "super_arms = None must be a list of lists"),
        ("01", "super_arms = '01' must be a list of lists"),
        ([0, 1], r"super_arms\[0\] is 0; it must be a list"),
        ([[0], []], r"super_arms\[1\] is empty"),
        ([[0, 0]], r"super_arms\[0\] holds base arm 0 twice"),
        ([[0], [3]], r"super_arms\[1\] holds 3; base arms are numbered 0\.\.2"),
        ([[0, 1], [2], [1, 0]], r"super_arms\[2\] is super_arms\[0\] again, \(0, 1\)"),
    ],
)
def test_a_list_that_is_none_is_refused(super_arms, message):
    with pytest.raises(InvalidInput, match=message):
        Enumerated(super_arms, n_base=3)


def test_an_f_that_is_no_function_is_refused():
    with pytest.raises(InvalidInput, match="f = 'sum' must be a function"):
        Enumerated([[0]], "sum")
