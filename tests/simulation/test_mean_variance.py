"""The filter never decides wrongly, and where it is in doubt the integers decide."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.floors.mean_variance_account import MeanVarianceAccount, Moments
from surefoot.simulation import mean_variance
from surefoot.simulation.calendar import promise
from surefoot.simulation.mean_variance import BASE, WIDEST, gate_near, sign_near, slack_near

hundredths = st.integers(1, 99).map(lambda n: Decimal(n) / 100)


@st.composite
def floors(draw):
    low, high = draw(st.sampled_from([(0, 1), (-1, 2), (0, 5), (-3, 5), (0, 30)]))
    share, alpha = draw(hundredths), draw(hundredths)
    rho = draw(st.sampled_from([Decimal("0.1"), Decimal("0.5"), 1, 2, 10, 30, 100]))
    check = "viable"
    default = share * high
    try:
        check = draw(st.sampled_from(["viable", "exact", "paper"]))
        return sf.MeanVarianceFloor(default, alpha, rho, (low, high), check)
    except sf.errors.InvalidInput:
        return sf.MeanVarianceFloor(default, alpha, rho, (low, high))


@st.composite
def states(draw, floor):
    """Moments that rewards in the range can have, often with a slack that is nearly nothing."""
    c = floor.constants
    few = st.integers(0, 40)
    counts = draw(st.tuples(few, few, few) | st.tuples(*[st.integers(0, 3 * 10**8)] * 3))
    inner = draw(st.integers(c.low, c.high))
    state = Moments(0, 0, 0)
    for count, reward in zip(counts, (c.low, c.value, inner), strict=True):
        state = state.plus(count, reward)
    short = -c.scaled_slack(state)
    gain = c.scaled_slack(state.plus(1, c.value)) + short
    if draw(st.booleans()) and gain > 0 and 0 < short // gain < 10**8:
        state = state.plus(short // gain + draw(st.integers(-1, 1)), c.value)
    return state


@given(st.data())
def test_what_the_filter_decides_is_what_the_integers_decide(data):
    floor = data.draw(floors())
    state = data.draw(states(floor))
    near = promise(floor)
    digits = divmod(state.squares, BASE)
    exact = MeanVarianceAccount(floor.constants, floor.check, state)
    assert gate_near(near, state.n, state.total, *digits) in (int(exact.affords(0)), -1)
    if state.n:
        slack, error = slack_near(near, state.n, state.total, *digits)
        assert sign_near(slack, error) in (int(floor.constants.kept(state)), -1)
        true, unit = floor.constants.slack(state), floor.constants.unit
        assert abs(Fraction(true, unit) - Fraction(slack)) <= Fraction(error) + Fraction(1, unit)


def test_it_decides_nearly_always():
    """A filter that always doubts would pass the test above."""
    floor = sf.MeanVarianceFloor(0.7, 0.05, 10)
    near, state, sure = promise(floor), Moments(0, 0, 0), 0
    for n in range(1000):
        state = state.plus(1, floor.constants.unit * (n % 3 > 0))
        sure += gate_near(near, state.n, state.total, *divmod(state.squares, BASE)) >= 0
    assert sure == 1000


def test_an_exact_tie_is_a_doubt():
    """alpha*rho*mu0 = 1, n = 3 default plays: the paper's test is 3 >= 2 + 1."""
    floor = sf.MeanVarianceFloor(0.5, 0.5, 4, check="paper")
    state = Moments(0, 0, 0).plus(3, floor.constants.value)
    assert MeanVarianceAccount(floor.constants, "paper", state).affords(0)
    assert gate_near(promise(floor), 3, state.total, *divmod(state.squares, BASE)) == -1


@pytest.mark.parametrize(
    ("margin", "error", "sign"), [(1.0, 0.5, 1), (-1.0, 0.5, 0), (0.5, 0.5, -1), (-0.5, 0.5, -1)]
)
def test_a_sign_is_sure_beyond_the_error_only(margin, error, sign):
    assert sign_near(margin, error) == sign


def test_the_widest_rewards_and_a_billion_plays_stay_within_64_bits():
    most = WIDEST * WIDEST
    assert most + BASE < 2**63
    assert 10**9 * (most // BASE + 1) < 2**63
    assert 10**9 * WIDEST < 2**63
    assert mean_variance.EPS > 40 * 2.0**-53
