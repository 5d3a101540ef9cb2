"""A live agent that funds itself by what pays: as in memory, wherever the ledger is read."""

import pytest

import surefoot as sf
from leased import opened
from surefoot.errors import InvalidInput
from surefoot.live import MemoryStore
from surefoot.live.fold import Fold

ARMS = sf.BernoulliArms([0.2, 0.6, 0.9, 0.4])  # the last one is added later
FLOOR = sf.RewardFloor(0.5, 0.1)


def agent(policy=sf.UCB1):
    return sf.GenCB(policy(3), FLOOR, 0, fund=True)


def play_on(one, plays, delay=3):
    """What was played, with each reward told ``delay`` explorations late."""
    found, waiting = [], []
    for _ in range(plays):
        play = one.select()
        made = getattr(play, "play", play)
        found.append((made.index, made.reason))
        if made.index < 0:
            one.update(play)
            continue
        waiting.append((play.id, made))
        if len(waiting) > delay:
            number, late = waiting.pop(0)
            one.update(number, ARMS.pull(3, late.turn, late.index))
    return found, waiting


def test_live_plays_are_those_of_an_agent_in_memory():
    with sf.Live(agent(), MemoryStore()) as live:
        ours, _ = play_on(live, 300)
        theirs, _ = play_on(twin := agent(), 300)
        assert ours == theirs
        assert sf.Reason.FUNDING in {reason for _, reason in ours}
        earned = live._engine.fold.agent.earned
        assert (earned.plays, earned.sums) == (twin.earned.plays, twin.earned.sums)


def test_a_fold_of_the_ledger_and_one_of_a_snapshot_know_what_each_arm_paid():
    store = MemoryStore()
    with sf.Live(agent(), store) as live:
        _, waiting = play_on(live, 200)
        fold = live._engine.fold
        read, restored = Fold("default", None), Fold("default", None)
        for entry in store.entries("default"):
            read.apply(entry)
        restored.restore(fold.state())
        for other in (read, restored):
            assert other.agent.earned.plays == fold.agent.earned.plays
            assert other.agent.earned.sums == fold.agent.earned.sums
            assert other._open_arms() == fold._open_arms() == [made.index for _, made in waiting]
            assert other.agent.waiting() == fold._open_arms()


def test_expired_plays_wait_no_longer_and_late_rewards_count():
    with sf.Live(agent(), MemoryStore()) as live:
        play_on(live, 60, delay=0)
        while (play := live.select()).play.is_default:
            live.update(play)
        earned = live._engine.fold.agent.earned
        told = sum(earned.plays)
        live.expire(play)
        assert live._engine.fold._open_arms() == []
        assert sum(earned.plays) == told
        live.update(play.id, 1)
        assert sum(earned.plays) == told + 1


def test_arms_that_are_added_have_paid_nothing():
    store = MemoryStore()
    with sf.Live(agent(), store) as live:
        play_on(live, 100)
        before = live._engine.fold.agent.earned.plays
        live.add_arms([3])
        assert live._engine.fold.agent.earned.plays == [*before, 0]
        play_on(live, 50)
        read = Fold("default", None)
        for entry in store.entries("default"):
            read.apply(entry)
        assert read.agent.earned.plays == live._engine.fold.agent.earned.plays
        restored = Fold("default", None)
        restored.restore(live._engine.fold.state())
        assert restored.agent.earned.sums == live._engine.fold.agent.earned.sums


def test_under_a_lease_the_plays_that_wait_are_counted_as_in_the_ledger(tmp_path):
    store = MemoryStore()
    rich = sf.GenCB(sf.UCB1(3), sf.RewardFloor(0.5, 0.1, reserve=99), 0, fund=True)
    with sf.Live(rich, store) as live, opened(store, tmp_path, rich) as leased:
        before = live.select_many([{}, {}])
        plays = leased.select_many([{}, {}, {}])
        assert plays[0].lease is not None
        branch = leased._worker._local
        arms = [play.index for play in (*before, *plays)]
        assert branch.agent.waiting() == arms
        leased.update(before[0].id, 1)
        leased.expire(plays[0])
        assert branch.agent.waiting() == [arms[1], *arms[3:]]
        leased.flush()
        assert leased._worker._local.agent.waiting() == [arms[1], *arms[3:]]
        assert leased._engine.fold._open_arms() == [arms[1], *arms[3:]]


def test_opened_again_with_the_other_setting_it_is_named_with_both_values():
    for stored, given in ((True, False), (False, True)):
        store = MemoryStore()
        sf.Live(sf.GenCB(sf.UCB1(3), FLOOR, 0, fund=stored), store).close()
        with pytest.raises(InvalidInput, match=f"fund = {given} differs from {stored}"):
            sf.Live(sf.GenCB(sf.UCB1(3), FLOOR, 0, fund=given), store)
