"""A policy that draws at random, live: restarts go on with its draws, forks have their own."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.live import MemoryStore
from surefoot.live.live import Live
from surefoot.live.store import open_store

REWARDS = (0, 1, 0.25, 1, 0.7)
"""Those between 0 and 1 are tried, so that updates draw as well."""


def agent():
    floor = sf.RewardFloor(0.2, 0.5, reserve=500)
    return sf.GenCB(sf.Thompson(arms=["a", "b", "c"]), floor, seed=3)


def played(live, turns, start=0):
    """The arms of some plays, a third of which are reported late or not at all."""
    arms = []
    for turn in range(start, start + turns):
        play = live.select(id=f"p{turn}")
        arms.append(play.arm)
        reward = () if play.is_default else (REWARDS[turn % 5],)
        if turn % 3:
            live.update(play, *reward)
        else:
            live.expire(play)
            if turn % 2:
                live.update(play, *reward)
    return arms


def policy(live):
    return live._engine.fold.agent.policy.state()


@pytest.mark.parametrize("learn_missing", ["worst", "skip"])
def test_a_restart_goes_on_with_the_same_draws(tmp_path, learn_missing):
    files = [tmp_path / f"{name}.db" for name in ("whole", "cut")]
    whole = Live(agent(), open_store(files[0]), learn_missing=learn_missing)
    expected = played(whole, 60)
    assert len(set(expected)) > 2
    arms = []
    for start in range(0, 60, 12):
        store = open_store(files[1])
        live = Live(agent(), store, learn_missing=learn_missing)
        arms += played(live, 12, start)
        state = policy(live)
        store.close()
    assert arms == expected
    assert state == policy(whole)
    folded = Live(None, open_store(files[1]))
    assert folded.select().play.choice == whole.select().play.choice
    assert policy(folded) == policy(whole)


def draws(fold, turns=60):
    """What the policy of a fold would play."""
    rng, mine = fold.agent.rng, fold.agent.policy
    return [mine.best(None, rng) for _ in range(turns)]


def test_branches_draw_differently_and_each_the_same_again():
    live = Live(agent(), MemoryStore())
    played(live, 30)
    fold = live._engine.fold
    seen = [draws(fold.branch(name, 10**9)) for name in ("one", "two", "one")]
    assert seen[0] == seen[2]
    assert all(one != other for one, other in zip(seen[0], seen[1], strict=True))
    assert draws(fold)[0] not in (seen[0][0], seen[1][0])
    keys = {fold.branch(name, 1).agent.policy.key for name in ("one", "two")}
    assert keys == {None}  # each takes one from its own seed
    assert seen[0] != draws(fold)


def test_a_branch_knows_what_was_learned_and_tries_with_a_key_of_its_own():
    live = Live(agent(), MemoryStore())
    played(live, 30)
    fold = live._engine.fold
    twin = fold.branch("one", 10**9)
    assert twin.agent.policy.state()["arms"] == fold.agent.policy.state()["arms"]
    twin.agent.policy.best(None, twin.agent.rng)
    outcomes = []
    for one in (twin, fold):
        mine, before = one.agent.policy, one.agent.policy.state()["arms"][1][0]
        won = []
        for _ in range(40):
            mine.update(0, 0.5, None)
            won.append(mine.state()["arms"][1][0] - before)
        outcomes.append(np.diff(won).tolist())
    assert outcomes[0] != outcomes[1]


def test_arms_are_added_and_drawn_from_their_prior():
    store = MemoryStore()
    live, other = Live(agent(), store), Live(None, store)
    played(live, 40)
    before = policy(live)
    other.add_arms(["d", "e"])
    arms = played(live, 80, 40)
    assert {"d", "e"} & {*arms}
    after = policy(live)
    assert after["key"] == before["key"]
    assert all(len(row) == 5 for row in after["arms"])
    assert after["arms"][3] == [*before["arms"][3], 0, 0]
    again = Live(None, store)
    assert policy(again) == after
    played(again, 10, 120)
    played(other, 10, 130)
    assert policy(Live(None, store)) == policy(other)
