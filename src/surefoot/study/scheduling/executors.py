"""Who carries out the tasks of a study: threads, processes, or an executor that is given."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import logging
import multiprocessing
import socket
import threading
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from surefoot._types import JsonObject
from surefoot.errors import InvalidInput, TaskFailed, missing_extra
from surefoot.simulation.checks import positive
from surefoot.simulation.runner import cores
from surefoot.study.own_code import line
from surefoot.study.scheduling.workers import Work, at_work, begin, carry_out, in_process

LOCAL = "local"
"""The address that asks for a cluster of this machine's cores."""


class Crew(ABC):
    """An executor, and what a schedule must know of it.

    ``workers``: how many tasks are carried out at once; 0 while there is nobody to do it.
    """

    @abstractmethod
    def workers(self) -> int:
        """How many tasks can be carried out at once, now."""

    @abstractmethod
    def submit(self, task: JsonObject, *, foreign: bool = False) -> Future[JsonObject]:
        """Give a task out."""

    def lost(self, error: BaseException) -> bool:
        """Whether this says that a worker is gone, and nothing about the task."""
        return isinstance(error, BrokenExecutor | CancelledError)

    def blamed(self, error: BaseException) -> str:
        """Where a task was lost."""
        return socket.gethostname()

    @abstractmethod
    def revive(self, error: BaseException) -> None:
        """Be able to carry out tasks again after a loss. Raises TaskFailed where that cannot be."""

    @abstractmethod
    def stop(self, out: Iterable[Future[JsonObject]]) -> None:
        """Give up what is out, and let what is being carried out end soon if that can be said."""

    @abstractmethod
    def close(self) -> None:
        """End what was started."""


class Local(Crew):
    """Threads of this process, and spawned processes for what is the user's own Python."""

    GRACE = 10.0
    """Seconds that a process has to end what it does once all is to stop; a policy may hang."""

    def __init__(self, count: int | None = None, work: Work | None = None) -> None:
        self._count = cores() if count is None else positive(count, "workers")
        self._work = work or carry_out
        self._stop = threading.Event()
        self._threads: ThreadPoolExecutor | None = None
        self._processes: ProcessPoolExecutor | None = None
        # No lock guards it: a worker killed while it held one would stop all others.
        self._context = multiprocessing.get_context("spawn")
        self._flag = self._context.RawValue(ctypes.c_bool, False)

    def workers(self) -> int:
        """As many as were asked for."""
        return self._count

    def submit(self, task: JsonObject, *, foreign: bool = False) -> Future[JsonObject]:
        """Give a task to a thread, or a foreign one to a process."""
        if not foreign:
            self._threads = self._threads or ThreadPoolExecutor(self._count)
            return self._threads.submit(self._work, task, self._stop.is_set)
        if self._processes is None:
            self._processes = ProcessPoolExecutor(
                self._count, self._context, initializer=begin, initargs=(self._flag, self.GRACE)
            )
        return self._processes.submit(in_process, self._work, task)

    def revive(self, error: BaseException) -> None:
        """Make the processes anew: one that died has broken their pool."""
        if isinstance(error, BrokenExecutor) and self._processes is not None:
            self._processes.shutdown(wait=False, cancel_futures=True)
            self._processes = None

    def stop(self, out: Iterable[Future[JsonObject]] = ()) -> None:
        """Stop what runs, between two of its blocks."""
        self._stop.set()
        self._flag.value = True
        for future in out:
            future.cancel()

    def close(self) -> None:
        """End threads and processes."""
        self.stop()
        for pool in (self._threads, self._processes):
            if pool is not None:
                pool.shutdown(cancel_futures=True)


class Given(Crew):
    """An executor of the user's: loky's, mpi4py's, executorlib's, or any other.

    ``executor``: one, or a function that makes one, which is called again when it breaks.
    ``workers``: how many tasks it carries out at once; where it is left out, what it says itself.
    """

    def __init__(
        self,
        executor: Executor | Callable[[], Executor],
        workers: int | None = None,
        work: Work | None = None,
    ) -> None:
        self._make: Any = (
            executor if callable(executor) and not hasattr(executor, "submit") else None
        )
        self._count = None if workers is None else positive(workers, "workers")
        self._work = work or carry_out
        self._home = socket.gethostname()
        self._executor: Any = self._make() if self._make else executor
        if not hasattr(self._executor, "submit"):
            raise InvalidInput(
                f"executor = {self._executor!r} must be a concurrent.futures.Executor, or a "
                "function that makes one"
            )

    def workers(self) -> int:
        """As many as it says."""
        if self._count is not None:
            return self._count
        for name in ("num_workers", "max_workers", "_max_workers"):
            count = getattr(self._executor, name, None)
            if isinstance(count, int) and count > 0:
                return count
        return cores()

    def submit(self, task: JsonObject, *, foreign: bool = False) -> Future[JsonObject]:
        """Give a task to the executor."""
        found: Future[JsonObject] = self._executor.submit(at_work, self._work, self._home, task)
        return found

    def blamed(self, error: BaseException) -> str:
        """Where a task was lost: only some executors know."""
        where = getattr(getattr(error, "last_worker", None), "address", None)
        return str(where or "a worker of the executor")

    def lost(self, error: BaseException) -> bool:
        """Whether a worker is gone; dask's own error is known by its name, without an import."""
        return super().lost(error) or type(error).__name__ == "KilledWorker"

    def revive(self, error: BaseException) -> None:
        """Make the executor anew, if one knows how."""
        if isinstance(error, BrokenExecutor):
            if self._make is None:
                raise TaskFailed(
                    f"the executor is broken ({line(error)}); what is finished is kept, and "
                    "resume=True goes on; give a function that makes an executor to have it "
                    "made anew"
                ) from error
            self._executor = self._make()

    def stop(self, out: Iterable[Future[JsonObject]]) -> None:
        """Give up what waits; a worker ends its task, whose part then is there."""
        for future in out:
            future.cancel()

    def close(self) -> None:
        """Nothing: the executor is the user's."""


