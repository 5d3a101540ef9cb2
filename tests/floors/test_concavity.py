"""Why a learned default's account is asked at its ends only, and where that would be wrong."""

import random
from fractions import Fraction

import pytest

from naive.learned import LearnedAccount
from surefoot import CostCeiling, LearnedDefault, RewardFloor
from surefoot.errors import InvalidInput

WHOLE = 10**9
RANGES = {
    "above zero": ((0, 1), ("0.1", "0.9")),
    "below zero": ((-1, 0), ("-0.9", "-0.1")),
    "losses possible": ((-1, 1), ("0.1", "0.9")),
    "worth less than nothing": ((-1, 1), ("-0.9", "-0.1")),
}


def played(seed, reward_range, between, alpha=None):
    """An account after any plays and reports, gate or no gate."""
    rng = random.Random(seed)
    alpha = Fraction(rng.randint(0, 99), 100) if alpha is None else alpha
    margin = Fraction(rng.choice((0, 0, 5)), 100)
    between = tuple(map(Fraction, between))
    account = LearnedAccount(between, Fraction(1, 20), alpha, reward_range, 0, 9, margin)
    low, high = reward_range
    for _ in range(rng.randint(1, 25)):
        account.alpha = rng.choice((account.alpha, Fraction(rng.randint(0, 99), 100)))
        number = account.decide(rng.random() < 0.5)
        end = rng.choice(("settle", "settle", "expire", "void", "fall_back", "open"))
        if end == "settle":
            account.settle(number, low + Fraction(rng.randint(0, 100), 100) * (high - low))
        elif end != "open":
            getattr(account, end)(number)
    return account, rng


def least_at(account, rng, points):
    """What the account is at its least, at so many means between the ends."""
    span = account.high - account.low
    shares = [Fraction(rng.randint(0, 1000), 1000) for _ in range(points)]
    return min(account.at(account.low + share * span) for share in shares)


@pytest.mark.parametrize(("reward_range", "between"), RANGES.values(), ids=RANGES)
def test_between_the_ends_the_account_is_no_lower_than_at_one_of_them(reward_range, between):
    for seed in range(60):
        account, rng = played(seed, reward_range, between)
        ends = min(account.at(account.low), account.at(account.high))
        assert least_at(account, rng, 12) >= ends


@pytest.mark.parametrize(("reward_range", "between"), RANGES.values(), ids=RANGES)
def test_what_the_next_exploration_leaves_is_no_lower_between_the_ends(reward_range, between):
    for seed in range(40):
        account, rng = played(seed, reward_range, between)
        account.decide(True)
        ends = min(account.at(account.low), account.at(account.high))
        assert least_at(account, rng, 12) >= ends


@pytest.mark.parametrize("name", ["above zero", "below zero", "worth less than nothing"])
def test_one_end_decides_where_losses_are_not_possible_or_the_default_costs(name):
    """The upper end, whose account is the only one asked for."""
    reward_range, between = RANGES[name]
    for seed in range(60):
        account, rng = played(seed, reward_range, between)
        assert account.one_sided
        assert min(least_at(account, rng, 12), 0) >= min(account.at(account.high), 0)


def test_across_zero_the_account_can_be_below_both_ends():
    """e = alpha*|mu| is least at 0: five default plays pay for nothing there."""
    account = LearnedAccount((-0.5, 0.5), 0.05, 0.5, (-1, 1))
    account.settle(account.decide(True), -1)
    for _ in range(5):
        account.settle(account.decide(False))
    assert [account.at(Fraction(mu) * WHOLE) / WHOLE for mu in ("0.5", "-0.5", "0")] == [0, 1, -1]


def test_a_floor_refuses_a_default_across_zero_unless_it_has_a_margin_alone():
    across = LearnedDefault((-0.5, 0.5))
    with pytest.raises(InvalidInput, match="straddles 0"):
        RewardFloor(across, alpha=0.5, reward_range=(-1, 1))
    with pytest.raises(InvalidInput, match="straddles 0"):
        CostCeiling(across, alpha=0.5, cost_range=(-1, 1))
    floor = RewardFloor(across, alpha=0, margin=0.1, reward_range=(-1, 1))
    assert floor.open().ends == (-WHOLE // 2, WHOLE // 2)


def test_what_is_forfeited_is_taken_in_proportion_to_the_mean():
    """Taken at every mean alike it would leave too little wherever the mean may be found to lie."""
    books = RewardFloor(LearnedDefault((0.1, 0.9)), 0.05, max_slack=0.8, places=6).open()
    for _ in range(40):
        books.settle(books.decide(False, books.terms()), None)
    books.forfeit()
    found = [books.account.at(mu).available for mu in (900_000, 400_000, 100_000)]
    assert found == [800_010, 355_560, 88_890]


def test_across_zero_a_margin_alone_keeps_the_account_concave():
    for seed in range(60):
        account, rng = played(seed, (-1, 1), ("-0.5", "0.5"), alpha=0)
        account.alpha = Fraction(0)
        for play in account.plays:
            play.alpha = 0
        ends = min(account.at(account.low), account.at(account.high))
        assert least_at(account, rng, 12) >= ends
