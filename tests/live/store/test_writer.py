import os
import sys
import threading

import pytest

from surefoot.errors import InvalidInput
from surefoot.live.store import writer
from surefoot.live.store.writer import GROUP, Job, Writer
from surefoot.testing._stores import together


def test_a_lone_caller_pays_one_commit():
    groups = []
    lone = Writer(lambda jobs: groups.append(len(jobs)) or [job.attempt(7) for job in jobs], 5)
    assert [lone.do(Job("a", lambda x, n=n: x + n)) for n in range(3)] == [7, 8, 9]
    assert groups == [1, 1, 1]
    lone.close()


def test_who_comes_during_a_commit_shares_the_next():
    groups, committing, go = [], threading.Event(), threading.Event()

    def commit(jobs):
        groups.append(len(jobs))
        committing.set()
        go.wait(10)
        for job in jobs:
            job.attempt(None)

    shared = Writer(commit, 5)
    callers = [threading.Thread(target=shared.do, args=[Job("a", id)]) for _ in range(100)]
    callers[0].start()
    committing.wait(10)
    for caller in callers[1:]:
        caller.start()
    while len(shared._jobs) < 99:
        pass
    go.set()
    for caller in callers:
        caller.join()
    assert groups == [1, GROUP, 99 - GROUP]
    shared.close()


def test_an_error_of_the_commit_reaches_every_caller_and_the_writer_goes_on():
    def commit(jobs):
        for job in jobs:
            job.attempt(None)
        if any(job.account == "bad" for job in jobs):
            raise OSError("disk full")

    failing = Writer(commit, 5)
    assert [str(p) for p in together(lambda: failing.do(Job("bad", id)), 5)] == ["disk full"] * 5
    assert failing.do(Job("good", lambda _: 3)) == 3
    failing.close()


def test_an_error_of_a_work_reaches_its_caller_alone():
    alone = Writer(lambda jobs: [job.attempt(0) for job in jobs], 5)
    with pytest.raises(ZeroDivisionError):
        alone.do(Job("a", lambda x: 1 // x))
    with pytest.raises(SystemExit):
        alone.do(Job("a", lambda _: exec("raise SystemExit")))
    assert alone.do(Job("a", lambda x: x)) == 0
    alone.close()


def test_a_closed_writer_refuses_and_has_written_what_waited():
    done = []
    closed = Writer(lambda jobs: done.extend(job.account for job in jobs), 5)
    together(lambda: closed.do(Job("a", id)), 5)
    closed.close()
    closed.close()
    assert done == ["a"] * 5
    with pytest.raises(InvalidInput, match="closed"):
        closed.do(Job("a", id))


def test_a_forked_child_opens_its_own(monkeypatch):
    inherited = Writer(lambda jobs: None, 5)
    monkeypatch.setattr(writer.os, "getpid", lambda: -1)
    with pytest.raises(InvalidInput, match="another process"):
        inherited.do(Job("a", id))
    monkeypatch.undo()
    assert os.getpid() == inherited._process
    inherited.close()


def test_an_interrupt_in_what_threading_does_in_python_leaves_no_lock_taken():
    """Ctrl-C strikes between two calls: where one returns, what it had taken is taken."""
    struck = 0
    one = Writer(lambda jobs: [job.attempt(7) for job in jobs], 5)
    one.do(Job("a", id))

    def strike(frame, event, argument):
        nonlocal left
        if frame.f_code.co_filename == threading.__file__ and event in ("call", "return"):
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
        return strike

    for turn in range(30):
        left = turn
        sys.settrace(strike)
        try:
            one.do(Job("a", id))
        except KeyboardInterrupt:
            struck += 1
        finally:
            sys.settrace(None)
        answers = []
        ask = lambda to=answers: to.append(one.do(Job("a", str)))  # noqa: E731
        later = threading.Thread(target=ask, daemon=True)
        later.start()
        later.join(5)
        assert answers == ["7"]
    assert struck
    one.close()
