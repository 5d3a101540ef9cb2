import json
import re
import shutil
import signal
import subprocess
import sys
import time

import polars as pl
import pytest
from typer.testing import CliRunner

from surefoot.cli import app
from surefoot.cli._study_runs import _tell_kept
from surefoot.study.problems import MAIN
from surefoot.study.results import open_runs
from surefoot.study.results.parts import parts_in
from surefoot.study.results.store import Store
from surefoot.study.sweep import Sweep, read

SMALL = ["--k", "3", "--horizon", "400", "--runs", "2"]


def study(*words):
    return command("cmab", *words)


def command(problem, *words):
    return CliRunner().invoke(app, ["study", problem, *map(str, words)])


@pytest.fixture(autouse=True)
def no_figures(monkeypatch):
    """Figures take most of the time of a small study; ``made`` comes before this and has them."""
    monkeypatch.setattr("surefoot.study.report.publish._draw", lambda *_, **__: [])


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small finished study: its folder and what the command printed."""
    out = tmp_path_factory.mktemp("made") / "out"
    return out, study(*SMALL, "--alpha", ".1", "--out", out)


def test_it_writes_figures_tables_and_a_summary(made):
    out, done = made
    assert done.exit_code == 0, done.output
    assert {file.name for file in out.iterdir()} == {
        "cmab-K3-alpha0.1.png", "cmab-K3-alpha0.1.svg", "cmab-K3-alpha0.1.pdf",
        "runs.parquet", "summary.json", "summary.csv", "report.html", "study.json", "runs",
        "log.ndjson",
    }  # fmt: skip
    for file in out.glob("cmab*"):
        assert file.stat().st_size > 20_000


def test_the_summary_is_the_promised_one(made):
    out, _ = made
    summary = json.loads((out / "summary.json").read_text())
    assert list(summary) == ["panels", "seed", "versions", "missing"]
    (panel,) = summary["panels"]
    assert (panel["problem"], panel["K"], panel["alpha"]) == ("cmab", 3, 0.1)
    assert (panel["runs"], panel["horizon"], summary["seed"]) == (2, 400, 0)
    assert [agent["name"] for agent in panel["agents"]] == ["GenCB", "UCB1", "ConUCB"]
    for agent in panel["agents"]:
        assert list(agent)[1:] == [
            "regret", "regular_regret", "default_regret", "default_plays", "violating_rounds",
            "minimum_slack",
        ]  # fmt: skip
        for measure in list(agent)[1:]:
            assert list(agent[measure]) == ["mean", "min", "max", "interval"]
    assert [claim["key"] for claim in panel["claims"]] == [
        "kept", "flat", "lower", "constant", "early",
    ]  # fmt: skip


def test_the_terminal_shows_the_table_and_stderr_the_progress(made):
    out, done = made
    assert "K = 3, alpha = 0.1: 2 runs of 400 plays, baseline regret 68" in done.stdout
    assert "GenCB" in done.stdout
    assert str(out) in done.stdout
    assert "2 of 2 runs" in done.stderr


def test_two_runs_give_no_verdict_and_say_why_once(made):
    _, done = made
    first, *rest = done.stdout.splitlines()
    assert first == "The paper's claims in these runs: 0 hold, 5 not decided, 0 do not"
    assert rest.count("not decided: 2 runs, at least 5 needed") == 1
    assert "does not hold" not in done.stdout
    assert "Each verdict stands for itself, at 95 %" in done.stdout


def test_a_quick_look_at_a_short_horizon_gives_no_verdict_on_it(tmp_path):
    done = study("--k", 24, "--horizon", 3000, "--runs", 5, "--out", tmp_path / "out")
    assert "does not hold" not in done.stdout
    assert done.stdout.count("(horizon too short: GenCB explores ") == 3
    assert done.stdout.startswith("The paper's claims in these runs: 2 hold, 3 not decided, 0 do")


def test_panels_come_in_numerical_order_and_the_bar_goes_on_while_they_are_drawn(tmp_path):
    words = ["--k", 10, "--k", 2, "--horizon", 60, "--runs", 1, "--out", tmp_path / "out"]
    done = study(*words)
    assert done.stdout.index("K = 2,") < done.stdout.index("K = 10,")
    assert re.search(r"drawing .* 2/2 panels", done.stderr)
    study("--resume", "--json", "--out", tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert [panel["K"] for panel in summary["panels"]] == [2, 10]


def test_json_alone_is_on_stdout(made, tmp_path):
    done = study(*SMALL, "--alpha", ".1", "--out", tmp_path / "out", "--json", "--workers", 1)
    assert json.loads(done.stdout) == json.loads((made[0] / "summary.json").read_text())


def test_options_repeat_and_k_may_be_a_capital(tmp_path):
    done = study("--K", 2, "--k", 3, "--alpha", ".1", "--alpha", ".2", "--horizon", 60, "--runs", 1,
                 "--seed", 5, "--out", tmp_path / "out", "--json")  # fmt: skip
    summary = json.loads(done.stdout)
    pairs = [(panel["K"], panel["alpha"]) for panel in summary["panels"]]
    assert pairs == [(2, 0.1), (2, 0.2), (3, 0.1), (3, 0.2)]
    assert '"done": 4, "total": 4' in done.stderr
    assert summary["seed"] == 5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--alpha", "5"], "alpha = 5 must lie strictly between 0 and 1; 0.05 gives up at most"),
        (["--alpha", "x"], "--alpha = x must be a number\n"),
        (["--seed", "x"], "--seed = x must be an int\n"),
        (["--k", "1.5"], "--k/--K = 1.5 must be an int\n"),
        (["--k", "0"], "K = 0 must be >= 1"),
        (["--horizon", "1"], "horizon = 1 must be >= 2"),
        (["--runs", "0"], "runs = 0 must be >= 1"),
        (["--seed", "-1"], "seed = -1 must be >= 0"),
        (["--workers", "0"], "--workers = 0 must be >= 1"),
        (["--resume", "--overwrite"], "--resume and --overwrite exclude each other"),
        (["--runz", "1"], "No such option: --runz"),
    ],
)
def test_a_wrong_option_is_one_line_and_writes_nothing(tmp_path, words, said):
    done = study(*words, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: {said}")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert not (tmp_path / "out").exists()


def test_a_study_is_kept_unless_one_says_otherwise(made):
    out, _ = made
    before = (out / "summary.json").read_bytes()
    refused = study(*SMALL, "--out", out)
    assert refused.exit_code == 2
    assert "alpha = 0.05 differs from the study in" in refused.stderr
    assert "which has alpha = 0.1; start again with --overwrite, or give" in refused.stderr
    refused = study("--resume", "--horizon", 500, "--out", out)
    assert refused.exit_code == 2
    assert "horizon = 500 differs from the study in" in refused.stderr
    assert (out / "summary.json").read_bytes() == before


def part(out, run):
    """The part of one run of the only panel."""
    (found,) = out.glob(f"runs/*/part-{run:06d}-{run:06d}.parquet")
    return found


def test_the_same_command_again_keeps_the_runs_and_draws(made, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(made[0], out)
    part(out, 1).unlink()
    for name in ("summary.json", "runs.parquet"):
        (out / name).unlink()
    kept = part(out, 0)
    before = kept.stat().st_mtime_ns
    for _ in range(2):
        again = study(*SMALL, "--alpha", ".1", "--out", out)
        assert again.exit_code == 0
        assert again.stdout == made[1].stdout.replace(str(made[0]), str(out))
        told = [line for line in again.stderr.splitlines() if "held this study already" in line]
        assert len(told) == 1
        assert (out / "summary.json").read_bytes() == (made[0] / "summary.json").read_bytes()
    assert kept.stat().st_mtime_ns == before


def test_the_help_names_the_defaults_of_the_main_panel():
    words = " ".join(study("--help").stdout.replace("│", " ").split())
    main = read(MAIN["cmab"])
    for value in (main.K, main.alpha, main.horizon, main.runs, main.seed):
        assert f"Default: {value}." in words


def test_resuming_needs_no_options_and_overwriting_starts_again(made, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(made[0], out)
    part(out, 1).unlink()
    (out / "summary.json").unlink()
    assert study("--resume", "--out", out).exit_code == 0
    assert (out / "summary.json").read_bytes() == (made[0] / "summary.json").read_bytes()
    assert study("--overwrite", "--k", 2, "--horizon", 60, "--runs", 1, "--out", out).exit_code == 0
    assert [panel["K"] for panel in json.loads((out / "summary.json").read_text())["panels"]] == [2]
    assert not list(out.glob("cmab-K3*"))


def test_resuming_where_nothing_is_says_so(tmp_path):
    done = study("--resume", *SMALL, "--out", tmp_path / "out")
    assert done.exit_code == 0
    assert f"nothing to resume in {tmp_path / 'out'}; starting afresh\n" in done.stderr
    again = study("--resume", "--out", tmp_path / "out")
    assert "nothing to resume" not in again.stderr


def test_fewer_runs_than_are_kept_are_shown_but_the_others_not_forgotten(made, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(made[0], out)
    fewer = study("--resume", "--runs", 1, "--out", out)
    assert "2 runs are kept, 1 shown; --resume without --runs" in fewer.stderr
    assert json.loads((out / "summary.json").read_text())["panels"][0]["runs"] == 1
    all_again = study("--resume", "--out", out)
    assert "shown" not in all_again.stderr
    assert (out / "summary.json").read_bytes() == (made[0] / "summary.json").read_bytes()


def test_an_out_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    done = study(*SMALL, "--out", tmp_path / "file")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    done = study(*SMALL, "--out", tmp_path / "file" / "below")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == f"error: Not a directory: {tmp_path / 'file' / 'below'}\n"


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 64 kB, and what makes it larger."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o"]
    if not shutil.which("mount") or subprocess.call([*mount, "size=64k", "tmpfs", str(folder)]):
        pytest.skip("nothing can be mounted here")
    yield folder, lambda: subprocess.check_call([*mount, "remount,size=8m", "tmpfs", str(folder)])
    subprocess.check_call(["umount", str(folder)])


def test_a_full_disk_is_one_line_and_the_study_goes_on(small_disk, made):
    folder, grow = small_disk
    done = study(*SMALL[:-1], 40, "--alpha", ".1", "--out", folder / "out")
    assert done.exit_code == 1, done.stderr
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert "No space left on device; runs that are finished are kept: " in said
    assert said.endswith("go on with --resume")
    assert not list((folder / "out").glob("**/.*"))  # no draft takes what room there is
    grow()
    assert study("--resume", "--runs", 2, "--out", folder / "out").exit_code == 0
    summary = (folder / "out" / "summary.json").read_bytes()
    assert summary == (made[0] / "summary.json").read_bytes()


LONG = ["--k", "24", "--horizon", "500000", "--runs", "60"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The summary of a longer study that was not stopped."""
    out = tmp_path_factory.mktemp("whole") / "out"
    assert study(*LONG, "--out", out).exit_code == 0
    return (out / "summary.json").read_bytes()


