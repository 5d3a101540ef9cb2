import pytest

from surefoot.errors import StoreUnavailable
from surefoot.live import MemoryStore
from surefoot.testing._stores import ACCOUNT, explore, fund
from surefoot_torture.faults.store import Faulty


@pytest.fixture
def store():
    store = Faulty(MemoryStore())
    store.open_account(ACCOUNT, places=2, strict=True)
    fund(store, 100)
    return store


def held(store):
    return store.inner.account(ACCOUNT).held


def decide(store):
    store.transact(ACCOUNT, lambda tx: explore(tx, 3))


@pytest.mark.parametrize(("kept", "after"), [(False, 0), (True, 3)])
def test_the_commit_it_was_told_of_fails_or_loses_its_answer(store, kept, after):
    store.break_at(2, kept)
    decide(store)
    with pytest.raises(StoreUnavailable):
        decide(store)
    assert held(store) == 3 + after
    decide(store)
    assert (held(store), store.faults) == (6 + after, 1)


def test_a_work_breaks_off_amid_its_calls(store):
    def work(tx):
        assert tx.row.held == 0
        calls.append(tx.play("nobody"))
        calls.append(explore(tx, 3))

    calls = []
    store.break_at(1, kept=False, amid=1)
    with pytest.raises(StoreUnavailable):
        store.transact(ACCOUNT, work)
    assert (calls, held(store)) == ([None], 0)


def test_reads_fail_as_often_as_told(store):
    store.blind = 2
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            store.entries(ACCOUNT)
    assert len(list(store.entries(ACCOUNT))) == 1


def test_a_snapshot_can_be_lost_or_garbled(store):
    store.snapshot(ACCOUNT, 1, b"state")
    store.break_at(1, kept=False)
    with pytest.raises(StoreUnavailable):
        store.snapshot(ACCOUNT, 2, b"newer")
    store.garbled = True
    assert store.latest_snapshot(ACCOUNT) == (1, b"st")
    assert store.latest_snapshot(ACCOUNT) == (1, b"state")


def test_healed_it_breaks_no_more(store):
    store.break_at(1, kept=False)
    store.blind, store.garbled = 1, True
    store.heal()
    decide(store)
    assert store.account(ACCOUNT).held == 3
