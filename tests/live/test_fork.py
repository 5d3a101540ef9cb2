"""A forked child is told at once that what it holds is its parent's, and harms nothing."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from leased import agent, opened
from live.postgres import database, postgres  # noqa: F401  (fixtures)
from live.store.databases import address  # noqa: F401  (a fixture)
from surefoot import Outcome
from surefoot.errors import InvalidInput
from surefoot.live import MemoryStore
from surefoot.live.live import Live
from surefoot.live.store import open_store
from verifying import proved

# ruff: noqa: F811
SECONDS = 10
"""After which a child that hangs is killed."""


def calls(live, play):
    """All that a live agent can be asked."""
    return [
        live.select, lambda: live.select(id="mine"), lambda: live.update(play, 1),
        lambda: live.expire(play), lambda: live.void(play), lambda: live.fall_back(play),
        lambda: live.acknowledge(play), lambda: live.play(play.id), lambda: live.explain(play),
        live.reap, live.flush, lambda: live.account, lambda: live.config, live.monitor,
        live.pause, live.resume, lambda: live.change(alpha=0.2), lambda: live.add_reserve(1),
        lambda: live.withdraw_reserve(1), lambda: live.add_arms([7]), lambda: live.remove_arms([0]),
    ]  # fmt: skip


def of_store(store):
    return [
        store.accounts, lambda: store.account("default"), lambda: store.play("default", "p"),
        lambda: store.open_account("default", 9, True), lambda: list(store.entries("default")),
        lambda: store.transact("default", lambda _: None), lambda: store.latest_snapshot("default"),
        lambda: store.snapshot("default", 1, b""),
    ]  # fmt: skip


def in_a_child(asked):
    """What a child's calls came to: 0 if each was refused, and closing did nothing."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        wrong = 0
        for call in asked:
            try:
                call()
                wrong += 1
            except InvalidInput as error:
                wrong += "another process" not in str(error)
            except BaseException:  # noqa: BLE001  (a child must not go on as a test)
                wrong += 1
        os._exit(min(wrong, 99))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def closing(live):
    live.close()
    live.store.close()
    raise InvalidInput("of another process, and done")


@pytest.mark.parametrize("leased", [False, True])
def test_a_child_forked_amid_the_work_of_threads(address, tmp_path, leased):
    store = open_store(address)
    live = opened(store, tmp_path, plays=5) if leased else Live(agent(), store)
    play, stop, failed = live.select(), threading.Event(), []

    def work():
        try:
            while not stop.is_set():
                live.update(live.select(), 1)
                live.account  # noqa: B018
        except Exception as error:  # noqa: BLE001  (the test looks at it)
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    asked = [*calls(live, play), *of_store(store), lambda: closing(live)]
    said = [in_a_child(asked) for _ in range(10)]
    stop.set()
    for thread in threads:
        thread.join()
    assert (said, failed) == ([0] * 10, [])
    assert live.update(play, 1) is Outcome.BOOKED
    live.close()
    assert proved(store)["open"] == 0
    store.close()


def test_a_child_forked_while_another_thread_has_every_lock(tmp_path):
    store = MemoryStore()
    live = opened(store, tmp_path)
    play, held, go = live.select(), threading.Event(), threading.Event()

    def hold():
        with live._worker._turn.lock, live._engine.folding, live._worker._lock, store._lock:
            held.set()
            go.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(10)
    said = in_a_child([*calls(live, play), *of_store(store), lambda: closing(live)])
    go.set()
    holder.join()
    assert said == 0
    live.close()
    assert proved(store)["explorations"] == 1


ENDS = """
import os, sys, gc
from surefoot import UCB1, GenCB, RewardFloor
from surefoot.live.live import Live
live = Live(GenCB(UCB1(3), RewardFloor(default=0.5, alpha=0.1, reserve=9)), sys.argv[1])
def backend():
    def asks(tx):
        return tx._batch.committed.connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
    return live.store.transact("default", asks) if "://" in sys.argv[1] else 0
before = backend()
child = os.fork()
if child == 0:
    if sys.argv[2] == "close":
        live.close()
    del live
    gc.collect()
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert backend() == before, "the connection was ended by the child"
live.update(live.select(), 1)
live.close()
"""


@pytest.mark.parametrize("how", ["close", "drop"])
def test_a_child_that_ends_leaves_its_parents_connections_alone(address, how):
    command = [sys.executable, "-W", "error", "-c", ENDS, address, how]
    assert subprocess.run(command, timeout=60, check=False).returncode == 0
