"""Both databases for tests of what they share: a fixture that opens a store on either."""

import pytest

from live.postgres import empty_database
from surefoot.live.store import open_store


@pytest.fixture(params=["sqlite", "postgres"])
def address(request, tmp_path):
    """The address of an empty store, in a SQLite file and in PostgreSQL."""
    if request.param == "sqlite":
        yield str(tmp_path / "ledger.db")
        return
    with empty_database(request.getfixturevalue("postgres")) as url:
        yield url


@pytest.fixture
def store(address):
    """A store with one funded account, ``shop``."""
    with open_store(address) as opened:
        opened.open_account("shop", places=2, strict=True)
        yield opened
