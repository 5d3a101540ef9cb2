"""Which runs are done next, and what becomes of those whose worker dies.

Of an executor nothing is asked but ``submit``, and of what it returns that one can ``wait`` for it.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import NamedTuple, Self

from surefoot._types import JsonObject
from surefoot.errors import InvalidInput, TaskFailed
from surefoot.study.runs import Step
from surefoot.study.scheduling.executors import Crew
from surefoot.study.scheduling.tasks import cut

LEAST, MOST = 0.3, 2.0
"""Seconds that a chunk takes at least and at most, but that it has one run."""
SHARE = 3
"""So many chunks of the present size would be left for each worker."""
RETRIES = 5
"""So often a lost chunk goes out again."""
SUSPECT = 2
"""A chunk that was lost so often goes out alone: it may be what kills its workers."""
STREAK = 10
"""After so many losses in a row the suspects are tried before anything else, one by one."""
PATIENCE = 60.0
"""Seconds without a worker, before that is said."""
# Seconds. Under a signal handler that restarts what it interrupts (polars installs one) a wait
# without end would see Ctrl-C only when a chunk ends.
_HEARTBEAT = 0.1


class Shard(NamedTuple):
    """Part ``number`` of ``of``, from 1.

    >>> Shard.parse("2/3")
    Shard(number=2, of=3)
    """

    number: int
    of: int

    @classmethod
    def parse(cls, said: str) -> Self:
        """A shard as it is given to ``--shard``. Raises InvalidInput for anything else.

        >>> Shard.parse("0/3")
        Traceback (most recent call last):
        ...
        surefoot.errors.InvalidInput: shard = '0/3' must be i/n with 1 <= i <= n, such as 1/8
        """
        found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", said)
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise InvalidInput(f"shard = {said!r} must be i/n with 1 <= i <= n, such as 1/8")
        return cls(int(found[1]), int(found[2]))

    @classmethod
    def asked(cls, said: str | None, *, overwrite: bool) -> Self:
        """The shard that was asked for, by default all. Raises InvalidInput with ``overwrite``."""
        if said is None:
            return cls(1, 1)
        if overwrite:
            raise InvalidInput(
                f"shard = {said!r} and overwrite exclude each other, for it would remove the other "
                "shards' runs; remove the folder before they start, or give another out"
            )
        return cls.parse(said)


WHOLE = Shard(1, 1)
"""All of a study."""


class Job(NamedTuple):
    """The runs of one plan that are to be done."""

    name: str
    kind: str
    """Plans of one kind run the same kernels: the first run of one compiles for all."""
    tasks: Sequence[JsonObject]
    """All that is to be done, of any size; see ``tasks``."""
    foreign: bool = False
    """Whether it runs Python of the user's own, for which threads of one process do not help."""


@dataclass(eq=False)
class Chunk:
    """Some runs of a job that go out as one task."""

    job: Job
    task: JsonObject
    losses: int = 0

    @property
    def runs(self) -> int:
        """How many numbers of runs it has."""
        return numbers(self.task)

    def __str__(self) -> str:
        first, last = self.task["first"], self.task["last"]
        which = f"run {first}" if first == last else f"runs {first} to {last}"
        return f"{which} of {self.job.name}"


def numbers(task: JsonObject) -> int:
    """How many numbers of runs a task has."""
    return int(task["last"] - task["first"] + 1)


def weight(task: JsonObject) -> int:
    """How many runs a task has, of all its panels."""
    return numbers(task) * len(task["panels"])


