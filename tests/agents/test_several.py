"""An agent of several floors: one play, several measures, an objective of its own."""

import pytest

from learners import Counter
from surefoot import UCB1, GenCB, RewardFloor
from surefoot.errors import InvalidInput, PlayConflict
from surefoot.floors import Outcome

FLOORS = {"quality": RewardFloor(0.8, 0.5), "speed": RewardFloor(0.5, 0.5)}


def agent(policy=None, **settings):
    return GenCB(policy or Counter(3), FLOORS, seed=0, **settings)


def exploration(one):
    play = one.select()
    while play.is_default:
        one.update(play)
        play = one.select()
    return play


def test_a_play_explores_if_every_account_affords_its_hold():
    one = agent()
    plays = []
    for _ in range(4):
        plays.append(one.select())
        if plays[-1].is_default:
            one.update(plays[-1])
        else:
            one.update(plays[-1], reward=0, measures={"quality": 1, "speed": 0})
    assert [play.is_default for play in plays] == [True, False, True, False]
    assert one.explain(plays[2]) == (
        "Play 2 is the default because an exploration could lose 0.25 and the slack of speed is 0, "
        "0.25 too little."
    )


def test_measures_come_apart_and_each_settles_its_own_account():
    one = agent()
    play = exploration(one)
    assert one.update(play, measures={"speed": 0.5}) is Outcome.BOOKED
    assert (one.accounts["quality"].pending, one.accounts["speed"].pending) == (1, 0)
    assert one.update(play, reward=3, measures={"speed": 0.5, "quality": 2}) is Outcome.CAPPED
    assert play.outcomes == {"quality": "capped", "speed": "repeated", "reward": "booked"}
    assert one.policy.learnt == [(0, 3.0, None)]


def test_a_play_that_was_told_of_is_not_void_and_releases_no_hold():
    one = agent()
    play = exploration(one)
    one.update(play, measures={"speed": 0.5})
    with pytest.raises(PlayConflict, match="quality is open, speed is settled, reward is open"):
        one.void(play)
    assert one.accounts["quality"].pending == 1


def test_a_report_is_booked_whole_or_not_at_all():
    one = agent()
    play = exploration(one)
    before = one.books.snapshot()
    for measures in (
        {"quality": 0.7, "speed": "fast"},
        {"quality": 1, "spede": 1},
        [1, 2],
        {"reward": 1},
    ):
        with pytest.raises(InvalidInput):
            one.update(play, reward=1, measures=measures)
    assert one.books.snapshot() == before


def test_a_policy_for_rewards_in_0_1_needs_the_range_of_the_objective():
    with pytest.raises(InvalidInput, match="objective_range is missing: UCB1 takes rewards in"):
        agent(UCB1(3))
    assert agent(UCB1(3), objective_range=(0, 10)).arms()[0].plays == 0


def test_an_objective_below_zero_closes_no_gate():
    one = agent(objective_range=(-1, 0))
    one.update(exploration(one), reward=-1, measures={"quality": 1, "speed": 1})
    assert not one.select().is_default
