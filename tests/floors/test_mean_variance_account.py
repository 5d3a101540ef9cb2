"""The integers say what the fractions say; each event is what it is of one list of rewards."""

import copy
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.mean_variance import NaiveMeanVariance
from surefoot.floors import MeanVarianceAccount, MeanVarianceFloor, State, Terms
from surefoot.floors.events import Record, decided, step
from surefoot.floors.mean_variance_account import Constants, Moments

HUNDREDTHS = st.integers(-300, 500)


@st.composite
def states(draw):
    """Constants with two decimals, their twin, and some rewards of the range."""
    low = draw(st.integers(-300, 90))
    high = draw(st.integers(max(low, 1) + 1, 500))
    mu0 = draw(st.integers(max(low, 1), high))
    rho = draw(st.sampled_from([(1, 10), (1, 3), (1, 1), (5, 2), (30, 1), (100, 1)]))
    alpha = draw(st.integers(1, 99))
    constants = Constants(100, rho, Fraction(alpha, 100).as_integer_ratio(), mu0, low, high)
    twin = NaiveMeanVariance(
        *(Fraction(mu0, 100), Fraction(alpha, 100), Fraction(*rho)),
        (Fraction(low, 100), Fraction(high, 100)),
    )
    reward = st.sampled_from([low, high, mu0]) | st.integers(low, high)
    return constants, twin, draw(st.lists(reward, max_size=30))


def moments(rewards):
    return Moments(len(rewards), sum(rewards), sum(reward * reward for reward in rewards))


@given(states())
def test_slack_and_viability_are_those_of_the_fractions(state):
    constants, twin, rewards = state
    fractions = [Fraction(reward, 100) for reward in rewards]
    slack = twin.slack(fractions)
    assert constants.slack(moments(rewards)) == slack * 100 // 1
    assert constants.kept(moments(rewards)) == (slack >= 0)
    assert constants.viable(moments(rewards)) == twin.viable(fractions)
    asked = 2 + (1 - twin.a) * twin.r * twin.mu0
    assert constants.passes_paper(moments(rewards)) == (slack >= asked)


@given(states())
def test_from_a_viable_state_the_default_keeps_the_promise_and_the_state_viable(state):
    constants, _, rewards = state
    now = moments(rewards)
    if constants.viable(now):
        for defaults in (0, 1, 2, 3, 7, 20, 100, 10**4):
            then = now.plus(defaults, constants.value)
            assert constants.kept(then)
            assert constants.viable(then)


@given(states())
def test_from_another_state_it_does_not_or_only_by_the_grain_of_whole_plays(state):
    """S after j plays, j real, is least at n + j = n*d/sqrt(alpha*rho*mu0)."""
    constants, twin, rewards = state
    if constants.viable(moments(rewards)):
        return
    n = len(rewards)
    c, d = twin.a * twin.r * twin.mu0, abs(Fraction(sum(rewards), 100 * n) - twin.mu0)
    turn = max(0, int(n * float(d) / float(c) ** 0.5) - n)
    slack = twin.slack([Fraction(reward, 100) for reward in rewards])

    def after(j):
        return slack + j * c - n * j / (n + j) * d * d

    real = [after(turn + Fraction(k, 10**6)) for k in range(0, 1_000_001, 125_000)]
    assert min(*real, slack) < Fraction(1, 10**3)


def test_a_tie_is_viable():
    """n = 1, mean 1.5, alpha*rho*mu0 = .5^2: S must be (1 - .5)^2."""
    constants = Constants(100, (1, 1), (1, 2), 50, 0, 200)
    assert constants.slack(Moments(1, 150, 32_500)) == 25
    assert constants.viable(Moments(1, 150, 32_500))
    assert not constants.viable(Moments(1, 150, 32_501))


@pytest.mark.parametrize("check", ["viable", "exact", "paper"])
@given(state=states(), pending=st.integers(0, 3))
def test_the_gate_is_that_of_the_fractions(check, state, pending):
    constants, twin, rewards = state
    twin.check = check
    twin.plays = [[True, "settled", Fraction(reward, 100)] for reward in rewards]
    twin.plays += [[True, "open", None]] * pending
    account = MeanVarianceAccount(constants, check, moments(rewards), pending)
    assert account.affords(0) == twin.allows()


def account(check="viable", **settings):
    floor = MeanVarianceFloor(**{"default": 0.5, "alpha": 0.5, "rho": 1, "places": 1, **settings})
    return MeanVarianceAccount(floor.constants, check, Moments(10, 50, 250), 1)


TERMS = Terms(value=5, floor=0, hold=3, deposit=5)
OPEN, EXPIRED = Record(True, TERMS), Record(True, TERMS, State.EXPIRED)


@pytest.mark.parametrize(
    ("move", "after"),
    [
        (decided(True, TERMS), (Moments(10, 50, 250), 2)),
        (decided(False, TERMS), (Moments(10, 50, 250), 1)),
        (step(OPEN, "settle", 9, 0, 10, False), (Moments(11, 59, 331), 0)),
        (step(OPEN, "settle", -9, 0, 10, False), (Moments(11, 41, 331), 0)),
        (step(OPEN, "settle", 11, 0, 10, False), (Moments(11, 61, 371), 0)),
        (step(OPEN, "expire"), (Moments(10, 50, 250), 1)),
        (step(EXPIRED, "settle", 9, 0, 10, False), (Moments(11, 59, 331), 0)),
        (step(OPEN, "void"), (Moments(10, 50, 250), 0)),
        (step(OPEN, "fall_back"), (Moments(11, 55, 275), 0)),
        (step(Record(False, TERMS), "settle", 7), (Moments(11, 55, 275), 1)),
        (step(Record(False, TERMS), "void"), (Moments(10, 50, 250), 1)),
    ],
)
def test_each_event_changes_the_moments_and_what_is_pending(move, after):
    books = account()
    books.book(move)
    assert (books.moments, books.pending) == after
    assert (
        MeanVarianceAccount(
            books.constants, "viable", Moments(*books.numbers()[:3]), books.numbers()[3]
        )
        == books
    )


def test_amounts_by_hand():
    """Ten rewards of .5: S = 10*.5 - 0 - 10*.25; one more of 0 costs .25 + 10/11*.25."""
    books = account(places=4)
    books.moments = Moments(10, 50_000, 250_000_000)
    assert (books.posted, books.asked, books.reserve) == (25_000, 25_000, 0)
    assert books.available == 25_000 - 4_773  # rounded down
    assert books.held == 4_773
    first = copy.deepcopy(books)
    books.book(decided(True, TERMS))
    assert books.available == first.available - first.risk


@given(states(), st.integers(0, 4))
def test_the_hold_of_the_next_play_is_what_is_then_no_longer_available(state, pending):
    constants, _, rewards = state
    books = MeanVarianceAccount(constants, "exact", moments(rewards), pending)
    before, risk = books.available, books.risk
    assert risk >= 0
    assert books.held >= 0
    books.book(decided(True, TERMS))
    assert books.available == before - risk
