"""Reports of random defaults and super arms, late and twice, as the agent in-process books them."""

import itertools

import pytest

from surefoot import UCB1, GenCB, RewardFloor
from surefoot.errors import InvalidInput, PlayConflict
from surefoot.live import MemoryStore
from surefoot.live.engine import Reported
from surefoot.live.live import Live

FLOORS = {
    "constant": RewardFloor(0.5, 0.25, reserve=2),
    "realised": RewardFloor((0.25, 0.75), 0.25, reserve=2),
    "fixed": RewardFloor((0.5, 0.75), 0.25, reserve=2, against="fixed", target=0.6),
}
REPORTS = {
    "reward": lambda one, play: one.update(play, 0.5),
    "other reward": lambda one, play: one.update(play, 0.625),
    "above": lambda one, play: one.update(play, 3),
    "below": lambda one, play: one.update(play, -1),
    "played": lambda one, play: one.update(play),
    "expire": lambda one, play: one.expire(play),
    "void": lambda one, play: one.void(play),
    "fall back": lambda one, play: one.fall_back(play),
    "acknowledge": lambda one, play: one.acknowledge(play),
}


def outcome(one, play, report):
    try:
        return REPORTS[report](one, play)
    except (PlayConflict, InvalidInput) as error:
        return type(error)


REWARDS = ("reward", "other reward", "above", "below")


def let_go(floor, explores, reports):
    """Whether a reward is told after the report of a default of known value: see the next test."""
    known = floor == "constant" and not explores
    return known and any(report in REWARDS for report in reports[1:])


@pytest.mark.filterwarnings("ignore::surefoot.errors.RewardOutOfRange")
@pytest.mark.parametrize("explores", [True, False])
@pytest.mark.parametrize("floor", FLOORS)
def test_three_reports_in_any_order_book_what_they_book_in_process(floor, explores):
    for reports in itertools.product(REPORTS, repeat=3):
        if let_go(floor, explores, reports):
            continue
        inner = GenCB(UCB1(2), FLOORS[floor])
        live = Live(GenCB(UCB1(2), FLOORS[floor]), MemoryStore())
        for one in (inner, live):
            if not explores:
                one.pause()
        play, given = inner.select(), live.select()
        assert play.is_default == given.is_default == (not explores)
        for report in reports:
            ours, theirs = outcome(inner, play, report), outcome(live, given, report)
            assert ours == theirs, reports
            assert inner.account == live.account, reports
        assert live.degraded is None, reports


def test_what_a_default_of_known_value_paid_is_kept_if_told_with_its_report():
    live = Live(GenCB(UCB1(2), RewardFloor(0.5, 0.25)), MemoryStore())
    first, second = live.select(), live.select()
    assert live.update(first, 0.25).value == "booked"
    assert live.account.mismatches == 1
    with pytest.raises(PlayConflict):
        live.update(first, 0.5)
    assert live.update(second).value == "booked"
    assert live.update(second, 0.25).value == "repeated"  # let go: no entry could say it
    assert live.account.mismatches == 1


def test_a_reward_is_told_as_exact_text():
    assert Reported.of(0.1, "p-1").text == "0.1"
    assert Reported.of(None, "p-1") == (None, None)
    with pytest.raises(InvalidInput, match="reward of play p-1"):
        Reported.of("0.1", "p-1")


def test_an_exploration_reported_without_its_reward():
    live = Live(GenCB(UCB1(arms=["UA", "AA"]), FLOORS["constant"]), MemoryStore())
    play = live.select()
    with pytest.raises(InvalidInput, match=r"play p-\d+ explored arm 'UA': pass its reward, or"):
        live.update(play)
