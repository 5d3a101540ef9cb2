"""KL-UCB finds the root Brent's method finds; passing arms over never changes a decision."""

import math
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import klucb
from surefoot import KLUCB
from surefoot.errors import InvalidInput
from surefoot.policies.klucb import KLUCBRecord, _index, _scale

NANO = 10**9


@st.composite
def arms(draw):
    """Plays and exact sums of some arms, often alike, often at an end of [0, 1]."""
    plays = st.one_of(st.integers(0, 3), st.integers(0, 60), st.integers(0, 10**6))
    some = []
    for N in draw(st.lists(plays, min_size=1, max_size=8)):
        ends, coins = (
            st.sampled_from([0, N * NANO]),
            st.integers(0, N).map(lambda wins: wins * NANO),
        )
        some.append((N, draw(ends | coins | st.integers(0, N * NANO))))
    return some + [draw(st.sampled_from(some)) for _ in range(draw(st.integers(0, 4)))]


def index(N, S, m, c=0.0, best=-math.inf):
    """The kernel's index of one arm with N plays and a sum of S billionths."""
    record = KLUCBRecord(c)
    return _index(record, ([N], [S], [0]), 0, _scale(record, m), best)


def taught(some, c=0.0):
    policy = KLUCB(len(some), c=c)
    policy.restore({"turns": 0, "arms": [[N for N, _ in some], [S for _, S in some]]})
    return policy


@settings(max_examples=100)
@given(some=arms(), turn=st.integers(1, 10**9), c=st.sampled_from([0.0, 1.0, 3.0]))
def test_index_is_the_root(some, turn, c):
    for N, S in some:
        assert index(N, S, turn, c) == pytest.approx(
            klucb.index(N, Fraction(S, NANO), turn, c), abs=1e-11
        )


@settings(max_examples=100)
@given(some=arms(), turn=st.integers(1, 10**9), c=st.sampled_from([0.0, 3.0]))
def test_passing_arms_over_never_changes_the_decision(some, turn, c):
    every = [index(N, S, turn, c) for N, S in some]
    first = every.index(max(every))
    policy = taught(some, c)
    assert policy.peek(turn) == (first, every[first])
    assert policy.peek(turn, list(range(len(some)))) == (first, every[first])


@settings(max_examples=80)
@given(some=arms(), turn=st.integers(2, 10**6), ahead=st.floats(0, 1))
def test_what_is_passed_over_is_truly_not_above_the_best(some, turn, ahead):
    for N, S in some:
        if N:
            assert (index(N, S, turn, best=ahead) > ahead) == (index(N, S, turn) > ahead)


@settings(max_examples=80)
@given(some=arms(), turn=st.integers(1, 10**9))
def test_index_grows_with_turn_and_with_rewards_and_lies_above_the_mean(some, turn):
    for N, S in some:
        here = index(N, S, turn)
        assert index(N, S, turn + 1 + turn // 8) >= here - 1e-12
        if N:
            assert S / NANO / N - 1e-15 <= here <= 1
            assert index(N, min(S + NANO // 7, N * NANO), turn) >= here - 1e-12
            assert index(2 * N, 2 * S, turn) <= here + 1e-12


def test_at_the_first_turn_the_index_is_the_mean():
    assert [index(4, S * NANO, 1) for S in range(5)] == [0, 0.25, 0.5, 0.75, 1]


@pytest.mark.parametrize("turn", [1, 2, 3, 10**9])
@pytest.mark.parametrize("c", [0.0, 3.0])
def test_an_arm_that_always_paid_has_index_one(turn, c):
    assert index(5, 5 * NANO, turn, c) == 1


@pytest.mark.parametrize("plays", [1, 7, 1000])
def test_an_arm_that_never_paid_has_a_closed_form(plays):
    """kl(0, q) = -ln(1-q)."""
    assert index(plays, 0, 50) == pytest.approx(1 - math.exp(-math.log(50) / plays), abs=1e-12)


def test_a_root_within_rounding_of_one_is_one():
    """The first Newton step starts where kl is infinite to a float."""
    assert index(1, 358993917, 10**10) == pytest.approx(1, abs=1e-12)


def test_an_unplayed_arm_comes_first():
    assert index(0, 0, 1) == math.inf
    assert taught([(3, 3 * NANO), (0, 0), (0, 0)]).peek(4) == (1, math.inf)


def test_ln_ln_counts_from_e_on():
    assert _scale(KLUCBRecord(3.0), 2) == math.log(2)
    assert _scale(KLUCBRecord(3.0), 3) == math.log(3) + 3 * math.log(math.log(3))
    assert _scale(KLUCBRecord(0.0), 3) == math.log(3)


def test_a_run_at_click_rates_is_the_brute_force():
    rng, policy = random.Random(5), KLUCB(6)
    plays, sums = [0] * 6, [Fraction(0)] * 6
    for turn in range(1, 250):
        indices = klucb.indices(plays, sums, turn)
        arm = policy.select(None, None)
        assert indices[arm] >= max(indices) - 1e-11
        assert arm == min(i for i in range(6) if (plays[i], sums[i]) == (plays[arm], sums[arm]))
        reward = float(rng.random() < 0.02 + 0.05 * (arm == 3))
        policy.update(arm, reward, None)
        plays[arm] += 1
        sums[arm] += Fraction(reward)


@pytest.mark.parametrize("c", [-1, math.inf, math.nan, "0", None])
def test_a_constant_that_is_none(c):
    with pytest.raises(InvalidInput, match=r"^c (= .* )?must be (finite|a (finite )?number)"):
        KLUCB(2, c=c)


@pytest.mark.benchmark(group="select, 34 arms at click rates")
def test_speed(benchmark):
    """One turn and what it teaches, late in a run."""
    rng, policy = random.Random(6), KLUCB(34)

    def turn():
        arm = policy.select(None, None)
        policy.update(arm, float(rng.random() < 0.01 + arm / 1000), None)

    for _ in range(2000):
        turn()
    benchmark(turn)
