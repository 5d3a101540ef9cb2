import json
import re
from decimal import Decimal
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.study.logs import outlook
from surefoot.study.logs.outlook import PLAUSIBLE, POOR, Outlook, OutlookFindings, Seen, spaced
from surefoot.study.logs.self_funding import default_share
from surefoot.study.outputs import write

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


def prospects(*arguments, **options):
    outlook = Outlook(*arguments, **{"horizon": 400, "runs": 3, **options})
    list(outlook.steps(engine="plain"))
    return OutlookFindings(outlook)


@pytest.fixture(scope="module")
def found():
    return prospects(0.7, 0.05, [0.9, 0.2])


def test_the_summary_has_the_documented_keys(found):
    summary = found.summary()
    documented = OutlookFindings.summary.__doc__ or ""
    assert list(summary) == ["settings", "exact", "predicted", "notes", "versions"]
    assert list(summary["predicted"]) == [PLAUSIBLE, POOR]
    scenario = summary["predicted"][PLAUSIBLE]
    keys = [*summary, *summary["settings"], *summary["exact"], *summary["exact"]["points"][0]]
    keys += [*summary["predicted"], *scenario, *scenario["points"][0]]
    assert [key for key in keys if key not in documented] == []
    json.dumps(summary, allow_nan=False)


def test_exact_numbers_are_strings_of_their_decimals(found):
    exact = found.summary()["exact"]
    assert exact["break_even"] == "0.665"
    assert (exact["first_exploration"], exact["funding_arms"]) == (20, 1)
    assert exact["points"][-1] == {
        "label": "400 plays",
        "plays": 400,
        "largest_loss": "14.000",
        "most_forced_default_plays": 380,
    }


@pytest.mark.parametrize("reward_range", [(0, 1), (-1, 3), (0.68, 1)])
@pytest.mark.parametrize("reserve", [0, 2])
def test_no_run_loses_more_than_is_sure_and_the_gain_is_in_the_rewards_own_units(
    reward_range, reserve
):
    low, high = reward_range
    means = [max(0.75, low), max(0.4, low)]
    found = prospects(0.7, 0.05, means, reward_range, reserve, horizon=300)
    result = found.outlook.results[PLAUSIBLE]
    gain, made = found.gain(PLAUSIBLE), result.measure("GenCB", "default_plays")
    assert (gain >= -(0.035 * found.t + reserve) - 1e-6).all()
    # An exploration brings low or high in place of 0.7: so many at the upper end.
    lucky = (gain - (found.t - made) * (low - 0.7)) / (high - low)
    assert np.allclose(lucky, lucky.round(), atol=1e-5)
    assert ((lucky > -0.5) & (lucky < found.t - made + 0.5)).all()


def test_the_account_funds_itself_from_where_the_gate_closes_for_the_last_time(found):
    slack = found.outlook.results[PLAUSIBLE].measure("GenCB", "slack")
    for since, row in zip(found.funded_from(PLAUSIBLE), slack, strict=True):
        closed = found.t[row < 0.665]
        assert closed.max() < since
        assert not ((found.t > closed.max()) & (found.t < since)).any()


def test_arms_that_pay_nothing_are_what_the_theory_says():
    """Every exploration pays 0: floor(alpha t) of them, 95 % default plays, nothing funded."""
    found = prospects(0.7, 0.05, [0, 0], horizon=400)
    poor = found.summary()["predicted"][POOR]
    assert poor["points"][-1]["default_share"]["mean"] == pytest.approx(0.95)
    assert poor["points"][-1]["gain"]["mean"] == pytest.approx(-14)
    assert poor["long_run_share"] == default_share(0, 0.7, 0.05)
    assert (poor["funded_runs"], poor["funded_from"]) == (0, None)
    words = " ".join(found.notes())
    assert "in none of 3 runs does the account fund itself within 400 plays" in words
    assert "No arm planned for is as good as the default" in words
    assert "95 % of 400 plays are the default, and 14 is lost on average, of at most 14." in words


