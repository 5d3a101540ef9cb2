"""A LearnedDefault as a floor takes it: what is refused, where its ends begin, its text."""

from decimal import Decimal
from fractions import Fraction

import pytest

from surefoot import CostCeiling, LearnedDefault, MeanVarianceFloor, RewardFloor
from surefoot.errors import InvalidInput
from surefoot.floors.learned import Curve, curve_of, start_of


def floor(between=(0, 1), alpha=0.05, delta=0.05, **settings):
    return RewardFloor(LearnedDefault(between, delta), alpha, **settings)


@pytest.mark.parametrize(
    ("between", "delta", "words"),
    [
        (0.5, 0.05, "between = 0.5 must be a pair lo < hi"),
        ((0.5, 0.5), 0.05, "must be a pair lo < hi"),
        ((0.6, 0.5), 0.05, "must be a pair lo < hi"),
        ((0.2, float("nan")), 0.05, "must be a pair lo < hi"),
        ((0.2, 0.5), 0, "delta = 0 must lie strictly between 0 and 1"),
        ((0.2, 0.5), 1, "delta = 1 must lie strictly between 0 and 1"),
        ((0.2, 0.5), "x", "delta must be a number"),
    ],
)
def test_what_is_no_interval_or_no_probability_is_refused(between, delta, words):
    with pytest.raises(InvalidInput, match=words):
        LearnedDefault(between, delta)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"alpha": 0.12345}, "alpha = 0.12345 .* at most four decimals"),
        ({"between": (0, 1.1)}, r"lies outside reward_range \(0, 1\)"),
        ({"between": (-0.5, 0.5), "reward_range": (-1, 1)}, "straddles 0"),
        ({"against": "fixed"}, "leave against out"),
        ({"checkpoint": 5}, "leave checkpoint out"),
        ({"places": 4, "between": (0.2, 0.6)}, "is learned in steps of 1"),
    ],
)
def test_what_a_floor_cannot_promise_of_it_is_refused(settings, words):
    with pytest.raises(InvalidInput, match=words):
        floor(**settings)


def test_a_default_of_one_play_is_refused():
    for refuse in (floor().terms, floor().open().terms):
        with pytest.raises(InvalidInput, match="a LearnedDefault has one mean at every play"):
            refuse(0.5)


def test_a_mean_variance_floor_takes_none():
    with pytest.raises(InvalidInput, match="default must be a number"):
        MeanVarianceFloor(LearnedDefault((0, 1)), alpha=0.05, rho=1)


@pytest.mark.parametrize(
    ("between", "settings", "both"),
    [
        ((0, 1), {}, False),
        ((0.2, 0.6), {"reward_range": (-1, 1)}, True),
        ((-0.6, -0.2), {"reward_range": (-1, 1)}, False),
        ((-0.5, 0.5), {"reward_range": (-1, 1), "alpha": 0, "margin": 0.1}, True),
    ],
)
def test_both_ends_are_asked_only_where_one_does_not_decide(between, settings, both):
    start = start_of(floor(between, **settings))
    assert start.both is both
    assert start.delta == Fraction(1, 40 if both else 20)


def test_the_ends_begin_on_the_lattice_outside_of_what_was_said():
    start = start_of(floor((Decimal("0.123456"), Decimal("0.654321"))))
    assert (start.low, start.high) == (123_450_000, 654_330_000)


def test_of_costs_the_cheapest_default_decides():
    ceiling = CostCeiling(LearnedDefault((0.01, 0.03)), alpha=0.5, cost_range=(0, 0.1))
    start = start_of(ceiling)
    assert (start.low, start.high, start.both) == (-30_000_000, -10_000_000, False)
    # An exploration may cost .1 where the cheapest default would be allowed .015.
    assert ceiling.terms().hold == 85_000_000


def test_terms_tell_the_curve_they_were_taken_from():
    curve = Curve(alpha=500, margin=7, low=-3)
    assert curve_of(curve.terms(40_000, 90_000), -3) == curve
    assert curve.terms(40_000, 90_000)[:4] == (90_000, 40_000 - 2_007, 37_996, 2_007)


@pytest.mark.parametrize("kind", ["reward", "cost"])
def test_a_floor_is_written_and_read(kind):
    default = LearnedDefault((0.1, 0.3), 0.01)
    one = RewardFloor(default, 0.05) if kind == "reward" else CostCeiling(default, 0.05, (0, 1))
    assert type(one).from_config(one.config()) == one
    assert "LearnedDefault(between=(0.1, 0.3), delta=0.01)" in repr(one)
    assert len({one, type(one).from_config(one.config())}) == 1