class _Line:
    """What is left of a job, and what a run of it takes."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._tasks = deque(job.tasks)
        self.left = sum(map(numbers, job.tasks))
        self.piloted = False
        self.cost = 1.0
        """Seconds a run, at least a microsecond; a guess before any is done."""
        self._runs, self._seconds = 0, 0.0

    def take(self, size: int) -> Chunk:
        """The next runs, at most so many and in a row."""
        piece, rest = cut(self._tasks.popleft(), size)
        if rest is not None:
            self._tasks.appendleft(rest)
        self.left -= numbers(piece)
        return Chunk(self.job, piece)

    def learn(self, runs: int, seconds: float) -> None:
        """Note what runs took: the pilot, which may have compiled, counts until others are back."""
        if not runs:
            return
        self._runs += runs * self.piloted
        self._seconds += seconds * self.piloted
        self.cost = max(self._seconds / self._runs if self.piloted else seconds / runs, 1e-6)


class Queue:
    """What goes out next.

    First one run of each job, the pilot: it tells what a run takes, and it compiles, so that of a
    kind one pilot is out at a time until one is back. Then chunks of
    ``clamp(left / (3 * workers), 0.3 s, 2 s)``, where ``left`` is the time of all that has not gone
    out: long while there is much to do, short towards the end, so that all workers end together.
    A lost chunk goes out again; one lost twice goes last, and alone, for it may be what kills its
    workers; one lost six times is given up once all others are done.
    """

    def __init__(self, jobs: Iterable[Job]) -> None:
        lines = [_Line(job) for job in jobs if job.tasks]
        self._lines = {line.job.name: line for line in lines}
        self.left = sum(line.left for line in lines)
        """Numbers of runs that are neither finished nor given up."""
        self.verdict: TaskFailed | None = None
        """Of the first chunk that was given up."""
        self._unknown = lines
        self._known: deque[_Line] = deque()
        self._compiled: set[str] = set()
        self._compiling: set[str] = set()
        self._again: deque[Chunk] = deque()
        self._suspects: deque[Chunk] = deque()
        self._alone = False
        self._streak = 0

    def next(self, workers: int, out: int) -> Chunk | None:
        """The next chunk, where ``out`` are out; None where one has to wait, or all is done."""
        if self._alone:
            return None
        if self._again:
            return self._again.popleft()
        if self._streak < STREAK or not self._suspects:
            chunk = self._pilot() or self._some(workers)
            if chunk:
                return chunk
        if self._suspects and not out:
            self._alone = True
            return self._suspects.popleft()
        return None

    def finished(self, chunk: Chunk, runs: int, seconds: float) -> None:
        """Note that a chunk is done, of which so many runs were not there already."""
        self._lines[chunk.job.name].learn(runs, seconds)
        self._compiled.add(chunk.job.kind)
        self._over(chunk)
        self._streak = 0

    def lost(self, chunk: Chunk, error: TaskFailed) -> None:
        """Let a chunk go out again, or give it up for an error once all else is done.

        Raises the error at once where nothing comes back any more.
        """
        chunk.losses += 1
        self._alone = False
        self._streak += 1
        if chunk.losses > RETRIES:
            if self._streak >= STREAK:
                raise error
            self.verdict = self.verdict or error
            self._over(chunk)
        elif chunk.losses < SUSPECT:
            self._again.append(chunk)
        elif chunk.losses == SUSPECT or self._streak < STREAK:
            self._suspects.append(chunk)
        else:
            self._suspects.appendleft(chunk)  # it was alone: what kills is soon known

    def _over(self, chunk: Chunk) -> None:
        """A chunk will not go out again; if it was a pilot, its job goes on."""
        line = self._lines[chunk.job.name]
        self.left -= chunk.runs
        self._alone = False
        if not line.piloted:
            line.piloted = True
            self._compiling.discard(chunk.job.kind)
            if line.left:
                self._known.append(line)

    def _pilot(self) -> Chunk | None:
        for number, line in enumerate(self._unknown):
            kind = line.job.kind
            if kind in self._compiled or kind not in self._compiling:
                self._compiling.add(kind)
                return self._unknown.pop(number).take(1)
        return None

    def _some(self, workers: int) -> Chunk | None:
        if not self._known:
            return None
        line = self._known[0]
        seconds = min(max(self._left() / (SHARE * max(workers, 1)), LEAST), MOST)
        chunk = line.take(max(1, round(seconds / line.cost)))
        if not line.left:
            self._known.popleft()
        return chunk

    def _left(self) -> float:
        """Seconds that all that has not gone out will take, as far as that is known."""
        mean = sum(line.cost for line in self._known) / len(self._known)
        known = sum(line.left * line.cost for line in self._known)
        return known + mean * sum(line.left for line in self._unknown)


def drive(
    jobs: Sequence[Job],
    crew: Crew,
    heard: Callable[[Chunk, JsonObject], object] = lambda chunk, answer: None,
    *,
    before: int = 0,
) -> Iterator[Step]:
    """Have some jobs done by a crew, telling where one stands; stop whenever you like.

    ``heard``: told of each finished chunk and of what its worker answered, with ``runs`` and
    ``seconds``.
    The steps count from ``before`` on. At most ``2 * workers + 2`` tasks are out. Raises TaskFailed
    for a chunk whose worker died six times, once all others are done, and what a task raises.
    """
    queue = Queue(jobs)
    total = before + sum(weight(task) for job in jobs for task in job.tasks)
    out: dict[Future[JsonObject], Chunk] = {}
    done, since = before, time.monotonic()
    if jobs:
        yield Step("running", done, total)
    try:
        while queue.left:
            workers = crew.workers()
            _send(queue, crew, out, workers)
            found = _waited(out)
            if found or workers:
                since = time.monotonic()
            elif time.monotonic() - since > PATIENCE:
                since = time.monotonic()
                yield Step("waiting", done, total)
            for future in found:
                chunk = out.pop(future)
                answer = _answer(queue, crew, chunk, future)
                if answer is not None:
                    queue.finished(chunk, int(answer["runs"]), float(answer["seconds"]))
                    heard(chunk, answer)
                    done += weight(chunk.task)
                    yield Step("running", done, total)
        if queue.verdict is not None:
            raise queue.verdict
    except BaseException:  # whoever stops it, too
        crew.stop(out)
        raise


def _waited(out: dict[Future[JsonObject], Chunk]) -> set[Future[JsonObject]]:
    """Those that are back, after a heartbeat at most."""
    if out:
        return wait(out, _HEARTBEAT, FIRST_COMPLETED).done
    time.sleep(_HEARTBEAT)  # what broke when it was given a chunk is about to be whole again
    return set()


def _send(queue: Queue, crew: Crew, out: dict[Future[JsonObject], Chunk], workers: int) -> None:
    while len(out) < 2 * workers + 2 and (chunk := queue.next(workers, len(out))):
        try:
            out[crew.submit(chunk.task, foreign=chunk.job.foreign)] = chunk
        except Exception as error:  # noqa: BLE001  # whatever breaks an executor
            _again(queue, crew, chunk, error)
            return


def _answer(
    queue: Queue, crew: Crew, chunk: Chunk, future: Future[JsonObject]
) -> JsonObject | None:
    """What a task answered; None where it was lost and will go out again."""
    try:
        return future.result()
    except BaseException as error:  # noqa: BLE001  # cancelled, say: no Exception everywhere
        _again(queue, crew, chunk, error)
        return None


def _again(queue: Queue, crew: Crew, chunk: Chunk, error: BaseException) -> None:
    """Let a lost chunk go out again. Raises what is no loss, and TaskFailed after the last time."""
    if not crew.lost(error):
        raise error
    failed = TaskFailed(
        f"{chunk} was lost {chunk.losses + 1} times, the last time on {crew.blamed(error)}: its "
        "worker died or could not be reached; what is finished is kept, and --resume goes on"
    )
    failed.__cause__ = error
    queue.lost(chunk, failed)
    crew.revive(error)
