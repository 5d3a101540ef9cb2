import json
import re
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

from surefoot.errors import InvalidInput
from surefoot.simulation import Result
from surefoot.study.logs.backtest import (
    GIVEN,
    GUARDED,
    JOINED,
    UNGUARDED,
    Backtest,
    BacktestFindings,
    Subject,
    built_in,
    own,
)
from surefoot.study.runs import MAX_ARMS, MAX_RUNS

LOG = {"arm": ["a", "b"] * 20, "reward": [1, 0, 0, 1] * 10}

# What an independent simulation of the same routes found over 100 runs of a year, alpha = 0.02:
# unguarded and guarded gain over always UA, share of plays below the floor, default plays.
SURVEY = {"ucb1": (377, 323, 0.106, 1690), "klucb": (587, 560, 0.023, 747)}


def subject(log=LOG, default="a"):
    return Subject(log, default, "Try", "A log.")


def results(backtest, **options):
    steps = list(backtest.steps(**options))
    return steps, backtest.results


def at_the_end(result: Result, name, measure):
    return result.measure(name, measure)[:, -1]


@pytest.mark.parametrize("policy", SURVEY)
def test_chicago_agrees_with_the_survey_within_the_spread_of_the_runs(policy):
    backtest = Backtest(built_in("chicago"), 0.02, policy, runs=24, seed=7)
    paired = results(backtest)[1][GUARDED]
    always = float(backtest.value) * backtest.horizon
    found = [
        at_the_end(paired, UNGUARDED, "received") - always,
        at_the_end(paired, GUARDED, "received") - always,
        at_the_end(paired, UNGUARDED, "violating_rounds") / backtest.horizon,
        at_the_end(paired, GUARDED, "default_plays"),
    ]
    for values, expected in zip(found, SURVEY[policy], strict=True):
        error = values.std(ddof=1) * np.sqrt(1 / len(values) + 1 / 100)
        assert abs(values.mean() - expected) < 3.5 * error
    assert (at_the_end(paired, UNGUARDED, "minimum_slack") < 0).mean() > 0.9
    assert paired.exact_minimum_slack(GUARDED) >= 0


def test_in_atlanta_the_incumbent_goes_on_because_it_competes():
    backtest = Backtest(built_in("atlanta"), 0.02, runs=10)
    found = results(backtest)[1]
    horizon, value = backtest.horizon, float(backtest.value)
    gain = {
        GUARDED: at_the_end(found[GUARDED], GUARDED, "received") - value * horizon,
        UNGUARDED: at_the_end(found[GUARDED], UNGUARDED, "received") - value * horizon,
        JOINED: at_the_end(found[JOINED], JOINED, "received") - value * horizon,
    }
    # All that the floor allows to lose is lost where the default does not compete.
    assert -0.5 * 0.02 * value * horizon < gain[GUARDED].mean() < 0
    assert gain[UNGUARDED].max() < -0.1 * value * horizon
    assert gain[JOINED].min() < gain[GUARDED].min()
    assert at_the_end(found[GUARDED], GUARDED, "default_plays").min() > 0.9 * horizon
    assert found[GUARDED].exact_minimum_slack(GUARDED) >= 0
    assert found[JOINED].exact_minimum_slack(JOINED) < 0


def test_the_default_counts_at_its_logged_mean_to_the_nearest_unit():
    backtest = Backtest(subject({"arm": ["a", "a", "a", "b"], "reward": [1, 1, 0, 0]}), 0.1)
    assert backtest.value == Decimal("0.666666667")
    assert backtest.least == Decimal("0.600000001")  # rounded up, so that it is not understated
    assert backtest.floor.default == backtest.value
    assert backtest.horizon == backtest.rows == 4
    assert [(arm["arm"], arm["rows"], arm["is_default"]) for arm in backtest.arms] == [
        ("a", 3, True), ("b", 1, False),
    ]  # fmt: skip


