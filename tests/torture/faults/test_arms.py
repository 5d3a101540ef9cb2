"""The recount of arms by a ledger's entries: it agrees with a live agent, and with no wrong one."""

import pytest

from surefoot import EpsilonGreedy, GenCB, RewardFloor
from surefoot.agents.tally import Tally
from surefoot.live import MemoryStore
from surefoot.live.evidence import Evidence
from surefoot.live.live import Live
from surefoot_torture.faults.arms import Counted


def _found():
    store = MemoryStore()
    live = Live(
        GenCB(EpsilonGreedy(2, epsilon=0.5), RewardFloor(0.5, 0.2, reserve=50), 1, False), store
    )
    plays = [play for play in live.select_many(60) if not play.is_default]
    for number, play in enumerate(plays[:-3]):
        if number % 7 == 5:
            live.void(play)
        elif number % 7 == 6:
            live.expire(play)
        else:
            live.update(play, number % 2)
    live.update(plays[6], 1)
    return Counted(store.entries("default"), "default").wrong(live.arms(), 9)


def test_it_agrees_with_the_agent():
    assert _found() == []


@pytest.mark.parametrize(
    ("owner", "name", "wrong"),
    [
        (Tally, "lose", lambda *_, **__: None),
        (Tally, "late", lambda *_: None),
        (Evidence, "_told", lambda *_: None),
    ],
)
def test_it_finds_what_is_counted_wrong(owner, name, wrong, monkeypatch):
    monkeypatch.setattr(owner, name, wrong)
    assert _found()
