"""What a worker acknowledges is what is entered, whoever came first."""

import pytest

from leased import Clock, kinds, opened
from surefoot import Outcome
from surefoot.errors import PlayConflict, StoreUnavailable
from surefoot.live import MemoryStore
from surefoot.live.live import Live
from surefoot_torture.faults.store import Faulty
from verifying import proved

REPORTS = ["void", "fall_back"]


def overdue(folder, owner=0):
    """A play of a worker's that is in the ledger, and was expired there by somebody else's reap."""
    clock = Clock()
    store = Faulty(MemoryStore(clock))
    workers = [opened(store, folder, window=10), opened(store, folder, window=10)]
    play = workers[0].select(id="visit-1")
    for worker in workers:
        worker.flush(), worker.select()
    clock.time += 11 * 10**6
    assert "visit-1" in Live(None, store).reap()
    return store, workers[owner], play


@pytest.mark.parametrize("how", REPORTS)
@pytest.mark.parametrize("owner", [0, 1])
def test_a_play_that_a_reaper_expired_first_is_not_acknowledged_as_given_up(tmp_path, how, owner):
    store, worker, play = overdue(tmp_path, owner)
    with pytest.raises(PlayConflict):
        getattr(worker, how)(play)
    assert worker.update(play, 1) in (Outcome.BOOKED, Outcome.BOOKED_LATE)
    worker.flush()
    assert "assumption.broken" not in kinds(store)
    assert kinds(store).count("outcome.late") == 1
    proved(store)


@pytest.mark.parametrize("how", REPORTS)
def test_a_flush_whose_answer_got_lost_is_repeated_before_a_play_is_given_up(tmp_path, how):
    clock = Clock()
    store = Faulty(MemoryStore(clock))
    worker = opened(store, tmp_path, window=10)
    play = worker.select()
    store.break_at(1, kept=True)
    with pytest.raises(StoreUnavailable):
        worker.flush()
    clock.time += 11 * 10**6
    assert play.id in Live(None, store).reap()
    with pytest.raises(PlayConflict):
        getattr(worker, how)(play)
    worker.close()
    assert "assumption.broken" not in kinds(store)
    proved(store)


@pytest.mark.parametrize("how", REPORTS)
@pytest.mark.parametrize("flushed", [False, True])
def test_what_is_given_up_is_in_the_ledger_or_in_the_journal_alone(tmp_path, how, flushed):
    store = Faulty(MemoryStore())
    worker = opened(store, tmp_path)
    play = worker.select(id="visit-1")
    if flushed:
        worker.flush()
    commits = store.commits
    assert getattr(worker, how)(play) is Outcome.BOOKED
    assert store.commits == commits + flushed
    assert getattr(worker, how)(play) is Outcome.REPEATED
    if how == "void":
        with pytest.raises(PlayConflict):
            worker.update(play, 1)
    else:
        assert worker.void(play) is Outcome.IGNORED
    assert store.commits == commits + flushed
    assert worker.select(id="visit-1") == play
    worker.close()
    assert kinds(store).count("decision.voided" if how == "void" else "outcome.as_default") == 1
    assert proved(store)["open"] == 0


def test_of_two_plays_of_one_id_the_one_that_is_named_is_given_up(tmp_path):
    store = MemoryStore()
    one, two = opened(store, tmp_path), opened(store, tmp_path)
    here, there = one.select(id="mine"), two.select(id="mine")
    one.flush(), two.flush()
    two.select()
    assert two.void(there) is Outcome.BOOKED
    assert two.select(id="mine") == there
    assert one.update(here, 1) is Outcome.BOOKED
    one.close(), two.close()
    assert kinds(store).count("decision.voided") == kinds(store).count("outcome.settled") == 1


def test_a_store_that_is_away_is_told_when_a_play_in_it_is_given_up(tmp_path):
    store = Faulty(MemoryStore())
    worker = opened(store, tmp_path)
    plays = [worker.select() for _ in range(2)]
    worker.flush()
    fresh = worker.select()
    store.break_at(1, kept=False)
    assert worker.update(plays[0], 1) is worker.void(fresh) is Outcome.BOOKED
    with pytest.raises(StoreUnavailable):
        worker.void(plays[1])
    assert worker.void(plays[1]) is Outcome.BOOKED
    worker.close()
    assert proved(store)["open"] == 0
