import json
import re

import polars as pl
import pytest

from surefoot.study.replay import GUARDED, JOINED, UNGUARDED, Backtest, Subject
from surefoot.study.replay_findings import Findings

LOG = {"arm": ["a", "b", "c"] * 40, "reward": [1, 0, 1, 0, 1, 1] * 20}
AGENTS = (GUARDED, UNGUARDED, JOINED)


def findings(log=LOG, **options):
    backtest = Backtest(
        Subject(log, "a", "Try", "A log."), **{"alpha": 0.1, "runs": 5, "horizon": 300, **options}
    )
    list(backtest.steps())
    return Findings(backtest)


@pytest.fixture(scope="module")
def found():
    return findings()


def test_the_summary_has_the_documented_keys(found):
    summary = found.summary()
    documented = Findings.summary.__doc__ or ""
    assert list(summary) == [
        "log", "default", "alpha", "floor", "reward_range", "policy", "default_competes", "horizon",
        "runs", "seed", "always_default", "always_best", "agents", "notes", "versions",
    ]  # fmt: skip
    assert [agent["name"] for agent in summary["agents"]] == list(AGENTS)
    keys = [*summary, *summary["log"], *summary["default"], *summary["agents"][0]]
    keys += [*summary["log"]["arms"][0], *summary["reward_range"]]
    assert [key for key in keys if key not in documented] == []
    json.dumps(summary, allow_nan=False)


def test_the_summary_is_what_the_table_says(found):
    table, summary = found.frame, found.summary()
    last = table.filter(pl.col("t") == 300)
    assert last.group_by("agent").len().get_column("len").to_list() == [5, 5, 5]
    for agent in summary["agents"]:
        rows = last.filter(agent=agent["name"])
        for measure in ("received", "gain", "regret", "default_plays", "minimum_slack"):
            values = rows.get_column(measure)
            spread = {"mean": values.mean(), "min": values.min(), "max": values.max()}
            assert agent[measure] == pytest.approx(spread)
        least, below = rows.get_column("minimum_slack"), rows.get_column("violating_rounds")
        assert agent["worst_shortfall"] == pytest.approx(max(0, -least.min()))
        assert agent["runs_below_floor"] == pytest.approx((least < 0).mean())
        assert agent["plays_below_floor"] == pytest.approx(below.sum() / (5 * 300))
    assert summary["always_default"] == pytest.approx(0.5 * 300)
    assert summary["always_best"] == pytest.approx(1 * 300)
    assert summary["floor"] == 0.45
    assert summary["agents"][0]["worst_shortfall"] == 0
    assert summary["agents"][1]["worst_shortfall"] > 0


def test_gain_is_reward_above_always_the_default(found):
    table = found.frame
    assert (table["received"] - 0.5 * table["t"] - table["gain"]).abs().max() < 1e-9
    for name in AGENTS:
        mine = found.measure(name, "gain").ravel().tolist()
        assert mine == table.filter(agent=name).get_column("gain").to_list()


def test_the_notes_say_what_the_numbers_are_and_are_not(found):
    setting, credit, bootstrap, assumed, *rest = found.notes()
    assert "KL-UCB over the arms besides a, 5 runs of 300 plays, seed 0" in setting
    assert "alpha = 0.1: after every play at least 90 % of what always a is known" in setting
    assert '"unguarded with a" may choose a too' in setting
    assert "credited at its known value: each play of a counts as 0.5, its logged mean" in credit
    assert "not a causal claim" in bootstrap
    assert assumed.startswith("Our assumption: no reward ever leaves [0, 1]")
    assert rest == []


def test_a_range_that_is_given_is_no_assumption_of_ours():
    notes = findings(reward_range=(0, 1)).notes()
    assert len(notes) == 4
    assert notes[3] == "Your claim: no reward leaves [0, 1]. The guarantee rests on it."
    assert "assumption" not in " ".join(notes)


