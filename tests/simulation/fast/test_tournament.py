"""The tournament's certain winner is the first largest line, now and until it says so."""

import math

from hypothesis import given
from hypothesis import strategies as st

from surefoot.simulation.fast.kinetic import (
    FAIL,
    LEVEL,
    LOST,
    SLOPE,
    WIN,
    against,
    begin,
    put,
    settle,
    size_of,
)

MARGIN = 1e-12
levels = st.integers(0, 6).map(lambda n: n / 4)
slopes = st.integers(1, 6).map(lambda n: 1 / math.sqrt(n))


def tournament(lines):
    size = size_of(len(lines))
    rest = size - len(lines)
    return (
        [a for a, _ in lines] + [LOST] * rest, [w for _, w in lines] + [0.0] * rest,
        [-1] * (2 * size), [math.inf] * (2 * size), [0] * (2 * size),
    )  # fmt: skip


def largest(state, n, s, but=-1):
    """The largest value and the first line that has it, exactly or nearly."""
    values = [state[LEVEL][k] + s * state[SLOPE][k] for k in range(n) if k != but]
    return max(values, default=LOST)


@given(
    st.lists(st.tuples(levels, slopes), min_size=1, max_size=9),
    st.lists(st.tuples(st.integers(0, 8), levels, slopes, st.integers(0, 5)), max_size=12),
)
def test_whoever_is_certain_to_win_does(lines, changes):
    n, s = len(lines), 1.0
    state = tournament(lines)
    begin(state, s, MARGIN)
    for arm, level, slope, later in changes:
        state[LEVEL][arm % n], state[SLOPE][arm % n] = level, slope
        put(state, arm % n, s, MARGIN)
        s += later / 7
        settle(state, s, MARGIN)
        winner, sure = state[WIN][1], state[FAIL][1]
        if sure < s:
            continue  # in doubt: the plain text decides
        value = state[LEVEL][winner] + s * state[SLOPE][winner]
        assert value >= largest(state, n, s) - 1e-15
        equal = [k for k in range(n) if (state[LEVEL][k], state[SLOPE][k])
                 == (state[LEVEL][winner], state[SLOPE][winner])]  # fmt: skip
        assert winner == equal[0]
        for ahead in (min(sure, s + 3), (s + min(sure, s + 3)) / 2):
            assert state[LEVEL][winner] + ahead * state[SLOPE][winner] >= largest(state, n, ahead)
        now, after, certain = against(state, winner, s, s + 0.1)
        assert now == largest(state, n, s, winner)
        if certain >= s + 0.1:
            assert after == largest(state, n, s + 0.1, winner)


def test_near_ties_are_left_in_doubt_and_equal_lines_are_not():
    for lines, certain in (
        ([(0.5, 1.0), (0.5, 1.0)], True),
        ([(0.5, 1.0), (0.5 + 1e-14, 1.0)], False),
        ([(0.5, 1.0), (1.5 + 1e-14, 0.0)], False),
        ([(0.5, 1.0), (0.4, 1.0)], True),
    ):
        state = tournament(lines)
        begin(state, 1.0, MARGIN)
        assert (state[FAIL][1] >= 1.0) is certain
        assert certain is False or state[WIN][1] == 0


def test_one_line_wins_for_ever():
    state = tournament([(0.5, 1.0)])
    begin(state, 1.0, MARGIN)
    assert (state[WIN][1], state[FAIL][1]) == (0, math.inf)
    assert against(state, 0, 1.0, 2.0) == (LOST, LOST, math.inf)
