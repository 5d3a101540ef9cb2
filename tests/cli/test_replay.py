import json
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from commands import last_said
from surefoot.cli import app
from surefoot.study.logs.flights import CASES
from surefoot.study.logs.subject import Subject

QUICK = ("--runs", "2", "--horizon", "200")


@pytest.fixture(autouse=True)
def no_chart(monkeypatch):
    monkeypatch.setattr("surefoot.study.outputs.draw_backtest", lambda findings, stem: [])
    monkeypatch.setattr("surefoot.study.logs.worlds.COPIES", 20)  # what is said of them is the same


@pytest.fixture
def replay(tmp_path, capsys, monkeypatch):
    """Run ``surefoot replay`` with these words in an empty folder: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*words):
        with pytest.raises(SystemExit) as left:
            app(["replay", *last_said(*words)])
        said = capsys.readouterr()
        return left.value.code or 0, said.out, said.err

    return run


@pytest.fixture
def log(tmp_path):
    (tmp_path / "log.csv").write_text("arm,reward\n" + "old,1\nnew,1\nold,0\n" * 40)
    return "log.csv"


def summary(folder):
    return json.loads((folder / "summary.json").read_text())


def test_without_a_file_it_is_chicago(replay, tmp_path):
    code, out, _ = replay(*QUICK)
    assert code == 0
    found = summary(tmp_path / "out" / "replay-chicago")
    assert (found["default"]["arm"], found["default"]["rows"]) == ("UA", 6984)
    assert 0.74 < found["default"]["mean"] < found["default"]["value"] < 0.77
    assert (found["alpha"], found["policy"], found["seed"]) == (0.02, "klucb", 0)
    assert "Choose a carrier, New York to Chicago:" in out
    assert "Chart, summary.json, runs.parquet and worlds.parquet are in out/replay-chicago" in out


def test_the_other_case_has_its_own_folder(replay, tmp_path):
    assert replay(*QUICK)[0] == 0
    assert replay("--case", "atlanta", *QUICK)[0] == 0
    assert summary(tmp_path / "out" / "replay-atlanta")["default"]["arm"] == "DL"


def test_a_log_of_ones_own(replay, tmp_path, log):
    code, out, err = replay(log, "--default", "old", "--runs", "2", "--out", "mine")
    assert code == 0
    found = summary(tmp_path / "mine")
    assert (found["alpha"], found["horizon"], found["log"]["rows"]) == (0.05, 120, 120)
    table = pl.read_parquet(tmp_path / "mine" / "runs.parquet")
    assert table.get_column("t").max() == 120
    words = " ".join(out.split())
    for said in (
        "log.csv: exploring pays: +", "Why: of 200 shuffled copies of the log",
        "Guarded, in none of about 622 runs below the floor", "unguarded with old",
        "old (default)", "credited at the upper end of its mean", "not a causal claim",
        "Our assumption",
    ):  # fmt: skip
        assert said in words
    assert "runs" in err


def test_options_reach_the_backtest(replay, tmp_path):
    pl.DataFrame({"ad": [7, 8] * 40, "paid": [2, 3] * 40}).write_parquet(tmp_path / "log.parquet")
    code, _, _ = replay(
        "log.parquet", "--default", "7", "--arm-column", "ad", "--reward-column", "paid",
        "--alpha", "0.1", "--policy", "ucb1", "--reward-range", "-1", "4", "--seed", "9",
        "--workers", "1", *QUICK,
    )  # fmt: skip
    assert code == 0
    found = summary(tmp_path / "out" / "replay-log")
    assert found["default"]["arm"] == 7
    assert found["default"]["mean"] == 2
    assert found["reward_range"] == {"low": -1, "high": 4, "is": "given"}
    assert (found["alpha"], found["policy"], found["seed"]) == (0.1, "ucb1", 9)
    assert (found["runs"], found["horizon"]) == (2, 200)
    assert {arm["arm"] for arm in found["arms"]} == {7, 8}


def test_how_a_log_spells_what_it_holds(replay, tmp_path):
    lines = "ad:paid\n" + "old:0,5\nnew:YES\nnew:\n" * 20
    (tmp_path / "log.csv").write_text(lines, encoding="utf-8")
    code, _, err = replay(
        "log.csv", "--default", "old", "--arm-column", "ad", "--reward-column", "paid",
        "--delimiter", ":", "--decimal", ",", "--words", "yes", "no", "--missing", "0.25", *QUICK,
    )  # fmt: skip
    assert code == 0, err
    arms = {arm["arm"]: arm["mean"] for arm in summary(tmp_path / "out" / "replay-log")["arms"]}
    assert arms == {"old": 0.5, "new": 0.625}


def test_tab_may_be_said_in_words(replay, tmp_path):
    (tmp_path / "log.csv").write_text("arm\treward\n" + "old\t1\nnew\t0\n" * 20)
    for mark in ("tab", "\\t", "\t"):
        assert replay("log.csv", "--default", "old", "--delimiter", mark, *QUICK)[0] == 0


def test_a_row_that_is_too_wide_is_not_replayed(replay, tmp_path):
    """An unquoted decimal comma: the reward was read from the wrong column, with exit code 0."""
    (tmp_path / "log.csv").write_text("arm,cost,reward\n" + "old,3,1\nnew,3,20,1\n" * 20)
    code, out, err = replay("log.csv", "--default", "old", *QUICK)
    assert (code, out) == (2, "")
    assert err.startswith("error: line 3 of log.csv has 4 fields, its header has 3; put quotes")


def test_a_range_is_held_against_the_lines_of_the_file(replay, tmp_path):
    (tmp_path / "log.csv").write_text('arm,reward\n"old",1\n"new\nest",5\nold,9\n')
    err = replay("log.csv", "--default", "old", "--reward-range", "0", "6", *QUICK)[2]
    assert "the reward in line 5 of log.csv is 9, outside --reward-range 0 6" in err


def test_json_is_all_that_is_printed(replay, tmp_path, log):
    code, out, _ = replay(log, "--default", "old", "--json", *QUICK)
    assert code == 0
    assert json.loads(out) == summary(tmp_path / "out" / "replay-log")


def test_many_arms_are_cut_but_never_the_default(replay, tmp_path):
    lines = "".join(f"arm{number:02},{1 + number}\n" for number in range(30))
    (tmp_path / "log.csv").write_text("arm,reward\n" + lines)
    out = replay("log.csv", "--default", "arm03", *QUICK)[1]
    assert "arm29" in out
    assert "arm03 (default)" in out
    assert "and 17 more" in out


def test_results_are_replaced_only_if_told_so(replay, log):
    words = (log, "--default", "old", *QUICK)
    assert replay(*words)[0] == 0
    before = (Path("out/replay-log") / "summary.json").read_bytes()
    code, out, err = replay(*words, "--seed", "1")
    assert (code, out) == (2, "")
    assert "already holds summary.json; replace it with --overwrite" in err
    assert replay(*words)[0] == 0  # the very same again
    assert (Path("out/replay-log") / "summary.json").read_bytes() == before
    assert replay(*words, "--seed", "1", "--overwrite")[0] == 0


def test_numbers_of_a_column_are_alike(replay, tmp_path):
    lines = "arm,reward\n" + "old,52060\nnew,61054.5\nworse,0\n" * 40
    (tmp_path / "log.csv").write_text(lines)
    out = replay("log.csv", "--default", "old", *QUICK)[1]
    rows = {line.split("  ")[1]: line.split() for line in out.splitlines() if " 40 " in line}
    means = [rows[arm][-6] for arm in ("new", "old (default)", "worse")]
    assert means == ["61,055", "52,060", "0"] or means == ["61,054", "52,060", "0"]
    words = " ".join(out.split())
    assert "for a logged 52,060 ± " in words
    assert "leaves [0, 61,054.5]" in words
    assert "e+0" not in words
    assert "0.0k" not in words


def test_a_claimed_range_is_stated_and_a_folder_is_called_after_the_file(replay, tmp_path, log):
    out = replay(log, "--default", "old", "--reward-range", "-1", "2.5", *QUICK)[1]
    claim = "Your claim: no reward leaves [\N{MINUS SIGN}1, 2.5]. The guarantee rests on it."
    assert claim in " ".join(out.split())
    assert claim in summary(tmp_path / "out" / "replay-log")["notes"]


def test_a_horizon_without_exploration_says_so_first(replay, log):
    out = replay(log, "--default", "old", "--runs", "1", "--horizon", "3")[1]
    assert " ".join(out.split()).startswith(
        "log.csv: this log cannot tell: the horizon (3) is shorter than the wait (20 plays until "
        "the first exploration), so nothing can be explored"
    )


def test_names_and_spreads_fit_a_terminal_of_80_columns(replay, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = replay("--case", "atlanta", "--runs", "2", "--verbose")[1]
    table = out.split("Mean over the runs")[0]
    assert "\N{HORIZONTAL ELLIPSIS}" not in table
    assert " DL (default) " in table
    assert " guarded " in table


def test_markup_in_a_label_is_no_markup(replay, tmp_path):
    (tmp_path / "log.csv").write_text("arm,reward\n[red],1\n[/],1\n")
    code, out, _ = replay("log.csv", "--default", "[/]", *QUICK)
    assert code == 0
    assert "[red]" in out
    assert "[/] (default)" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("none.csv", "--default", "old"), "cannot read none.csv: no such file or directory"),
        (
            ("log.csv",),
            "name the default, the arm in use today, with default= (--default); log.csv has new",
        ),
        (("log.csv", "--default", "x"), "'x' is not an arm of the log; its arms are 'new'"),
        (("log.csv", "--default", "old", "--arm-column", "ad"), "has no column 'ad'; its columns"),
        (("log.csv", "--default", "old", "--alpha", "1.5"), "alpha = 1.5 must lie strictly"),
        (("log.csv", "--default", "old", "--alpha", "nan"), "alpha must be finite, got nan"),
        (
            ("log.csv", "--default", "old", "--reward-range", "0", "0.5"),
            "is 1, outside --reward-range 0 0.5; wid",
        ),
        (
            ("log.csv", "--default", "old", "--reward-range", "1", "0"),
            "--reward-range 1 0 must give",
        ),
        (("log.csv", "--default", "old", "--seed", "x"), "--seed = x must be an int"),
        (("log.csv", "--default", "old", "--runs", "0"), "runs = 0 must be an int >= 1"),
        (("log.csv", "--default", "old", "--workers", "0"), "--workers = 0 must be >= 1"),
        (("log.csv", "--default", "old", "--policy", "x"), "'--policy'"),
        (("log.csv", "--default", "old", "--case", "atlanta"), "exclude each other; give one"),
        (("--case", "boston"), "'--case'"),
        (("--default", "XX"), "default = 'XX' is not an arm of the log; its arms are '9E', 'AA'"),
        (("--arm-column", "x"), "--arm-column x is for a log of your own; give the FILE"),
        (("log.csv", "--default", "old", "--out", "log.csv"), "out = log.csv is a file"),
        (("--missing", "0"), "--missing 0.0 is for a log of your own; give the FILE"),
        (("--words", "yes", "no"), "--words yes no is for a log of your own; give the FILE"),
        (
            ("bad.csv", "--default", "old"),
            "line 3 of bad.csv has no reward in column 'reward'; drop",
        ),
        (
            ("inf.csv", "--default", "old"),
            "'reward' in line 2 of inf.csv is inf; a reward is",
        ),
        (("one.csv", "--default", "old"), "no arm besides the default 'old'"),
        (("empty.csv", "--default", "old"), "empty.csv is empty"),
        (
            ("bytes.csv", "--default", "old"),
            "bytes.csv holds NUL bytes and is not CSV",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_an_error_is_one_line_and_writes_nothing(replay, tmp_path, log, words, said):
    (tmp_path / "bad.csv").write_text("arm,reward\nold,1\nnew,\nnew,1\n")
    (tmp_path / "inf.csv").write_text("arm,reward\nold,inf\nnew,1\n")
    (tmp_path / "one.csv").write_text("arm,reward\nold,1\n")
    (tmp_path / "empty.csv").touch()
    (tmp_path / "bytes.csv").write_bytes(bytes(range(256)))
    code, out, err = replay(*words)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert said in err
    assert not (tmp_path / "out").exists()


def test_ctrl_c_writes_nothing(replay, tmp_path, log, monkeypatch):
    def stopped(*args):
        yield from ()
        raise KeyboardInterrupt

    monkeypatch.setattr("surefoot.study.logs.backtest_runs.in_threads", stopped)
    code, out, err = replay(log, "--default", "old", *QUICK)
    assert (code, out) == (130, "")
    assert "stopped: nothing was written" in err
    assert not (tmp_path / "out" / "replay-log" / "summary.json").exists()


def test_the_help_names_the_default_alphas(replay):
    own, *built_in = Subject({}, "a", "", "").alpha, *{case.alpha for case in CASES}
    assert built_in == [0.02]
    words = " ".join(replay("--help")[1].replace("│", " ").split())
    assert f"Default: {own} with a FILE, {built_in[0]} without." in words


def test_the_words_of_the_help(replay):
    code, out, _ = replay("--help")
    assert code == 0
    words = " ".join(out.split())
    for said in ("not a causal claim", "surefoot replay --case atlanta", "--reward-range"):
        assert said in words


def test_the_command_runs_and_draws(tmp_path, log):
    done = subprocess.run(
        [sys.executable, "-m", "surefoot", "replay", log, "--default", "old", *QUICK],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    written = sorted(file.name for file in (tmp_path / "out" / "replay-log").iterdir())
    tables = ["runs.parquet", "summary.json", "worlds.parquet"]
    assert written == ["replay.pdf", "replay.png", "replay.svg", *tables]


def test_it_ends_with_a_plan_that_can_be_pasted(replay, tmp_path, monkeypatch):
    (tmp_path / "my log.csv").write_text("the ad;ok\n" + "old;yes\nnew;yes\nold;no\n" * 40)
    code, out, err = replay(
        "my log.csv", "--default", "old", "--arm-column", "the ad", "--reward-column", "ok",
        "--words", "yes", "no", "--reward-range", "-1", "1", "--alpha", "0.1", *QUICK,
    )  # fmt: skip
    assert code == 0, err
    *_, command = out.splitlines()
    program, *words = shlex.split(command)
    assert program == "surefoot"
    with pytest.raises(SystemExit) as left:
        app([*words, "--runs", "1"])
    assert not left.value.code
    settings = json.loads((tmp_path / "out/plan/plan.json").read_text())["settings"]
    assert (settings["log"], settings["horizon"], settings["alpha"]) == ("my log.csv", 200, "0.1")
    assert settings["reward_range"] == ["-1.0", "1.0"]


def test_alphas_are_compared_and_the_stake_is_said(replay, tmp_path, log):
    code, out, err = replay(
        log, "--default", "old", "--alphas", ".1", ".2", "--unit", "EUR", *QUICK
    )
    assert code == 0, err
    sweep = summary(tmp_path / "out" / "replay-log")["sweep"]
    worlds = pl.read_parquet(tmp_path / "out" / "replay-log" / "worlds.parquet")
    assert worlds.group_by("world", "alpha").len().sort("world", "alpha").rows() == [
        (world, alpha, count)
        for world, count in (("log", 2), ("redrawn", 20), ("shuffled", 20))
        for alpha in (0.05, 0.1, 0.2)
    ]
    for one in sweep:
        of_alpha = worlds.filter(alpha=one["alpha"], world="shuffled")
        assert one["gain"]["luck"] == pytest.approx(of_alpha["gain"].mean())
    assert [one["alpha"] for one in sweep] == [0.05, 0.1, 0.2]
    assert "at most lost" in out
    assert "EUR" in out.splitlines()[0] + out.splitlines()[1]


def test_the_details_are_for_those_who_ask(replay, log):
    plain = replay(log, "--default", "old", *QUICK)[1]
    assert "By halves" not in plain
    assert "furthest" not in plain
    detailed = replay(log, "--default", "old", "--verbose", *QUICK)[1]
    assert "By halves: learnt on half of each arm's rows" in detailed
    assert "furthest" in detailed


def test_a_log_that_cannot_tell_says_how_many_rows_would(replay, tmp_path):
    lines = "arm,reward\n" + "old,1\nold,0\nnew,1\nnew,0\n" * 30
    (tmp_path / "log.csv").write_text(lines)
    code, out, _ = replay("log.csv", "--default", "old", *QUICK)
    assert code == 0
    assert "this log cannot tell" in " ".join(out.split())
    assert "rows of it needed" in out


def test_contexts_by_rejection(replay, tmp_path, monkeypatch):
    monkeypatch.setattr("surefoot.study.logs.rejection_backtest.COPIES", 2)
    lines = "arm,reward,x,y\n" + "old,1,0,1\nnew,1,0.5,0\nold,0,0.5,0\nnew,1,0,1\n" * 10
    (tmp_path / "log.csv").write_text(lines)
    words = ("--mode", "rejection", "--context-columns", "x,y", "--runs", "2", "--policy", "lints")
    code, out, err = replay("log.csv", "--default", "old", *words)
    assert code == 0, err
    found = summary(tmp_path / "out" / "replay-log")
    assert (found["mode"], found["policy"], found["log"]["contexts"]) == ("rejection", "LinTS", 2)
    assert set(pl.read_parquet(tmp_path / "out/replay-log/runs.parquet")["copy"]) > {"log"}
    assert "A row counts where the agent chooses" in " ".join(out.split())
    err = replay("log.csv", "--default", "old", "--context-columns", "x,y")[2]
    assert "need --mode rejection" in err
    assert (
        "--alphas is for --mode means"
        in replay("log.csv", "--default", "old", "--mode", "rejection", "--alphas", ".1")[2]
    )


def test_a_log_of_vowpal_wabbit(replay, tmp_path):
    lines = (
        {"_label_cost": -(i % 3 > 0), "_label_probability": 0.5, "_labelIndex": i % 2}
        for i in range(90)
    )
    (tmp_path / "vw.json").write_text("".join(json.dumps(one) + "\n" for one in lines))
    code, _, err = replay("vw.json", "--default", "1", *QUICK)
    assert code == 0, err
    found = summary(tmp_path / "out" / "replay-vw")
    assert (found["default"]["arm"], found["log"]["propensities"]) == (1, True)
