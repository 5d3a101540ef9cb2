"""So many base arms of each group, against enumeration."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import oracles as naive
from surefoot.errors import InvalidInput
from surefoot.oracles import PartitionMatroid

quarters = st.integers(-8, 8).map(lambda n: n / 4)


@st.composite
def cases(draw):
    """Groups, a capacity for each (one of them above 0), and weights."""
    home = draw(st.lists(st.integers(0, 2), min_size=1, max_size=7))
    groups = [[e for e, j in enumerate(home) if j == group] for group in set(home)]
    capacity = [draw(st.integers(0, len(group))) for group in groups]
    capacity[0] = capacity[0] or 1
    return groups, capacity, draw(st.lists(quarters, min_size=len(home), max_size=len(home)))


@given(cases())
def test_exactly_so_many_of_each_group(case):
    groups, capacity, weights = case
    arms = [
        arm
        for arm in naive.subsets(len(weights), range(len(weights) + 1))
        if all(len(set(arm) & set(g)) == c for g, c in zip(groups, capacity, strict=True))
    ]
    assert PartitionMatroid(groups, capacity)(weights) == naive.best(arms, weights)[0]


@given(cases(), st.integers(0, 3))
def test_at_most_so_many_of_each_group_ties_to_the_fewest(case, more):
    groups, capacity, weights = case
    capacity = [c + more if c else 0 for c in capacity]
    arms = [
        arm
        for arm in naive.subsets(len(weights), range(1, len(weights) + 1))
        if all(len(set(arm) & set(g)) <= c for g, c in zip(groups, capacity, strict=True))
    ]
    fewest_first = min(naive.best(arms, weights), key=lambda arm: (len(arm), arm))
    assert PartitionMatroid(groups, capacity, exactly=False)(weights) == fewest_first


def test_one_capacity_serves_all_groups_and_is_one_unless_given():
    groups = [[0, 1], [2, 3]]
    assert (
        PartitionMatroid(groups) == PartitionMatroid(groups, 1) == PartitionMatroid(groups, [1, 1])
    )
    assert PartitionMatroid(groups, 2)([1.0, 2.0, 3.0, 4.0]) == (0, 1, 2, 3)


def test_size_counts_what_can_be_played():
    groups = [[0, 1], [2, 3, 4]]
    assert PartitionMatroid(groups, [1, 2]).size == (3, 3)
    assert PartitionMatroid(groups, [5, 2], exactly=False).size == (1, 4)


def test_where_nothing_pays_the_lowest_of_the_best_is_played_whatever_group_it_is_in():
    oracle = PartitionMatroid([[2], [0, 1]], exactly=False)
    assert oracle([-2.0, -1.0, -1.0]) == (1,)
    assert oracle([0.0, 0.0, 0.0]) == (0,)


def test_a_group_of_capacity_zero_is_never_played():
    oracle = PartitionMatroid([[0], [1, 2]], [0, 1], exactly=False)
    assert oracle([9.0, -2.0, -1.0]) == (2,)


@pytest.mark.parametrize(
    ("groups", "capacity", "message"),
    [
        ([[0, 1], [1, 2]], 1, r"base arm 1 is in groups\[0\] and in groups\[1\]"),
        ([[0], [2]], 1, "base arm 1 is in no group, but 2 is"),
        ([[0], []], 1, r"groups\[1\] is empty"),
        ([], 1, "groups is empty"),
        ("ab", 1, "groups = 'ab' must be a list of lists"),
        ([0, 1], 1, r"groups\[0\] is 0; it must be a list"),
        ([[0, 0]], 1, r"groups\[0\] holds base arm 0 twice"),
        ([[0], [1]], 2, r"groups\[0\] has 1 base arms but capacity 2; .* exactly=False"),
        ([[0], [1]], 0, "capacity = 0 must be an int >= 1"),
        ([[0], [1]], [0, 0], "capacity is 0 for every group"),
        ([[0], [1]], [1], "got 1 capacities for 2 groups"),
        ([[0], [1]], [1, -1], r"capacity\[1\] = -1 must be an int >= 0"),
        ([[0], [1]], [1, 0.5], r"capacity\[1\] = 0.5 must be an int >= 0"),
        ([[0], [1]], None, "capacity = None must be an int >= 1"),
    ],
)
def test_groups_that_are_no_partition_or_too_small_are_refused(groups, capacity, message):
    with pytest.raises(InvalidInput, match=message):
        PartitionMatroid(groups, capacity)
