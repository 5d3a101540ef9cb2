import pytest

from surefoot import UCB1, GenCB, RewardFloor
from surefoot.live import MemoryStore
from surefoot.live.fold import Fold
from surefoot.live.live import Live


@pytest.fixture
def history():
    """The entries of a short life with every kind of report, and the live agent that made them."""
    store = MemoryStore()
    live = Live(GenCB(UCB1(2), RewardFloor(0.5, 0.25, reserve=4), seed=1), store)
    plays = [live.select() for _ in range(8)]
    live.update(plays[0], 1)
    live.expire(plays[1])
    live.update(plays[1], 0.5)
    live.void(plays[2])
    live.fall_back(plays[3])
    live.update(plays[4], 7)
    live.acknowledge(plays[4])
    live.pause()
    live.update(live.select())
    live.void(live.select())
    live.expire(plays[5])
    return live, list(store.entries("default"))


def folded(entries):
    fold = Fold("default", None)
    for entry in entries:
        fold.apply(entry)
    return fold


def test_the_fold_of_the_entries_is_what_the_agent_became(history):
    live, entries = history
    assert folded(entries).state() == live._fold.state()
    assert live.account.voided == 2
    assert (live.account.explorations, live.account.default_plays) == (6, 2)


def test_a_state_comes_back_at_every_entry(history):
    _, entries = history
    for cut in range(2, len(entries)):
        fold, again = folded(entries[:cut]), Fold("default", None)
        again.restore(fold.state())
        assert again.state() == fold.state()
        for entry in entries[cut:]:
            again.apply(entry)
        assert again.state() == folded(entries).state()


def test_only_what_can_still_change_is_kept_in_memory(history):
    live, entries = history
    fold = folded(entries)
    still = [play for play in ("p-8", "p-9", "p-10") if play in fold.waiting]
    assert set(fold.waiting) == set(still)
    assert len(fold.agent._books.plays._live) == len(fold.agent._books.plays._closed) == 0
    assert fold.agent._open == live._fold.agent._open == {}


@pytest.mark.parametrize("change", [{"seq": 9}, {"prev": "f" * 64}, {"posted": 1}, {"d_held": 3}])
def test_an_entry_that_does_not_follow(history, change):
    _, entries = history
    fold = folded(entries[:5])
    with pytest.raises(ValueError, match="entry"):
        fold.apply(entries[5]._replace(**change))


def test_entries_of_another_experiment_move_the_account_alone(history):
    _, entries = history
    fold = folded(entries)
    before = fold.state()
    other = entries[-1]._replace(
        seq=fold.seq + 1, prev=fold.head, experiment="other", d_posted=5, d_held=0,
        posted=entries[-1].posted + 5, hash="a" * 64,
    )  # fmt: skip
    fold.apply(other)
    after = fold.state()
    assert {key for key in after if after[key] != before[key]} == {"chain"}
    assert fold.posted == before["chain"][3]


def test_a_lost_fold_follows_nothing(history):
    live, _ = history
    row = live.store.account("default")
    fold = live._fold
    assert fold.follows(row)
    with pytest.raises(KeyError), fold.moved():
        raise KeyError
    assert fold.lost
    assert not fold.follows(row)
