import pytest

from live.postgres import database, postgres  # noqa: F401  (fixtures)
from surefoot.live.store.postgres import PostgresStore
from surefoot.testing import DurableStoreKit


class TestPostgresStore(DurableStoreKit):
    @pytest.fixture(autouse=True)
    def _address(self, database):  # noqa: F811
        self.address = database

    def make_store(self, clock=None):
        return PostgresStore(self.address, clock)
