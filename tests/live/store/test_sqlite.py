import os
import shutil
import sqlite3
import threading
from contextlib import ExitStack, closing

import pytest

from surefoot import UCB1, GenCB, RewardFloor
from surefoot.errors import DamagedFile, StoreUnavailable
from surefoot.live.live import Live
from surefoot.live.store import open_store
from surefoot.live.store.sqlite import SQLiteStore
from surefoot.testing import DurableStoreKit
from surefoot.testing._stores import check_chain, explore, fund, refused


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


def removed(path):
    path.unlink()


def moved(path):
    path.rename(path.with_name("elsewhere"))


def replaced(path):
    """By a copy, the way editors and deploy scripts write files."""
    copy = path.with_name("copy")
    shutil.copyfile(path, copy)
    copy.replace(path)


def without_folder(path):
    path.parent.rename(path.parent.with_name("elsewhere"))


def with_another_folder(path):
    without_folder(path)
    shutil.copytree(path.parent.with_name("elsewhere"), path.parent)


@pytest.fixture
def opened(tmp_path):
    """A store in a folder of its own, with a funded account, of which a commit is in the log."""
    (tmp_path / "folder").mkdir()
    store = SQLiteStore(tmp_path / "folder" / "ledger.db")
    store.open_account("shop", 2, True)
    fund(store, 10)
    yield store
    store.close()


HAPPENINGS = [removed, moved, replaced, without_folder, with_another_folder]


@pytest.mark.parametrize("end", ["", "-wal", "-shm"])
@pytest.mark.parametrize("happen", HAPPENINGS)
def test_a_file_that_is_not_at_its_path_any_more_is_unavailable_until_opened_again(
    opened, tmp_path, happen, end
):
    path = tmp_path / "folder" / f"ledger.db{end}"
    happen(path)
    for call in (
        lambda: opened.transact("shop", explore),
        lambda: opened.account("shop"),
        lambda: list(opened.entries("shop")),
        lambda: opened.play("shop", "p-1"),
        lambda: opened.open_account("new", 2, True),
    ):
        assert "while it was open" in refused(call, StoreUnavailable)
    if happen is removed and not end:
        with SQLiteStore(path) as other:  # what another process would find: nothing
            assert other.accounts() == []
        assert "while it was open" in refused(lambda: opened.account("shop"), StoreUnavailable)


@pytest.mark.parametrize("end", ["", "-wal", "-shm"])
@pytest.mark.parametrize("happen", HAPPENINGS)
def test_what_is_committed_into_a_file_that_is_gone_by_then_is_not_acknowledged(
    opened, tmp_path, happen, end
):
    def work(tx):
        explore(tx)
        happen(tmp_path / "folder" / f"ledger.db{end}")

    said = refused(lambda: opened.transact("shop", work), StoreUnavailable)
    assert "while it was open, what was being written may be lost: ask again" in said
    assert "nothing was written" in refused(
        lambda: opened.transact("shop", explore), StoreUnavailable
    )


@pytest.mark.parametrize("end", ["-wal", "-shm"])
def test_what_was_acknowledged_before_the_log_was_deleted_is_there_again(opened, tmp_path, end):
    removed(tmp_path / "folder" / f"ledger.db{end}")
    refused(lambda: opened.transact("shop", explore), StoreUnavailable)
    opened.close()
    with open_store(tmp_path / "folder" / "ledger.db") as again:
        assert again.account("shop").reserve == 10
        check_chain(again)
        again.transact("shop", explore)


def test_a_link_that_leads_elsewhere_now_is_another_file(opened, tmp_path):
    link, other = tmp_path / "link.db", tmp_path / "other.db"
    SQLiteStore(other).close()
    link.symlink_to(tmp_path / "folder" / "ledger.db")
    with SQLiteStore(link) as store:
        assert store.account("shop").reserve == 10
        link.unlink()
        link.symlink_to(other)
        assert "was replaced" in refused(lambda: store.account("shop"), StoreUnavailable)


@pytest.mark.parametrize("end", ["-wal", "-shm"])
def test_the_log_of_a_linked_file_is_beside_the_file(opened, tmp_path, end):
    opened.close()
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "folder" / "ledger.db")
    with SQLiteStore(link) as store:
        removed(tmp_path / "folder" / f"ledger.db{end}")
        assert "while it was open" in refused(
            lambda: store.transact("shop", explore), StoreUnavailable
        )


def test_a_new_connection_is_to_the_same_file(opened, tmp_path):
    """A pool opens one where several threads read; by then the path may lead elsewhere."""
    with opened._reads.connect(), opened._reads.connect(), opened._reads.connect():
        replaced(tmp_path / "folder" / "ledger.db")
        with pytest.raises(StoreUnavailable, match="was replaced"):
            opened._reads.connect()


def test_a_file_is_where_it_was_opened_whatever_folder_the_process_is_in(tmp_path, monkeypatch):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "one")
    with SQLiteStore("ledger.db") as store:
        store.open_account("shop", 2, True)
        monkeypatch.chdir(tmp_path / "two")
        with ExitStack() as busy:
            for _ in range(5):  # as many as the pool has, so the next connections are new
                busy.enter_context(store._reads.connect())
            fund(store, 10)
            assert store.account("shop").reserve == 10
    assert list((tmp_path / "two").iterdir()) == []
    assert refused(lambda: SQLiteStore(":memory:")).startswith("':memory:' is no file")


def test_a_log_that_others_have_done_with_before_is_no_harm(tmp_path):
    """Who closes a file last deletes its log; who opens it then makes another."""
    for _ in range(20):
        first = SQLiteStore(tmp_path / "ledger.db")
        first.open_account("shop", 2, True)
        closing = threading.Thread(target=first.close)
        closing.start()
        with SQLiteStore(tmp_path / "ledger.db") as second:
            fund(second, 1)
        closing.join()


def test_a_store_whose_connections_all_broke_is_no_deleted_log(ledger):
    """An interrupt may cost every pooled connection; the log is then the next program's to end."""
    with open_store(ledger) as store:
        store._reads.dispose()
        with closing(sqlite3.connect(ledger)) as connection:
            connection.execute("SELECT * FROM account").fetchall()
        assert store.transact("shop", explore_for_nothing).seq == 2


def test_a_copy_of_the_file_alone_has_none_of_what_is_in_the_log_beside(tmp_path):
    """Why operate.md says to make a backup through SQLite and not with cp."""
    path, copied, backed = (tmp_path / name for name in ("shop.db", "copied.db", "backed.db"))
    with Live(GenCB(UCB1(2), RewardFloor(0.5, 0.5, reserve=9), seed=1), path) as live:
        for _ in range(60):
            live.update(live.select(), 1)
        shutil.copy(path, copied)
        with (
            closing(sqlite3.connect(path)) as source,
            closing(sqlite3.connect(backed)) as target,
        ):
            source.backup(target)
        entries = len(list(live.store.entries("default")))
    assert copied.stat().st_size == 4096
    with pytest.raises(DamagedFile), open_store(copied, read_only=True) as store:
        store.accounts()
    with open_store(backed, read_only=True) as store:
        assert len(list(store.entries("default"))) == entries > 120
