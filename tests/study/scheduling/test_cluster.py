import os
import re
import signal
import socket
import sys

import pytest

from clusters import Processes, soon, without
from crews import finished, job, work
from surefoot.errors import InvalidInput, MissingExtra, TaskFailed
from surefoot.study.experiment import steps_of_study
from surefoot.study.problems import MAIN
from surefoot.study.results.store import Runs, Store
from surefoot.study.runs import joint_plan
from surefoot.study.scheduling import executors, schedule, tasks
from surefoot.study.scheduling.executors import Cluster, Given, Local
from surefoot.study.scheduling.schedule import Shard, drive
from surefoot.study.sweep import Sweep, paper, read

SMALL = Sweep.of(read(MAIN["cmab"])).but(K=(24,), alpha=(0.05, 0.1), horizon=20_000, runs=128)
WORDS = ["cmab", "--k", "24", "--alpha", ".05", "--alpha", ".1", "--horizon", "20000",
         "--runs", "128"]  # fmt: skip


def rows_of(folder):
    """cell -> all its rows."""
    runs = Runs.of(folder)
    return {cell: runs.rows(cell) for cell in runs.cells}


def parts(folder):
    return sorted(folder.glob("runs/*/*.parquet"))


def done(folder, sweep=SMALL, crew=None, shard=schedule.WHOLE, **options):
    """The rows of a study that is done here, by threads if nothing else is said."""
    list(steps_of_study(Store(folder, sweep, **options), crew=crew, shard=shard))
    return rows_of(folder)


def equal(one, other):
    return one.keys() == other.keys() and all(one[cell].equals(other[cell]) for cell in one)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The rows of the study, done by threads of one process."""
    return done(tmp_path_factory.mktemp("whole") / "out")


def surefoot(processes, *words):
    return processes.client("-m", "surefoot", "study", *map(str, words))


def test_rows_are_equal_whatever_dies_meanwhile(tmp_path, whole):
    out = tmp_path / "out"
    with Processes(tmp_path, DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="2s") as processes:
        scheduler = processes.scheduler()
        words = [*WORDS, "--out", out, "--cluster", processes.address]
        client = surefoot(processes, *words)
        soon((out / "study.json").exists)
        assert parts(out) == []
        doomed = processes.worker()
        soon(lambda: len(parts(out)) > 2)
        processes.worker()
        doomed.kill()
        before = len(parts(out))
        soon(lambda: len(parts(out)) > before)
        client.kill()

        lost = tmp_path / "lost"
        client = surefoot(processes, *WORDS, "--out", lost, "--cluster", processes.address)
        soon(lambda: parts(lost))
        scheduler.kill()
        _, said = client.communicate()
        assert client.returncode == 1, said  # who ignored the cluster would end with 0
        lines = [line for line in said.splitlines() if not line.startswith("running")]
        assert len(lines) == 1, said
        assert re.fullmatch(r"error: the scheduler at tcp://\S+ is lost; .*--resume.*", lines[0])
    assert 0 < Store(out, SMALL, resume=True).lacking() < 256
    assert equal(done(out, resume=True), whole)
    left = {file: file.stat().st_mtime_ns for file in parts(out)}
    done(out)
    assert {file: file.stat().st_mtime_ns for file in parts(out)} == left


@pytest.mark.slow
def test_a_mutant_that_ignores_the_cluster_is_seen(tmp_path):
    mutant = (
        "from surefoot.study.scheduling import executors\n"
        "real = executors.crew_of\n"
        "executors.crew_of = lambda cluster, workers=None: real(None, workers)\n"
        "from surefoot.cli import main; main()"
    )
    out = tmp_path / "out"
    with Processes(tmp_path) as processes:
        scheduler = processes.scheduler()
        words = ["study", *WORDS, "--out", str(out), "--cluster", processes.address]
        client = processes.client("-c", mutant, *words)
        soon(lambda: parts(out))  # without a worker the test above finds none
        scheduler.kill()
        _, said = client.communicate()
    assert client.returncode == 0, said  # and 1 there


OWN = """
surefoot = 1
problem = "cmab"
horizon = 100
runs = 2
[[agents]]
name = "mine"
policy = "mylab:Mine"
"""
MINE = """
class Mine:
    def __init__(self, n_arms): self.n_arms = n_arms
    def select(self, context, rng): return int(rng.integers(self.n_arms))
    def update(self, arm, reward, context): pass
    def state(self): return {}
    def restore(self, state): pass
