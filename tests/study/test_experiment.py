import json
from importlib.util import find_spec

import polars as pl
import pytest

from surefoot.errors import InvalidInput, MissingExtra
from surefoot.study import files
from surefoot.study.experiment import steps_of_study, write_study
from surefoot.study.problems import MAIN
from surefoot.study.report import publish
from surefoot.study.results.store import Store
from surefoot.study.runs import checkpoints
from surefoot.study.sweep import Sweep, read

SWEEP = Sweep.of(read(MAIN["cmab"])).but(K=(2, 3), alpha=(0.1, 0.2), horizon=250, runs=3)


@pytest.fixture(autouse=True)
def no_figures(monkeypatch):
    monkeypatch.setattr(publish, "_draw", lambda *_, **__: [])


def run(folder, sweep=SWEEP, steps=None, **options):
    """Do a study, or the first so many steps of it."""
    store = Store(folder, sweep, **options)
    for number, _ in enumerate(steps_of_study(store, steps and 1), start=1):
        if number == steps:
            break
    return write_study(store)


def test_steps_tell_where_it_stands(tmp_path):
    steps = [step for step in steps_of_study(Store(tmp_path, SWEEP)) if step.doing != "compiling"]
    assert steps[0] == ("starting", 0, 12)  # 4 panels, of 3 runs each
    done = [step.done for step in steps[1:]]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, 12)
    assert {step.total for step in steps} == {12}


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_a_stopped_study_ends_as_one_that_never_stopped(tmp_path, steps):
    whole = run(tmp_path / "whole")
    partly = run(tmp_path / "partly", steps=steps)
    assert partly != whole
    assert run(tmp_path / "partly", resume=True) == whole
    for name in ("summary.json", "runs.parquet"):
        one, other = (tmp_path / folder / name for folder in ("whole", "partly"))
        assert one.read_bytes() == other.read_bytes()


def test_what_is_done_is_not_done_again(tmp_path):
    run(tmp_path)
    before = {file: file.stat().st_mtime_ns for file in tmp_path.glob("runs/*/*")}
    steps = list(steps_of_study(Store(tmp_path, SWEEP, resume=True)))
    assert steps == [("starting", 12, 12)]
    assert {file: file.stat().st_mtime_ns for file in tmp_path.glob("runs/*/*")} == before


def test_more_runs_are_those_of_a_longer_study(tmp_path):
    run(tmp_path / "grown")
    grown = run(tmp_path / "grown", SWEEP.but(runs=5), resume=True)
    assert grown == run(tmp_path / "whole", SWEEP.but(runs=5))


def test_a_study_without_a_finished_run_writes_no_result(tmp_path):
    assert run(tmp_path, steps=1)["panels"] == []
    assert {file.name for file in tmp_path.iterdir()} <= {"study.json", "runs", "log.ndjson"}


def test_the_number_of_threads_changes_nothing(tmp_path):
    results = []
    for workers in (1, 3):
        store = Store(tmp_path / str(workers), SWEEP)
        assert [step.done for step in steps_of_study(store, workers)][-1] == 12
        results.append(write_study(store))
    assert results[0] == results[1]


def test_the_table_holds_all_runs_in_order(tmp_path):
    run(tmp_path)
    table = pl.read_parquet(tmp_path / "runs.parquet")
    assert table.columns == [
        "problem", "K", "alpha", "agent", "run", "t", "regret", "regular_regret",
        "default_regret", "default_plays", "received", "slack", "minimum_slack",
        "violating_rounds",
    ]  # fmt: skip
    groups = table.group_by("K", "alpha", "agent", "run", maintain_order=True).len()
    assert len(groups) == 2 * 2 * 3 * 3
    assert groups.get_column("agent").to_list()[:9] == ["GenCB"] * 3 + ["UCB1"] * 3 + ["ConUCB"] * 3
    assert groups.get_column("K").is_sorted()
    assert table.group_by(groups.columns[:4]).agg(pl.col("t").is_sorted()).get_column("t").all()
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert [(p["K"], p["alpha"]) for p in summary["panels"]] == [
        (2, 0.1), (2, 0.2), (3, 0.1), (3, 0.2),
    ]  # fmt: skip


def test_gencb_keeps_its_floor_and_ucb1_does_not(tmp_path):
    for panel in run(tmp_path)["panels"]:
        gencb, ucb1, _ = panel["agents"]
        assert gencb["violating_rounds"]["max"] == 0
        assert gencb["minimum_slack"]["min"] >= 0
        assert ucb1["violating_rounds"]["min"] > 0
        assert ucb1["default_plays"]["max"] == 0


@pytest.mark.parametrize("package", ["numba", "polars", "matplotlib"])
def test_a_missing_extra_is_found_before_anything_is_written(tmp_path, monkeypatch, package):
    monkeypatch.setattr(
        files, "find_spec", lambda name: None if name == package else find_spec(name)
    )
    with pytest.raises(MissingExtra, match=f"{package} is not installed; in Surefoot's folder"):
        next(steps_of_study(Store(tmp_path / "out", SWEEP)))
    assert not (tmp_path / "out").exists()


def test_what_does_not_fit_is_found_before_anything_is_written(tmp_path):
    with pytest.raises(InvalidInput, match="workers = 0"):
        next(steps_of_study(Store(tmp_path / "out", SWEEP), workers=0))
    with pytest.raises(InvalidInput, match=r"delta = 2\.0 must lie strictly between"):
        next(steps_of_study(Store(tmp_path / "out", SWEEP.but(delta=2.0))))
    assert not (tmp_path / "out").exists()


def test_each_panel_gets_its_figures(tmp_path, monkeypatch):
    drawn = []

    def draw(store, runs, *, theory):
        drawn.append((store.folder / runs.panel.name, runs.of("UCB1", "slack").shape))
        return []

    monkeypatch.setattr(publish, "_draw", draw)
    run(tmp_path)
    assert [stem.name for stem, _ in drawn] == [panel.name for panel in SWEEP.panels]
    assert {stem.parent for stem, _ in drawn} == {tmp_path}
    assert {shape for _, shape in drawn} == {(3, len(checkpoints(250)))}


def test_a_study_of_all_problems_is_one_table_and_one_report(tmp_path):
    sweep = Sweep.of(*(read(name) for name in MAIN.values())).but(horizon=60, runs=1)
    store = Store(tmp_path, sweep, theory=True)
    steps = list(steps_of_study(store))
    assert {step.total for step in steps} == {4}
    assert [step.doing for step in steps].count("compiling") <= 1
    summary = write_study(store)
    assert [panel["problem"] for panel in summary["panels"]] == list(MAIN)
    assert all("theory" in panel for panel in summary["panels"])
    table = pl.read_parquet(tmp_path / "runs.parquet")
    assert table.columns[:7] == ["problem", "K", "d", "alpha", "rho", "agent", "run"]
    assert table.filter(problem="clb").get_column("K").null_count() > 0
    assert (tmp_path / "report.html").read_text().count("<section") == 6
