"""The kit finds what a store can do wrong: each planted bug fails a test of it."""

import pytest

from surefoot.live import MemoryStore
from surefoot.live.store import open_store, tx
from surefoot.live.store.sqlite import SQLiteStore
from surefoot.testing import DurableStoreKit, StoreKit, _stores


def failing(kit_class, make):
    """The names of the kit's tests that fail on the stores that ``make`` makes."""
    failed = []
    for name in (name for name in dir(kit_class) if name.startswith("test_")):
        kit = kit_class()
        kit.make_store = make
        try:
            getattr(kit, name)()
        except Exception:  # noqa: BLE001  (whatever a bug raises is found)
            failed.append(name)
        finally:
            kit.teardown_method()
    return failed


def make(store_class):
    return lambda clock=None: store_class() if clock is None else store_class(clock)


def test_a_store_without_a_bug_passes():
    assert failing(StoreKit, make(MemoryStore)) == []


class CommitsWhatFailed(MemoryStore):
    def transact(self, account, work):
        def run(tx):
            try:
                return work(tx), None
            except Exception as problem:  # noqa: BLE001  (raised again below)
                return None, problem

        result, problem = super().transact(account, run)
        if problem:
            raise problem
        return result


class LosesTheLast(MemoryStore):
    def entries(self, account, after=0, limit=None):
        return iter(list(super().entries(account, after, limit))[:-1])


class ReversesThem(MemoryStore):
    def entries(self, account, after=0, limit=None):
        return reversed(list(super().entries(account, after, limit)))


class TakesAnyUnit(MemoryStore):
    def open_account(self, account, places, strict):
        if account in self._accounts:
            return self.account(account)
        return super().open_account(account, places, strict)


class MixesSnapshots(MemoryStore):
    def snapshot(self, account, seq, blob, experiment=""):
        super().snapshot(account, seq, blob)

    def latest_snapshot(self, account, experiment=""):
        return super().latest_snapshot(account)


class StopsItsClock(MemoryStore):
    def now(self):
        return 0


class Unlocked(MemoryStore):
    """Every work starts from what it last read, whatever others did since."""

    def transact(self, account, work):
        found = self._find(account)
        batch = tx.Batch(found.row, found, self.now())
        result = batch.run(work)
        _stores.threading.Event().wait(0.0001)  # the others come in between
        found.unfinished = batch
        found.finish()
        return result


@pytest.mark.parametrize(
    "bug",
    [CommitsWhatFailed, LosesTheLast, ReversesThem, TakesAnyUnit, MixesSnapshots, StopsItsClock],
)
def test_a_planted_bug_is_found(bug):
    assert failing(StoreKit, make(bug)) != []


def test_a_store_without_its_lock_is_found():
    kit = StoreKit()
    kit.make_store = make(Unlocked)
    with pytest.raises(AssertionError):
        kit.test_racing_threads_get_what_the_account_affords_and_no_more()


def test_a_store_that_forgets_is_found(tmp_path):
    numbers = iter(range(10))
    kit = DurableStoreKit()
    kit.make_store = lambda clock=None: SQLiteStore(tmp_path / f"{next(numbers)}.db")
    with pytest.raises(Exception, match="shop"):
        kit.test_a_store_that_is_opened_again_is_as_it_was()
    kit.teardown_method()


def test_the_kit_needs_to_be_told_what_to_open():
    with pytest.raises(NotImplementedError):
        StoreKit().make_store()


def test_a_refusal_that_does_not_come_fails():
    with pytest.raises(AssertionError, match="InvalidInput was not raised"):
        _stores.refused(lambda: None)


def test_a_racer_prints_what_was_acknowledged(tmp_path, capsys):
    address = str(tmp_path / "ledger.db")
    with open_store(address) as store:
        store.open_account("shop", 2, strict=True)
        _stores.fund(store, 10)
        _stores.race(address, "shop")
        assert capsys.readouterr().out == "2\n3\n4\n"
        assert store.account("shop").available == 1
