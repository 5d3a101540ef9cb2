"""A ledger that went back, or was edited: who knows better explores on it no more."""

import sqlite3

import psycopg
import pytest

from leased import opened
from live.postgres import database, empty_database, postgres, psycopg_url  # noqa: F401  (fixtures)
from surefoot import UCB1, GenCB, Outcome, RewardFloor
from surefoot.errors import DamagedFile, PlayConflict, StoreUnavailable
from surefoot.live import MemoryStore
from surefoot.live.live import Live
from surefoot.live.store import open_store
from surefoot_torture.faults.store import Faulty
from tampering import backup, drop_play, restore, set_account, set_entry, set_play
from verifying import proved

# Fixtures are named by what they are, and tests take them under the same name.
# ruff: noqa: F811


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def address(request, tmp_path):
    if request.param == "memory":
        yield ":memory:"
    elif request.param == "sqlite":
        yield str(tmp_path / "ledger.db")
    else:
        with empty_database(request.getfixturevalue("postgres")) as url:
            yield url


@pytest.fixture
def store(address):
    with open_store(address) as opened:
        yield opened


def agent(reserve=10):
    floor = RewardFloor(0.5, 0.5, reserve=reserve)
    return GenCB(UCB1(2), floor, seed=1, default_competes=False)


def explored(live, plays, start=0, reward=0):
    found = [live.select(id=f"visit-{start + n}") for n in range(plays)]
    assert not any(play.is_default for play in found)
    for play in found:
        assert live.update(play, reward) is Outcome.BOOKED
    return found


def test_a_store_that_goes_back_is_explored_on_no_more(store):
    live = Live(agent(), store)
    explored(live, 4)
    waiting = live.select(id="waits")
    kept = backup(store)
    explored(live, 4, start=4)
    assert live.degraded is None
    seq = store.account("default").seq
    restore(store, kept)
    play = live.select(id="visit-9")
    assert (play.arm, play.reason) == (None, "DEGRADED")
    assert live.degraded.startswith(f"the ledger went back: entry {seq}, which was acknowledged, ")
    assert "is gone" in live.degraded
    assert live.update(waiting, 1) is Outcome.BOOKED  # what exists takes its report
    while store.account("default").seq <= seq + 3:
        assert live.select().is_default  # nor is it forgotten once the chain is as long again
    other = Live(None, store)  # it shares the store, and so what the store knows
    assert other.select().is_default
    assert "another now" in other.degraded
    assert proved(store)["explorations"] == 5


def test_whoever_knows_better_is_degraded_and_nobody_else(address, store):
    """Two processes, each with a store of its own; the ledger goes back under both."""
    if address == ":memory:":
        pytest.skip("a store in memory has one process")
    one = Live(agent(), store)
    explored(one, 2)
    with open_store(address) as second:
        other = Live(None, second)
        kept = backup(store)
        explored(one, 3, start=2)
        explored(other, 1, start=5)
        restore(store, kept)
        with open_store(address) as third:
            late = Live(None, third)
            explored(late, 6, start=6)  # it cannot know: the chain is longer than ever
            for each in (one, other):
                assert each.select().reason == "DEGRADED"
                assert "went back" in each.degraded
            assert late.degraded is None
            assert not late.select().is_default


def test_the_agents_of_one_store_share_what_it_knows(store):
    one, other = Live(agent(), store), Live(None, store)
    kept = backup(store)
    explored(one, 3)
    restore(store, kept)
    assert other.select().reason == "DEGRADED"


def test_a_ledger_that_is_put_back_whole_is_right_again_for_who_opens_it_anew(store):
    live = Live(agent(), store)
    kept = backup(store)
    explored(live, 2)
    newest = backup(store)
    restore(store, kept)
    assert live.select().reason == "DEGRADED"
    restore(store, newest)
    assert live.select().reason == "DEGRADED"
    again = Live(None, store)
    assert (again.degraded, again.select().is_default) == (None, False)


@pytest.mark.parametrize("kept", [False, True])
def test_an_answer_that_got_lost_is_no_ledger_that_went_back(kept):
    store = Faulty(MemoryStore())
    live = Live(agent(), store)
    for commit in range(1, 20):
        store.break_at(1, kept)
        with pytest.raises(StoreUnavailable):
            live.select(id=f"visit-{commit}")
        play = live.select(id=f"visit-{commit}")
        assert (live.degraded, play.is_default) == (None, False)


