import json

import numpy as np
import pytest

from surefoot import C2UCB, UCB1, GenCB, LinUCB, RewardFloor, TopK
from surefoot.live import MemoryStore
from surefoot.live.fold import Fold
from surefoot.live.live import Live
from surefoot.policies import Ridge


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
    assert folded(entries).state() == live._engine.fold.state()
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
    assert set(fold.waiting) == {"p-9", "p-10"}
    assert len(fold.agent.books.plays._live) == len(fold.agent.books.plays._closed) == 0
    assert fold.agent.open_plays == live._engine.fold.agent.open_plays == {}


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
    fold = live._engine.fold
    assert fold.follows(row)
    fold.lose()
    assert fold.lost
    assert not fold.follows(row)


def late(policy, select, report):
    """A live agent half of whose rewards come after an expiry, and one whose come in time."""
    floor = RewardFloor(0.5, 0.25, (0, 2), reserve=50, places=9)
    lives = [Live(GenCB(policy(), floor, seed=1), MemoryStore()) for _ in range(2)]
    for live, expires in zip(lives, (True, False), strict=True):
        for turn in range(12):
            play = select(live, turn)
            if expires and turn % 2:
                live.expire(play)
                assert play.id not in live._engine.fold.waiting
            report(live, play, turn)
    return lives


CASES = {
    "arms": (
        lambda: UCB1(arms=["UA", "AA"]),
        lambda live, turn: live.select(),
        lambda live, play, turn: live.update(play, turn % 3 / 2),
    ),
    "contexts": (
        lambda: LinUCB(dim=2, ridge=Ridge(feature_bound=3)),
        lambda live, turn: live.select(np.array([[1.0, turn % 3], [turn % 2, 1.0]])),
        lambda live, play, turn: live.update(play, turn % 3 / 2),
    ),
    "super arms": (
        lambda: C2UCB(base_arms=np.eye(3), oracle=TopK(2)),
        lambda live, turn: live.select(),
        lambda live, play, turn: live.update(play, base_rewards=[turn % 3 / 2, 0.5]),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_reward_after_the_expiry_teaches_what_one_in_time_does(case):
    behind, ahead = late(*CASES[case])
    assert behind._engine.fold.agent.policy.state() == ahead._engine.fold.agent.policy.state()
    again = Live(None, behind.store)
    assert again._engine.fold.state() == behind._engine.fold.state()


def test_plays_whose_reward_never_comes_take_no_memory():
    sizes = []
    live = Live(GenCB(UCB1(2), RewardFloor(0.5, 0.25, reserve=500)), MemoryStore())
    for turn in range(300):
        live.expire(live.select())
        if turn in (99, 299):
            state = live._engine.fold.state()
            del state["evidence"]  # it has the last 1,000 plays
            sizes.append(len(json.dumps(state)))
    assert sizes[1] < 1.05 * sizes[0]