class Cluster(Given):
    """The workers of a dask scheduler, at an address or on this machine."""

    LOOK = 1.0
    """Seconds between two looks at how many workers there are."""

    def __init__(self, address: str, workers: int | None = None, work: Work | None = None) -> None:
        if address != LOCAL and "://" not in address:
            raise InvalidInput(
                f"cluster = {address!r} must be 'local' or a scheduler's address, such as "
                "tcp://10.0.0.1:8786"
            )
        if importlib.util.find_spec("distributed") is None:
            raise missing_extra("cluster", "distributed")
        self._address = address
        self._seen, self._looked = 0, -self.LOOK
        self._known: set[str] = set()
        self._open = ExitStack()
        try:
            self._open.enter_context(_quiet())
            self._client = self._open.enter_context(_client(address, workers))
            made = self._client.get_executor(pure=False, retries=3)
            super().__init__(made, work=work)
            self._agree()
        except BaseException:
            self._open.close()
            raise

    def workers(self) -> int:
        """How many threads the workers have now. Raises TaskFailed as ``revive``.

        And where one of them, or the scheduler, has no surefoot: it could not read a task.
        """
        self._check(None)  # tasks sent while the scheduler was away would be waited for in vain
        if time.monotonic() - self._looked > self.LOOK:
            threads = None
            with suppress(Exception):  # while the scheduler is away it has other faults each time
                threads = dict(self._client.nthreads())
            self._looked = time.monotonic()
            if threads is not None:
                if threads.keys() - self._known:
                    self._agree()
                self._seen, self._known = sum(threads.values()), set(threads)
        return self._seen

    def _agree(self) -> None:
        found: Any = {}
        with suppress(Exception):
            found = self._client.get_versions(packages=["surefoot"])
        places = {self._address: found.get("scheduler"), **(found.get("workers") or {})}
        without = sorted(
            place for place, one in places.items()
            if one is not None and one["packages"].get("surefoot") is None
        )  # fmt: skip
        if without:
            raise TaskFailed(
                f"module 'surefoot' is missing on {', '.join(without)}; scheduler and workers must "
                "have what this machine has: install it there"
            )

    def blamed(self, error: BaseException) -> str:
        """The last worker that died of it, or the scheduler."""
        return super().blamed(error) if hasattr(error, "last_worker") else self._address

    def lost(self, error: BaseException) -> bool:
        """Whether a worker, or the scheduler, is gone."""
        gone = type(error).__name__ in {"CommClosedError", "FutureCancelledError"}
        return gone or super().lost(error) or self._client.status == "closed"

    def revive(self, error: BaseException) -> None:
        """Go on where the scheduler is there; it was waited for as long as dask is told to."""
        self._check(error)

    def _check(self, error: BaseException | None) -> None:
        if self._client.status == "closed":
            raise TaskFailed(
                f"the scheduler at {self._address} is lost; what is finished is kept, and "
                "--resume goes on"
            ) from error

    def stop(self, out: Iterable[Future[JsonObject]]) -> None:
        """Give up what waits, where the scheduler is there to be told."""
        if self._client.status == "running":
            super().stop(out)

    def close(self) -> None:
        """Leave the scheduler, and end one that was started here."""
        self._open.close()


@contextmanager
def crew_of(cluster: str | None, workers: int | None = None) -> Iterator[Crew]:
    """Who does it, by what was asked for; what is started for it ends with the block."""
    crew = Local(workers) if cluster is None else Cluster(cluster, workers)
    try:
        yield crew
    finally:
        crew.close()


@contextmanager
def _client(address: str, workers: int | None) -> Iterator[Any]:
    """A client of the scheduler at an address, or of one that is started on this machine."""
    dask: Any = importlib.import_module("dask")
    distributed: Any = importlib.import_module("distributed")
    if address != LOCAL:
        if workers is not None:
            raise InvalidInput(
                f"workers = {workers} is not for a cluster that is there: it has those it has; "
                "leave it out"
            )
        try:
            client = distributed.Client(address, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise TaskFailed(f"no scheduler answers at {address}: {line(error)}") from None
        with client:
            yield client
        return
    count = cores() if workers is None else positive(workers, "workers")
    environ = dask.config.get("distributed.nanny.pre-spawn-environ", {})
    settings = {
        "distributed.worker.profile.enabled": False,
        "distributed.admin.low-level-log-length": 100,  # of messages, each with its task
        "distributed.nanny.pre-spawn-environ": {**environ, "POLARS_MAX_THREADS": 1},
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, host="127.0.0.1",
            dashboard_address=None, worker_dashboard_address=None, silence_logs=logging.CRITICAL,
            preload=["surefoot.study.scheduling.workers"],
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):  # fmt: skip
        yield client


@contextmanager
def _quiet() -> Iterator[None]:
    """Let distributed say nothing: what a user has to know is said in one line."""
    importlib.import_module("distributed")  # it sets its loggers up when it is imported
    ours = {"distributed", "tornado"}
    known = [
        logging.getLogger(name)
        for name in ("distributed", "tornado", *logging.root.manager.loggerDict)
        if name.split(".")[0] in ours
    ]
    before = [(one, one.level) for one in known]
    for one in known:
        one.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            # What matters is in a cell, and said where it differs.
            warnings.filterwarnings("ignore", "Mismatched versions found")
            yield
    finally:
        for one, level in before:
            one.setLevel(level)
