"""The layers of a transaction; what it means for a store is in the kit."""

import pytest

from surefoot.errors import DamagedFile, InvalidInput
from surefoot.live.store import AccountRow, MemoryStore
from surefoot.live.store.tx import Batch
from surefoot.testing._stores import explore, settle


@pytest.fixture
def batch():
    store = MemoryStore()
    store.open_account("shop", 2, strict=False)
    row = AccountRow("shop", 2, strict=True, reserve=10)
    return Batch(row, store._find("shop"), now=7)


def test_a_work_sees_the_works_before_it_in_the_same_commit(batch):
    batch.run(lambda tx: explore(tx, 4, play="mine"))
    held = batch.run(lambda tx: (tx.row.held, tx.play("mine").state, tx.now))
    assert held == (4, "open", 7)
    batch.run(lambda tx: settle(tx, "mine", reward=1))
    assert batch.plays["mine"].state == "settled"
    assert batch.was["mine"] is None
    assert (batch.first.seq, batch.row.seq, len(batch.entries)) == (0, 2, 2)


def test_a_failed_work_leaves_the_layer_below_as_it_was(batch):
    batch.run(lambda tx: explore(tx, 4, play="mine"))
    before = batch.row, list(batch.entries), dict(batch.plays)

    def work(tx):
        settle(tx, "mine", reward=1)
        explore(tx, 1, play="other")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        batch.run(work)
    assert (batch.row, batch.entries, batch.plays) == before


def test_an_id_of_its_own_is_not_looked_up(batch):
    batch.committed = None  # whoever asks it fails
    entry = batch.run(lambda tx: explore(tx, 4))
    assert entry.play == "p-1"
    assert batch.run(lambda tx: explore(tx, 4, play="p-2")).play == "p-2"


def test_reading_on_after_the_work_is_refused(batch):
    entries = batch.run(lambda tx: tx.entries())
    batch.run(lambda tx: [explore(tx, 0), explore(tx, 0)])
    assert list(entries) == []  # it ends where it was asked
    with pytest.raises(InvalidInput, match="over"):
        batch.run(lambda tx: tx).entries()


def test_entries_that_end_before_their_account_does_are_damaged():
    store = MemoryStore()
    store.open_account("shop", 2, strict=False)
    for _ in range(3):
        store.transact("shop", lambda tx: explore(tx, 0))
    del store._accounts["shop"].entries[-2:]
    with pytest.raises(DamagedFile, match="entries of 'shop' end at 1, its account at 3"):
        store.transact("shop", lambda tx: list(tx.entries()))
