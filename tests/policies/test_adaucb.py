"""AdaUCB finds the indices of its twin, ties exactly, and explores as late as it should."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from naive import adaucb
from surefoot.kernels import registry
from surefoot.live.configuration import grown
from surefoot.policies.adaucb import crowd

NANO = 10**9


@st.composite
def arms(draw):
    """Plays, exact sums and open plays of some arms, often alike, often at an end of [0, 1]."""
    plays = st.one_of(st.integers(0, 3), st.integers(0, 60), st.integers(0, 10**6))
    some = []
    for N in draw(st.lists(plays, min_size=1, max_size=8)):
        ends = st.sampled_from([0, N * NANO])
        coins = st.integers(0, N).map(lambda wins: wins * NANO)
        waiting = draw(st.sampled_from([0, 0, 1, 7]))
        some.append((N, draw(ends | coins | st.integers(0, N * NANO)), waiting))
    return some + [draw(st.sampled_from(some)) for _ in range(draw(st.integers(0, 4)))]


def taught(some):
    policy = sf.AdaUCB(len(some))
    policy.restore({"turns": 0, "arms": [list(row) for row in zip(*some, strict=True)]})
    return policy


def index_of(policy, k, m, best=-math.inf):
    scale = registry.scale(policy.record, m)
    return registry.index(policy.record, policy._state, k, scale, best)


@settings(max_examples=80)
@given(some=arms(), turn=st.integers(1, 10**9))
def test_indices_are_those_of_the_twin(some, turn):
    policy = taught(some)
    plays, sums, waiting = zip(*some, strict=True)
    exact = adaucb.indices(plays, [Fraction(S, NANO) for S in sums], turn, waiting)
    for k, expected in enumerate(exact):
        # Near q = p the root moves by sqrt(error / 2N): the twin's logarithm is of m/H.
        assert index_of(policy, k, turn) == pytest.approx(expected, abs=2e-7)


@settings(max_examples=80)
@given(some=arms(), turn=st.integers(1, 10**9))
def test_passing_arms_over_never_changes_the_decision(some, turn):
    policy = taught(some)
    every = [index_of(policy, k, turn) for k in range(len(some))]
    first = every.index(max(every))
    assert policy.peek(turn) == (first, every[first])
    assert policy.peek(turn, list(range(len(some)))) == (first, every[first])
    for k in range(len(some)):
        for best in every:
            assert (index_of(policy, k, turn, best) > best) == (every[k] > best)


@settings(max_examples=40)
@given(some=arms(), turn=st.integers(1, 10**9), arm=st.integers(0, 11))
def test_an_index_falls_or_stays_as_another_arm_is_played(some, turn, arm):
    policy, arm = taught(some), arm % len(some)
    before = [index_of(policy, k, turn) for k in range(len(some))]
    policy.update(arm, 0.5, None)
    for k, index in enumerate(before):
        assert k == arm or index_of(policy, k, turn) <= index + 1e-12


@given(counts=st.lists(st.integers(0, 10**6), min_size=2, max_size=80))
def test_equal_counts_have_equal_sums_over_the_arms(counts):
    counts = [*counts, counts[0]]
    state = counts, [0] * len(counts), [0] * len(counts)
    assert crowd(state, 0) == crowd(state, len(counts) - 1)
    assert crowd(state, 1) == pytest.approx(adaucb.crowds(counts)[1], rel=1e-12)


def test_by_hand():
    """H = (1 + 1, 1 + 4 ** .5 * 1, ...): two arms of 1 and 4 plays at turn 6."""
    policy = taught([(1, 0, 0), (4, 2 * NANO, 0)])
    assert index_of(policy, 0, 6) == pytest.approx(1 - 2 / 6)  # 1 - exp(-ln(6/2))
    assert index_of(policy, 1, 6) == 0.5  # H = 4 + 2 = 6, and ln 1 = 0
    assert index_of(policy, 1, 5) == 0.5  # never a radius below 0
    assert policy.peek(6)[0] == 0


def test_voided_plays_give_the_other_arms_their_width_back():
    """The plays of one arm narrow the others' bounds; plays that are voided do so no longer."""
    told = [(3, 2 * NANO, 0), (20, 11 * NANO, 0)]
    policy = taught(told)
    for _ in range(60):
        policy.opened(0, None)
    narrow = policy.peek(200, [1])
    assert policy.peek(200)[0] == 1
    for _ in range(60):
        policy.closed(0, None)
    assert policy.peek(200, [1])[1] > narrow[1]
    assert policy.peek(200) == taught(told).peek(200)


def test_arms_added_later_are_counted_in_h():
    policy = taught([(30, 20 * NANO, 0), (5, 2 * NANO, 1)])
    more = grown(policy, ["new"])
    assert index_of(more, 0, 50) == index_of(policy, 0, 50)
    assert more.peek(50)[0] == 2
    more.update(2, 1.0, None)
    same = taught([(30, 20 * NANO, 0), (5, 2 * NANO, 1), (1, NANO, 0)])
    assert [index_of(more, k, 90) for k in range(3)] == [index_of(same, k, 90) for k in range(3)]
    assert more.peek(90) == same.peek(90)


def test_an_arm_that_may_not_be_played_stays_in_h():
    policy = taught([(30, 20 * NANO, 0), (5, 2 * NANO, 0), (9, 9 * NANO, 0)])
    alone = taught([(30, 20 * NANO, 0), (5, 2 * NANO, 0)])
    score = max(index_of(policy, k, 90) for k in (0, 1))
    assert policy.peek(90, [0, 1])[1] == score < alone.peek(90)[1]


def test_it_regrets_less_than_klucb_on_shuffled_arms():
    means = [0.35, 0.8, 0.5, 0.2, 0.65, 0.7]
    agents = {"Ada": sf.Plain(sf.AdaUCB(6)), "KL": sf.Plain(sf.KLUCB(6))}
    found = sf.simulate(agents, sf.BernoulliArms(means), horizon=3000, runs=12, seed=3).summary()
    assert found["Ada"]["regret"]["mean"] < 0.7 * found["KL"]["regret"]["mean"]
