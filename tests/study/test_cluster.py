import pytest

from clusters import Processes, soon
from crews import finished, job, work
from surefoot.errors import InvalidInput, MissingExtra, TaskFailed
from surefoot.study import executors
from surefoot.study.executors import Cluster, Given
from surefoot.study.schedule import drive


def test_workers_may_die_and_come_late_and_a_lost_scheduler_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "2s")
    with Processes(tmp_path) as processes:
        scheduler = processes.scheduler()
        doomed, _ = processes.worker(), processes.worker()
        crew = Cluster(processes.address, work=work)
        soon(lambda: crew.workers() == 2)
        steps = drive([job(tmp_path, "a", 300, seconds=0.01)], crew)
        for _ in range(3):
            next(steps)
        doomed.kill()
        processes.worker()
        assert [*steps][-1].done == 300
        assert finished(tmp_path) == {"a": list(range(300))}

        steps = drive([job(tmp_path, "b", 300, seconds=0.01)], crew)
        for _ in range(2):
            next(steps)
        scheduler.kill()
        with pytest.raises(
            TaskFailed, match=r"^the scheduler at tcp://127.0.0.1:\d+ is lost; .*--r"
        ):
            list(steps)
        crew.close()


def test_an_address_is_local_or_has_a_scheme():
    with pytest.raises(InvalidInput, match="cluster = 'here' must be 'local' or a scheduler's"):
        Cluster("here")


def test_without_distributed_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(executors.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"distributed is not installed.*'\.\[cluster\]'"):
        Cluster("local")


def test_loky_does_the_runs_and_is_made_anew_when_it_breaks(tmp_path):
    from loky import get_reusable_executor

    crew = Given(lambda: get_reusable_executor(2, kill_workers=True), work=work)
    assert crew.workers() == 2
    try:
        list(drive([job(tmp_path, "a", 30, once=[7])], crew))
        assert finished(tmp_path) == {"a": list(range(30))}
    finally:
        get_reusable_executor(2, kill_workers=True).shutdown(kill_workers=True)


def test_an_executor_that_breaks_and_cannot_be_made_anew_is_one_line(tmp_path):
    from loky import ProcessPoolExecutor

    crew = Given(ProcessPoolExecutor(1), work=work)
    with pytest.raises(TaskFailed, match=r"^the executor is broken \(.*resume=True goes on"):
        list(drive([job(tmp_path, "a", 1, fatal=[0])], crew))


def test_what_is_no_executor_is_refused():
    with pytest.raises(InvalidInput, match=r"^executor = 3 must be a concurrent\.futures"):
        Given(3)
