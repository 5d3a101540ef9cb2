"""The fast driver of KL-UCB and AdaUCB decides as the plain text does."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from reference import curves_case, differences
from surefoot.kernels import registry
from surefoot.simulation.plan import Plan

MAKERS = {"KLUCB": sf.KLUCB, "KLUCB, c=3": lambda K: sf.KLUCB(K, c=3), "AdaUCB": sf.AdaUCB}
NANO = 10**9


@pytest.mark.parametrize(
    "part", [*range(3), *(pytest.param(n, marks=pytest.mark.slow) for n in range(3, 20))]
)
def test_no_decision_differs_in_50_random_cases(part):
    for seed in range(50 * part, 50 * (part + 1)):
        assert differences(curves_case(np.random.default_rng(seed))) == [], f"seed {seed}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_no_decision_differs_in_10000_random_cases(part):
    for seed in range(10**6 + 1000 * part, 10**6 + 1000 * (part + 1)):
        assert differences(curves_case(np.random.default_rng(seed))) == [], f"seed {seed}"


def test_two_means_that_tie_beside_a_tangent_above_one_of_them():
    """Both indices are 1/2; the bound on the second, beside a vertical tangent, is above that."""
    assert differences(curves_case(np.random.default_rng(10312))) == []


def test_a_default_that_wins_for_a_while():
    """KL-UCB comes back as its radius grows."""
    environment, floor = sf.BernoulliArms([0.3, 0.2]), sf.RewardFloor(0.5, 0.5)
    agents = {"KL": sf.GenCB(sf.KLUCB(2), floor), "Ada": sf.GenCB(sf.AdaUCB(2), floor)}
    assert differences(Plan(agents, environment, 20_000, 1)) == []


@st.composite
def arms(draw):
    """Plays and exact sums of some played arms."""
    plays = st.one_of(st.integers(1, 3), st.integers(1, 60), st.integers(1, 10**6))
    some = []
    for N in draw(st.lists(plays, min_size=1, max_size=5)):
        ends = st.sampled_from([0, N * NANO])
        some.append((N, draw(ends | st.integers(0, N * NANO)), 0))
    return tuple(map(list, zip(*some, strict=True)))


@pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
@settings(max_examples=60, deadline=None)
@given(
    state=arms(), turns=st.tuples(*[st.integers(2, 10**9)] * 2),
    level=st.floats(0, 1.5) | st.just(math.inf),
)  # fmt: skip
def test_no_tangent_is_below_the_index_anywhere(make, state, turns, level):
    record = make(len(state[0])).record
    s, later = (registry.scale(record, m) for m in turns)
    for k in range(len(state[0])):
        p, y, x, w = registry.tangent(record, state, k, s, level)
        for at in (s, later):
            index = registry.index(record, state, k, at, -math.inf)
            assert p <= index + 1e-12
            assert index <= max(p, y + (at - x) * w) + 3e-10
        if p < level < 1 and y == level:
            assert x == pytest.approx(registry.rises(record, state, k, level), rel=1e-12)


@pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
@settings(max_examples=60, deadline=None)
@given(state=arms(), turn=st.integers(2, 10**9), level=st.floats(0, 1.5))
def test_an_index_has_risen_to_a_level_where_it_says(make, state, turn, level):
    record = make(len(state[0])).record
    s = registry.scale(record, turn)
    for k in range(len(state[0])):
        index, at = (
            registry.index(record, state, k, s, -math.inf),
            registry.rises(record, state, k, level),
        )
        if at + 1e-9 * (1 + s) <= s:
            assert index > level - 1e-9
        elif at - 1e-9 * (1 + s) >= s:
            assert index < level + 1e-9


@pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
@settings(max_examples=200, deadline=None)
@given(
    state=arms(), level=st.floats(0, 1.5) | st.floats(0, 1),
    rewards=st.lists(st.sampled_from([0.0, 1.0]) | st.floats(0, 1), min_size=1, max_size=20),
)  # fmt: skip
def test_plays_raise_a_curve_by_no_more_than_they_say(make, state, level, rewards):
    record = make(len(state[0])).record
    for k in range(len(state[0])):
        before, most = max(0.0, registry.rises(record, state, k, level)), 0.0
        for reward in rewards:
            registry.update(record, state, k, reward)
            most += registry.adds(record, state, k, level, reward)
        after = max(0.0, registry.rises(record, state, k, level))
        assert after <= before + most + 1e-9 * (1 + after)


def test_what_klucb_says_of_a_play_near_the_level_is_close():
    state, record = ([1000], [790 * NANO], [0]), sf.KLUCB(1).record
    for reward in (0.0, 1.0, 0.8):
        before = registry.rises(record, state, 0, 0.8)
        registry.update(record, state, 0, reward)
        raised = registry.rises(record, state, 0, 0.8) - before
        said = registry.adds(record, state, 0, 0.8, reward)
        assert raised <= said <= raised + 0.005


@pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
def test_the_scale_stays_below_its_tangents(make):
    record = make(1).record
    for m in (2, 3, 4, 9, 100, 10**6):
        for more in (1, 2, 5, 1000, m):
            rise = more * registry.slope(record, m)
            assert registry.scale(record, m + more) <= registry.scale(record, m) + rise + 1e-12
