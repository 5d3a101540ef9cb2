"""Plain plays what the policy says, whatever the books say; a floor is only measured."""

from decimal import Decimal

import pytest

from learners import Counter, Scripted
from surefoot import UCB1, GenCB, Plain, Reason, RewardFloor
from surefoot.errors import InvalidInput


def test_nothing_stops_it():
    agent = Plain(UCB1(2), RewardFloor(0.7, 0.05))
    for turn in range(1, 101):
        play = agent.select()
        assert (play.reason, play.turn, play.is_default) == (Reason.UNGUARDED, turn, False)
        agent.update(play, 0)
    assert agent.account.slack == Decimal("-66.5")
    assert agent.account.default_plays == 0


def test_its_turns_are_those_of_the_guarded_policy():
    """The default plays that GenCB puts between its turns change nothing in them."""

    def turns(agent, n):
        arms = []
        while len(arms) < n:
            play = agent.select()
            agent.update(play, None if play.is_default else (play.turn * (play.index + 3)) % 2)
            if not play.is_default:
                arms.append(play.index)
        return arms

    guarded = GenCB(UCB1(5), RewardFloor(0.7, 0.1), default_competes=False)
    assert turns(guarded, 300) == turns(Plain(UCB1(5)), 300)
    assert guarded.account.default_plays > 100


def test_it_needs_neither_a_floor_nor_scores():
    agent = Plain(Counter(3))
    assert [play.arm for play in agent.select_many(4)] == [0, 1, 2, 0]
    assert agent.measured is False
    assert Plain(Counter(3), RewardFloor(0.5, 0.1)).measured is True


def test_a_low_score_is_played_all_the_same():
    assert Plain(Scripted(2, (1, -9.0))).select().arm == 1


def test_a_paused_one_plays_the_default():
    agent = Plain(UCB1(2), RewardFloor(0.7, 0.05))
    agent.pause()
    assert agent.select().reason is Reason.PAUSED


def test_a_floor_of_defaults_per_play_is_measured():
    agent = Plain(UCB1(2), RewardFloor(None, 0.5))
    agent.update(agent.select(default=0.6), 0)
    assert agent.account.slack == Decimal("-0.3")
    with pytest.raises(InvalidInput, match="no constant default"):
        agent.select()