def test_ctrl_c_says_how_many_long_runs_go_on_from_where_they_were(tmp_path, capsys):
    store = Store(tmp_path / "out", Sweep.of(read(MAIN["cmab"])).but(runs=2))
    file = open_runs.open_file(store.folder, list(store.cells), run=1)
    file.parent.mkdir(parents=True)
    file.touch()
    _tell_kept(store, 2, stopped=True)
    told = " ".join(capsys.readouterr().err.split())
    assert told.startswith("stopped: 0 of 2 runs are finished and kept in ")
    assert told.endswith("out (long runs kept open: 1); the same command goes on")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_a_stopped_study_goes_on_to_the_same_bytes(tmp_path, whole, number, code):
    out = tmp_path / "out"
    # A shell may start the tests with SIGINT ignored, and children inherit that.
    command = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from surefoot.cli import main; main()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", command, "study", "cmab", *LONG, "--out", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while child.poll() is None and len(list(out.glob("runs/*/part-*.parquet"))) < 2:
        time.sleep(0.002)
    child.send_signal(number)
    _, said = child.communicate()
    assert child.returncode == code, said
    (cell,) = (out / "runs").iterdir()
    done = sum(part.last + 1 - part.first for part in parts_in(cell))
    assert 2 <= done < 60
    if number == signal.SIGINT:
        told = re.search(r"stopped: (\d+) of 60 runs are finished and kept", " ".join(said.split()))
        assert told is not None
        assert int(told[1]) == done
        assert "kept open" not in said
        (panel,) = json.loads((out / "summary.json").read_text())["panels"]
        assert panel["runs"] == done
        assert (out / "cmab-K24-alpha0.05.png").exists()
    assert study("--resume", "--out", out).exit_code == 0
    assert (out / "summary.json").read_bytes() == whole


@pytest.mark.parametrize(
    ("problem", "words", "place"),
    [
        ("clb", ["--d", 3, "--instance", 1, "--ratio", 0.8, "--sigma", 1], {"d": 3, "alpha": 0.01}),
        ("cccb", ["--d", 3, "--size", 2, "--delta", 0.01], {"d": 3, "alpha": 0.01}),
        ("mv", ["--k", 3, "--rho", 60, "--alpha", 0.1], {"K": 3, "alpha": 0.1, "rho": 60}),
    ],
)
def test_every_problem_has_a_command(tmp_path, problem, words, place):
    small = [*words, "--horizon", 300, "--runs", 2, "--out", tmp_path / "out"]
    done = command(problem, *small, "--theory", "--json")
    assert done.exit_code == 0, done.output
    (panel,) = json.loads(done.stdout)["panels"]
    assert panel["problem"] == problem
    assert {axis: panel[axis] for axis in place} == place
    assert panel["agents"][0]["violating_rounds"]["max"] == 0
    assert panel["theory"]["bounds"]
    again = command(problem, "--resume", "--out", tmp_path / "out")
    assert again.exit_code == 0
    (panel,) = json.loads((tmp_path / "out" / "summary.json").read_text())["panels"]
    assert panel["theory"]["bounds"]  # remembered
    assert ", ".join(f"{axis} = {value}" for axis, value in place.items()) in again.stdout


@pytest.mark.parametrize(
    ("problem", "words", "said"),
    [
        ("clb", ["--d", "1"], "d = 1 must be >= 2"),
        ("clb", ["--instance", "-1"], "instance = -1 must be >= 0"),
        ("clb", ["--delta", "2"], "delta = 2"),
        ("clb", ["--sigma", "0"], "sigma = 0 must be > 0"),
        ("cccb", ["--size", "0"], "size = 0 must be >= 1"),
        ("cccb", ["--size", "15"], "size = 15 must be <= 14, the number of base arms"),
        ("mv", ["--rho", "0"], "rho = 0 must be > 0"),
        ("mv", ["--rho", "0.5"], ""),
        ("all", ["--horizon", "1"], "horizon = 1 must be >= 2"),
        ("all", ["--k", "3"], "No such option: --k"),
    ],
)
def test_a_wrong_option_of_any_problem_is_one_line(tmp_path, problem, words, said):
    done = command(problem, *words, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"error: {said}")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("problem", ["cmab", "clb", "cccb", "mv"])
def test_the_help_of_every_problem_names_the_defaults_of_its_main_panel(problem):
    words = " ".join(command(problem, "--help").stdout.replace("│", " ").split())
    main = read(MAIN[problem])
    for field in {*main.place, "horizon", "runs", "seed", "size", "instance", "ratio", "sigma"}:
        if hasattr(main, field):
            assert f"Default: {getattr(main, field):g}." in words, field


@pytest.mark.slow
def test_all_panels_go_on_after_a_kill_and_redo_nothing(tmp_path):
    words = ["--horizon", "20000", "--runs", "2"]
    out, whole = tmp_path / "out", tmp_path / "whole"
    child = subprocess.Popen(
        [sys.executable, "-m", "surefoot", "study", "all", *words, "--out", str(out)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while child.poll() is None and len(list(out.glob("runs/*/part-*.parquet"))) < 5:
        time.sleep(0.002)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    finished = {part: part.stat().st_mtime_ns for part in out.glob("runs/*/part-*.parquet")}
    assert 5 <= len(finished) < 28
    resumed = command("all", "--resume", "--out", out)
    assert resumed.exit_code == 0, resumed.output
    assert "44 of 44 runs" in resumed.stderr
    assert all(part.stat().st_mtime_ns == before for part, before in finished.items())
    assert command("all", *words, "--out", whole).exit_code == 0
    for name in ("summary.json", "runs.parquet"):
        assert (out / name).read_bytes() == (whole / name).read_bytes()
    assert len(json.loads((out / "summary.json").read_text())["panels"]) == 22


