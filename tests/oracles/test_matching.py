"""Matchings of rows to columns, against enumeration."""

import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from naive import oracles as naive
from surefoot.errors import InvalidInput
from surefoot.oracles import Matching

quarters = st.integers(-8, 8).map(lambda n: n / 4)


@st.composite
def cases(draw, weights=quarters):
    """A shape, pairs that are forbidden (not all of them), and weights."""
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    if draw(st.booleans()):
        rows, columns = columns, rows
    pairs = st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1))
    forbidden = draw(st.lists(pairs, max_size=6))
    assume(len(set(forbidden)) < rows * columns)
    n = rows * columns
    return (rows, columns), forbidden, draw(st.lists(weights, min_size=n, max_size=n))


@given(cases())
def test_as_many_pairs_as_possible_whatever_they_weigh(case):
    shape, forbidden, weights = case
    arms = naive.matchings(*shape, forbidden)
    pairs = max(map(len, arms))
    oracle = Matching(shape, forbidden, cover="most")
    assert oracle(weights) in naive.best([arm for arm in arms if len(arm) == pairs], weights)
    assert oracle.size == (pairs, pairs)


@given(cases())
def test_only_what_pays(case):
    shape, forbidden, weights = case
    arms = naive.matchings(*shape, forbidden)
    oracle = Matching(shape, forbidden, cover="any")
    arm = oracle(weights)
    assert arm in naive.best(arms, weights)
    assert len(arm) == 1 or min(weights[e] for e in arm) > 0
    assert oracle.size == (1, max(map(len, arms)))


@given(cases())
def test_a_full_cover_is_found_or_the_crowd_named_that_prevents_it(case):
    shape, forbidden, weights = case
    arms = [arm for arm in naive.matchings(*shape, forbidden) if len(arm) == min(shape)]
    if arms:
        assert Matching(shape, forbidden)(weights) in naive.best(arms, weights)
        return
    with pytest.raises(InvalidInput, match="forbidden leaves") as refused:
        Matching(shape, forbidden)
    crowd, left = (
        str(refused.value)
        .split(";")[0]
        .split(", and each")[0]
        .split(" no " if " no " in str(refused.value) else " only ")
    )
    side = 0 if "row" in crowd else 1
    members = {int(number) for number in re.findall(r"\d+", crowd)}
    partners = {int(number) for number in re.findall(r"\d+", left)}
    permitted = {
        (r, c) for r in range(shape[0]) for c in range(shape[1]) if (r, c) not in forbidden
    }
    assert partners == {pair[1 - side] for pair in permitted if pair[side] in members}
    assert len(members) > len(partners)


@given(cases(weights=st.floats(-1, 1)), st.sampled_from(["most", "any"]))
def test_no_matching_beats_it_by_more_than_rounding(case, cover):
    shape, forbidden, weights = case
    arms = naive.matchings(*shape, forbidden)
    if cover == "most":
        arms = [arm for arm in arms if len(arm) == max(map(len, arms))]
    most = max(naive.total(arm, weights) for arm in arms)
    got = naive.total(Matching(shape, forbidden, cover)(weights), weights)
    assert float(most - got) <= 50 * 2**-53


def test_a_forbidden_pair_is_not_taken_however_much_it_weighs():
    w = [1e300, -1e300, -1e300, 1e300]
    assert Matching((2, 2), [(0, 0)])(w) == (1, 2)
    assert Matching((2, 2), [(0, 0), (1, 0)], cover="most")([9.0, -5.0, 9.0, -4.0]) == (3,)


def test_small_weights_are_not_lost_beside_forbidden_pairs():
    """A penalty in place of forbidding would swamp a difference of 1e-12."""
    w = [0.5, 0.5 + 1e-12, 0.5, 0.5]
    assert Matching((2, 2), cover="most")(w) == (1, 2)
    assert Matching((2, 2), [(1, 0), (1, 1)], cover="most")(w) == (1,)


def test_forbidden_pairs_come_in_any_order_and_twice():
    again = Matching((2, 2), [(1, 0), (0, 1), (1, 0)])
    assert again == Matching((2, 2), ((0, 1), (1, 0)))
    assert again.forbidden == ((0, 1), (1, 0))


@pytest.mark.parametrize(
    ("shape", "forbidden", "message"),
    [
        ((2, 2), [(0, 0), (0, 1)], 'leaves row 0 no column; permit one, or pass cover="most"'),
        ((3, 1), [(0, 0), (1, 0), (2, 0)], "forbidden holds every pair"),
        ((2, 3), [(0, 0), (1, 0), (0, 2), (1, 2)], "leaves rows 0, 1 only column 1, and each"),
        ((3, 2), [(0, 0), (0, 1), (1, 0), (1, 1)], "leaves columns 0, 1 only row 2, and each"),
        ((2, 2), [(2, 0)], r"forbidden\[0\] = \(2, 0\) lies outside the shape \(2, 2\)"),
        ((2, 2), [(0, -1)], r"a side of forbidden\[0\] = -1 must be an int >= 0"),
        ((2, 2), [(0, 0), 3], r"forbidden\[1\] = 3 must be a pair"),
        ((2, 2), [(0, 0, 0)], r"forbidden\[0\] = \(0, 0, 0\) must be a pair"),
        ((2, 2), None, "forbidden = None must be a list of pairs"),
        ((2,), [], r"shape = \(2,\) must be a pair"),
        (4, [], "shape = 4 must be a pair"),
        ((0, 2), [], "the rows of shape = 0 must be an int >= 1"),
        ((2, 1.5), [], "the columns of shape = 1.5 must be an int >= 1"),
    ],
)
def test_what_cannot_be_matched_is_refused(shape, forbidden, message):
    with pytest.raises(InvalidInput, match=message):
        Matching(shape, forbidden)


def test_an_unknown_cover_is_refused():
    with pytest.raises(InvalidInput, match="cover = 'perfect' must be 'full', 'most' or 'any'"):
        Matching((2, 2), cover="perfect")


def test_equal_weights_give_the_same_matching_every_time():
    oracle = Matching((5, 5), [(0, 0)])
    assert {oracle(np.ones(25)) for _ in range(10)} == {oracle(np.full(25, 1.0))}