def test_guarded_and_unguarded_share_policy_arms_and_noise():
    backtest = Backtest(subject({"arm": ["a", "b", "c"], "reward": [0.5, 1, 0.25]}), 0.1)
    paired, alone = backtest.plans.values()
    assert paired.key(3) == alone.key(3)
    assert paired.agents[GUARDED].policy.record == paired.agents[UNGUARDED].policy.record
    assert paired.agents[GUARDED].arms == paired.agents[UNGUARDED].arms == ("b", "c")
    assert paired.agents[GUARDED].default_competes
    assert alone.agents[JOINED].arms == ("b", "c", "a")
    assert not paired.stepwise
    assert not alone.stepwise


@pytest.mark.parametrize(
    ("rewards", "declared", "expected"),
    [
        ([0.25, 0.5], None, (0, 1)),
        ([0, 1], None, (0, 1)),
        ([0.5, 1.5], None, (Decimal("0.5"), Decimal("1.5"))),
        ([-1, 3], None, (-1, 3)),
        ([0.25, 0.5], (-2, 5), (-2, 5)),
    ],
)
def test_the_range_is_given_or_assumed_and_says_so(rewards, declared, expected):
    log = {"arm": ["a", "b"], "reward": rewards[::-1]}
    backtest = Backtest(subject(log), 0.1, reward_range=declared)
    assert backtest.floor.reward_range == expected
    assert (backtest.range_is == GIVEN) == (declared is not None)
    assert all(not plan.stepwise for plan in backtest.plans.values())  # one unit on both sides


def test_steps_tell_where_it_stands():
    backtest = Backtest(subject(), 0.1, runs=2, horizon=30)
    steps = results(backtest, engine="plain")[0]
    assert [(step.doing, step.done) for step in steps] == [
        ("starting", 0), ("running", 0), ("running", 1), ("running", 2),
        ("running", 2), ("running", 3), ("running", 4),
    ]  # fmt: skip
    assert {step.total for step in steps} == {4}


def test_equal_seeds_give_equal_runs_on_any_engine_with_any_threads():
    frames = []
    for seed, options in ((1, {"engine": "plain"}), (1, {"workers": 3}), (2, {})):
        backtest = Backtest(subject(), 0.1, runs=3, horizon=200, seed=seed)
        list(backtest.steps(**options))
        frames.append([result.frame for result in backtest.results.values()])
    assert frames[0][0].equals(frames[1][0])
    assert frames[0][1].equals(frames[1][1])
    assert not frames[0][0].equals(frames[2][0])


def test_a_log_of_ones_own(tmp_path):
    file = tmp_path / "ads.csv"
    file.write_text("ad,paid\n7,1.5\n8,0\n")
    mine = own(file, "7", "ad", "paid")
    assert (mine.default, mine.title, mine.source) == (7, "ads.csv", "ads.csv, 2 rows.")
    assert Backtest(mine, 0.05).environment.arms == (8,)
    with pytest.raises(InvalidInput, match=r"name the default.*--default; .*ads.csv has 7, 8"):
        own(file, None, "ad", "paid")
    long = tmp_path / f"{'x' * 80}.csv"
    file.rename(long)
    assert len(own(long, "7", "ad", "paid").title) == 40


def test_alpha_is_the_subjects_unless_given():
    assert Backtest(built_in("chicago"), runs=1).floor.alpha == Decimal("0.02")
    assert Backtest(subject()).floor.alpha == Decimal("0.05")
    assert Backtest(subject(), 0.2).floor.alpha == Decimal("0.2")


def test_a_built_in_case_with_another_default():
    assert built_in("chicago").default == "UA"
    assert Backtest(built_in("chicago", "AA"), 0.05, runs=1).value == Decimal("0.782142268")


@pytest.mark.parametrize(("default", "shown"), [(7, "7"), ("a\n b", "a b"), ("x" * 13, "x" * 11)])
def test_the_default_is_shown_short(default, shown):
    backtest = Backtest(subject({"arm": [default, "b"], "reward": [1, 0]}, default), 0.1)
    assert backtest.shown.rstrip("…") == shown


