"""Group commit: one thread writes, and whoever comes while it commits shares the next commit."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from surefoot.errors import InvalidInput
from surefoot.live.store.base import inside_a_work

T = TypeVar("T")
GROUP = 64
"""The most jobs that share a commit."""


class Job(Generic[T]):
    """What one caller wants written, and what became of it."""

    __slots__ = ("_done", "account", "error", "result", "work")

    def __init__(self, account: str, work: Callable[[Any], T]) -> None:
        self.account = account
        self.work = work
        self.result: T | None = None
        self.error: BaseException | None = None
        self._done = threading.Lock()
        self._done.acquire()

    def attempt(self, argument: Any) -> None:
        """Run the work; its error is the caller's, not the group's."""
        try:
            self.result = self.work(argument)
        except BaseException as problem:  # noqa: BLE001  (it is raised in the caller's thread)
            self.error = problem

    def finish(self, error: BaseException | None = None) -> None:
        """Let the caller go on; an error of the commit counts more than the work's result."""
        self.error = error or self.error
        self._done.release()

    def wait(self) -> T:
        """Wait until the commit, and return what the work returned or raise what it raised."""
        self._done.acquire()
        if self.error is not None:
            raise self.error
        return self.result  # type: ignore[return-value]  # a work may return None


class Writer:
    """Runs jobs in groups on a thread of its own: a lone caller waits for its own commit only.

    No timer: a group is whatever came while the one before was committing, at most ``GROUP`` jobs.
    """

    def __init__(self, commit: Callable[[list[Job[Any]]], None]) -> None:
        self._commit = commit
        self._jobs: deque[Job[Any]] = deque()
        self._wake = threading.Condition(threading.Lock())
        self._thread: threading.Thread | None = None
        self._closed = False
        self._process = os.getpid()

    def do(self, job: Job[T]) -> T:
        """Have a job written and return its result."""
        self.check()
        if threading.current_thread() is self._thread:
            raise inside_a_work()
        with self._wake:
            self.check()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="surefoot", daemon=True)
                self._thread.start()
            self._jobs.append(job)
            self._wake.notify()
        return job.wait()

    def check(self) -> None:
        """InvalidInput in a forked child, and after ``close``."""
        if os.getpid() != self._process:
            raise InvalidInput("this store was opened by another process; open one of your own")
        if self._closed:
            raise InvalidInput("this store is closed; open it again")

    def close(self) -> None:
        """Write what waits, then stop."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        if self._thread is not None and os.getpid() == self._process:
            self._thread.join()

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
        with self._wake:
            while not self._jobs and not self._closed:
                self._wake.wait()
            return [self._jobs.popleft() for _ in range(min(GROUP, len(self._jobs)))]
