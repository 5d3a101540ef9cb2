import sqlite3
import threading

import pytest

from surefoot.errors import StoreUnavailable
from surefoot.live.store import open_store
from surefoot.live.store.sqlite import SQLiteStore
from surefoot.testing import DurableStoreKit


class TestSQLiteStore(DurableStoreKit):
    @pytest.fixture(autouse=True)
    def _path(self, tmp_path):
        self.address = str(tmp_path / "ledger.db")

    def make_store(self, clock=None):
        return SQLiteStore(self.address) if clock is None else SQLiteStore(self.address, clock)


def test_a_file_that_is_busy_when_it_is_made_is_waited_for(tmp_path):
    """SQLite itself does not wait when a file is to become one with a write-ahead log."""
    path = tmp_path / "new.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE other (a)")
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.2, lambda: other.execute("COMMIT"))
    timer.start()
    with open_store(path) as store:
        assert store.accounts() == []
    timer.join()
    other.close()


def test_one_that_stays_busy_is_unavailable(tmp_path):
    path = tmp_path / "new.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("CREATE TABLE other (a)")
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="locked"):
        SQLiteStore(path, timeout=0.1)
    other.close()
