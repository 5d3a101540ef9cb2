"""The paper's names build the algorithms as printed."""

import random

import pytest

from naive import gencb
from surefoot import UCB1, GenCB, RewardFloor, gencb_cmab
from surefoot.errors import InvalidInput


def test_gencb_cmab_is_gencb_over_ucb1_as_printed():
    agent = gencb_cmab(n_arms=3, default=0.7, alpha=0.05, seed=1)
    assert type(agent) is GenCB
    assert type(agent.policy) is UCB1
    assert agent.floor == RewardFloor(0.7, 0.05)
    assert agent.default_competes is False


def test_gencb_cmab_plays_on_where_the_default_is_best():
    """As printed it never plays the default by choice."""

    def reward(turn, arm):
        return int(random.Random(f"{turn} {arm}").random() < 0.1)

    agent, played = gencb_cmab(2, 0.9, 0.3), []
    for _ in range(1500):
        play = agent.select()
        agent.update(play, None if play.is_default else reward(play.turn, play.index))
        played.append(play.index)
    assert played == gencb.decisions(2, 0.9, 0.3, reward, 1500)
    assert sum(arm >= 0 for arm in played) > 450


@pytest.mark.parametrize("settings", [(0, 0.7, 0.05), (3, 1.7, 0.05), (3, 0.7, 0), (3, None, "x")])
def test_what_it_is_not_defined_for_is_refused(settings):
    with pytest.raises(InvalidInput):
        gencb_cmab(*settings)
