import json

import pytest
from typer.testing import CliRunner

from lab import ENVIRONMENTS, POLICIES
from surefoot.cli import app
from surefoot.study import forecast
from surefoot.study.problems import MAIN
from surefoot.study.sweep import paper, read
from surefoot.study.toml.study_file import read_study

SMALL = """\
problem = "cmab"
horizon = 400
runs = 2
[setting]
alpha = 0.1
[grid]
K = [3, 4]
"""


def study(*words):
    return CliRunner().invoke(app, ["study", *map(str, words)])


@pytest.fixture(autouse=True)
def no_figures(monkeypatch):
    monkeypatch.setattr("surefoot.study.report.publish._draw", lambda *_, **__: [])


@pytest.fixture
def file(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path / "small.toml"


def test_a_file_and_the_options_of_a_command_are_one_study(file, tmp_path):
    by_file = study("run", file, "--out", tmp_path / "a", "--json")
    options = ["--k", 3, "--k", 4, "--alpha", 0.1, "--horizon", 400, "--runs", 2]
    by_options = study("cmab", *options, "--out", tmp_path / "b", "--json")
    assert by_file.exit_code == 0, by_file.output
    assert by_file.stdout == by_options.stdout
    told = [json.loads((tmp_path / one / "study.json").read_text()) for one in "ab"]
    assert told[0]["panels"] == told[1]["panels"]
    again = study("cmab", *options, "--out", tmp_path / "a", "--json")
    assert (again.exit_code, again.stdout) == (0, by_file.stdout)


def test_options_take_the_place_of_the_files(file, tmp_path):
    words = ["--horizon", 50, "--runs", 1, "--seed", 3, "--out", tmp_path / "out", "--json"]
    summary = json.loads(study("run", file, *words).stdout)
    assert {panel["horizon"] for panel in summary["panels"]} == {50}
    assert ({panel["runs"] for panel in summary["panels"]}, summary["seed"]) == ({1}, 3)


def test_a_study_of_the_file_goes_on_with_more_runs(file, tmp_path):
    out = tmp_path / "out"
    study("run", file, "--out", out)
    refused = study("run", file, "--runs", 3, "--out", out)
    assert refused.exit_code == 2
    assert "go on with --resume" in refused.stderr
    grown = study("run", file, "--runs", 3, "--resume", "--out", out, "--json")
    assert [panel["runs"] for panel in json.loads(grown.stdout)["panels"]] == [3, 3]


def test_another_agent_in_the_same_folder_is_named(file, tmp_path):
    agents = '[[agents]]\nalgorithm = "GenCB"\n[[agents]]\npolicy = "UCB1"\nguard = "Plain"\n'
    file.write_text(SMALL + agents)
    out = ["--out", tmp_path / "out", "--horizon", 50]
    assert study("run", file, *out).exit_code == 0
    for old, new, said in [
        ('"Plain"', '"GenCB"', "agent = UCB1 (policy UCB1, guard GenCB) differs from the study in"),
        ('[[agents]]\npolicy = "UCB1"\nguard = "Plain"\n', "", "agent = none differs from"),
    ]:
        file.write_text(SMALL + agents.replace(old, new))
        refused = study("run", file, *out)
        assert refused.exit_code == 2
        assert f"error: {said}" in refused.stderr
        assert "which has agent = UCB1 (policy UCB1, guard Plain); start again" in refused.stderr


def test_without_an_out_the_folder_has_the_files_name(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert study("run", "small.toml", "--horizon", 50).exit_code == 0
    assert (tmp_path / "out" / "small" / "study.json").exists()


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        (SMALL.replace("runs", "rums"), [], ":3: rums is no key of a study file; did you mean run"),
        (SMALL.replace("0.1", "1.0"), [], ":5: alpha = 1.0 must lie strictly between 0 and 1; "),
        (SMALL.replace("4]", "0]"), [], ":7: K = 0 must be >= 1"),
        (SMALL.replace("[3, 4]", "[]"), [], ":7: K = [] must have at least one value"),
        (SMALL + '[[agents]]\npolicy = "nowhere:Mine"', [], ":9: at K = 3, alpha = 0.1: policy ="),
    ],
)
def test_a_wrong_file_is_one_line_and_writes_nothing(file, tmp_path, text, words, said):
    file.write_text(text)
    done = study("run", file, *words, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: {file}{said}")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert not (tmp_path / "out").exists()


def test_a_wrong_option_is_one_line_that_names_it(file, tmp_path):
    done = study("run", file, "--horizon", 1, "--out", tmp_path / "out")
    assert (done.exit_code, done.stderr) == (2, "error: horizon = 1 must be >= 2\n")


def test_a_folder_that_cannot_be_written_is_one_line_before_anything_runs(file):
    for words in ([], ["--dry-run"]):
        done = study("run", file, "--out", "/dev/null/out", *words)
        assert done.exit_code in (1, 2)
        assert "/dev/null" in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_dry_run_foretells_and_leaves_no_trace(file, tmp_path):
    out = tmp_path / "out"
    found = json.loads(study("run", file, "--out", out, "--dry-run", "--json").stdout)
    assert (found["panels"], found["runs"], found["done"]) == (2, 4, 0)
    assert found["plays"] == 4 * 3 * 400
    assert [plan["timed"] for plan in found["plans"]] == ["whole", "whole"]
    assert not found["estimate"]
    assert found["seconds"] > 0
    assert not out.exists()
    study("run", file, "--out", out)
    parts = sum(part.stat().st_size for part in out.rglob("part-*.parquet"))
    assert 0.5 < found["bytes"] / parts < 2.5
    after = study("cmab", "--resume", "--runs", 5, "--out", out, "--dry-run")
    assert "6 runs to do in" in after.stdout
    assert "4 runs are there already" in after.stdout


def test_a_dry_run_of_long_runs_says_that_it_is_an_estimate(file, tmp_path, monkeypatch):
    monkeypatch.setattr(forecast, "ENOUGH", 0.0)
    words = ["--horizon", 10**9, "--out", tmp_path / "out", "--dry-run"]
    done = study("run", file, *words)
    assert "An estimate, from the first plays of one run in 2 of 2 plans." in done.stdout
    assert "about " in done.stdout
    found = json.loads(study("run", file, *words, "--json").stdout)
    assert found["estimate"]
    assert found["plays"] == 4 * 3 * 10**9


def test_a_policy_that_fails_in_a_dry_run_is_one_line(file, tmp_path):
    (tmp_path / "lab_of_dry_runs.py").write_text(
        f"{POLICIES}\n\nclass Late(Mine):\n    def select(self, context, rng):\n        1 / 0\n"
    )
    file.write_text(SMALL + '[[agents]]\npolicy = "lab_of_dry_runs:Late"\nguard = "Plain"')
    done = study("run", file, "--out", tmp_path / "out", "--dry-run")
    assert done.exit_code == 2
    assert "a run of cmab-K3 raised ZeroDivisionError: division by zero" in done.stderr


def test_what_new_prints_is_the_study_of_the_command(tmp_path):
    for problem, name in MAIN.items():
        (tmp_path / "new.toml").write_text(study("new", problem).stdout)
        assert read_study(tmp_path / "new.toml").panels == (read(name),)
    (tmp_path / "own.toml").write_text(study("new", "own").stdout)
    (panel,) = read_study(tmp_path / "own.toml").panels
    assert panel.roles() == {"guarded": "guarded", "unguarded": "unguarded"}


def test_every_line_of_a_new_file_works_once_it_is_no_comment(tmp_path):
    (tmp_path / "lab_of_new.py").write_text(POLICIES + ENVIRONMENTS)
    text = study("new").stdout.replace("\n# ", "\n").replace("mylab.policies", "lab_of_new")
    text = text.replace("\nK = 72", "\n#").replace("\nalpha = 0.05", "\n#")
    text = text.replace("\nLeft out", "\n# Left out")
    (tmp_path / "new.toml").write_text(text)
    assert len(read_study(tmp_path / "new.toml").panels) == 80


def test_show_lists_the_papers_panels_and_prints_one():
    names = [line.split()[0] for line in study("show").stdout.splitlines()]
    assert names == [panel.name for panel in paper()]
    assert study("show", "mv").stdout == study("show", MAIN["mv"]).stdout
    assert 'source = "Du, Wang, Huang 2021, Figure 1(d)"' in study("show", "mv").stdout
    wrong = study("show", "cmab-K73-alpha0.05")
    assert wrong.exit_code == 2
    assert "the paper has no panel cmab-K73-alpha0.05; did you mean cmab-K72" in wrong.stderr


def test_what_own_code_prints_is_not_on_stdout(tmp_path):
    (tmp_path / "talking.py").write_text(f"print('imported'){POLICIES}".replace("pass", "print(1)"))
    (tmp_path / "own.toml").write_text(
        SMALL.replace("400", "30") + '[[agents]]\npolicy = "talking:Mine"\nguard = "Plain"\n'
    )
    said = study("run", tmp_path / "own.toml", "--dry-run", "--json", "--out", tmp_path / "out")
    assert "imported" in said.stderr, said.stderr
    assert json.loads(said.stdout)["runs"] == 4


def test_the_names_of_a_forecast_are_whole_in_a_narrow_terminal(file, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    grid = ["horizon = [30]", "mu0 = [0.65]"]
    text = SMALL.replace("horizon = 400\n", "").replace("alpha = 0.1", "alpha = 0.125")
    file.write_text(text + "\n".join(grid) + "\n")
    done = study("run", file, "--dry-run", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "…" not in done.stdout
