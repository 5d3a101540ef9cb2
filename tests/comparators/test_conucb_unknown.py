"""ConUCB with a default it has to learn decides as the author's text does."""

import random
import re

import pytest

from learners import snapshot
from naive import conucb
from naive.conucb import Settings
from surefoot.comparators import ConUCBUnknown
from surefoot.comparators.conucb import RADII
from surefoot.errors import InvalidInput


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("seed", range(4))
def test_every_decision_is_the_twins(radius, seed):
    rng = random.Random(f"{radius} {seed}")
    n_arms, alpha = rng.randint(1, 3), rng.randint(50, 95) / 100
    settings = Settings(n_arms, None, alpha, 0.1, radius, "bounded")
    agent = ConUCBUnknown(n_arms, alpha, 0.1, radius, "bounded")
    chances, history, mu0 = [rng.uniform(0.3, 1) for _ in range(n_arms)], [], 0.3
    for _ in range(300):
        expected, xi = conucb.decide_unknown(settings, history)
        play = agent.select()
        if abs(xi) > 1e-9:
            assert play.index == expected
        reward = int(rng.random() < (mu0 if play.is_default else chances[play.index]))
        agent.update(play, reward)
        history.append((play.index, reward))
    assert 0 < agent.account.explorations < 300


def test_the_default_comes_first():
    assert ConUCBUnknown(3, alpha=0.99).select().is_default


def test_another_range_is_scaled():
    wide = ConUCBUnknown(2, 0.7, 0.1, scale="bounded", reward_range=(0, 4))
    unit, rng = ConUCBUnknown(2, 0.7, 0.1, scale="bounded"), random.Random(1)
    for _ in range(200):
        ours, theirs = wide.select(), unit.select()
        assert ours.index == theirs.index
        won = rng.random() < (0.4 if ours.is_default else 0.8)
        wide.update(ours, 4 * won)
        unit.update(theirs, int(won))


def test_a_default_play_brings_its_reward():
    agent = ConUCBUnknown(2)
    play = agent.select()
    before = snapshot(agent)
    with pytest.raises(InvalidInput, match="reward of play 0 is missing: ConUCBUnknown learns"):
        agent.update(play)
    assert snapshot(agent) == before
    agent.update(play, 0.25)
    assert agent.update(play) == "repeated"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reward_range": (-1, 1)}, "must have 0 <= l <= u"),
        ({"default_range": (0.5, 2)}, "within reward_range"),
        ({"delta": 0}, "delta = 0 must lie"),
        ({"n_arms": None}, "give exactly one"),
    ],
    ids=str,
)
def test_what_it_is_not_defined_for_is_refused(settings, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        ConUCBUnknown(**{"n_arms": 2, **settings})


def test_its_own_promise_holds_at_its_level():
    """The means of what is played keep the floor, but for a share delta of the runs.

    With failures of chance .2 at most, 23 or more of 60 runs have chance < .001.
    """
    failed = explored = 0
    for seed in range(60):
        rng = random.Random(seed)
        agent = ConUCBUnknown(3, 0.6, 0.2, scale="bounded")
        means, mu0, total, short = [0.1, 0.4, 0.8], 0.5, 0.0, False
        for t in range(1, 301):
            play = agent.select()
            true = mu0 if play.is_default else means[play.index]
            agent.update(play, int(rng.random() < true))
            total += true
            short |= total < 0.4 * mu0 * t - 1e-9
        failed += short
        explored += agent.account.explorations
    assert failed < 23
    assert explored > 60 * 10
