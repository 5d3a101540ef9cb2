import pytest

from surefoot.live.store.sqlite import SQLiteStore
from surefoot.testing import DurableStoreKit


class TestSQLiteStore(DurableStoreKit):
    @pytest.fixture(autouse=True)
    def _path(self, tmp_path):
        self.address = str(tmp_path / "ledger.db")

    def make_store(self, clock=None):
        return SQLiteStore(self.address) if clock is None else SQLiteStore(self.address, clock)
