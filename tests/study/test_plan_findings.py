import json
import re

import numpy as np
import pytest

from surefoot.study import plan_findings
from surefoot.study.plan import PLAUSIBLE, POOR, Outlook
from surefoot.study.plan_findings import Prospects, write
from surefoot.theory.self_funding import default_share


def prospects(*arguments, **options):
    outlook = Outlook(*arguments, **{"horizon": 400, "runs": 3, **options})
    list(outlook.steps(engine="plain"))
    return Prospects(outlook)


@pytest.fixture(scope="module")
def found():
    return prospects(0.7, 0.05, [0.9, 0.2])


def test_the_summary_has_the_documented_keys(found):
    summary = found.summary()
    documented = Prospects.summary.__doc__ or ""
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


def test_nothing_is_foretold_beyond_the_horizon():
    found = prospects(0.7, 0.05, [0.9], traffic=100, horizon=200)
    points = found.outlook.points()
    assert [found.at(PLAUSIBLE, point) is None for point in points] == [False, False, True, True]


def test_a_plan_replaces_an_older_one_and_nothing_else(found, tmp_path, monkeypatch):
    monkeypatch.setattr("surefoot.study.plan_figure.draw", lambda prospects, stem: [])
    (tmp_path / "plan.json").write_text("old")
    (tmp_path / "summary.json").write_text("of another study")
    summary = write(found, tmp_path)
    assert json.loads((tmp_path / "plan.json").read_text()) == summary
    assert (tmp_path / "summary.json").read_text() == "of another study"
    assert plan_findings._exact(found.outlook.value) == "0.7"
