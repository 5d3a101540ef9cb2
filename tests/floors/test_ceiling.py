"""A ceiling is, to the unit, the floor on the negated costs, and speaks in costs."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import CostCeiling, RewardFloor
from surefoot.errors import InvalidInput
from surefoot.floors import statement

CEILING = CostCeiling(default=0.012, alpha=0.5, cost_range=(0, 0.05))


def amounts(low, high):
    return st.decimals(low, high, places=4, allow_nan=False)


@given(
    costs=st.lists(amounts(-2, 2), min_size=4, max_size=4),
    alpha=st.sampled_from(["0", "0.05", "0.3333", "0.9999", "1", "1.5", "7.3"]),
    margin=st.sampled_from(["0", "0.001", "0.33333"]),
    interval=st.booleans(),
    against=st.sampled_from(["realised", "fixed"]),
)
def test_its_terms_are_those_of_a_twin_written_in_costs(costs, alpha, margin, interval, against):
    """g = down(C + e) and h = max(0, up(c_max) - g), at three places, so that all is rounded."""
    c_min, least, most, c_max = sorted(costs)
    alpha, margin = Decimal(alpha), Decimal(margin)
    against = against if interval else "realised"
    if c_max - c_min < Decimal("0.01") or (alpha >= 1 and least < 0):
        return
    default = (least, most) if interval else most
    rest = {"places": 3, "margin": margin, "against": against}
    from_least = least if interval else most
    given_up = [Fraction(alpha) * abs(Fraction(C)) + Fraction(margin) for C in (least, most)]
    e = given_up[0] if interval else given_up[1]
    g = floor(1000 * (Fraction(from_least) + e))
    if against == "fixed" and ceil(1000 * Fraction(most)) > g:
        with pytest.raises(InvalidInput, match=r"needs u <= g \+ alpha"):
            CostCeiling(default, alpha, (c_min, c_max), **rest)
        return
    terms = CostCeiling(default, alpha, (c_min, c_max), **rest).terms()
    assert terms.floor == -g
    assert terms.hold == max(0, ceil(1000 * Fraction(c_max)) - g)
    if not interval:
        assert terms.deposit == floor(1000 * e)
    if against == "fixed":
        assert terms.deposit == g - ceil(1000 * Fraction(most))


@given(
    st.sampled_from([(0.2, 0.3), (-0.3, 0.2), (-0.3, -0.2)]),
    st.integers(-400, 400),
    st.sampled_from([0, 0.05]),
)
def test_a_draw_posts_no_more_than_itself_and_the_nearer_end_give_up(ends, told, margin):
    """Of costs and of rewards; for u < 0 the min of x and u would give up too much."""
    x = Fraction(told, 1000)
    low, high = (Fraction(str(end)) for end in ends)
    alpha, extra = Fraction(1, 10), Fraction(str(margin))
    e = lambda value: alpha * abs(value) + extra  # noqa: E731
    due = min(e(x), e(min(max(x, low), high)))
    if x < 0 <= low:
        due = alpha * x + extra
    unit = Fraction(1, 10**9)
    rewards = RewardFloor(ends, 0.1, (-1, 1), margin=margin).terms()
    assert abs(rewards.paid(told * 10**6)[0] * unit - due) < unit
    costs = CostCeiling((-ends[1], -ends[0]), 0.1, (-1, 1), margin=margin).terms()
    assert costs == rewards
    unknown = rewards.deposit * unit
    assert unknown <= min(map(e, (low, high)))
    if low < 0 < high:
        assert unknown == extra
    if low <= x <= high:
        assert unknown <= due


def test_signs_are_turned_without_rounding():
    fine = Decimal("0.0123456789012345678901234567890123456789")
    with localcontext() as context:
        context.prec = 5
        made = CostCeiling(fine, 0.5, (0, np.uint8(1)), places=40, reserve=np.uint64(2))
        assert made.worth == fine.copy_negate()
        assert made.cost_range == (0, 1)
    assert made.default == fine
    assert str(CostCeiling(-0.0, 0.5, (-0.0, 1), reserve=1).terms().value) == "0"


def test_it_keeps_its_own_words():
    assert CostCeiling.from_config(CEILING.config()) == CEILING
    assert CEILING.config()["cost_range"] == ["0", "0.05"]
    assert CEILING != RewardFloor(-0.012, 0.5, (-0.05, 0))
    changed = CEILING.changed(alpha=1.5, cost_range=(0, 0.1), margin=0.001)
    assert repr(changed) == (
        "CostCeiling(default=0.012, alpha=1.5, cost_range=(0, 0.1), reserve=0, places=9, "
        "margin=0.001)"
    )
    assert CEILING.with_reserve(Decimal(2)).reserve == 2
    assert hash(CEILING) == hash(CostCeiling(0.012, 0.5, (0, 0.05)))


REFUSED = [
    ({"alpha": -0.1}, "alpha = -0.1 must be >= 0; 0.05 allows 5 % more"),
    ({"default": 0.06}, "default = 0.06 lies outside cost_range (0, 0.05)"),
    ({"cost_range": (0.05, 0)}, "cost_range = (0.05, 0) must have c_min < c_max"),
    ({"cost_range": 1}, "cost_range = 1 must be a pair (c_min, c_max)"),
    ({"cost_range": (0, "1")}, "c_max must be a number, got '1'"),
    ({"cost_range": (0.01, 0.02), "places": 1}, "cost_range = (0.01, 0.02) spans no whole unit"),
    ({"default": (0.03, 0.02)}, "must have l <= u within cost_range (0, 0.05)"),
    ({"default": -0.01, "cost_range": (-1, 1), "alpha": 1}, "alpha = 1 must be < 1 where the def"),
    ({"margin": -1}, "margin = -1 must be >= 0"),
]


@pytest.mark.parametrize(("wrong", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_a_setting_that_cannot_be_kept_is_named(wrong, message):
    with pytest.raises(InvalidInput) as error:
        CostCeiling(**{"default": 0.012, "alpha": 0.5, "cost_range": (0, 0.05), **wrong})
    assert message in str(error.value)


def test_max_slack_forfeits_what_is_above_it_at_a_decision_only():
    books = RewardFloor(0.5, 0.5, max_slack=1).open()
    for _ in range(10):
        books.settle(books.default(books.terms()), None)
    assert books.account.available == 2_500_000_000
    books.forfeit()
    books.forfeit()
    says = statement(books)
    assert (says.slack, says.forfeited) == (1, Decimal("1.5"))
    assert says.slack == says.reserve + says.earned - says.required - says.held - says.forfeited
    again = type(books).restored(books.floor, books.snapshot())
    assert statement(again) == says