def test_reading_an_idle_agent_tells_that_the_ledger_went_back(store):
    live = Live(agent(), store)
    kept = backup(store)
    explored(live, 1)
    restore(store, kept)
    assert live.account.explorations == 1  # of the agent
    assert "went back" in live.degraded
    with pytest.raises(PlayConflict, match="in doubt"):
        live.pause()


def test_a_snapshot_newer_than_the_ledger_is_not_used(store):
    live = Live(agent(), store)
    explored(live, 2)
    kept = backup(store)
    explored(live, 4, start=2)
    live.close()
    newest = store.latest_snapshot("default", "default")
    restore(store, kept)
    store.snapshot("default", *newest, "default")
    store._known = type(store._known)()  # as of a process that has just started
    again = Live(None, store)
    assert (again.degraded, again.account.explorations) == (None, 2)


def test_a_worker_learns_of_it_at_its_next_flush_and_keeps_its_journal(store, tmp_path):
    early = Live(agent(100), store)
    early.select(id="first")
    kept = backup(store)
    live = opened(store, tmp_path / "journals", agent(100), plays=10)
    plays = [live.select(id=f"mine-{n}") for n in range(6)]
    assert all(play.lease for play in plays)
    newest = backup(store)
    restore(store, kept)
    assert live.update(plays[0], 1) is Outcome.BOOKED
    live.flush()
    assert "went back" in live.degraded
    for n in range(30):
        assert live.select(id=f"later-{n}").reason == "DEGRADED"
    assert live.update(early.play("first"), 1) is Outcome.BOOKED
    assert live.update(plays[1], 1) is Outcome.BOOKED  # it is in the journal
    assert live.select(id="mine-2") == plays[2]  # given out before: no exploration more
    live.close()
    [left] = (tmp_path / "journals").glob("*.journal")
    with pytest.raises(DamagedFile, match="8 decisions and reports: put back the ledger"):
        opened(store, tmp_path / "journals", agent(100))
    restore(store, newest)
    with opened(store, tmp_path / "journals", agent(100)) as again:
        assert again.degraded is None
        assert not left.exists()
        assert again.update(plays[0], 1) is Outcome.REPEATED
        assert again.update(plays[2], 1) is Outcome.BOOKED
    assert proved(store)["explorations"] == 7


EDITS = [
    {"reserve": 11 * 10**9}, {"posted": 10**10}, {"held": 0}, {"held": 10**9}, {"breached": True},
    {"seq": 3}, {"seq": 99}, {"head": "f" * 64}, {"seq": 2, "head": "0" * 64, "reserve": 5 * 10**9},
]  # fmt: skip


@pytest.mark.parametrize("fields", EDITS, ids=str)
def test_an_account_that_was_edited_ruins_no_entry(store, fields):
    """What is reported meanwhile is booked on what the entries add up to."""
    live = Live(agent(), store)
    explored(live, 3)
    plays = [live.select(id=f"open-{n}") for n in range(3)]
    before = store.account("default")
    set_account(store, **fields)
    assert live.update(plays[0], 1) is Outcome.BOOKED
    assert live.degraded
    after = store.account("default")
    assert after.seq == before.seq + 1
    assert after.available == before.available + 10**9  # the hold, .25, and 1 - .25
    assert live.select(id="visit-9").reason == "DEGRADED"
    restored = after._asdict() | {"seq": after.seq + 1, "head": store.account("default").head}
    del restored["name"]
    set_account(store, **restored)  # as the operator puts it back: to the newest entry's
    proved(store)
    again = Live(None, store)
    assert again.degraded is None
    assert again.update(plays[1], 1) is Outcome.BOOKED
    assert not again.select(id="visit-10").is_default
    proved(store)


@pytest.mark.parametrize("fields", EDITS, ids=str)
def test_one_that_is_opened_on_an_edited_account_ruins_none_either(store, fields):
    live = Live(agent(), store)
    explored(live, 3)
    play = live.select(id="open")
    set_account(store, **fields)
    store._known = type(store._known)()  # as of a process that has just started
    again = Live(None, store)
    assert again.degraded
    assert again.update(play, 1) is Outcome.BOOKED
    assert again.select(id="visit-9").reason == "DEGRADED"
    proved(store)