"""


@pytest.mark.slow
def test_a_module_that_a_worker_lacks_is_one_line_with_its_host(tmp_path):
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "mylab.py").write_text(MINE)
    (tmp_path / "mine.toml").write_text(OWN)
    with Processes(tmp_path, paths=(tmp_path / "lab",)) as processes:
        processes.scheduler()
        other = processes.worker(PYTHONPATH=str(tmp_path / "nowhere"))
        words = ["run", "mine.toml", "--out", "out", "--cluster", processes.address]
        client = surefoot(processes, *words)
        out, said = client.communicate()
        assert (client.returncode, out) == (2, ""), said
        assert re.fullmatch(rf"error: on {socket.gethostname()}: .*no module mylab.*\n", said), said
        other.kill()

        site = without("surefoot", tmp_path / "site")
        bare = processes.worker(sys.executable, "-S", PYTHONPATH=str(site))
        client = surefoot(processes, *words, "--overwrite")
        said = client.communicate()[1]
        assert client.returncode == 1, said
        assert re.fullmatch(r"error: module 'surefoot' is missing on tcp://\S+; .*\n", said), said
        assert bare.poll() is None


def test_rows_are_equal_in_shards_and_in_chunks_of_another_size(tmp_path, whole, monkeypatch):
    shards = [Shard(number, 3) for number in (3, 1, 2)]
    for number, shard in enumerate(shards):
        monkeypatch.setattr(schedule, "MOST", 0.02 * (number + 1))
        monkeypatch.setattr(schedule, "LEAST", 0.02)
        rows = done(tmp_path, crew=None, shard=shard)
        assert Store(tmp_path, SMALL).lacking(*shard) == 0
        for cell in rows:
            blocks = set((rows[cell]["run"] // 32 % 3).unique())
            assert blocks == {one.number - 1 for one in shards[: number + 1]}
    assert equal(rows, whole)


def test_loky_is_made_anew_when_it_breaks(tmp_path):
    from loky import get_reusable_executor

    crew = Given(lambda: get_reusable_executor(2, kill_workers=True), work=work)
    assert crew.workers() == 2
    try:
        list(drive([job(tmp_path, "a", 30, once=[7])], crew))
    finally:
        get_reusable_executor(2, kill_workers=True).shutdown(kill_workers=True)
    assert finished(tmp_path) == {"a": list(range(30))}


@pytest.mark.slow
def test_without_a_worker_that_is_said_and_one_may_come(tmp_path, monkeypatch):
    monkeypatch.setattr(schedule, "PATIENCE", 0.5)
    with Processes(tmp_path) as processes:
        processes.scheduler()
        crew = Cluster(processes.address, work=work)
        steps = drive([job(tmp_path, "a", 5)], crew)
        assert [next(steps).doing for _ in range(3)] == ["running", "waiting", "waiting"]
        processes.worker()
        assert [*steps][-1].done == 5
        crew.close()


def test_a_mutant_that_changes_the_seed_is_refused_or_seen(tmp_path, whole, monkeypatch):
    def reseeded(panels):
        return [panel.model_copy(update={"seed": panel.seed + 1}) for panel in panels]

    def other_settings(task, stopped):
        told = [{**one, "settings": {**one["settings"], "seed": 1}} for one in task["panels"]]
        return tasks.carry_out({**task, "panels": told}, stopped)

    with pytest.raises(InvalidInput, match="which is of other settings"):
        done(tmp_path / "settings", crew=Local(2, other_settings))
    monkeypatch.setattr(tasks, "joint_plan", lambda panels: joint_plan(reseeded(panels)))
    tasks._rebuilt.cache_clear()
    try:
        assert not equal(done(tmp_path / "plan"), whole)
    finally:
        tasks._rebuilt.cache_clear()


def test_an_executor_that_breaks_and_cannot_be_made_anew_is_one_line(tmp_path):
    from loky import ProcessPoolExecutor

    crew = Given(ProcessPoolExecutor(1), work=work)
    with pytest.raises(TaskFailed, match=r"^the executor is broken \(.*resume=True goes on"):
        list(drive([job(tmp_path, "a", 1, fatal=[0])], crew))


def test_an_address_is_local_or_has_a_scheme():
    with pytest.raises(InvalidInput, match="cluster = 'here' must be 'local' or a scheduler's"):
        Cluster("here")


def test_without_distributed_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(executors.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"distributed is not installed.*'\.\[cluster\]'"):
        Cluster("local")


def test_what_is_no_executor_is_refused():
    with pytest.raises(InvalidInput, match=r"^executor = 3 must be a concurrent\.futures"):
        Given(3)


@pytest.mark.slow
def test_the_papers_panels_and_a_grid_of_2_000_runs_are_equal_on_a_cluster(tmp_path):
    panels = Sweep.of(*paper()).but(horizon=3_000, runs=10)
    grid = Sweep.of(read(MAIN["cmab"])).but(
        K=(2, 3, 5, 8), alpha=(0.02, 0.05, 0.1, 0.2, 0.3), horizon=500, runs=100
    )
    with Processes(tmp_path) as processes:
        processes.scheduler()
        doomed, _ = processes.worker(), processes.worker()
        crew = Cluster(processes.address)
        try:
            for name, sweep in [("panels", panels), ("grid", grid)]:
                whole = done(tmp_path / f"{name}-whole", sweep)
                steps = steps_of_study(Store(tmp_path / name, sweep), crew=crew)
                for step in steps:
                    if step.done > step.total / 4 and doomed.poll() is None:
                        doomed.kill()
                        processes.worker()
                doomed = processes.worker()
                assert equal(rows_of(tmp_path / name), whole)
        finally:
            crew.close()


@pytest.mark.slow
def test_ctrl_c_on_a_cluster_of_this_machine_keeps_what_is_finished(tmp_path, whole):
    out = tmp_path / "out"
    command = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from surefoot.cli import main; main()"
    )
    with Processes(tmp_path) as processes:
        words = ["study", *WORDS, "--out", str(out), "--cluster", "local", "--workers", "1"]
        client = processes.client("-c", command, *words, "--shard", "1/1")
        soon(lambda: len(parts(out)) > 2)
        os.killpg(client.pid, signal.SIGINT)  # as a terminal does, to the workers too
        _, said = client.communicate(timeout=60)
        assert client.returncode == 130, said
        assert "runs are finished and kept in" in said
        assert "Traceback" not in said
    assert equal(done(out, resume=True), whole)
