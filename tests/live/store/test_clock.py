from decimal import Decimal

import numpy as np
import pytest

from live.postgres import database, postgres  # noqa: F401  (fixtures)
from surefoot import UCB1, GenCB, RewardFloor
from surefoot.errors import InvalidInput
from surefoot.live import MemoryStore
from surefoot.live.live import Live
from surefoot.live.store import open_store
from verifying import proved

TIMES = {
    "float": 1.7e15, "whole float": 5.0, "nan": float("nan"), "bool": True, "numpy bool": np.True_,
    "text": "7", "nothing": None, "negative": -1, "long": 2**63, "decimal": Decimal(7),
    "numpy float": np.float64(7), "array": np.array([1, 2]),
}  # fmt: skip
STORES = ["memory", "sqlite", "postgres"]


@pytest.fixture
def opener(request, tmp_path):
    """Opens a store of a kind, with a clock."""

    def open_it(kind, clock):
        if kind == "memory":
            return MemoryStore(clock)
        if kind == "sqlite":
            return open_store(tmp_path / "shop.db", clock)
        return open_store(request.getfixturevalue("database"), clock)

    return open_it


def live(store):
    return Live(GenCB(UCB1(2), RewardFloor(0.5, 0.5, reserve=9)), store, reward_window=60)


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("time", TIMES)
def test_a_time_that_no_ledger_can_hold_is_refused_and_nothing_is_written(opener, kind, time):
    if kind == "postgres" and time not in ("float", "long"):
        pytest.skip("as in SQLite")
    now = [10**15]
    with opener(kind, lambda: now[0]) as store:
        agent = live(store)
        before = store.account("default")
        now[0] = TIMES[time]
        for work in (agent.select, store.now, agent.reap):
            with pytest.raises(InvalidInput, match=r"clock\(\) returned .* must return an int"):
                work()
        assert store.account("default") == before
        now[0] = np.int64(10**15 + 5)
        play = agent.select()
        assert type(play.deadline) is int
        [entry] = store.entries("default", before.seq)
        assert (type(entry.at), entry.at) == (int, 10**15 + 5)
        proved(store)


@pytest.mark.parametrize("kind", STORES)
def test_what_is_no_clock_is_refused_when_it_is_given(opener, kind):
    with pytest.raises(InvalidInput, match="clock = 7 must be a function"):
        opener(kind, 7)


def test_an_error_of_the_clock_is_the_callers_own():
    def broken():
        raise ZeroDivisionError

    store = MemoryStore(broken)
    with pytest.raises(ZeroDivisionError):
        live(store)
    assert store.account("default").seq == 0
