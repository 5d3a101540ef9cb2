import time

import pytest

from surefoot.errors import UnknownPlay
from surefoot.floors import State, Terms
from surefoot.floors.events import Record
from surefoot.floors.plays import Plays, conflict

TERMS = Terms(7, 6, 5, 1)


def closed(keep, n):
    plays = Plays(keep)
    for _ in range(n):
        plays.close(plays.open(True, TERMS), State.SETTLED, 3)
    return plays


def test_ids_are_dense_and_start_at_zero():
    plays = Plays()
    assert [plays.open(explores, TERMS) for explores in (True, False, True)] == [0, 1, 2]
    assert plays.waiting() == (2, 1)


def test_the_plays_still_open_from_one_on():
    plays = Plays()
    for _ in range(4):
        plays.open(True, TERMS)
    plays.close(2, State.EXPIRED)
    assert plays.open_since(1) == [1, 3]


def test_the_last_closed_plays_are_kept():
    plays = closed(keep=3, n=5)
    assert [plays.get(play).reward for play in (2, 3, 4)] == [3, 3, 3]
    with pytest.raises(UnknownPlay, match="play 1 was closed long ago: only the newest 3 closed"):
        plays.get(1)
    with pytest.raises(UnknownPlay, match=r"play 5 was never given out .* \(next id 5\)"):
        plays.get(5)


def test_the_order_of_closing_decides_not_the_order_of_ids():
    plays = Plays(keep=2)
    for _ in range(3):
        plays.open(True, TERMS)
    for play in (2, 0, 1):
        plays.close(play, State.VOID)
    assert plays.get(0).state is plays.get(1).state is State.VOID
    with pytest.raises(UnknownPlay):
        plays.get(2)


@pytest.mark.parametrize("state", [State.OPEN, State.EXPIRED, State.CAPPED])
def test_what_can_still_change_is_kept_however_long_it_takes(state):
    plays = Plays(keep=1)
    play = plays.open(True, TERMS)
    if state is not State.OPEN:
        plays.close(play, state)
    for _ in range(10):
        plays.close(plays.open(False, TERMS), State.SETTLED)
    assert plays.get(play).state is state


def test_keep_none_of_the_closed():
    plays = closed(keep=0, n=2)
    for play in (0, 1):
        with pytest.raises(UnknownPlay, match="closed long ago"):
            plays.get(play)


def test_an_expired_play_stops_pending_and_does_not_stop_twice():
    plays = Plays()
    play = plays.open(True, TERMS)
    plays.close(play, State.EXPIRED)
    assert plays.waiting() == (0, 0)
    plays.close(play, State.SETTLED, 4)
    assert plays.waiting() == (0, 0)
    assert plays.get(play) == Record(True, TERMS, State.SETTLED, 4)


def test_restored_plays_forget_in_the_same_order():
    plays = Plays(keep=2)
    for _ in range(4):
        plays.open(True, TERMS)
    for play in (3, 1):
        plays.close(play, State.SETTLED, 2**70)
    again = Plays.restored(plays.snapshot())
    assert again.snapshot() == plays.snapshot()
    assert again.waiting() == (2, 0)
    for each in (plays, again):
        each.close(0, State.VOID)
        with pytest.raises(UnknownPlay):
            each.get(3)
        assert each.get(1).reward == 2**70


def test_forgetting_costs_no_search():
    """A plain dict finds its oldest key by walking past all that were deleted before it."""
    keep, plays = 30_000, Plays(30_000)

    def seconds():
        start = time.process_time()
        for _ in range(keep):
            plays.close(plays.open(True, TERMS), State.SETTLED)
        return time.process_time() - start

    filling, _, *full = [seconds() for _ in range(4)]
    assert min(full) < 4 * filling


def test_a_conflict_names_play_state_and_report():
    error = conflict(7, Record(True, TERMS, State.FELL_BACK), "settle", 3)
    assert str(error) == (
        "play 7 is executed as default: reward 3 contradicts it; the books stand as they are"
    )


def test_terms_of_an_interval_are_told_apart_and_come_back():
    known, interval = TERMS, Terms(40, 30, 30, 20, 60, 1, 2)
    assert repr(known) == "Terms(value=7, floor=6, hold=5, deposit=1)"
    assert repr(interval).endswith("deposit=20, high=60, lost=1, whole=2)")
    plays = Plays()
    for terms in (known, interval):
        plays.open(False, terms)
    again = Plays.restored(plays.snapshot())
    assert [again.get(play).terms for play in (0, 1)] == [known, interval]


@pytest.mark.parametrize(
    ("reward", "paid"), [(None, (20, 20)), (40, (20, 20)), (51, (25, 26)), (99, (30, 30))]
)
def test_what_a_default_play_posts_and_had_to_earn(reward, paid):
    assert Terms(40, 30, 30, 20, 60, 1, 2).paid(reward) == paid
    assert TERMS.paid(reward) == (1, 6)
