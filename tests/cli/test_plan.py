import json
import subprocess
import sys

import pytest

from commands import last_said
from surefoot.cli import app

SURE = ("--default", "0.7", "--alpha", "0.05")
QUICK = (*SURE, "--means", "0.5", "0.9", "--runs", "2", "--horizon", "300")


@pytest.fixture(autouse=True)
def no_chart(monkeypatch):
    monkeypatch.setattr("surefoot.study.outputs.draw_outlook", lambda prospects, stem: [])


@pytest.fixture
def plan(tmp_path, capsys, monkeypatch):
    """Run ``surefoot plan`` with these words in an empty folder: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*words):
        with pytest.raises(SystemExit) as left:
            app(["plan", *last_said(*words)])
        said = capsys.readouterr()
        return left.value.code or 0, said.out, said.err

    return run


def test_it_says_what_is_sure_and_what_is_predicted(plan, tmp_path):
    code, out, err = plan(*QUICK)
    assert code == 0
    words = " ".join(out.split())
    for said in (
        "Exploring begins at play 20; at most 10.5 is lost in 300 plays", "300 plays 10.5 285",
        "at most 0.035 * t + 0 is lost", "an arm that pays 0.665 or more", "Predicted: ",
        "if no arm is as good as the default and each pays 0.5", "GenCB over UCB1",
        "Chart and plan.json are in out/plan",
    ):  # fmt: skip
        assert said in words
    assert "\N{HORIZONTAL ELLIPSIS}" not in out
    assert "runs" in err
    assert (tmp_path / "out" / "plan" / "plan.json").exists()


def test_json_is_all_that_is_printed_and_equal_seeds_are_equal(plan, tmp_path):
    code, out, _ = plan(*QUICK, "--json", "--out", "mine")
    assert code == 0
    assert json.loads(out) == json.loads((tmp_path / "mine" / "plan.json").read_text())
    assert plan(*QUICK, "--json", "--out", "mine", "--workers", "1")[1] == out


def test_a_plan_is_replaced_only_if_told_so(plan, tmp_path):
    assert plan(*QUICK)[0] == 0
    before = (tmp_path / "out" / "plan" / "plan.json").read_bytes()
    code, out, err = plan(*QUICK, "--alpha", "0.2")
    assert (code, out) == (2, "")
    assert "already holds plan.json; replace it with --overwrite, or give another --out" in err
    assert plan(*QUICK)[0] == 0  # the very same again
    assert (tmp_path / "out" / "plan" / "plan.json").read_bytes() == before
    assert plan(*QUICK, "--alpha", "0.2", "--overwrite")[0] == 0


def test_options_reach_the_plan(plan):
    code, out, _ = plan(
        "--default", "12", "--alpha", "0.1", "--mean", "8", "--mean", "15.5", "--traffic", "100",
        "--reward-range", "-5", "40", "--reserve", "3", "--horizon", "200", "--policy", "klucb",
        "--runs", "1", "--seed", "7", "--json",
    )  # fmt: skip
    assert code == 0
    found = json.loads(out)
    assert found["settings"] == {
        "default": "12.0", "alpha": "0.1", "reward_range": ["-5.0", "40.0"], "reserve": "3.0",
        "means": ["8.0", "15.5"], "traffic": 100, "horizon": 200, "policy": "klucb",
        "default_competes": True, "runs": 1, "seed": 7,
    }  # fmt: skip
    # h = 10.8 + 5, less the reserve of 3, saved up at 1.2 a play
    assert found["exact"]["first_exploration"] == 12
    plays = [point["plays"] for point in found["exact"]["points"]]
    assert plays == [100, 200, 700, 3000]
    assert len(found["predicted"]["plausible"]["points"]) == 2


def test_ten_arms_unless_said_otherwise(plan):
    for words, arms in (((), 10), (("--arms", "3"), 3)):
        found = json.loads(plan(*QUICK, *words, "--json", "--overwrite")[1])
        assert len(found["settings"]["means"]) == arms


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--means", "0.5", "0.8"), "say what the default pays: --default REWARD; or give a log"),
        (SURE, "say what the arms may plausibly pay: --means LOW HIGH, or --mean each"),
        ((*QUICK, "--mean", "0.5"), "--means and --mean exclude each other; give one"),
        ((*SURE, "--mean", "0.5", "--arms", "2"), "--arms 2 but 1 times --mean"),
        ((*QUICK, "--arms", "1"), "arms = 1 has one mean"),
        ((*SURE, "--means", "0.8", "0.5"), "means = 0.8 0.5 must be given as LOW HIGH"),
        ((*SURE, "--mean", "1.5"), "mean = 1.5 lies outside reward_range"),
        ((*SURE, "--mean", "nan"), "mean must be finite, got nan"),
        ((*QUICK, "--alpha", "1"), "alpha = 1.0 must lie strictly"),
        ((*QUICK, "--default", "0"), "default = 0.0 must be > 0"),
        ((*QUICK, "--default", "2"), "--default 2 lies outside --reward-range"),
        ((*QUICK, "--reserve", "-1"), "reserve = -1.0 must be >= 0"),
        ((*QUICK, "--reward-range", "1", "0"), "must have r_min < r_max"),
        ((*QUICK, "--traffic", "0"), "traffic = 0 must be an int >= 1"),
        ((*QUICK, "--horizon", "0"), "horizon = 0 must be an int >= 1"),
        ((*QUICK, "--runs", "0"), "runs = 0 must be an int >= 1"),
        ((*QUICK, "--workers", "0"), "--workers = 0 must be >= 1"),
        ((*QUICK, "--policy", "x"), "'--policy'"),
        ((*QUICK, "--out", "file"), "out = file is a file"),
    ],
    ids=lambda value: " ".join(value[-3:]) if isinstance(value, tuple) else "",
)
def test_an_error_is_one_line_and_writes_nothing(plan, tmp_path, words, said):
    (tmp_path / "file").touch()
    code, out, err = plan(*words)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert said in err
    assert not (tmp_path / "out").exists()


def test_ctrl_c_writes_nothing(plan, tmp_path, monkeypatch):
    def stopped(*args):
        yield from ()
        raise KeyboardInterrupt

    monkeypatch.setattr("surefoot.study.runs.run_all", stopped)
    code, out, err = plan(*QUICK)
    assert (code, out) == (130, "")
    assert "stopped: nothing was written" in err
    assert not (tmp_path / "out").exists()


def test_the_command_runs_and_draws(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "surefoot", "plan", *QUICK],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    written = sorted(file.name for file in (tmp_path / "out" / "plan").iterdir())
    assert written == ["plan.json", "plan.pdf", "plan.png", "plan.svg"]


def test_help_teaches_by_example_and_imports_nothing_heavy():
    code = (
        "import sys\nfrom surefoot.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, "plan", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "surefoot plan --default 0.7 --means 0.5 0.8 --traffic 1000" in done.stdout
    assert {"numpy", "numba", "matplotlib", "polars"}.isdisjoint(done.stderr.split())


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_a_narrow_terminal_loses_no_figure_and_no_row(plan, monkeypatch, columns):
    banners = ("--default", "0.04", "--mean", "0.03", "--mean", "0.05", "--policy", "klucb")
    asked = (*banners, "--runs", "3", "--horizon", "20000", "--overwrite")
    monkeypatch.setenv("COLUMNS", "200")
    _, wide, _ = plan(*asked)
    monkeypatch.setenv("COLUMNS", str(columns))
    _, narrow, _ = plan(*asked)
    assert "\N{HORIZONTAL ELLIPSIS}" not in narrow
    table = wide[wide.index("\u2500 \n") : wide.index("Sure: on")]
    figures = {word for word in table.split() if any(map(str.isdigit, word))}
    assert len(figures) > 20
    assert figures <= {word.strip("(),") for word in narrow.split()}
    assert max(map(len, narrow.splitlines()[:-1])) <= columns


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--default", "12", "--means", "8", "15"), "--default 12 lies outside --reward-range 0 1"),
        (("--default", "0,7", "--means", "0", "1"), "must be a number; 0.7 has a decimal point"),
        ((*SURE, "--policy", "linucb"), "'--policy': 'linucb' is not one of 'klucb', 'ucb1'"),
    ],
)
def test_a_wrong_option_is_named_with_what_to_write(plan, words, said):
    code, _, err = plan(*words)
    assert (code, said in err, len(err.splitlines())) == (2, True, 1)


@pytest.fixture
def log(tmp_path):
    lines = "page,paid\n" + "old,1\nnew,1\nold,0\nnew,0\n" * 40
    (tmp_path / "log.csv").write_text(lines, encoding="utf-8")
    return ("--log", "log.csv", "--arm-column", "page", "--reward-column", "paid")


def test_a_plan_of_a_log(plan, log):
    code, out, err = plan(*log, "--default", "old", "--runs", "2", "--horizon", "300", "--json")
    assert code == 0, err
    found = json.loads(out)
    settings = found["settings"]
    assert (settings["log"], settings["policy"], settings["alpha"]) == ("log.csv", "klucb", "0.05")
    assert 0.5 < float(settings["default"]) < 0.65  # the upper end of 80 rows of 0 or 1
    assert settings["means"] == ["0.5"]
    (poor,) = found["predicted"]["poor"]["means"]
    assert 0.35 < float(poor) < 0.5
    assert plan("--case", "atlanta", "--runs", "1", "--horizon", "100", "--out", "x")[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name the default, the arm in use today, with default= (--default); log.csv has new"),
        (("--default", "old", "--means", "0", "1"), "--means is a guess, and a log says it; leave"),
        (("--default", "old", "--mean", "1"), "--mean is a guess"),
        (
            ("--default", "old", "--case", "chicago"),
            "--case chicago and log.csv exclude",
        ),
        (("--default", "old", "--reward-range", "0", "0.5"), "is 1, outside --reward-range 0 0.5"),
        (("--default", "x"), "default = 'x' is not an arm of the log"),
    ],
)
def test_a_plan_of_a_log_that_does_not_fit(plan, log, words, said):
    code, out, err = plan(*log, *words)
    assert (code, out, said in err) == (2, "", True), err


def test_how_a_log_is_read_needs_a_log(plan):
    err = plan(*QUICK, "--arm-column", "page")[2]
    assert "--arm-column says how a log is read; give one with --log" in err
    words = ("--default", "old", "--mean", "1")
    assert "--default old must be a number; with --log it is" in plan(*words)[2]
