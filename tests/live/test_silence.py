"""However silent the network is, every call is answered within twice its ``timeout``."""

import threading
import time
from contextlib import contextmanager

import pytest

from leased import agent
from live.network import DEAF, PASS, SWALLOWS, nobody, proxied
from live.postgres import database, postgres  # noqa: F401  (fixtures)
from surefoot.errors import InvalidInput, StoreUnavailable
from surefoot.live import MemoryStore
from surefoot.live.live import Live
from surefoot.live.store import open_store
from surefoot.testing._stores import check_chain, explore, fund

# ruff: noqa: F811
TIMEOUT = 1.0
SLACK = 2.5
"""What a loaded machine may take besides, in seconds, and the least that libpq connects by."""


@contextmanager
def bounded(times=2):
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < times * TIMEOUT + SLACK


@pytest.fixture(params=[SWALLOWS, pytest.param(DEAF, marks=pytest.mark.slow)])
def silence(request):
    return request.param


@pytest.fixture
def proxy(database):
    with proxied(database) as (proxy, url):
        proxy.url = url
        yield proxy


def test_opening_where_nobody_answers(silence, proxy):
    proxy.mode = silence
    for call in (
        lambda: open_store(proxy.url, timeout=TIMEOUT),
        lambda: open_store(proxy.url, read_only=True, timeout=TIMEOUT),
        lambda: Live(agent(), proxy.url, timeout=TIMEOUT),
    ):
        with bounded(), pytest.raises(StoreUnavailable, match="timeout"):
            call()


def test_opening_where_nobody_takes_the_call():
    with nobody() as port, bounded(), pytest.raises(StoreUnavailable):
        open_store(f"postgresql://surefoot@127.0.0.1:{port}/x", timeout=TIMEOUT)


def test_every_call_of_a_store_and_its_close(silence, proxy):
    store = open_store(proxy.url, timeout=TIMEOUT)
    store.open_account("shop", 2, strict=True)
    fund(store, 100)
    proxy.mode = silence
    for call in (
        lambda: store.transact("shop", explore),
        lambda: store.account("shop"),
        lambda: list(store.entries("shop")),
        lambda: store.play("shop", "p"),
        lambda: store.snapshot("shop", 1, b""),
        store.now,
    ):
        with bounded(), pytest.raises(StoreUnavailable):
            call()
    proxy.mode = PASS
    if silence is SWALLOWS:
        assert store.transact("shop", explore).seq == 2  # by another connection
    proxy.mode = silence
    with bounded():
        store.close()


def test_what_is_too_big_for_a_deaf_network(proxy):
    with open_store(proxy.url, timeout=TIMEOUT) as store:
        store.open_account("shop", 2, strict=True)

        def work(tx):
            proxy.mode = DEAF
            for _ in range(20):
                tx.append("verified", experiment="e", payload={"text": "x" * 1_000_000})

        with bounded(), pytest.raises(StoreUnavailable):
            store.transact("shop", work)


def test_a_live_agent_and_its_close(silence, proxy):
    live = Live(agent(), proxy.url, timeout=TIMEOUT)
    play = live.select(id="a")
    proxy.mode = silence
    for call in (
        live.select,
        lambda: live.update(play, 1),
        lambda: live.account,
        live.reap,
        lambda: live.play("a"),
        live.close,
    ):
        with bounded(), pytest.raises(StoreUnavailable):
            call()


@pytest.mark.parametrize("kept", [False, True])
def test_who_waits_behind_a_commit_that_hangs_is_told_what_became_of_it(proxy, database, kept):
    """The commit itself may be kept; what waits for its turn was never begun."""
    store = open_store(proxy.url, timeout=TIMEOUT)
    store.open_account("shop", 2, strict=True)
    fund(store, 100)
    told, hangs = {}, threading.Event()

    def write(name, work):
        begun = time.monotonic()
        try:
            store.transact("shop", work)
        except StoreUnavailable as error:
            told[name] = str(error), time.monotonic() - begun

    def first(tx):
        explore(tx, 1, play="first")
        if kept:
            proxy.after = b"COMMIT"
        else:
            proxy.mode = SWALLOWS
        hangs.set()

    callers = [threading.Thread(target=write, args=("first", first))]
    callers[0].start()
    assert hangs.wait(10)
    for number in range(3):
        work = lambda tx, number=number: explore(tx, 1, play=f"later-{number}")  # noqa: E731
        callers.append(threading.Thread(target=write, args=(f"later-{number}", work)))
        callers[-1].start()
    for caller in callers:
        caller.join(20)
    assert ("may be kept or not" in told["first"][0]) == kept
    assert ("nothing was written" in told["first"][0]) != kept
    for number in range(3):
        assert "nothing was written" in told[f"later-{number}"][0]
    assert max(took for _, took in told.values()) < 2 * TIMEOUT + SLACK
    store.close()
    with open_store(database) as there:
        assert (there.play("shop", "first") is not None) == kept
        assert there.account("shop").seq == 1 + kept
        check_chain(there)


def test_a_lock_that_another_process_holds(proxy, tmp_path):
    for address in (proxy.url, str(tmp_path / "ledger.db")):
        with open_store(address) as holder, open_store(address, timeout=TIMEOUT) as store:
            holder.open_account("shop", 2, strict=True)
            go, held = threading.Event(), threading.Event()

            def work(_, go=go, held=held):
                held.set()
                go.wait(10)

            blocker = threading.Thread(target=holder.transact, args=("shop", work))
            blocker.start()
            assert held.wait(10)
            with bounded(), pytest.raises(StoreUnavailable, match="process holds it"):
                store.transact("shop", explore)
            go.set()
            blocker.join()


@pytest.mark.parametrize("timeout", [0, -1, "5", float("nan"), True, 10**6])
def test_a_timeout_is_a_length_of_time(tmp_path, timeout):
    with pytest.raises(InvalidInput, match=r"timeout"):
        Live(agent(), str(tmp_path / "ledger.db"), timeout=timeout)


def test_a_store_has_its_own_timeout():
    with pytest.raises(InvalidInput, match="give it where that is opened"):
        Live(agent(), MemoryStore(), timeout=1)
