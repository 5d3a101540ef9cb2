"""A task of one long run that dies on the way is gone on with by the next worker."""

import json
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from surefoot.simulation import stages, stops
from surefoot.study.results import open_runs
from surefoot.study.results.open_runs import open_file, unpacked
from surefoot.study.results.store import Store
from surefoot.study.scheduling.tasks import carry_out, due
from surefoot.study.sweep import Sweep, read

SWEEP = Sweep.of(read("cmab-K24-alpha0.05")).but(alpha=(0.05, 0.1), horizon=2_000_000, runs=1)
SHORT = SWEEP.but(horizon=40_000, runs=2)
WORKER = textwrap.dedent("""
    import json, sys
    from surefoot.study.results import open_runs
    from surefoot.study.scheduling.tasks import carry_out

    open_runs.EVERY = 0.0  # after each block
    carry_out(json.loads(sys.argv[1]))
""")


def task(folder, sweep=SWEEP):
    """The task of both panels, and the store it is of."""
    store = Store(folder, sweep, resume=True)
    store.claim()
    (found,) = due(store, *sweep.groups.values())
    return found, store


def blocks_of(one):
    """Do a task, and return after how many blocks it was asked whether to stop."""
    asked = []
    carry_out(one, lambda: bool(asked.append(1)))
    return len(asked)


def parts(folder):
    return {file.name: file.read_bytes() for file in folder.glob("runs/*/*")}


def test_a_task_whose_process_is_killed_is_ended_by_another_in_another_folder(tmp_path):
    one, _ = task(tmp_path / "here")
    worker = subprocess.Popen([sys.executable, "-c", WORKER, json.dumps(one)])
    try:
        file = open_file(tmp_path / "here", [told["cell"] for told in one["panels"]], 0)
        while not file.exists() or unpacked(file.read_bytes())["now.turns"][0] < 500_000:
            assert worker.poll() is None
            time.sleep(0.005)
        worker.kill()
        assert worker.wait(60) == -signal.SIGKILL
    finally:
        worker.kill()
        worker.wait(60)
    (tmp_path / "here").rename(tmp_path / "there")
    again, store = task(tmp_path / "there")
    left = blocks_of(again)
    whole, _ = task(tmp_path / "whole")
    assert left < blocks_of(whole) - 10
    assert parts(tmp_path / "there") == parts(tmp_path / "whole")
    assert store.complete
    assert not (tmp_path / "there" / "open").exists()


@pytest.mark.parametrize("worth", [0.0, 60.0])
def test_a_task_that_is_given_up_keeps_what_is_worth_it(tmp_path, monkeypatch, worth):
    monkeypatch.setattr(open_runs, "WORTH", worth)
    monkeypatch.setattr(stages, "BLOCK", 1000)
    one, store = task(tmp_path / "stopped", SHORT)
    whole, _ = task(tmp_path / "whole", SHORT)
    blocks, asked = blocks_of(whole), []
    with pytest.raises(stops.Stopped):
        carry_out(one, lambda: asked.append(1) or len(asked) > 100)
    opened = [file.name for file in tmp_path.glob("stopped/open/*")]
    assert opened == [f"{one['panels'][0]['cell']}-1.npz"] * (worth == 0.0)
    assert store.done == 2  # the run that was finished, of both panels
    (rest,) = due(store, *SHORT.groups.values())
    assert (blocks_of(rest) == blocks - 100) == (worth == 0.0)
    assert rows(store) == rows(Store(tmp_path / "whole", SHORT))


def rows(store):
    return [store.rows(cell).to_dicts() for cell in store.cells]
