from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import InvalidInput
from surefoot.study.logs import self_funding

HUNDREDTHS = st.integers(1, 99).map(lambda n: Decimal(n) / 100)


def explored(default, alpha, horizon, reward, low=0, reserve=0):
    """Which plays explore, by Algorithm 1 in Fractions with r_min and reserve; each pays reward."""
    mu0, lost = Fraction(str(default)), Fraction(str(alpha))
    low, reward, lent = Fraction(str(low)), Fraction(str(reward)), Fraction(str(reserve))
    received, required, plays = Fraction(0), (1 - lost) * mu0, []
    for t in range(1, horizon + 1):
        gate = received - required * (t - 1) + lent >= max(Fraction(0), required - low)
        plays.append(gate)
        received += reward if gate else mu0
        assert received + lent >= required * t
    return plays


@given(HUNDREDTHS, HUNDREDTHS)
def test_worthless_rewards_leave_the_floor_of_alpha_t_explorations(mu0, alpha):
    """The first at ceil((1-alpha)/alpha) + 1, and floor(alpha t) of them by play t."""
    plays = explored(mu0, alpha, 250, 0)
    share = Fraction(alpha)
    first = self_funding.first_exploration(mu0, alpha)
    assert first == ceil((1 - share) / share) + 1
    assert plays.index(True) + 1 == first
    for t in range(251):
        fewest = self_funding.fewest_explorations(t, mu0, alpha)
        assert fewest == sum(plays[:t]) == floor(share * t)
        assert t - fewest == ceil((1 - share) * t)


@given(
    HUNDREDTHS,
    HUNDREDTHS,
    st.integers(-300, 99).map(lambda n: Decimal(n) / 100),
    st.integers(0, 500).map(lambda n: Decimal(n) / 100),
)
def test_the_same_for_any_range_and_reserve(mu0, alpha, low, reserve):
    low = min(low, mu0)
    problem = {"default": mu0, "alpha": alpha, "reward_range": (low, 1), "reserve": reserve}
    plays = explored(mu0, alpha, 250, low, low, reserve)
    counts = [self_funding.fewest_explorations(t, **problem) for t in range(251)]
    assert counts == [sum(plays[:t]) for t in range(251)]
    first = self_funding.first_exploration(**problem)
    assert (plays.index(True) + 1 if any(plays) else first) == first


@given(HUNDREDTHS, HUNDREDTHS, HUNDREDTHS, st.integers(0, 200).map(lambda n: Decimal(n) / 100))
def test_no_path_loses_more_than_the_largest_loss_and_the_worst_comes_within_one_exploration(
    mu0, alpha, reward, reserve
):
    for pays in (Decimal(0), reward):
        plays = explored(mu0, alpha, 200, pays, 0, reserve)
        for t in (1, 7, 50, 200):
            lost = sum(plays[:t]) * (mu0 - pays)
            assert lost <= self_funding.largest_loss(t, mu0, alpha, reserve)
            assert sum(plays[:t]) >= self_funding.fewest_explorations(
                t, mu0, alpha, reserve=reserve
            )
    worst = sum(explored(mu0, alpha, 200, 0, 0, reserve)) * mu0
    assert self_funding.largest_loss(200, mu0, alpha, reserve) - min(worst, 200 * mu0) < (
        mu0 if worst < 200 * mu0 else reserve + 200 * mu0
    )


@pytest.mark.parametrize(
    ("alpha", "play"), [(0.01, 100), (0.02, 50), (0.03, 34), (0.05, 20), (0.1, 10), (0.15, 7)]
)
def test_the_papers_settings(alpha, play):
    for mu0 in (0.3, 0.7, 0.01, 1):
        assert self_funding.first_exploration(mu0, alpha) == play


def test_floats_mean_their_decimals():
    """0.29 * 100 is 28.999999999999996 in doubles."""
    assert self_funding.fewest_explorations(100, 0.7, 0.29) == 29
    assert self_funding.largest_loss(3, 0.1, 0.1) == Decimal("0.03")
    assert self_funding.break_even(0.7, 0.1) == Decimal("0.63")


def test_a_reserve_or_a_sure_reward_lets_one_explore_at_once():
    assert self_funding.first_exploration(0.7, 0.05, reserve=0.665) == 1
    assert self_funding.first_exploration(0.7, 0.05, reserve=0.664) == 2
    assert self_funding.first_exploration(0.7, 0.05, reward_range=(0.665, 1)) == 1
    assert self_funding.fewest_explorations(10**12, 0.7, 0.05, reward_range=(0.665, 1)) == 10**12


def test_amounts_are_exact_beyond_any_float():
    assert self_funding.largest_loss(10**40 + 1, Decimal("0.7"), Decimal("1e-30")) == (
        Decimal("7000000000.0000000000000000000000000000007")
    )


@pytest.mark.parametrize(
    ("mean", "funds"), [(0.8, True), (0.665, True), (Decimal("0.664999999999999999999"), False)]
)
def test_an_account_funds_itself_from_the_floor_on(mean, funds):
    assert self_funding.funds_itself(mean, 0.7, 0.05) is funds


@given(HUNDREDTHS, st.integers(5, 60).map(lambda n: Decimal(n) / 100), HUNDREDTHS)
def test_the_share_of_default_plays_is_what_a_constant_reward_needs_in_the_long_run(
    mu0, alpha, mean
):
    plays = explored(mu0, alpha, 1000, mean)
    share = self_funding.default_share(mean, mu0, alpha)
    start = self_funding.first_exploration(mu0, alpha)
    assert plays.count(False) / 1000 == pytest.approx(share, abs=(start + 1) / 1000)
    assert (share == 0) == self_funding.funds_itself(mean, mu0, alpha)


def test_shares_of_many_means_at_once():
    shares = self_funding.default_share([-1.0, 0.0, 0.5, 0.665, 1.0], 0.7, 0.05)
    assert shares == pytest.approx([1.665 / 1.7, 0.95, 0.165 / 0.2, 0, 0])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"alpha": 0}, "alpha = 0"),
        ({"alpha": 1}, "alpha = 1"),
        ({"default": 0}, "default = 0"),
        ({"default": 1.5}, r"default = 1.5 lies outside reward_range \(0, 1\)"),
        ({"default": "0.7"}, "default"),
        ({"reward_range": 1}, "reward_range = 1 must be a pair"),
        ({"reserve": -1}, "reserve = -1"),
        ({"t": -1}, "t = -1"),
        ({"t": 2.5}, "t = 2.5"),
    ],
)
def test_a_plan_that_is_none_is_refused(change, words):
    with pytest.raises(InvalidInput, match=words):
        self_funding.fewest_explorations(**{"t": 10, "default": 0.7, "alpha": 0.05, **change})


@pytest.mark.parametrize("mean", [float("nan"), "high", None])
def test_a_mean_that_is_none_is_refused(mean):
    with pytest.raises(InvalidInput, match="mean"):
        self_funding.default_share(mean, 0.7, 0.05)
