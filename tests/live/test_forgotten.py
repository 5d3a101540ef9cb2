"""Default plays that nobody reports: after the window they leave memory, and may still come."""

import itertools
import tracemalloc

import pytest

from live.postgres import postgres  # noqa: F401  (a fixture)
from live.store.databases import address  # noqa: F401  (a fixture)
from surefoot import UCB1, GenCB, Outcome, RewardFloor
from surefoot.errors import PlayConflict
from surefoot.live import Lease, MemoryStore, monitor
from surefoot.live.live import Live
from surefoot.live.store import open_store
from verifying import proved

# ruff: noqa: F811

FLOORS = {
    "constant": RewardFloor(0.5, 0.25),
    "realised": RewardFloor((0.25, 0.75), 0.25),
    "fixed": RewardFloor((0.5, 0.75), 0.25, against="fixed", target=0.6),
}
HOUR = 3_600_000_000


class Clock:
    def __init__(self):
        self.now = 0

    def __call__(self):
        return self.now


def agent(floor="constant"):
    return GenCB(UCB1(2), FLOORS[floor])


def opened(window=60, floor="constant", shadow=False):
    clock = Clock()
    store = MemoryStore(clock)
    return Live(agent(floor), store, reward_window=window, shadow=shadow), store, clock


def kinds(store):
    return [entry.kind for entry in store.entries("default")]


@pytest.mark.parametrize("how", ["expire", "reap"])
def test_an_unreported_default_leaves_memory_and_may_be_confirmed_late(how):
    live, store, clock = opened()
    play = live.select()
    assert (play.is_default, play.deadline) == (True, 60_000_000)
    if how == "expire":
        assert live.expire(play) is Outcome.BOOKED
    else:
        clock.now = HOUR
        assert live.reap() == [play.id]
        assert live.reap() == []
    entry = list(store.entries("default"))[-1]
    assert (entry.kind, entry.d_posted, entry.d_held) == ("default.expired", 0, 0)
    assert live._engine.fold.waiting == {}
    assert (live.account.unreported, live.account.default_plays, live.account.earned) == (0, 1, 0)
    assert live.expire(play) is Outcome.REPEATED
    assert live.update(play) is Outcome.BOOKED
    assert live.update(play) is Outcome.REPEATED
    assert live.expire(play) is Outcome.IGNORED
    assert str(live.account.slack) == "0.125000000"
    assert (live.account.unreported, live.account.default_plays) == (0, 1)
    last = list(store.entries("default"))[-1].payload
    assert (last["value"], last["version"], last["late"]) == (500_000_000, 1, True)
    proved(store)
    assert Live(None, store).account == live.account


def test_without_a_window_it_stays_as_it_was():
    live, _, clock = opened(window=None)
    play = live.select()
    clock.now = 100 * HOUR
    assert (play.deadline, live.reap(), live.expire(play)) == (None, [], Outcome.IGNORED)
    assert list(live._engine.fold.waiting) == [play.id]
    live.change(reward_window=60)  # those of before have no deadline, but may be forgotten by hand
    assert (live.reap(), live.expire(play)) == ([], Outcome.BOOKED)
    assert live._engine.fold.waiting == {}


def test_a_forgotten_default_may_turn_out_void():
    live, store, _ = opened()
    live.expire(play := live.select())
    assert live.void(play) is Outcome.BOOKED
    assert live.void(play) is Outcome.REPEATED
    assert (live.account.default_plays, live.account.voided, live.account.unreported) == (0, 1, 0)
    with pytest.raises(PlayConflict):
        live.update(play)
    proved(store)
    assert Live(None, store).account == live.account


REPORTS = {
    "reward": lambda one, play: one.update(play, 0.5),
    "played": lambda one, play: one.update(play),
    "void": lambda one, play: one.void(play),
    "fall back": lambda one, play: one.fall_back(play),
}


def outcome(one, play, report):
    try:
        return REPORTS[report](one, play)
    except PlayConflict as error:
        return type(error)


@pytest.mark.parametrize("floor", FLOORS)
def test_reports_of_a_forgotten_default_book_what_they_book_of_one_that_waits(floor):
    for reports in itertools.product(REPORTS, repeat=2):
        if floor == "constant" and reports[1] == "reward":
            continue  # of a default of known value it is let go
        inner, (live, store, _) = agent(floor), opened(floor=floor)
        play, given = inner.select(), live.select()
        live.expire(given)
        for report in reports:
            assert outcome(inner, play, report) == outcome(live, given, report), reports
        assert inner.account == live.account, reports
        assert live.degraded is None
        proved(store)


