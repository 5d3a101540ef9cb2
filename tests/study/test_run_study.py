import pytest

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.study.results.store import Runs

FILE = """
surefoot = 1
problem = "cmab"
horizon = 250
runs = 70
[grid]
K = [2, 3]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(FILE)
    return path


def rows_of(folder):
    runs = Runs.of(folder)
    return {cell: runs.rows(cell) for cell in runs.cells}


def test_loky_and_threads_and_shards_give_the_same_rows(file, tmp_path):
    from loky import get_reusable_executor

    told = []
    one = sf.run_study(file, out=tmp_path / "one", workers=2, progress=lambda *at: told.append(at))
    assert (told[0], told[-1]) == ((0, 140), (140, 140))
    executor = get_reusable_executor(1)
    try:
        two = sf.run_study(file, executor, out=tmp_path / "two", shard="2/2")
    finally:
        executor.shutdown(kill_workers=True)
    assert Runs.of(two).done == 2 * 32
    assert sf.run_study(file, out=tmp_path / "two", shard="1/2") == two
    whole, shared = rows_of(one), rows_of(two)
    assert whole.keys() == shared.keys()
    assert all(whole[cell].equals(shared[cell]) for cell in whole)


def test_the_same_call_again_does_nothing_and_more_runs_go_on(file, tmp_path):
    out = sf.run_study(file, out=tmp_path / "out", runs=2)
    before = sorted(out.glob("runs/*/*"))
    sf.run_study(file, out=out, runs=2)
    assert sorted(out.glob("runs/*/*")) == before
    with pytest.raises(InvalidInput, match="runs = 3 differs"):
        sf.run_study(file, out=out, runs=3)
    sf.run_study(file, out=out, runs=3, resume=True)
    assert Runs.of(out).done == 6


def test_a_shard_never_removes_what_others_did(file, tmp_path):
    with pytest.raises(InvalidInput, match="shard = '1/2' and overwrite exclude each other"):
        sf.run_study(file, out=tmp_path / "out", shard="1/2", overwrite=True)
    with pytest.raises(InvalidInput, match=r"progress = 3 must be a function"):
        sf.run_study(file, out=tmp_path / "out", progress=3)
    assert not (tmp_path / "out").exists()


def test_the_folder_is_by_default_named_by_the_file(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert sf.run_study("mine.toml", runs=1).resolve() == tmp_path / "out" / "mine"
