"""Through a real PgBouncer in transaction mode: nothing of ours lives in a session."""

import subprocess
import sys

import psycopg
import pytest

from leased import agent
from live.postgres import cluster, database, empty_database, pooler, postgres, programs  # noqa: F401
from surefoot.errors import InvalidInput
from surefoot.live.live import Live
from surefoot.live.store import open_store
from surefoot.live.store.postgres import PostgresStore
from surefoot.testing import DurableStoreKit
from surefoot.testing._stores import check_chain, explore, fund

# ruff: noqa: F811


def commits(tx):
    query = "SHOW synchronous_commit"
    return tx._batch.committed.connection.exec_driver_sql(query).scalar()


SESSION = (
    "synchronous_commit", "default_transaction_read_only", "lock_timeout", "statement_timeout",
    "idle_in_transaction_session_timeout",
)  # fmt: skip


def shown(connection):
    return [connection.execute(f"SHOW {name}").fetchone()[0] for name in SESSION]


class TestPooled(DurableStoreKit):
    @pytest.fixture(autouse=True)
    def _address(self, pooler):
        self.address = pooler(size=2)

    def make_store(self, clock=None):
        return PostgresStore(self.address, clock)


def test_readers_leave_nothing_to_who_comes_after_them(pooler):
    address = pooler(size=2)
    with psycopg.connect(address, autocommit=True, prepare_threshold=None) as other:
        fresh = shown(other)
        other.execute("CREATE TABLE bookmark (a int)")
        with Live(agent(), address) as live:
            for _ in range(3):
                live.update(live.select(), 1)
        for _ in range(2):
            command = [sys.executable, "-m", "surefoot", "status", address, "--account", "default"]
            subprocess.run(command, check=True, capture_output=True, timeout=120)
        for number in range(30):
            other.execute("INSERT INTO bookmark VALUES (%s)", (number,))
            assert shown(other) == fresh


def test_acknowledged_is_on_disk_whatever_a_role_or_a_session_says(pooler, database):
    with psycopg.connect(database, autocommit=True) as server:
        name = server.info.dbname
        server.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    address = pooler(size=1)
    with open_store(address) as store:
        store.open_account("shop", 2, strict=True)
        said = []
        for _ in range(3):
            with psycopg.connect(address, autocommit=True, prepare_threshold=None) as other:
                other.execute("SET synchronous_commit = off")
            store.transact("shop", lambda tx: said.append(commits(tx)))
        assert said == ["on"] * 3


PLAYS = """
import sys
from surefoot import UCB1, GenCB, RewardFloor
from surefoot.live.live import Live
floor = RewardFloor(default=0.5, alpha=0.1, reserve=100)
with Live(GenCB(UCB1(3), floor, seed=1), sys.argv[1]) as live:
    for number in range(30):
        live.update(live.select(id=f"{sys.argv[2]}-{number}"), 1)
"""


@pytest.mark.parametrize("size", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_two_processes_play_through_a_small_pool(pooler, size):
    address = pooler(size)
    command = [sys.executable, "-c", PLAYS, address]
    players = [subprocess.Popen([*command, name]) for name in ("a", "b")]
    assert [player.wait(timeout=120) for player in players] == [0, 0]
    with open_store(address, read_only=True) as store:
        kinds = [entry.kind for entry in store.entries("default")]
        assert kinds.count("outcome.settled") + kinds.count("decision.confirmed") == 60
        check_chain(store, "default")


def test_a_reader_cannot_write_and_sees_one_ledger(pooler):
    address = pooler(size=1)
    with open_store(address) as store, open_store(address, read_only=True) as reader:
        store.open_account("shop", 2, strict=True)
        fund(store, 10)
        store.transact("shop", explore)
        assert [entry.seq for entry in reader.entries("shop")] == [1, 2]
        with pytest.raises(Exception, match="read-only transaction"):
            reader._writes.connect().exec_driver_sql("DELETE FROM play")


def test_a_server_that_does_not_keep_what_it_commits_is_refused():
    binaries = programs()
    if binaries is None:
        pytest.skip("no PostgreSQL")
    with cluster(binaries, fsync="off") as server, empty_database(server) as url:
        with pytest.raises(InvalidInput, match=r"fsync is off .* set fsync = on"):
            open_store(url)
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT to_regclass('entry')").fetchone() == (None,)


def test_a_table_that_a_crash_empties_is_refused(database):
    open_store(database).close()
    with psycopg.connect(database) as connection:
        connection.execute("ALTER TABLE play SET UNLOGGED")
    with pytest.raises(InvalidInput, match=r"'play' is not logged.* SET LOGGED"):
        open_store(database)
    with open_store(database, read_only=True) as reader:
        assert reader.accounts() == []
