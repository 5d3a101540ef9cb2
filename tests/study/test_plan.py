from decimal import Decimal
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.study.plan import PLAUSIBLE, POOR, Outlook, spaced

HUNDREDTHS = st.integers(1, 99).map(lambda n: Decimal(n) / 100)


def simulated(*arguments, **options):
    outlook = Outlook(*arguments, **{"horizon": 300, "runs": 3, **options})
    steps = list(outlook.steps(engine="plain"))
    assert steps[-1].done == steps[-1].total == 3 * len(outlook.plans)
    return outlook


@given(HUNDREDTHS, HUNDREDTHS, st.integers(-200, 0), st.integers(0, 300), st.integers(1, 10**6))
def test_what_is_sure_is_the_closed_form_in_fractions(mu0, alpha, low, reserve, horizon):
    low, reserve = Decimal(low) / 100, Decimal(reserve) / 100
    outlook = Outlook(mu0, alpha, [mu0], (low, 1), reserve, horizon=horizon)
    share, value = Fraction(alpha), Fraction(mu0)
    hold = (1 - share) * value - Fraction(low)
    short = (hold - Fraction(reserve)) / (share * value)
    assert outlook.first_exploration == 1 + max(0, -floor(-short))
    assert outlook.on_lattice
    assert [point.plays for point in outlook.points()][-1] == horizon
    for point in outlook.points():
        saved = Fraction(reserve) + share * value * point.plays
        assert Fraction(point.largest_loss) == saved
        explored = min(point.plays, floor(saved / (share * value + hold)))
        assert point.forced == point.plays - explored


@pytest.mark.parametrize("reward_range", [(0, 1), (-1, 1), (-3, 1), (-0.5, 4), (0.2, 1)])
@pytest.mark.parametrize("reserve", [0, 0.5])
def test_the_simulated_gate_opens_at_the_play_that_is_sure(reward_range, reserve):
    outlook = simulated(0.7, 0.05, [0.3, 0.5], reward_range, reserve, horizon=200)
    result = outlook.results[PLAUSIBLE]
    t, made = result.plan.checkpoints, result.measure("GenCB", "default_plays")
    first = outlook.first_exploration
    opened = first + (reward_range == (-0.5, 4))  # a width of 4.5 divides nothing here
    if first <= 200:
        assert (made[:, t < first] == t[t < first]).all()
        assert (made[:, t >= opened] < t[t >= opened]).all()
    else:
        assert (made == t).all()


def test_on_rewards_0_or_1_it_is_the_simulation_of_ones_own_agent():
    outlook = simulated(0.7, 0.05, [0.8, 0.5], seed=3)
    agent = sf.GenCB(sf.UCB1(2), sf.RewardFloor(0.7, 0.05))
    own = sf.simulate(
        {"GenCB": agent}, sf.BernoulliArms([0.8, 0.5]), 300, 3, 3, engine="plain",
        checkpoints=outlook.results[PLAUSIBLE].plan.checkpoints,
    )  # fmt: skip
    for measure in ("default_plays", "slack"):
        expected = own.measure("GenCB", measure)
        assert (outlook.results[PLAUSIBLE].measure("GenCB", measure) == expected).all()


def test_a_problem_in_other_units_is_the_same_problem():
    small = simulated(0.7, 0.05, [0.8, 0.5])
    money = simulated(70, 0.05, [80, 50], (0, 100))
    for name in (PLAUSIBLE, POOR):
        plays = [o.results[name].measure("GenCB", "default_plays") for o in (small, money)]
        assert (plays[0] == plays[1]).all()


def test_where_the_worst_reward_keeps_the_floor_nothing_is_forced():
    outlook = simulated(0.7, 0.05, [0.8, 0.9], (0.68, 1))
    assert outlook.first_exploration == 1
    assert outlook.points()[-1].forced == 0
    assert POOR not in outlook.plans
    first = outlook.results[PLAUSIBLE].measure("GenCB", "default_plays")[:, 0]
    assert (first == 0).all()


def test_places_are_days_of_traffic_or_round_plays():
    def named(**options):
        return [(p.label, p.plays) for p in Outlook(0.7, 0.05, [0.8], **options).points()]

    assert named(traffic=40) == [("1 day", 40), ("1 week", 280), ("1 month", 1200)]
    assert named(traffic=40, horizon=50)[1] == ("50 plays", 50)
    assert named(horizon=2_500) == [(f"{n:,} plays", n) for n in (100, 1000, 2500)]
    assert Outlook(0.7, 0.05, [0.8], traffic=10**6).horizon == 1_000_000


def test_every_arm_of_the_poor_scenario_pays_the_least_plausible():
    outlook = Outlook(0.7, 0.05, [0.8, 0.6, 0.5])
    assert outlook.plans[POOR].environment.means.tolist() == [0.5] * 3
    assert [str(mean) for mean in outlook.funding] == ["0.8"]


def test_what_the_books_have_to_round_is_known():
    assert not Outlook(Decimal("0.70000000001"), 0.05, [0.8]).on_lattice


def test_spaced_means_are_exact_at_both_ends():
    assert spaced(0.1, 0.7, 2) == [Decimal("0.7"), Decimal("0.1")]
    assert np.allclose([float(mean) for mean in spaced(0.2, 0.8, 4)], [0.8, 0.6, 0.4, 0.2])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"default": 0}, "default = 0 must be > 0"),
        ({"default": float("nan")}, "default must be finite"),
        ({"alpha": 1}, "alpha = 1"),
        ({"alpha": 1e-12}, "nothing would ever be explored"),
        ({"means": []}, "means is empty"),
        ({"means": [1.5]}, "mean = 1.5 lies outside reward_range"),
        ({"means": ["0.5"]}, "mean must be a number"),
        ({"means": [0.5] * 1001}, "arms = 1,001 is above 1,000"),
        ({"reserve": -1}, "reserve = -1"),
        ({"reward_range": (1, 0)}, "r_min < r_max"),
        ({"traffic": 0}, "traffic = 0"),
        ({"traffic": True}, "traffic = True"),
        ({"horizon": 0}, "horizon = 0"),
        ({"horizon": 10**9 + 1}, "horizon = 1000000001 is above"),
        ({"runs": 0}, "runs = 0"),
        ({"runs": 10_001}, "runs = 10,001 is above"),
        ({"policy": "x"}, "policy 'x' is unknown"),
        ({"seed": "x"}, "seed"),
    ],
)
def test_a_plan_that_is_none_is_refused(change, words):
    with pytest.raises(InvalidInput, match=words):
        Outlook(**{"default": 0.7, "alpha": 0.05, "means": [0.8], **change})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((0.5, 0.8, 1), "arms = 1"), ((0.8, 0.5, 3), "LOW <= HIGH"), ((0.5, 0.8, 0), "arms = 0")],
)
def test_a_range_of_means_that_is_none_is_refused(arguments, words):
    with pytest.raises(InvalidInput, match=words):
        spaced(*arguments)
