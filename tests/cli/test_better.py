import json
import shutil
from unittest import mock

import pytest
from typer.testing import CliRunner

from surefoot.cli import app
from surefoot.study.better.runs import BetterRuns

SMALL = ["--problem", "clb", "--runs", 2, "--horizon", 60, "--instances", 1, "--workers", 1]


def better(*words):
    """The command in plain Python: nine combinations would be compiled for a few plays."""
    steps = BetterRuns.steps
    with mock.patch.object(
        BetterRuns, "steps", lambda runs, workers: steps(runs, workers, "plain")
    ):
        return CliRunner().invoke(app, ["study", "better", *map(str, words)])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("made") / "out"
    return out, better(*SMALL, "--out", out)


def test_it_writes_a_page_a_figure_and_the_numbers(made):
    out, done = made
    assert done.exit_code == 0, done.output
    assert {file.name for file in out.iterdir()} == {
        "better.html", "better.json", "better.pdf", "better.png", "better.svg", "better-runs",
    }  # fmt: skip
    page = (out / "better.html").read_text(encoding="utf-8")
    summary = json.loads((out / "better.json").read_text(encoding="utf-8"))
    assert list(summary) == ["claims", "panels", "families", "instances", "settings", "versions"]
    for claim in summary["claims"]:
        assert claim["claim"] in page.replace("&#x27;", "'")
        assert claim["claim"] in done.stdout
    assert "CLB, d = 7, α = 0.01" in page
    assert page.count("<table>") == 1 + 1 + 3 + 5  # claims, the problem, instances, panels
    assert (out / "better.png").stat().st_size > 20_000


def test_two_runs_decide_nothing_but_what_is_refuted(made):
    _, done = made
    assert done.stdout.startswith("What was to be reached: 0 hold, 6 not decided, 0 do not")
    assert "2 runs, at least 5 needed" in done.stdout
    assert "26 of 26 runs" in done.stderr  # 5 panels twice and 3 instances, 2 runs of each


def test_the_same_command_again_draws_alone_and_says_the_same(made, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(made[0], out)
    (out / "better.json").unlink()
    again = better(*SMALL, "--out", out, "--json")
    assert json.loads(again.stdout) == json.loads((made[0] / "better.json").read_text())
    assert (out / "better.json").read_bytes() == (made[0] / "better.json").read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--runs", "0"], "runs = 0 must be"),
        (["--horizon", "1"], "horizon = 1 must be >= 2"),
        (["--instances", "-1"], "instances = -1 must be an int from 0 to 1000"),
        (["--instances", "1001"], "instances = 1001 must be an int from 0 to 1000"),
        (["--seed", "-1"], "seed = -1 must be >= 0"),
        (["--runs", "1", "--runs", "2"], "--runs is given 2 times"),
        (["--resume"], "No such option: --resume"),
    ],
)
def test_a_wrong_option_is_one_line_and_writes_nothing(tmp_path, words, said):
    done = better(*words, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: {said}")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_another_seed_is_refused_in_the_same_folder(made):
    out, _ = made
    before = (out / "better.json").read_bytes()
    refused = better(*SMALL, "--seed", 1, "--out", out)
    assert refused.exit_code == 2
    assert "already holds better.json; replace it with --overwrite" in refused.stderr
    assert (out / "better.json").read_bytes() == before


def test_ctrl_c_before_a_run_is_finished_in_all_panels_says_that_there_is_nothing_to_show(tmp_path):
    def stopped(*_):
        yield "running", 0, 10
        raise KeyboardInterrupt

    with mock.patch.object(BetterRuns, "steps", stopped):
        done = CliRunner().invoke(app, ["study", "better", "--out", str(tmp_path / "out")])
    assert (done.exit_code, done.stdout) == (130, "")
    assert "stopped: 0 of 10 runs are finished" in done.stderr
    assert "nothing to show yet" in done.stderr