@pytest.mark.slow
@pytest.mark.parametrize("apart", [0.0, 0.3, 1.0])
def test_two_that_overwrite_one_folder_never_mix_their_seeds(tmp_path, apart):
    words = ["--k", "3", "--horizon", "200000", "--runs", "40", "--alpha", ".1"]
    out, started = tmp_path / "out", []
    for seed in ("1", "2"):
        started.append(subprocess.Popen(
            [sys.executable, "-m", "surefoot", "study", "cmab", *words, "--seed", seed,
             "--overwrite", "--out", str(out)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        ))  # fmt: skip
        time.sleep(apart)
    for child in started:
        _, said = child.communicate(timeout=100)
        lines = [line for line in said.splitlines() if line.startswith("error: ")]
        assert len(lines) == (child.returncode != 0)
        assert "fault of surefoot" not in said
    (panel,) = json.loads((out / "study.json").read_text())["panels"]
    for part in out.glob("runs/*/part-*.parquet"):
        assert set(pl.read_parquet(part, glob=False)["cell"]) == {part.parent.name}
    clean = ["--seed", str(panel["seed"]), "--out", tmp_path / "clean"]
    assert study(*words, *clean).exit_code == 0
    assert study("--resume", "--out", out).exit_code == 0
    for name in ("summary.json", "runs.parquet"):
        assert (out / name).read_bytes() == (tmp_path / "clean" / name).read_bytes()


def test_a_report_is_written_from_results_alone(made, tmp_path):
    folder = tmp_path / "out"
    shutil.copytree(made[0], folder)
    for name in ("report.html", "summary.json", "summary.csv"):
        (folder / name).unlink()
    done = command("report", folder)
    assert (done.exit_code, done.stderr.count("missing")) == (0, 0)
    assert (folder / "summary.json").read_bytes() == (made[0] / "summary.json").read_bytes()
    assert "GenCB" in done.stdout


def test_a_report_of_an_unfinished_study_says_what_is_missing_and_ends_with_3(made, tmp_path):
    folder = tmp_path / "out"
    shutil.copytree(made[0], folder)
    manifest = json.loads((folder / "study.json").read_text())
    manifest["panels"][0]["runs"] = 5
    (folder / "study.json").write_text(json.dumps(manifest))
    done = command("report", folder, "--json")
    assert done.exit_code == 3
    assert "3 of 5 runs are missing: 3 of cmab-K3-alpha0.1; the command" in done.stderr
    assert json.loads(done.stdout)["missing"] == [{"panel": "cmab-K3-alpha0.1", "runs": 3}]


def test_a_report_of_no_study_is_one_line(tmp_path):
    done = command("report", tmp_path)
    assert done.exit_code == 2
    assert "holds no study" in done.stderr


def test_a_report_into_a_folder_that_cannot_be_written_says_to_copy_it(made, tmp_path, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryFile", refused)  # as root no folder refuses
    done = command("report", made[0])
    assert (done.exit_code, "report on the copy" in done.stderr) == (1, True)


def test_ctrl_c_before_a_study_is_begun_says_so(tmp_path, monkeypatch):
    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("surefoot.study.results.store.Store.claim", pressed)
    done = study("--k", "3", "--horizon", "50", "--runs", "1", "--out", tmp_path / "out")
    assert done.exit_code == 130
    assert "stopped before anything was written" in done.stderr
    assert not (tmp_path / "out").exists()
