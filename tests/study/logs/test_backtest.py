import json

import numpy as np
import polars as pl
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.study.logs import flags, worlds
from surefoot.study.logs.backtest import Backtest
from surefoot.study.logs.backtest_runs import BacktestRuns
from surefoot.study.logs.backtest_words import BELOW
from surefoot.study.logs.subject import Subject
from surefoot.study.logs.worlds import AGENTS, GUARDED, JOINED, LOG, UNGUARDED

CLEAR = {"arm": ["a", "b", "c"] * 80, "reward": [1, 0, 1, 0, 1, 1] * 40}


def findings(log=CLEAR, default="a", **options):
    runs = BacktestRuns(
        Subject(log, default, "Try", "A log."), **{"alpha": 0.1, "runs": 5, **options}
    )
    list(runs.steps())
    return Backtest(runs)


def drawn_log(means, shares, rows, seed=0):
    """Rows of arms chosen by their shares, each paying 1 with its mean; the first is "a"."""
    rng = np.random.default_rng(seed)
    arms = rng.choice(len(means), rows, p=np.array(shares) / sum(shares))
    rewards = rng.random(rows) < np.array(means)[arms]
    return {"arm": [chr(ord("a") + arm) for arm in arms], "reward": rewards.astype(int)}


@pytest.fixture(scope="module", autouse=True)
def few_copies():
    """Enough for a p of 1/41."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worlds, "COPIES", 40)
        yield


@pytest.fixture(scope="module")
def found(few_copies):
    return findings()


def test_the_summary_has_the_documented_keys(found):
    summary = found.summary()
    documented = Backtest.summary.__doc__ or ""
    keys = [*summary, *summary["log"], *summary["default"], *summary["agents"][0]]
    keys += [*summary["arms"][0], *summary["reward_range"], *summary["gain"], *summary["halves"]]
    keys += [*summary["sweep"][0], *flags.Flag._fields]
    assert [key for key in keys if key not in documented] == []
    json.dumps(summary, allow_nan=False)
    assert [agent["name"] for agent in summary["agents"]] == list(AGENTS)


def test_the_summary_is_what_the_table_says(found):
    table, summary = found.frame, found.summary()
    last = table.filter(pl.col("t") == found.horizon)
    for agent in summary["agents"]:
        rows = last.filter(agent=agent["name"])
        assert len(rows) == 5
        for measure in ("received", "gain", "regret", "default_plays", "minimum_slack"):
            values = rows.get_column(measure)
            spread = {"mean": values.mean(), "min": values.min(), "max": values.max()}
            assert agent[measure] == pytest.approx(spread)
        least = rows.get_column("minimum_slack")
        assert agent["worst_shortfall"] == pytest.approx(max(0, -least.min()))
        assert agent["runs_below_floor"] == pytest.approx((least < 0).mean())
    assert summary["always_default"] == pytest.approx(0.5 * found.horizon)
    assert summary["always_best"] == pytest.approx(1 * found.horizon)
    assert summary["agents"][0]["worst_shortfall"] == 0
    assert summary["agents"][1]["worst_shortfall"] > 0


def test_gain_is_of_plays_at_the_means_not_of_what_they_drew(found):
    plays = found.runs.of_kind(LOG)
    means = {arm["arm"]: arm["mean"] for arm in found.arms}
    at_the_end = found.measure(GUARDED, "gain")[:, -1]
    for run, gain in zip(plays, at_the_end, strict=True):
        others = zip("bc", run.plays[0], strict=True)
        assert gain == pytest.approx(sum(n * (means[arm] - means["a"]) for arm, n in others))
        assert gain == pytest.approx(run.gains[0].value)
    assert found.gain.in_sample == pytest.approx(at_the_end.mean())
    joined = found.measure(JOINED, "gain")
    assert joined.shape == (5, len(found.t))


def test_a_clear_log_pays(found):
    assert found.verdict == "pays"
    assert 0 < found.gain.low <= found.gain.mean <= found.gain.high
    assert found.gain.p == 1 / 41
    assert found.headline().startswith("Try: exploring pays: +")
    assert "of 200 shuffled copies" in found.why[0]
    assert found.halves.value == pytest.approx(found.gain.in_sample, rel=0.3)


def test_where_all_arms_are_worse_it_does_not_pay():
    worse = findings(drawn_log([0.8, 0.4, 0.5], [8, 1, 1], 2000), alpha=0.05)
    assert worse.verdict == "does not pay"
    assert worse.gain.high < 0.01 * worse.always_default
    assert worse.gain.low <= worse.gain.mean <= worse.gain.high
    assert "is not worth having" in worse.why[0]


def test_equal_arms_with_few_rows_cannot_tell():
    equal = findings(drawn_log([0.5] * 5, [80, 5, 5, 5, 5], 1000), alpha=0.05)
    assert equal.verdict == "cannot tell"
    assert equal.gain.low <= 0 <= equal.gain.high
    clipped = equal.gain.mean != pytest.approx(equal.gain.in_sample - equal.gain.luck)
    assert ("brought within its interval" in equal.notes()[1]) == clipped
    assert equal.headline().startswith("Try: this log cannot tell: ")
    assert "shuffled copies gain +" in equal.headline()
    assert "found in 8 of 10 logs" in equal.why[-2]
    assert "to go live guarded puts at most" in equal.why[-1]


def test_worth_decides_between_does_not_pay_and_cannot_tell():
    log = drawn_log([0.8, 0.4, 0.5], [8, 1, 1], 2000)
    picky, modest = (findings(log, alpha=0.05, worth=worth) for worth in (1e6, 0))
    assert picky.verdict == "does not pay"
    assert modest.summary()["worth"] == 0
    with pytest.raises(InvalidInput, match="worth = -1 must be >= 0"):
        findings(log, worth=-1)


def test_the_sweep_has_a_band_and_a_sure_stake_for_each_alpha(found):
    swept = findings(alphas=(0.02, 0.3)).sweep
    assert [one["alpha"] for one in swept] == [0.1, 0.02, 0.3]
    for one in swept:
        stake = one["alpha"] * float(found.runs.value) * found.horizon
        assert one["stake"] == pytest.approx(stake)
        assert one["gain"]["low"] <= one["gain"]["mean"] <= one["gain"]["high"]
    assert swept[0]["gain"] == found.summary()["gain"]
    assert swept[1]["gain"]["in_sample"] <= swept[2]["gain"]["in_sample"]


def test_the_danger_is_of_the_unguarded_over_redrawn_logs(found):
    assert list(found.danger) == [UNGUARDED, JOINED]
    for danger in found.danger.values():
        ends = list(danger["quantiles"].values())
        assert ends == sorted(ends)
        assert 0 <= danger["share"] <= 1
    assert "optimistic" in " ".join(found.notes())


def test_the_notes_say_what_the_numbers_are_and_are_not(found):
    setting, method, credit, danger, assumed, *rest = found.notes()
    assert "KL-UCB over the arms besides a, 5 runs of 240 plays, seed 0" in setting
    assert "alpha = 0.1: after every play at least 90 % of what always a is credited" in setting
    assert "shuffled copies of the log, in which no arm is better" in method
    assert "not a causal claim" in method
    assert "credited at the upper end of its mean" in credit
    assert "Guarded, in none of about 625 runs below the floor" in danger
    assert assumed.startswith("Our assumption: no reward ever leaves [0, 1]")
    assert len(rest) == len(found.flags)


def test_a_range_that_is_given_is_no_assumption_of_ours():
    notes = findings(reward_range=(0, 1)).notes()
    assert notes[4] == "Your claim: no reward leaves [0, 1]. The guarantee rests on it."


@pytest.mark.parametrize(
    ("log", "options", "name", "bars"),
    [
        (
            {"arm": ["a", "b"] * 30 + ["c"] * 29, "reward": [1, 0, 1] * 29 + [1, 1]},
            {},
            "few",
            False,
        ),
        (drawn_log([0.05, 0.9], [1, 1], 300), {"horizon": 9}, "short", True),
        (drawn_log([0.5, 0.9], [1, 1], 300), {"horizon": 400}, "beyond the log", False),
        (drawn_log([0.03, 0.03], [1, 1], 300), {}, "default unsure", False),
        ({"arm": ["a"] * 100 + ["b"] * 100, "reward": [1, 0] * 100}, {}, "sorted", True),
        (
            {"arm": ["a"] * 99 + ["b", "a"] * 50 + ["b"] * 99, "reward": [1, 0] * 149},
            {},
            "shares move",
            True,
        ),
        (
            {"arm": ["a", "b"] * 200, "reward": [1, 1] * 190 + [1, 100] * 10},
            {},
            "heavy",
            False,
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_weak_is_flagged_and_some_flags_bar_a_verdict(log, options, name, bars):
    weak = findings(log, **{"alpha": 0.05, **options})
    (flag,) = [flag for flag in weak.flags if flag.name == name]
    assert flag.bars == bars
    assert any(flag.why[1:] in note for note in weak.notes())
    if bars:
        assert weak.verdict == "cannot tell"
        assert weak.why[0] == flag.why
    labels = [[weak.runs.labels[arm] for arm in flag.arms]]
    assert labels == [one["arms"] for one in weak.summary()["flags"] if one["name"] == name]


def test_a_clear_log_has_no_flag():
    assert findings(drawn_log([0.5, 0.6, 0.4], [2, 1, 1], 3000)).flags == []


def test_the_best_arms_are_shown_and_the_default_always(found):
    few, left_out = found.shown_arms()
    assert ([arm["arm"] for arm in few], left_out) == (["c", "a", "b"], 0)
    rewards = range(1, 21)
    log = {"arm": [f"arm{n:02}" for n in rewards], "reward": list(rewards)}
    shown, left_out = findings(log, "arm03", runs=1, horizon=10).shown_arms()
    assert [arm["arm"] for arm in shown] == [*(f"arm{n:02}" for n in range(20, 8, -1)), "arm03"]
    assert left_out == 7


def test_a_label_that_is_cut_is_in_full_once():
    log = {"arm": ["summer sale homepage banner, long", "b"] * 40, "reward": [1, 0] * 40}
    setting = findings(log, log["arm"][0], runs=1, horizon=10).notes()[0]
    assert setting.endswith(
        ' "summer sale\N{HORIZONTAL ELLIPSIS}" is summer sale homepage banner, long.'
    )


def test_a_backtest_from_python_is_that_of_the_command():
    found = sf.backtest(CLEAR, "a", 0.1, runs=5)
    assert found.gain == findings().gain
    assert repr(found).startswith("Backtest('pays': +")
    assert "<table>" in found._repr_html_()
    frame = pl.DataFrame({"ad": CLEAR["arm"], "paid": CLEAR["reward"]})
    euros = sf.backtest(frame, "a", 0.1, runs=5, arm="ad", reward="paid", unit="EUR")
    assert euros.gain == found.gain
    assert " EUR" in euros.headline()


def test_bandit_feedback_always_has_contexts_and_its_means_need_none():
    action = np.arange(240) % 3
    feedback = {
        "n_rounds": 240, "n_actions": 3, "action": action, "reward": (action > 0) * 1 + 1,
        "pscore": np.full(240, 1 / 3), "position": None, "context": np.ones((240, 2)),
    }  # fmt: skip
    found = sf.backtest(feedback, 0, 0.1, runs=2)
    assert found.verdict == "pays"
    assert "its contexts left aside" in found.notes()[0]
    with pytest.raises(InvalidInput, match="contexts, and policies that see them, need mode"):
        sf.backtest(feedback, 0, context="context")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"policy": "lints"}, "policies that see them, need mode"),
        ({"alphas": 0.1}, "alphas = 0.1 must be a list"),
        ({"alphas": [0.1], "mode": "rejection"}, "alphas = .* is for mode = 'means'"),
    ],
)
def test_what_means_and_rejection_do_not_share(options, said):
    with pytest.raises(InvalidInput, match=said):
        sf.backtest(CLEAR, "a", 0.2, **options)


def test_an_interval_below_what_is_lost_at_most_says_why():
    found = findings(drawn_log([0.5] * 4, [70, 10, 10, 10], 300), alpha=0.05)
    stake = found.sweep[0]["stake"]
    assert (found.gain.low < -stake) == (BELOW in found.why[-1])
    assert found.gain.low < -stake
    assert BELOW in found.notes()[2]
    assert all(0 <= arm["low"] <= arm["high"] <= 1 for arm in found.arms)


def test_results_cannot_be_asked_for_before_the_runs():
    runs = BacktestRuns(Subject(CLEAR, "a", "Try", "A log."))
    with pytest.raises(InvalidInput, match="has not run"):
        Backtest(runs)


def test_a_path_and_a_frame_of_pandas_are_read_alike(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"ad": CLEAR["arm"], "paid": CLEAR["reward"]})
    frame.to_csv(tmp_path / "log.csv", index=False)
    seen: list[tuple[int, int]] = []
    names = {"arm": "ad", "reward": "paid", "runs": 2}
    of_frame = sf.backtest(frame, "a", 0.1, **names, progress=lambda *at: seen.append(at))
    of_path = sf.backtest(tmp_path / "log.csv", "a", 0.1, **names)
    assert of_frame.gain == of_path.gain
    assert of_path.headline().startswith("log.csv: ")
    assert seen[0][0] == 0
    assert seen[-1][0] == seen[-1][1] == 2 + 40 + 40 + 10


def test_a_plot_is_a_figure_and_a_folder_holds_what_was_found(found, tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    assert isinstance(found.plot(), Figure)
    monkeypatch.setattr("surefoot.study.outputs.draw_backtest", lambda findings, stem: [])
    summary = found.write(tmp_path / "out")
    kept = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert kept["gain"] == summary["gain"]
