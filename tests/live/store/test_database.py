"""What both databases share beyond the kit: opening, failures, and who may use a store."""

import threading
from contextlib import suppress

import pytest
import sqlalchemy as sa

from live.postgres import postgres  # noqa: F401  (a fixture)
from live.store.databases import address, store  # noqa: F401  (fixtures)
from surefoot.errors import DamagedFile, InvalidInput, StoreUnavailable
from surefoot.live.store import open_store, sql
from surefoot.live.store.database import Rows, reachable
from surefoot.live.store.postgres import PostgresStore
from surefoot.live.store.sqlite import SQLiteStore
from surefoot.live.store.writer import Job
from surefoot.testing._stores import check_chain, explore, fund, refused, together

# Fixtures are named by what they are, and tests take them under the same name.
# ruff: noqa: F811


def test_many_may_open_an_empty_store_at_once(address):
    def open_and_close():
        with open_store(address) as opened:
            opened.open_account("shop", 2, True)

    assert together(open_and_close, threads=8) == []
    with open_store(address) as opened:
        assert opened.accounts() == ["shop"]


def test_a_newer_schema_is_refused(store, address):
    with store._writes.connect() as connection, connection.begin():
        connection.execute(sa.text("UPDATE surefoot_version SET version_num = '9999'"))
    with pytest.raises(DamagedFile, match="9999"):
        open_store(address)


def test_a_commit_that_fails_tells_every_caller_and_leaves_nothing(store, monkeypatch):
    fund(store, 100)
    monkeypatch.setattr(sa.engine.Transaction, "commit", broken)
    problems = together(lambda: store.transact("shop", explore), threads=4)
    assert [type(problem) for problem in problems] == [StoreUnavailable] * 4
    assert all("may be kept or not" in str(problem) for problem in problems)
    monkeypatch.undo()
    assert store.account("shop").seq == 1
    assert store.transact("shop", explore).seq == 2
    check_chain(store)


def broken(*_):
    raise sa.exc.OperationalError("COMMIT", {}, Exception("the disk is full"))


def test_a_write_that_fails_leaves_nothing(store, monkeypatch):
    fund(store, 100)
    values = sql.entry_values
    monkeypatch.setattr(sql, "entry_values", lambda *row: values(*row) | {"kind": None})
    with pytest.raises(StoreUnavailable, match="nothing was written"):
        store.transact("shop", explore)
    monkeypatch.undo()
    assert store.transact("shop", explore).seq == 2
    check_chain(store)


def test_a_server_that_cannot_be_reached_is_an_error_of_ours(store, monkeypatch):
    monkeypatch.setattr(sa.Engine, "connect", broken)
    with pytest.raises(StoreUnavailable, match="nothing was written: the disk is full"):
        store.transact("shop", explore)


def test_a_statement_that_fails_takes_its_whole_group_with_it(store):
    fund(store, 100)
    fine = Job("shop", lambda group: group.batch("shop").run(explore))
    failing = Job("shop", lambda group: group.connection.execute(sa.text("SELECT nothing")))
    with pytest.raises(StoreUnavailable, match="nothing was written"):
        store._commit([fine, failing])
    assert store.account("shop").seq == 1


def test_a_ledger_changed_behind_our_back_is_noticed(store):
    fund(store, 100)

    def work(tx):
        explore(tx, 5, play="mine")
        tx._batch.found = tx._batch.found._replace(head="0" * 64)

    with pytest.raises(StoreUnavailable, match="nothing was written"):
        store.transact("shop", work)
    assert (store.account("shop").seq, store.play("shop", "mine")) == (1, None)


def test_a_damaged_snapshot_is_passed_over(store):
    store.snapshot("shop", 1, b"old")
    store.snapshot("shop", 2, b"new")
    with store._writes.connect() as connection, connection.begin():
        connection.execute(sa.text("UPDATE snapshot SET checksum = 'x' WHERE seq = 2"))
    assert store.latest_snapshot("shop") == (1, b"old")


