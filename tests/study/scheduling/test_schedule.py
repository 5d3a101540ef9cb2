from concurrent.futures import BrokenExecutor
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crews import finished, job, work
from surefoot.errors import InvalidInput, TaskFailed
from surefoot.study.scheduling import schedule
from surefoot.study.scheduling.executors import Local
from surefoot.study.scheduling.schedule import LEAST, MOST, RETRIES, Chunk, Queue, Shard, drive


def runs_of(chunks):
    return [run for one in chunks for run in range(one.task["first"], one.task["last"] + 1)]


def drained(queue, workers=2, seconds=0.01):
    """All chunks, each finished before the next is asked for."""
    chunks = []
    while chunk := queue.next(workers, 0):
        queue.finished(chunk, chunk.runs, seconds * chunk.runs)
        chunks.append(chunk)
    return chunks


@pytest.mark.parametrize("said", ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1 / 2"])
def test_a_shard_is_one_of_so_many(said):
    with pytest.raises(InvalidInput, match="must be i/n with 1 <= i <= n, such as 1/8"):
        Shard.parse(said)


@given(
    st.lists(st.integers(1, 200), min_size=1, max_size=5),
    st.integers(1, 4),
    st.sampled_from([1e-9, 0.003, 0.2, 5.0]),
)
def test_every_run_goes_out_once_and_pilots_first(sizes, workers, seconds):
    jobs = [job(".", str(number), runs) for number, runs in enumerate(sizes)]
    chunks = drained(Queue(jobs), workers, seconds)
    assert runs_of(chunks[: len(jobs)]) == [0] * len(jobs)
    for one, size in zip(jobs, sizes, strict=True):
        assert runs_of(chunk for chunk in chunks if chunk.job == one) == list(range(size))
    for chunk in chunks[len(jobs) :]:
        assert chunk.runs == 1 or chunk.runs * seconds <= MOST * 1.01


def test_chunks_get_shorter_towards_the_end():
    chunks = drained(Queue([job(".", runs=2_000)]), workers=2, seconds=0.01)
    sizes = [chunk.runs for chunk in chunks[1:]]
    assert sizes[0] == MOST / 0.01
    assert all(after <= before + 1 for before, after in pairwise(sizes))
    assert min(sizes[:-1]) >= int(LEAST / 0.01)


def test_one_pilot_of_a_kind_is_out_until_one_is_back():
    queue = Queue(
        [job(".", name, kind=kind) for name, kind in [("a", "x"), ("b", "x"), ("c", "y")]]
    )
    first, second = queue.next(2, 0), queue.next(2, 1)
    assert [first.job.name, second.job.name] == ["a", "c"]
    assert queue.next(2, 2) is None
    queue.finished(first, 1, 10.0)
    assert queue.next(2, 1).job.name == "b"


def test_a_chunk_lost_twice_goes_last_and_alone():
    queue = Queue([job(".", runs=3)])
    pilot = queue.next(1, 0)
    queue.finished(pilot, 1, 9.0)
    chunk = queue.next(1, 0)
    error = TaskFailed("lost")
    queue.lost(chunk, error)
    assert queue.next(1, 0) is chunk
    queue.lost(chunk, error)
    other = queue.next(1, 0)
    assert runs_of([other]) == [2]
    assert queue.next(1, 1) is None
    queue.finished(other, 1, 9.0)
    assert queue.next(1, 0) is chunk
    assert queue.next(1, 1) is None
    for _ in range(RETRIES - 2):
        queue.lost(chunk, error)
        assert queue.verdict is None
        assert queue.next(1, 0) is chunk
    queue.lost(chunk, error)
    assert (queue.left, queue.verdict) == (0, error)


def test_a_pilot_that_is_given_up_holds_back_neither_its_job_nor_its_kind():
    queue = Queue([job(".", "a", 3, kind="x"), job(".", "b", 3, kind="x")])
    done = []
    while queue.left:
        chunk = queue.next(1, 0)
        if runs_of([chunk]) == [0] and chunk.job.name == "a":
            queue.lost(chunk, TaskFailed("lost"))
        else:
            queue.finished(chunk, chunk.runs, 1.0)
            done.append(chunk)
    assert sorted(runs_of(done)) == [0, 1, 1, 2, 2]
    assert queue.verdict is not None


def test_where_all_is_lost_the_suspects_do_not_wait_for_the_rest():
    queue = Queue([job(".", str(number), kind="x", runs=1) for number in range(100)])
    queue.finished(queue.next(1, 0), 1, 9.0)
    error = TaskFailed("lost")

    def lose():
        for lost in range(100):
            try:
                queue.lost(queue.next(1, 0), error)
            except TaskFailed:
                return lost
        return None

    assert 10 < lose() < 20
    assert queue.left > 90


def test_a_chunk_says_what_it_is():
    assert str(Chunk(job(".", "cmab-K3"), {"first": 4, "last": 4})) == "run 4 of cmab-K3"
    assert str(Chunk(job(".", "cmab-K3"), {"first": 4, "last": 9})) == "runs 4 to 9 of cmab-K3"


def test_threads_do_all_runs_and_tell_where_they_stand(tmp_path):
    jobs = [job(tmp_path, "a", 40, panels=3), job(tmp_path, "b", 1)]
    crew = Local(2, work)
    heard = []
    steps = list(drive(jobs, crew, lambda chunk, answer: heard.append(answer["runs"]), before=7))
    crew.close()
    assert finished(tmp_path) == {"a": list(range(40)), "b": [0]}
    assert sum(heard) == 41
    assert [steps[0].done, steps[-1].done] == [7, 7 + 3 * 40 + 1]
    assert {step.total for step in steps} == {7 + 3 * 40 + 1}


def test_who_stops_gives_up_what_is_out(tmp_path):
    crew = Local(2, work)
    steps = drive([job(tmp_path, runs=50, seconds=5.0)], crew)
    assert next(steps).done == 0
    steps.close()
    crew.close()
    assert crew.workers() == 2


def test_spawned_processes_outlive_one_that_dies(tmp_path):
    crew = Local(2, work)
    try:
        last = list(drive([job(tmp_path, runs=30, once=[0, 7], foreign=True)], crew))[-1]
    finally:
        crew.close()
    assert last.done == 30
    assert finished(tmp_path) == {"a": list(range(30))}


def test_a_run_that_always_kills_is_one_line_and_loses_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(schedule, "RETRIES", 2)
    jobs = [
        job(tmp_path, "a", 1, kind="x", foreign=True),
        job(tmp_path, "b", 1, kind="x", fatal=[0], foreign=True),
        job(tmp_path, "c", 20, kind="x", foreign=True),
    ]
    crew = Local(2, work)
    try:
        with pytest.raises(TaskFailed, match=r"run 0 of b was lost 3 times.*--resume"):
            list(drive(jobs, crew))
    finally:
        crew.close()
    assert finished(tmp_path) == {"a": [0], "c": list(range(20))}


def test_what_fails_on_a_worker_is_one_line_with_its_host(tmp_path):
    crew = Local(1, work)
    try:
        with pytest.raises(TaskFailed, match=r"^a task failed on \S+: ValueError: bad run 0$"):
            list(drive([job(tmp_path, runs=1, fails=[0], foreign=True)], crew))
    finally:
        crew.close()


def test_what_hangs_is_ended_when_all_is_to_stop(tmp_path):
    crew = Local(1, work)
    crew.GRACE = 0.1
    (task,) = job(tmp_path, seconds=10_000, deaf=True).tasks
    hung = crew.submit(task, foreign=True)
    crew.close()
    assert isinstance(hung.exception(0), BrokenExecutor)