@pytest.mark.parametrize(
    ("log", "options", "said"),
    [
        (LOG, {"policy": "greedy"}, "policy 'greedy' is unknown; choose 'klucb' or 'ucb1'"),
        (LOG, {"alpha": 1}, "alpha = 1 must lie strictly between 0 and 1"),
        (LOG, {"runs": 0}, "runs = 0 must be an int >= 1"),
        (LOG, {"runs": MAX_RUNS + 1}, "runs = 10,001 is above 10,000"),
        (LOG, {"horizon": 0}, "horizon = 0 must be an int >= 1"),
        (LOG, {"seed": -1}, "seed = -1"),
        (LOG, {"reward_range": (0, 0.5)}, "outside the reward_range"),
        ({"arm": ["a", "b"], "reward": [0, 1]}, {}, "the default 'a' pays 0 a play in the log"),
        ({"arm": ["a", "b"], "reward": [-1, 1]}, {}, "the default 'a' pays -1 a play in the log"),
        ({"arm": ["a", "b"], "reward": [5, 5]}, {}, "all rewards of the log are about 5;"),
        ({"arm": ["a", "a"], "reward": [5, 5]}, {}, "no arm besides the default"),
        (
            {"arm": ["a", *range(MAX_ARMS)], "reward": [1] * (MAX_ARMS + 1)},
            {},
            "the log has 1,001 arms, a replay takes at most 1,000; is that column the arm?",
        ),
    ],
    ids=[
        "policy", "alpha", "no runs", "runs", "horizon", "seed", "range", "default of 0",
        "default below 0", "constant", "one arm", "arms",
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(log, options, said):
    with pytest.raises(InvalidInput, match=said):
        Backtest(subject(log), **{"alpha": 0.1, **options})


def test_threads_that_are_none_are_refused_before_the_first_run():
    with pytest.raises(InvalidInput, match="workers = 0"):
        next(Backtest(subject(), 0.1).steps(workers=0))


@pytest.mark.parametrize("reward", [3, 1234567890123.4])
def test_a_log_of_one_reward_leaves_nothing_to_choose(reward):
    """Also where that reward is no whole unit, so that the log's range is wider than it."""
    with pytest.raises(InvalidInput, match="nothing to choose"):
        Backtest(subject({"arm": ["a", "b"], "reward": [reward] * 2}))


def test_a_deposit_below_the_unit_is_refused_for_nothing_would_be_explored():
    log = {"arm": ["a", "b"] * 100, "reward": [1e-8, 1.0] * 100}
    with pytest.raises(InvalidInput, match=r"alpha = 0\.01 .* nothing would ever be explored"):
        Backtest(subject(log), 0.01, reward_range=(0, 1))


@pytest.mark.parametrize(("mean", "alpha", "first"), [(0.5, 0.1, 10), (2e-8, 0.09, 20)])
def test_the_first_exploration_is_the_books_also_where_they_round(mean, alpha, first):
    """In exact numbers 2e-8 at alpha 0.09 would be explored from play 12 on."""
    log = {"arm": ["a", "b"] * 100, "reward": [mean, 1.0] * 100}
    backtest = Backtest(subject(log), alpha, reward_range=(0, 1), runs=1, horizon=first)
    list(backtest.steps(engine="plain"))
    assert backtest.first_exploration == first
    assert at_the_end(backtest.results[GUARDED], GUARDED, "default_plays") == [first - 1]


LOG_REPLAY_FINDINGS = {"arm": ["a", "b", "c"] * 40, "reward": [1, 0, 1, 0, 1, 1] * 20}
AGENTS = (GUARDED, UNGUARDED, JOINED)


def findings(log=LOG_REPLAY_FINDINGS, **options):
    backtest = Backtest(
        Subject(log, "a", "Try", "A log."), **{"alpha": 0.1, "runs": 5, "horizon": 300, **options}
    )
    list(backtest.steps())
    return BacktestFindings(backtest)


@pytest.fixture(scope="module")
def found():
    return findings()


def test_the_summary_has_the_documented_keys(found):
    summary = found.summary()
    documented = BacktestFindings.summary.__doc__ or ""
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
            LOG_REPLAY_FINDINGS,
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
    shown, left_out = BacktestFindings(backtest).shown_arms()
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
    setting = BacktestFindings(backtest).notes()[0]
    assert setting.endswith(
        ' "summer sale\N{HORIZONTAL ELLIPSIS}" is summer sale homepage banner, long.'
    )
