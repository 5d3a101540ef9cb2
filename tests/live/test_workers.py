"""Workers under leases that share an account, and ids that several of them were asked for."""

import random
import threading

import pytest

from learners import Softmax
from leased import agent, kinds, opened
from surefoot import GenCB, Outcome
from surefoot.errors import PlayConflict, UnknownPlay
from surefoot.live import MemoryStore, open_store
from surefoot.live.live import Live
from surefoot_torture.faults.store import Faulty
from verifying import proved


def test_an_id_asked_of_two_workers_at_once_is_two_plays(tmp_path):
    store = MemoryStore()
    one, two = opened(store, tmp_path), opened(store, tmp_path)
    one.select(), two.select()
    one.flush(), two.flush()
    here, there = one.select(id="mine"), two.select(id="mine")
    assert here.lease != there.lease
    one.flush(), two.flush()
    assert one.play("mine") == here
    assert two.select(id="mine") == there
    assert two.play(there.id) == there
    two.update(here, 1)  # either worker may be told of either
    one.update(there.id, 0)
    one.flush(), two.flush()
    assert two.account.pending == 2  # the two of the first line
    assert two.account.earned == 1
    one.close(), two.close()
    assert proved(store)["open"] == 2


def test_a_play_of_another_worker_is_reported_through_the_journal(tmp_path):
    store = Faulty(MemoryStore())
    one, two = opened(store, tmp_path), opened(store, tmp_path)
    plays = [one.select() for _ in range(5)]
    with pytest.raises(UnknownPlay, match="next flush"):
        two.update(plays[0], 1)
    one.flush()
    two.select()
    before = store.commits
    for play in plays:
        assert two.update(play, 1) is Outcome.BOOKED
        assert two.update(play, 1) is Outcome.REPEATED
    assert store.commits == before
    two.flush()
    assert one.account.earned == 5


def test_the_second_of_two_reports_that_contradict_is_kept_and_not_booked(tmp_path):
    store = MemoryStore()
    one, two = opened(store, tmp_path), opened(store, tmp_path)
    play = one.select()
    one.flush()
    two.select()
    assert one.update(play, 1) is two.update(play, 0) is Outcome.BOOKED
    one.close(), two.close()
    assert proved(store)["posted"] == 550_000_000
    [refused] = [e for e in store.entries("default") if e.kind == "assumption.broken"]
    assert refused.payload["told"] == "0"
    assert "contradicts" in refused.payload["why"]


def test_a_lease_takes_a_part_of_what_is_available(tmp_path):
    store = MemoryStore()
    lives = [opened(store, tmp_path, plays=1000) for _ in range(3)]
    for live in lives:
        live.select()
    amounts = [e.payload["amount"] for e in store.entries("default") if e.kind == "lease.granted"]
    assert amounts == [25_000_000_000, 18_750_000_000, 14_062_500_000]


def test_workers_spend_what_the_account_affords_and_no_more(tmp_path):
    """Nothing is reported, so 100 / 0.45 = 222 explorations are all there can be."""
    store = MemoryStore()
    lives = [opened(store, tmp_path, plays=7) for _ in range(3)]
    plays = [random.Random(1).choice(lives).select() for _ in range(600)]
    assert sum(not play.is_default for play in plays) <= 222
    for live in lives:
        live.close()
    with Live(None, store) as last:
        while not last.select().is_default:
            pass
        assert last.account.explorations == 222
    proved(store)


def test_experiments_on_one_account_have_leases_of_their_own(tmp_path):
    store = MemoryStore()
    one = opened(store, tmp_path, name="one", account="all")
    two = opened(store, tmp_path, agent(reserve=0), name="two", account="all")
    for live in (one, two) * 20:
        live.update(live.select(), 0.5)
    one._worker.abandon()
    two.reap()  # another experiment's journal is not for it
    assert len(list(tmp_path.glob("*.journal"))) == 2
    two.close()
    opened(store, tmp_path, name="one", account="all").close()
    assert proved(store, "all")["explorations"] == 40


def test_two_workers_do_not_draw_the_same(tmp_path):
    store = MemoryStore()
    floor = agent().floor
    lives = [opened(store, tmp_path, GenCB(Softmax(9, 1), floor, seed=1)) for _ in range(2)]
    arms = [[live.select([1.0]).arm for _ in range(8)] for live in lives]
    assert arms[0] != arms[1]


def test_threads_share_a_worker(tmp_path):
    with open_store(tmp_path / "ledger.db") as store:
        live = opened(store, tmp_path / "journals")

        def run():
            for _ in range(40):
                live.update(live.select(), 0.5)

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        live.close()
        assert proved(store)["explorations"] == 160


def test_a_worker_forgets_plays_that_others_have_closed(tmp_path):
    store = MemoryStore()
    live, other = opened(store, tmp_path), Live(None, store)
    plays = [live.select() for _ in range(10)]
    live.flush()
    for play in plays:
        other.update(play.id, 1)
    live.select()
    live.flush()
    assert len(live._worker._own) == 1


def test_a_reward_is_never_credited_to_the_other_play_of_its_id(tmp_path):
    """One worker explores, the other plays the default: had that been credited, too much were."""
    store = MemoryStore()
    one = opened(store, tmp_path)
    here = one.select(id="mine")
    two = Live(None, store)
    two.pause()
    there = two.select(id="mine")
    assert (here.is_default, there.is_default) == (False, True)
    for live in (one, two):
        with pytest.raises((PlayConflict, UnknownPlay)):
            live.update(here.id.replace(here.lease, "other-1"), 0)
    one.update(here, 0)
    one.close()
    assert proved(store)["posted"] == -450_000_000


def test_a_report_of_another_workers_twin_is_booked(tmp_path):
    store = MemoryStore()
    one, two = opened(store, tmp_path), opened(store, tmp_path)
    one.select(), two.select()
    here, there = one.select(id="a"), two.select(id="a")
    two.flush()
    one.flush()
    one.select()
    assert one.update(there, 1) is Outcome.BOOKED
    one.flush()
    assert one.update(here, 1) is Outcome.BOOKED
    one.close(), two.close()
    assert "assumption.broken" not in kinds(store)
    assert kinds(store).count("outcome.settled") == 2


def test_a_play_that_has_its_bare_id_in_the_ledger_can_be_reported(tmp_path):
    store = MemoryStore()
    one = opened(store, tmp_path)
    one.select(id="a")
    plain = Live(None, store).select(id="a")
    assert plain.id == "a"
    assert one.update(plain, 1) is Outcome.BOOKED
    one.close()
    assert proved(store)["open"] == 1
