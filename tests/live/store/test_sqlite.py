import os
import sqlite3
import threading

import pytest

from surefoot.errors import DamagedFile, StoreUnavailable
from surefoot.live.store import open_store
from surefoot.live.store.sqlite import SQLiteStore
from surefoot.testing import DurableStoreKit
from surefoot.testing._stores import explore


class TestSQLiteStore(DurableStoreKit):
    @pytest.fixture(autouse=True)
    def _path(self, tmp_path):
        self.address = str(tmp_path / "ledger.db")

    def make_store(self, clock=None):
        return SQLiteStore(self.address) if clock is None else SQLiteStore(self.address, clock)


@pytest.fixture
def busy(tmp_path):
    """A new file in which another process writes."""
    other = sqlite3.connect(tmp_path / "new.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    yield other
    other.close()


def test_a_file_that_is_busy_when_it_is_made_is_waited_for(tmp_path, busy):
    """SQLite itself does not wait when a file is to become one with a write-ahead log."""
    timer = threading.Timer(0.2, lambda: busy.execute("COMMIT"))
    timer.start()
    with open_store(tmp_path / "new.db") as store:
        assert store.accounts() == []
    timer.join()


@pytest.mark.usefixtures("busy")
def test_one_that_stays_busy_is_unavailable(tmp_path):
    with pytest.raises(StoreUnavailable, match="locked"):
        SQLiteStore(tmp_path / "new.db", timeout=0.1)


def foreign(path, *statements):
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return path.read_bytes()


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("statements", [
    ["CREATE TABLE bookmarks (a)"], ["CREATE TABLE account (a)"],
    ["CREATE VIEW account AS SELECT 1"], ["PRAGMA journal_mode = WAL", "CREATE TABLE b (a)"],
])  # fmt: skip
def test_a_foreign_file_stays_as_it_is(tmp_path, statements, read_only):
    path = tmp_path / "places.sqlite"
    before = foreign(path, *statements)
    with pytest.raises(DamagedFile, match=r"places.sqlite' is no ledger of surefoot"):
        open_store(path, read_only=read_only)
    assert path.read_bytes() == before
    if read_only:
        assert list(tmp_path.iterdir()) == [path]


def test_an_empty_file_is_no_ledger_to_be_read(tmp_path):
    path = tmp_path / "empty.db"
    path.touch()
    with pytest.raises(DamagedFile, match="is no ledger of surefoot"):
        open_store(path, read_only=True)
    assert path.read_bytes() == b""


@pytest.fixture
def ledger(tmp_path):
    """A ledger that no process uses, under a name that a URL has to spell in another way."""
    path = tmp_path / "50% ?#.db"
    with open_store(path) as store:
        store.open_account("shop", 2, strict=False)
        store.transact("shop", explore_for_nothing)
    return path


def explore_for_nothing(tx):
    return explore(tx, 0)


def test_reading_leaves_no_trace(ledger):
    before = ledger.read_bytes(), ledger.stat().st_mtime_ns
    with open_store(ledger, read_only=True) as store:
        assert [entry.seq for entry in store.entries("shop")] == [1]
    assert (ledger.read_bytes(), ledger.stat().st_mtime_ns) == before
    assert list(ledger.parent.iterdir()) == [ledger]


def test_a_ledger_is_read_while_others_write_to_it(ledger):
    with open_store(ledger, read_only=True) as reader, open_store(ledger) as writer:
        writer.transact("shop", explore_for_nothing)
        assert reader.account("shop").seq == 2
    assert list(ledger.parent.iterdir()) == [ledger]


def test_what_a_killed_process_left_in_its_log_is_read_and_kept_there(ledger):
    child = os.fork()
    if child == 0:
        open_store(ledger).transact("shop", explore_for_nothing)
        os._exit(0)
    os.waitpid(child, 0)
    before = ledger.read_bytes()
    with open_store(ledger, read_only=True) as store:
        assert store.account("shop").seq == 2
    assert ledger.read_bytes() == before


@pytest.fixture
def barred(ledger, monkeypatch):
    """The ledger where one may only read."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    return ledger


def test_a_ledger_is_read_where_nothing_can_be_written(barred):
    with open_store(barred, read_only=True) as store:
        assert store.account("shop").seq == 1
        assert list(barred.parent.iterdir()) == [barred]  # it needed no log


def test_there_others_who_write_meanwhile_are_noticed(barred):
    with open_store(barred, read_only=True) as reader:
        with open_store(barred) as writer:
            writer.transact("shop", explore_for_nothing)
            with pytest.raises(StoreUnavailable, match="being written to by another process"):
                reader.account("shop")
        with pytest.raises(StoreUnavailable, match="open it again"):
            list(reader.entries("shop"))
    with open_store(barred, read_only=True) as reader:
        assert reader.account("shop").seq == 2


def test_there_a_log_in_use_is_read_with_its_locks(barred):
    with open_store(barred) as writer, open_store(barred, read_only=True) as reader:
        writer.transact("shop", explore_for_nothing)
        assert reader.account("shop").seq == 2


def test_a_copy_without_a_write_ahead_log_gets_one_when_it_is_opened_to_write(ledger):
    foreign(ledger, "PRAGMA journal_mode = DELETE")
    with open_store(ledger, read_only=True) as store:
        assert store.account("shop").seq == 1
    with open_store(ledger) as store:
        store.transact("shop", explore_for_nothing)
    with sqlite3.connect(ledger) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