def test_the_logs_own_range_is_called_an_assumption():
    notes = findings({"arm": ["a", "b"] * 40, "reward": [1.5, 0.5] * 40}).notes()
    assert "never leaves" not in notes[3]
    assert "leaves [0.5, 1.5] (the log's own least and greatest reward)" in notes[3]


def test_arms_with_a_handful_of_rows_are_named():
    log = {"arm": ["a", "b"] * 30 + ["c"] * 29, "reward": [1, 0] * 30 + [1] * 29}
    assert findings(log).notes()[-1].startswith("Fewer than 30 rows: c. ")


@pytest.mark.parametrize(
    ("log", "headline"),
    [
        (
            LOG,
            "143 more reward than always a at its logged 0.5, in none of 5 runs below the floor",
        ),
        (
            {"arm": ["a", "b"], "reward": [1, 0.25]},
            "exploring cost 0.750 reward against always a at its logged 1, in none of 5 runs",
        ),
    ],
)
def test_the_headline_says_what_was_found(log, headline):
    assert findings(log).headline().startswith(f"Try: {headline}")


def test_no_headline_from_too_few_runs():
    found = findings(runs=4)
    said = found.headline()
    assert said.startswith("Try: not decided: +1")
    assert "(4 runs, at least 5 needed), in none of 4 runs below the floor" in said
    assert "No verdict: 4 runs, at least 5 needed." in found.notes()[2]
    assert found.agent(GUARDED)["gain_margin"] is None
    assert found.outcome is None


def test_no_headline_where_the_runs_do_not_tell_gain_from_loss():
    """Arms that pay the same: what exploring brings is luck, whatever the mean of the runs."""
    even = {"arm": ["a", "b", "c"] * 40, "reward": [1, 1, 1, 0, 0, 0] * 20}
    found = findings(even, runs=8)
    gains = found.measure(GUARDED, "gain")[:, -1]
    margin = found.agent(GUARDED)["gain_margin"]
    assert margin == pytest.approx(2.3646 * gains.std(ddof=1) / 8**0.5, rel=1e-4)
    assert abs(gains.mean()) < margin
    assert re.match(
        r"Try: not decided: \S+ reward against always a at its logged 0.5 \(± ", found.headline()
    )
    assert "known to ± " in found.notes()[2]


def test_the_best_arms_are_shown_and_the_default_always():
    few, left_out = findings().shown_arms()
    assert ([arm["arm"] for arm in few], left_out) == (["c", "a", "b"], 0)
    rewards = range(1, 21)
    log = {"arm": [f"arm{n:02}" for n in rewards], "reward": list(rewards)}
    backtest = Backtest(Subject(log, "arm03", "Try", "A log."), 0.1, runs=1, horizon=10)
    list(backtest.steps(engine="plain"))
    shown, left_out = Findings(backtest).shown_arms()
    assert [arm["arm"] for arm in shown] == [*(f"arm{n:02}" for n in range(20, 8, -1)), "arm03"]
    assert left_out == 7


@pytest.mark.parametrize(("horizon", "explored"), [(9, 0), (10, 1)])
def test_a_horizon_that_explores_nothing_is_no_success(horizon, explored):
    found = findings(horizon=horizon)
    assert found.backtest.first_exploration == 10
    assert horizon - found.agent(GUARDED)["default_plays"]["min"] == explored
    wait = f"horizon ({horizon}) is shorter than the wait (10 plays until the first exploration)"
    assert (wait in found.headline()) == (explored == 0)
    assert ("below the floor" in found.headline()) == (explored == 1)


def test_a_label_that_is_cut_is_in_full_once():
    log = {"arm": ["summer sale homepage banner, long", "b"] * 40, "reward": [1, 0] * 40}
    backtest = Backtest(Subject(log, log["arm"][0], "Try", "A log."), 0.1, runs=1, horizon=10)
    list(backtest.steps(engine="plain"))
    setting = Findings(backtest).notes()[0]
    assert setting.endswith(
        ' "summer sale\N{HORIZONTAL ELLIPSIS}" is summer sale homepage banner, long.'
    )
