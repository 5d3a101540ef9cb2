"""Any k base arms, against enumeration."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import oracles as naive
from surefoot.errors import InvalidInput
from surefoot.oracles import TopK

quarters = st.integers(-8, 8).map(lambda n: n / 4)


@given(st.lists(quarters | st.just(-0.0), min_size=1, max_size=8), st.data())
def test_the_largest_sum_ties_to_the_lexicographically_smallest(weights, data):
    k = data.draw(st.integers(1, len(weights)))
    arms = naive.subsets(len(weights), [k])
    assert TopK(k)(weights) == naive.best(arms, weights)[0]


@given(
    st.lists(st.floats(-1e300, 1e300) | st.sampled_from([0.1, 0.2]), min_size=1, max_size=60),
    st.data(),
)
def test_it_is_a_stable_sort_cut_off(weights, data):
    k = data.draw(st.integers(1, len(weights)))
    falling = sorted(range(len(weights)), key=lambda e: -weights[e])
    assert TopK(k)(weights) == tuple(sorted(falling[:k]))


def test_too_few_weights_are_refused_and_more_are_not():
    with pytest.raises(InvalidInput, match=r"TopK\(k=3\) got 2 weights; give at least 3"):
        TopK(3)([1.0, 2.0])
    assert TopK(3)([1.0, 2.0, 3.0]) == (0, 1, 2)
    assert TopK(3)([1.0, 2.0, 3.0, 4.0]) == (1, 2, 3)


@pytest.mark.parametrize("k", [0, -1, 1.0, True, "2", None])
def test_a_k_that_is_no_count_is_refused(k):
    with pytest.raises(InvalidInput, match=r"k = .* must be an int >= 1"):
        TopK(k)