def test_two_snapshots_are_kept(store):
    for seq in (1, 2, 3, 2):
        store.snapshot("shop", seq, bytes([seq]))
    with store._reads.connect() as connection:
        kept = connection.execute(sa.text("SELECT seq FROM snapshot ORDER BY seq")).scalars().all()
    assert kept == [2, 3]


def test_two_stores_may_take_the_same_snapshot(store, address):
    with open_store(address) as other:
        start = threading.Barrier(2)

        def take(mine):
            start.wait()
            for seq in range(20):
                mine.snapshot("shop", seq, b"x")

        threads = [threading.Thread(target=take, args=[mine]) for mine in (store, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert other.latest_snapshot("shop") == (19, b"x")


def test_works_on_many_accounts_share_commits_without_waiting_for_each_other(store, address):
    names = [f"account {number}" for number in range(6)]
    with open_store(address) as other:
        for name in names:
            store.open_account(name, 2, strict=False)

        def work(number):
            mine = (store, other)[number % 2]
            for turn in range(20):
                mine.transact(names[(number + turn) % 6], lambda tx: explore(tx, 0))

        numbers = iter(range(8))
        assert together(lambda: work(next(numbers)), threads=8) == []
        assert sum(other.account(name).seq for name in names) == 160
        for name in names:
            assert len(list(other.entries(name))) == other.account(name).seq


def test_a_closed_store_says_so(store):
    store.close()
    for call in (store.accounts, lambda: store.transact("shop", explore)):
        assert "closed" in refused(call, InvalidInput)


def test_an_error_of_the_database_says_what_became_of_the_work():
    lost = pytest.raises(StoreUnavailable, match="nothing was written: the disk is full")
    with lost, reachable("nothing was written"):
        broken()


def test_a_read_that_fails_does_not_speak_of_writing(store, monkeypatch):
    monkeypatch.setattr(sa.Connection, "execute", broken)
    for call in (lambda: store.play("shop", "p"), lambda: list(store.entries("shop"))):
        assert "could not be read: the disk is full" in refused(call, StoreUnavailable)


def test_a_read_that_fails_in_a_work_fails_its_whole_commit(store, monkeypatch):
    fund(store, 100)
    monkeypatch.setattr(Rows, "read_play", lambda *_: broken())

    def work(tx):
        with suppress(StoreUnavailable):
            tx.play("mine")
        explore(tx, 1)

    with pytest.raises(StoreUnavailable, match="nothing was written: the disk is full"):
        store.transact("shop", work)
    assert store.account("shop").seq == 1


def test_one_who_waits_too_long_is_told_what_to_do(store, address):
    kind = PostgresStore if "://" in address else SQLiteStore
    with kind(address, timeout=0.1) as other, store._writes.begin() as connection:
        connection.execute(sql.LOCK_ACCOUNT, {"key_name": "shop"})
        with pytest.raises(
            StoreUnavailable,
            match=r"(?s)nothing was written.*process holds it.* the same id",
        ):
            other.transact("shop", explore)


def test_what_is_opened_to_be_read_is_not_written(store, address):
    fund(store, 100)
    with open_store(address, read_only=True) as reader:
        assert reader.accounts() == ["shop"]
        assert [entry.seq for entry in reader.entries("shop")] == [1]
        assert reader.open_account("shop", 2, strict=True) == store.account("shop")
        for call in (
            lambda: reader.transact("shop", explore),
            lambda: reader.open_account("other", 2, strict=True),
            lambda: reader.snapshot("shop", 1, b""),
        ):
            assert "open it without read_only" in refused(call, InvalidInput)
        with pytest.raises(sa.exc.DBAPIError), reader._writes.connect() as connection:
            connection.execute(sa.text("DELETE FROM account"))


def test_an_old_schema_is_not_brought_up_to_date_to_be_read(store, address):
    with store._writes.begin() as connection:
        connection.execute(sa.text("UPDATE surefoot_version SET version_num = '0000'"))
    with pytest.raises(DamagedFile, match="or an old one: open that once to write"):
        open_store(address, read_only=True)
