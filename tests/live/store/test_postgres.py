import psycopg
import pytest

from live.postgres import database, postgres  # noqa: F401  (fixtures)
from surefoot.errors import DamagedFile
from surefoot.live.store import open_store
from surefoot.live.store.postgres import PostgresStore
from surefoot.testing import DurableStoreKit

# ruff: noqa: F811


class TestPostgresStore(DurableStoreKit):
    @pytest.fixture(autouse=True)
    def _address(self, database):
        self.address = database

    def make_store(self, clock=None):
        return PostgresStore(self.address, clock)


def tables(address):
    with psycopg.connect(address) as connection:
        asked = "SELECT relname FROM pg_class WHERE relkind = 'r' AND pg_table_is_visible(oid)"
        return {name for (name,) in connection.execute(asked) if not name.startswith("pg_")}


def test_tables_of_others_are_no_hindrance_unless_their_names_are_ours(database):
    with psycopg.connect(database) as connection:
        connection.execute("CREATE TABLE bookmarks (a int)")
    with pytest.raises(DamagedFile, match="is no ledger of surefoot"):
        open_store(database, read_only=True)
    assert tables(database) == {"bookmarks"}
    open_store(database).close()
    assert "entry" in tables(database)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_database_in_which_a_name_of_ours_is_taken_stays_as_it_is(database, read_only):
    with psycopg.connect(database) as connection:
        connection.execute("CREATE TABLE account (a int)")
    with pytest.raises(DamagedFile, match="is no ledger of surefoot: it has 'account'"):
        open_store(database, read_only=read_only)
    assert tables(database) == {"account"}