@pytest.mark.parametrize("plays", [5_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_any_number_of_them_take_no_memory_once_they_are_reaped(plays):
    """They took 106 bytes each in memory, and as much of every snapshot, for ever."""
    live, store, clock = opened()
    sizes = []
    for _ in range(10):
        for _ in range(plays // 10):
            live.select()
        clock.now += HOUR
        while live.reap(10_000):
            pass
        sizes.append(len(live._engine.fold.waiting))
        live._engine._keep(live._engine._snapshot())
    assert sizes == [0] * 10
    assert (
        len(store.latest_snapshot("default", "default")[1]) < 8_000
    )  # the last 1,000 plays are 3,000 of them
    assert live.account.default_plays == plays
    assert taken(live) < 100_000


def taken(live):
    """How many bytes another fold of the same takes."""
    state = live._engine.fold.state()
    tracemalloc.start()
    try:
        type(live._engine.fold)("default", None).restore(state)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_monitor_hears_of_a_late_report():
    live, store, _ = opened(shadow=True)
    for visit in range(200):
        play = live.select()
        if visit % 2:
            live.expire(play)
        live.update(play, 0.25)
    report = monitor.watch(store.entries("default"), "default")
    assert (report.told, report.alarm) == (200, True)


def test_the_monitor_leaves_out_a_late_report_of_an_earlier_default():
    live, store, _ = opened()
    live.expire(play := live.select())
    live.change(default=0.6)
    live.update(play, 0.5)
    assert monitor.watch(store.entries("default"), "default").told == 0


def test_another_experiments_reaper_forgets_too():
    clock = Clock()
    store = MemoryStore(clock)
    left = Live(agent(), store, "left", account="firm", reward_window=60)
    right = Live(agent(), store, "right", account="firm")
    play = left.select()
    clock.now = HOUR
    assert right.reap() == [play.id]
    assert left.update(play) is Outcome.BOOKED
    assert left._engine.fold.waiting == {}
    proved(store, "firm")


def test_under_leases_a_report_crosses_the_reapers(tmp_path):
    clock = Clock()
    store = MemoryStore(clock)
    floor = RewardFloor(0.5, 0.25, reserve=50)
    lease = Lease(tmp_path / "one", plays=10)
    live = Live(GenCB(UCB1(2), floor), store, reward_window=60, lease=lease)
    live.select(allowed=[0])
    plays = [live.select(allowed=[]) for _ in range(4)]
    assert all(play.is_default and play.lease for play in plays)
    live.flush()
    live.select(allowed=[])  # under a new lease
    clock.now = HOUR
    other = Live(None, store)
    assert len(other.reap()) == 5
    assert live.update(plays[0]) is Outcome.BOOKED
    assert live.void(plays[1]) is Outcome.BOOKED
    assert live.fall_back(plays[2]) is Outcome.BOOKED
    assert live.expire(plays[3]) in (Outcome.BOOKED, Outcome.REPEATED)
    live.close()
    assert kinds(store).count("decision.confirmed") == 2
    assert kinds(store).count("decision.voided") == 1
    assert kinds(store).count("default.expired") == 4
    assert "assumption.broken" not in kinds(store)
    proved(store)
    assert Live(None, store).degraded is None


def test_a_ledger_of_before_is_brought_up_to_date_and_read_as_it_is(address):
    old = "state = 'open' AND role = 'explore' AND deadline IS NOT NULL"
    with Live(agent(), address, reward_window=60) as live:
        play = live.select()
    with open_store(address) as store, store._writes.begin() as connection:
        for statement in (
            "UPDATE surefoot_version SET version_num = '0001'",
            "DROP INDEX play_waiting",
            f"CREATE INDEX play_waiting ON play (account, deadline) WHERE {old}",
        ):
            connection.exec_driver_sql(statement)
    with open_store(address, read_only=True) as store:
        assert store.play("default", play.id).state == "open"
    with Live(None, address) as live:
        live.expire(play)
        assert live.update(play) is Outcome.BOOKED
    with open_store(address, read_only=True) as store, store._reads.connect() as connection:
        found = connection.exec_driver_sql("SELECT version_num FROM surefoot_version").scalar()
        index = connection.exec_driver_sql(
            "SELECT sql FROM sqlite_master WHERE name = 'play_waiting'"
            if connection.dialect.name == "sqlite"
            else "SELECT indexdef FROM pg_indexes WHERE indexname = 'play_waiting'"
        ).scalar()
    assert found == "0002"
    assert "role" not in index
