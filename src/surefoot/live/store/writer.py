"""Group commit: one thread writes, and whoever comes while it commits shares the next commit."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from surefoot.errors import InvalidInput, StoreUnavailable
from surefoot.live.store.base import check_process, inside_a_work

T = TypeVar("T")
GROUP = 64
"""The most jobs that share a commit."""


class Job(Generic[T]):
    """What one caller wants written, and what became of it."""

    __slots__ = ("_claim", "_done", "account", "error", "result", "work")

    def __init__(self, account: str, work: Callable[[Any], T]) -> None:
        self.account = account
        self.work = work
        self.result: T | None = None
        self.error: BaseException | None = None
        self._claim = threading.Lock()
        """Whoever takes it first: the writer, who runs the work, or the caller, who gives up."""
        self._done = threading.Lock()
        self._done.acquire()

    @property
    def claimed(self) -> bool:
        """Whether the work was begun, or never will be."""
        return self._claim.locked()

    def attempt(self, argument: Any) -> None:
        """Run the work, unless its caller gave up; its error is the caller's, not the group's."""
        if not self._claim.acquire(blocking=False):
            return
        try:
            self.result = self.work(argument)
        except BaseException as problem:  # noqa: BLE001  (it is raised in the caller's thread)
            self.error = problem

    def finish(self, error: BaseException | None = None) -> None:
        """Let the caller go on; an error of the commit counts more than the work's result."""
        self.error = error or self.error
        self._done.release()

    def wait(self, timeout: float) -> T:
        """Wait until the commit, and return what the work returned or raise what it raised.

        StoreUnavailable once that takes too long: a work that was not begun by then never will be.
        """
        begun, done = time.monotonic(), self._done.acquire(timeout=1.25 * timeout + 0.5)
        took = f"no answer within {time.monotonic() - begun:.3g} s"
        if not done and self._claim.acquire(blocking=False):
            raise StoreUnavailable(
                f"the store failed, nothing was written: {took}; ask again with the same id"
            )
        if not (done or self._done.acquire(timeout=0.5 * timeout)):
            raise StoreUnavailable(
                f"the store failed, {took} to a commit, which may be kept or not: try the same id "
                "again"
            )
        if self.error is not None:
            raise self.error
        return self.result  # type: ignore[return-value]  # a work may return None


class Writer:
    """Runs jobs in groups on a thread of its own: a lone caller waits for its own commit only.

    No timer: a group is whatever came while the one before was committing, at most ``GROUP`` jobs.
    ``timeout``: a caller gets an answer within twice as many seconds, even if a commit hangs.
    """

    def __init__(self, commit: Callable[[list[Job[Any]]], None], timeout: float) -> None:
        self._commit = commit
        self._timeout = timeout
        self._jobs: deque[Job[Any]] = deque()
        self._lock = threading.Lock()
        """Taken by itself: an interrupt on entering a Condition may leave its lock taken."""
        self._wake = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None
        self._closed = False
        self._process = os.getpid()

    def do(self, job: Job[T]) -> T:
        """Have a job written and return its result."""
        self.check()
        if threading.current_thread() is self._thread:
            raise inside_a_work()
        with self._lock:
            self.check()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="surefoot", daemon=True)
                self._thread.start()
            self._jobs.append(job)
            self._wake.notify_all()  # an interrupt in it may leave one listed who waits no more
        return job.wait(self._timeout)

    @property
    def foreign(self) -> bool:
        """Whether this is a forked child: its locks may be held by threads that are not there."""
        return os.getpid() != self._process

    def check(self) -> None:
        """InvalidInput in a forked child, and after ``close``."""
        check_process(self._process)
        if self._closed:
            raise InvalidInput("this store is closed; open it again")

    def close(self) -> None:
        """Write what waits, then stop; a commit that hangs is left to itself."""
        if self.foreign:
            return
        with self._lock:
            self._closed = True
            self._wake.notify_all()  # an interrupt in it may leave one listed who waits no more
        if self._thread is not None:
            self._thread.join(self._timeout)

    def _run(self) -> None:
        while group := self._next():
            try:
                self._commit(group)
            except BaseException as problem:  # noqa: BLE001  (it is raised in the callers' threads)
                error: BaseException | None = problem
            else:
                error = None
            for job in group:
                job.finish(error)

    def _next(self) -> list[Job[Any]]:
        with self._lock:
            while True:
                while self._jobs and self._jobs[0].claimed:  # its caller has given up
                    self._jobs.popleft()
                if self._jobs or self._closed:
                    return [self._jobs.popleft() for _ in range(min(GROUP, len(self._jobs)))]
                self._wake.wait()