@pytest.mark.parametrize("fields", [
    {"posted": 10**10}, {"reserve": 0}, {"hash": "f" * 64}, {"held": 5},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("back", [0, 2])
def test_an_entry_that_was_edited_ruins_none_after_it(store, fields, back):
    live = Live(agent(), store)
    explored(live, 3)
    play = live.select(id="open")
    seq = store.account("default").seq - back
    [entry] = store.entries("default", seq - 1, 1)
    set_entry(store, seq, **fields)
    store._known = type(store._known)()
    again = Live(None, store)
    assert f"entry {seq}" in again.degraded
    assert again.update(play, 1) is Outcome.BOOKED
    set_entry(store, seq, **{name: getattr(entry, name) for name in fields})
    proved(store)
    assert Live(None, store).degraded is None


def test_a_play_whose_row_is_gone_is_not_decided_again(store):
    live = Live(agent(), store)
    play = live.select(id="visit-1")
    row = store.play("default", "visit-1")
    drop_play(store, "visit-1")
    for call in (lambda: live.select(id="visit-1"), lambda: live.update(play, 1)):
        with pytest.raises(DamagedFile, match="row of play 'visit-1' is gone"):
            call()
    assert "visit-1" in live.degraded
    assert live.select(id="visit-2").reason == "DEGRADED"
    put_back(store, row)
    again = Live(None, store)
    assert again.select(id="visit-1") == play
    assert again.update(play, 1) is Outcome.BOOKED
    proved(store)


def put_back(store, row):
    if isinstance(store, MemoryStore):
        store._accounts["default"].plays[row.id] = row
        return
    from surefoot.live.store import sql

    with store._writes.connect() as connection, connection.begin():
        connection.execute(sql.ADD_PLAYS, [sql.play_values("default", row)])


@pytest.mark.parametrize("call", ["update", "expire", "void", "reap"])
def test_a_play_that_was_opened_again_is_not_credited_twice(store, call):
    live = Live(agent(), store, reward_window=1e-6)
    [play] = explored(live, 1)
    seq = store.account("default").seq
    set_play(store, "visit-0", state="open")
    if call == "reap":
        assert live.reap() == []
    else:
        with pytest.raises(DamagedFile, match="not as its entries left it"):
            getattr(live, call)(play, *([1] if call == "update" else []))
    assert "visit-0" in live.degraded
    assert store.account("default").seq == seq
    proved(store)


def test_a_file_that_is_restored_by_the_backup_api_while_it_is_open(tmp_path):
    """Twenty explorations are affordable; forty were given out."""
    live = Live(agent(reserve=5), tmp_path / "shop.db")
    with (
        sqlite3.connect(tmp_path / "shop.db") as source,
        sqlite3.connect(tmp_path / "b.db") as kept,
    ):
        source.backup(kept)
        plays = explored(live, 20)  # .25 each
        kept.backup(source)
    source.close()
    kept.close()
    plays += [live.select(id=f"again-{n}") for n in range(20)]
    assert sum(not play.is_default for play in plays) == 20
    assert live.degraded.startswith("the ledger went back: entry 42")
    live.close()


def test_a_replica_that_lags_and_takes_over(database):
    """As after a failover: the same address, the rows of a while ago."""
    name = database.rpartition("/")[2].partition("?")[0]
    lagging, gone = f"{name}_lagging", f"{name}_gone"
    with (
        open_store(database) as store,
        psycopg.connect(psycopg_url(database, "postgres"), autocommit=True) as server,
    ):

        def cut():
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name]
            )

        live = Live(agent(), store)
        explored(live, 2)
        cut()
        server.execute(f"CREATE DATABASE {lagging} TEMPLATE {name}")
        assert revived(live)
        explored(live, 4, start=2)
        cut()
        server.execute(f"ALTER DATABASE {name} RENAME TO {gone}")
        server.execute(f"ALTER DATABASE {lagging} RENAME TO {name}")
        try:
            assert revived(live)
            assert live.select(id="visit-9").reason == "DEGRADED"
            assert "went back" in live.degraded
        finally:
            server.execute(f"DROP DATABASE {gone} WITH (FORCE)")


def revived(live):
    """Ask until the connections that were cut are gone from the pool."""
    for _ in range(10):
        try:
            return live.account is not None
        except StoreUnavailable:
            continue
    return False


def test_a_worker_finds_its_journal_whatever_folder_the_process_is_in(tmp_path, monkeypatch):
    store = MemoryStore()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "one")
    live = opened(store, "journals")
    live.select()
    monkeypatch.chdir(tmp_path / "two")
    live.reap()
    live.close()
    assert list(tmp_path.rglob("*.journal")) == []
