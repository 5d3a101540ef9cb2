from datetime import timedelta

import pytest

from surefoot import UCB1, GenCB, Outcome, RewardFloor
from surefoot.errors import InvalidInput
from surefoot.live import MemoryStore
from surefoot.live.live import Live
from surefoot.live.store.base import microseconds


@pytest.mark.parametrize(
    ("window", "expected"),
    [(None, None), (1, 1_000_000), (0.25, 250_000), (1e-9, 1), (timedelta(days=1), 86_400_000_000)],
)
def test_seconds_become_microseconds(window, expected):
    assert microseconds(window) == expected


@pytest.mark.parametrize("window", [0, -1, True, "60", float("nan"), 4e9, timedelta(0), [1]])
def test_what_is_no_window(window):
    with pytest.raises(InvalidInput, match="reward_window"):
        microseconds(window)


def test_a_missing_reward_expires_by_the_stores_clock_and_may_still_come():
    now = [0]
    store = MemoryStore(clock=lambda: now[0])
    agent = GenCB(UCB1(2), RewardFloor(0.5, 0.5, reserve=1))
    live = Live(agent, store, reward_window=60)
    plays = [live.select() for _ in range(5)]
    assert [play.deadline for play in plays[:2]] == [60_000_000] * 2
    assert plays[-1].is_default
    assert plays[-1].deadline == 60_000_000
    live.update(plays[0], 1)
    now[0] = 60_000_000
    assert live.reap() == []  # the last moment is still in time
    now[0] += 1
    assert live.reap(limit=1) == [plays[1].id]
    assert Live(None, store).reap() == [play.id for play in plays[2:]]
    assert live.reap() == []
    assert (live.account.expired, live.account.held) == (3, 0)
    assert live.update(plays[1], 1) is Outcome.BOOKED_LATE


def test_a_reaper_serves_all_experiments_of_its_account():
    now = [0]
    store = MemoryStore(clock=lambda: now[0])
    floor = RewardFloor(0.5, 0.5, reserve=1)
    points = GenCB(UCB1(arms=["UA", "AA"]), floor)
    left = Live(points, store, "left", account="firm", reward_window=1)
    right = Live(GenCB(UCB1(2), RewardFloor(0.5, 0.5)), store, "right", account="firm")
    play = left.select()
    now[0] = 2_000_000
    assert right.reap() == [play.id]
    assert left.account.expired == 1
    assert right.account.expired == 0
