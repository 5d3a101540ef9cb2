import json
from importlib.util import find_spec

import polars as pl
import pytest

from surefoot.errors import InvalidInput, MissingExtra
from surefoot.study import files
from surefoot.study.logs.backtest import Backtest
from surefoot.study.logs.backtest_runs import BacktestRuns
from surefoot.study.logs.subject import Subject
from surefoot.study.outputs import claim, write

LOG = {"arm": ["a", "b", "c"] * 40, "reward": [1, 0, 1, 0, 1, 1] * 20}


def backtest(title="Try", **options):
    subject = Subject(LOG, "a", title, "A log.")
    return BacktestRuns(subject, **{"alpha": 0.1, "runs": 3, "horizon": 300, **options})


@pytest.fixture(scope="module")
def found():
    done = backtest()
    list(done.steps())
    return Backtest(done)


def test_everything_is_written_in_whole(tmp_path, found, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "surefoot.study.outputs.draw_backtest", lambda findings, stem: drawn.append(stem)
    )
    summary = write(found, tmp_path / "new")
    assert drawn == [tmp_path / "new" / "replay"]
    assert json.loads((tmp_path / "new" / "summary.json").read_text()) == summary
    assert pl.read_parquet(tmp_path / "new" / "runs.parquet").equals(found.frame)
    assert found.frame.columns == [
        "agent", "run", "t", "regret", "default_plays", "received", "slack", "minimum_slack",
        "violating_rounds", "gain",
    ]  # fmt: skip


@pytest.mark.parametrize("name", BacktestRuns.files())
def test_a_folder_with_results_is_only_used_again_if_told_so(tmp_path, name, found):
    (tmp_path / name).touch()
    with pytest.raises(InvalidInput, match=f"already holds {name}; replace it with --overwrite"):
        claim(found.runs, tmp_path)
    claim(found.runs, tmp_path, overwrite=True)
    assert (tmp_path / name).exists()  # until there is something to replace it


def test_a_folder_of_a_study_is_never_used(tmp_path, found):
    (tmp_path / "study.json").touch()
    with pytest.raises(InvalidInput, match="holds a study; give another --out"):
        claim(found.runs, tmp_path, overwrite=True)


def test_a_file_is_no_folder(tmp_path, found):
    (tmp_path / "out").touch()
    with pytest.raises(InvalidInput, match="is a file; give a folder"):
        claim(found.runs, tmp_path / "out")


def test_without_matplotlib_the_error_comes_before_the_runs(tmp_path, monkeypatch, found):
    monkeypatch.setattr(
        files, "find_spec", lambda name: None if name == "matplotlib" else find_spec(name)
    )
    with pytest.raises(MissingExtra, match=r"pip install '\.\[study\]'"):
        claim(found.runs, tmp_path)


def test_a_backtest_may_be_repeated_over_itself_and_over_no_other(tmp_path, found, monkeypatch):
    monkeypatch.setattr("surefoot.study.outputs.draw_backtest", lambda findings, stem: [])
    write(found, tmp_path)
    claim(backtest(), tmp_path)
    others = [backtest("Other"), *(backtest(**{key: 2}) for key in ("runs", "horizon", "seed"))]
    for other in [*others, backtest(alpha=0.2), backtest(policy="ucb1")]:
        with pytest.raises(InvalidInput, match=r"already holds summary\.json"):
            claim(other, tmp_path)
    (tmp_path / "summary.json").write_text("[]")
    with pytest.raises(InvalidInput, match=r"already holds summary\.json"):
        claim(backtest(), tmp_path)


def test_a_folder_that_cannot_be_written_is_told_before_the_runs(tmp_path, found):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="Not a directory"):
        claim(found.runs, tmp_path / "file" / "out")
    claim(found.runs, tmp_path / "new" / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