def test_each_note_says_whether_it_is_sure_or_predicted(found):
    notes = found.notes()
    assert [note.split()[0].strip(":,") for note in notes[:5]] == ["Sure"] * 3 + ["Predicted"] * 2
    assert "simulated, by no formula: GenCB over UCB1" in notes[5]
    assert "on day 2" in prospects(0.7, 0.05, [0.9], traffic=10, horizon=30).notes()[0]
    assert "not" not in found.headline()
    rounded = prospects(0.70000000001, 0.05, [0.9], horizon=30).notes()[-1]
    assert "may be a play later" in rounded


def test_a_forecast_says_how_far_its_mean_may_be_off_or_that_the_runs_are_too_few(found):
    few = "may be chance: 3 runs, at least 5 needed to say how far it may be off."
    assert found.notes()[6].endswith(few)
    point = found.summary()["predicted"][PLAUSIBLE]["points"][-1]
    assert (point["gain"]["margin"], point["default_share"]["margin"]) == (None, None)
    enough = prospects(0.7, 0.05, [0.9, 0.2], runs=5)
    point = enough.summary()["predicted"][PLAUSIBLE]["points"][-1]
    gains = enough.gain(PLAUSIBLE)[:, -1]
    assert point["gain"]["margin"] == pytest.approx(2.7764 * gains.std(ddof=1) / 5**0.5, rel=1e-4)
    assert re.fullmatch(
        r"What is predicted is a mean .* known to ± \S+ % of the plays and the gain to ± \S+, at "
        r"95 % by Student's t\.",
        enough.notes()[6],
    )
    assert "lost on average" in prospects(0.7, 0.05, [0.9, 0.2], runs=1).notes()[4]


def test_nothing_is_predicted_beyond_the_horizon():
    found = prospects(0.7, 0.05, [0.9], traffic=100, horizon=200)
    points = found.outlook.points()
    assert [found.at(PLAUSIBLE, point) is None for point in points] == [False, False, True, True]


def test_a_plan_replaces_an_older_one_and_nothing_else(found, tmp_path, monkeypatch):
    monkeypatch.setattr("surefoot.study.outputs.draw_outlook", lambda prospects, stem: [])
    (tmp_path / "plan.json").write_text("old")
    (tmp_path / "summary.json").write_text("of another study")
    summary = write(found, tmp_path)
    assert json.loads((tmp_path / "plan.json").read_text()) == summary
    assert (tmp_path / "summary.json").read_text() == "of another study"
    assert outlook._exact(found.outlook.value) == "0.7"


def of_a_log(worlds, poor=(0.6, 0.5)):
    seen = Seen("log.csv", "old", worlds, poor)
    return prospects(0.7, 0.05, [0.8, 0.6], runs=len(worlds), seen=seen)


def test_with_a_log_each_run_is_the_run_of_its_own_world():
    worlds = [(0.9, 0.2), (0.3, 0.8), (0.7, 0.7)]
    outlook = of_a_log(worlds).outlook
    for run, means in enumerate(worlds):
        alone = prospects(0.7, 0.05, means).outlook.results[PLAUSIBLE]
        for measure in ("slack", "default_plays"):
            own = outlook.results[PLAUSIBLE].measure("GenCB", measure)[run]
            assert (own == alone.measure("GenCB", measure)[run]).all()


def test_with_a_log_the_poor_case_is_the_lower_end_of_each_arm():
    found = of_a_log([(0.9, 0.2)] * 2)
    assert found.outlook.plans[POOR].environment.means.tolist() == [0.6, 0.5]
    assert found.summary()["settings"]["log"] == "log.csv"
    words = " ".join(found.notes())
    assert "if each arm pays only the lower end of what the log allows, 0.5 to 0.6: " in words
    assert "another log like log.csv shows" in words
    assert "The default is old, declared at the upper end of what the log shows, 0.7" in words
    assert "The predicted gain is as lucky as the log" in words
    assert POOR not in of_a_log([(0.9, 0.8)], (0.71, 0.75)).outlook.plans
    assert "can be lost." in " ".join(of_a_log([(0.9, 0.8)], (0.9, 0.6)).notes())
