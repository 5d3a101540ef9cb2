import csv
import json
import tracemalloc

import numpy as np
import polars as pl
import pytest

from surefoot.errors import DamagedFile
from surefoot.study.experiment import steps_of_study
from surefoot.study.problems import MAIN
from surefoot.study.report import publish as publishing
from surefoot.study.report import report
from surefoot.study.report.panel_runs import PanelRuns
from surefoot.study.report.publish import publish
from surefoot.study.results.store import Runs, Store
from surefoot.study.sweep import Sweep, read

ALPHAS = (0.05, 0.1, 0.2, 0.4)
SWEEP = Sweep.of(read(MAIN["cmab"])).but(K=(2,), alpha=ALPHAS, horizon=120, runs=6)


@pytest.fixture(autouse=True)
def no_figures(monkeypatch):
    monkeypatch.setattr(publishing, "_draw", lambda *_, **__: [])
    monkeypatch.setattr("surefoot._drawing.style.save", lambda *_: [])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A finished study."""
    made = tmp_path_factory.mktemp("study") / "out"
    list(steps_of_study(Store(made, SWEEP)))
    return made


def test_results_alone_are_enough(folder):
    drawn = []
    summary = publish(Runs.of(folder), lambda: drawn.append(None))
    assert len(drawn) == 4
    assert summary["missing"] == []
    assert json.loads((folder / "summary.json").read_text()) == summary
    assert [panel["alpha"] for panel in summary["panels"]] == list(ALPHAS)
    text = (folder / "report.html").read_text()
    assert 'id="grid-0"' in text
    assert text.index("CMAB: the grid over α, K = 2") < text.index('class="panel"')


def test_the_table_has_a_row_for_each_panel_and_agent(folder):
    summary = publish(Runs.of(folder))
    rows = list(csv.DictReader((folder / "summary.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 4 * 3
    agent = summary["panels"][1]["agents"][1]
    row = rows[4]
    assert (row["alpha"], row["agent"], row["runs"]) == ("0.1", agent["name"], "6")
    low, high = agent["regret"]["interval"]
    for of, value in {"mean": agent["regret"]["mean"], "low": low, "high": high}.items():
        assert float(row[f"regret_{of}"]) == value
    assert pl.read_csv(folder / "summary.csv").height == 12


def test_differences_are_of_runs_of_equal_number(folder):
    (first, *_) = publish(Runs.of(folder))["panels"]
    frame = Runs.of(folder).rows(Runs.of(folder).cell(SWEEP.panels[0])).filter(t=120)
    regret = {name: frame.filter(agent=name).sort("run")["regret"] for name in ("GenCB", "UCB1")}
    gaps = (regret["GenCB"] - regret["UCB1"]).to_numpy()
    (found,) = (one for one in first["differences"] if one["agents"] == ["GenCB", "UCB1"])
    assert found["regret"]["mean"] == pytest.approx(gaps.mean())
    assert found["lower_in"] == (gaps < 0).sum()
    low, high = found["regret"]["interval"]
    assert low <= gaps.mean() <= high


def test_what_is_missing_is_said_and_the_rest_is_shown(folder, tmp_path):
    store = Store(tmp_path / "out", SWEEP)
    for number, _ in enumerate(steps_of_study(store, workers=1)):
        if number == 3:
            break
    cell = store.cell(SWEEP.panels[0])
    for file in store.place(cell).iterdir():
        file.unlink()
    runs = Runs.of(tmp_path / "out")
    summary = publish(runs)
    lacking = {one["panel"]: one["runs"] for one in summary["missing"]}
    assert lacking[SWEEP.panels[0].name] == 6
    assert all(lacking.get(p.name, 0) == 6 - runs.finished(runs.cell(p)) for p in SWEEP.panels)
    assert len(summary["panels"]) == 3
    assert "missing.</strong>" in (tmp_path / "out" / "report.html").read_text()


def test_without_a_finished_run_nothing_is_written(tmp_path):
    store = Store(tmp_path / "out", SWEEP)
    store.claim()
    summary = publish(Runs.of(tmp_path / "out"))
    assert summary["panels"] == []
    assert len(summary["missing"]) == 4
    assert not (tmp_path / "out" / "report.html").exists()


def test_a_damaged_part_is_named(tmp_path):
    store = Store(tmp_path / "out", SWEEP.but(alpha=(0.1,)))
    list(steps_of_study(store))
    part = next(store.place(next(iter(store.cells))).iterdir())
    frame = pl.read_parquet(part)
    frame.filter(pl.col("run") > frame["run"].min()).write_parquet(part)
    with pytest.raises(DamagedFile, match=part.name):
        publish(Runs.of(tmp_path / "out"))
    part.write_bytes(b"PAR1")
    with pytest.raises(DamagedFile, match=part.name):
        publish(Runs.of(tmp_path / "out"))


def test_above_the_limit_only_grids_are_drawn(folder, monkeypatch):
    monkeypatch.setattr(publishing, "FIGURED", 3)
    monkeypatch.setattr(report, "FIGURED", 3)
    publish(Runs.of(folder))
    text = (folder / "report.html").read_text()
    assert 'class="panel"' not in text
    assert 'id="grid-0"' in text
    assert text.count("<td>GenCB</td>") == 4


def test_a_panel_is_read_a_column_at_a_time(tmp_path):
    """2,000 runs of 3 agents at 200 checkpoints are 130 MB of rows, of which 35 MB are held."""
    runs, plays = 2_000, 200
    panel = SWEEP.panels[0]
    frame = pl.concat(
        pl.DataFrame(
            {
                "agent": name,
                "run": np.repeat(np.arange(runs), plays),
                "t": np.tile(np.arange(1, plays + 1), runs),
                "regret": np.random.default_rng(number).normal(size=runs * plays),
                "slack": 0.0,
            }
        )
        for number, name in enumerate(panel.names())
    )
    frame.write_parquet(tmp_path / "part.parquet")
    whole = PanelRuns(panel, pl.scan_parquet(tmp_path / "part.parquet"))
    tracemalloc.start()
    try:
        for name in panel.names():
            assert whole.of(name, "regret").shape == (runs, plays)
            assert whole.shape(name, "slack").most.max() == 0
        assert len(whole._held) <= 4
        assert tracemalloc.get_traced_memory()[1] < 45e6
    finally:
        tracemalloc.stop()
    expected = frame.filter(agent="UCB1").sort("run", "t")["regret"].to_numpy()
    assert (whole.of("UCB1", "regret").ravel() == expected).all()
