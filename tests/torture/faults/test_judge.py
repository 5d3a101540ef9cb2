from fractions import Fraction

import pytest

from surefoot import RewardFloor
from surefoot_torture.faults.judge import Judge, Promise, worth
from surefoot_torture.faults.plan import decimals

HALF = Promise(Fraction(1, 2), Fraction(1, 2), Fraction(0), Fraction(1))
DEFAULTS = [("0.7", None), ("0.33333", None), (("0.3", "0.6"), None), (("0.5", "0.6"), "0.55")]


def fraction(value):
    return tuple(map(Fraction, value)) if isinstance(value, tuple) else Fraction(value)


@pytest.mark.parametrize("places", [2, 9])
@pytest.mark.parametrize(("default", "target"), DEFAULTS)
def test_two_texts_agree_on_what_a_play_is_worth(default, target, places):
    against = "realised" if target is None else "fixed"
    floor = RewardFloor(
        decimals(default), decimals("0.25"), (-1, 1), 0, places, against, decimals(target)
    )
    promise = Promise(
        fraction(default), Fraction(1, 4), Fraction(-1), Fraction(1), against == "fixed",
        None if target is None else Fraction(target),
    )  # fmt: skip
    known, terms = worth(promise, None, places), floor.terms()
    assert known.told() == (terms.value, terms.floor, terms.hold, terms.deposit, terms.high)
    if terms.high is not None:
        reward = (terms.value + terms.high) // 2
        assert known.deposit + known.above(reward) == terms.paid(reward)[0]


@pytest.fixture
def judge():
    judge = Judge(2)
    judge.promised("e", HALF)
    return judge


def page(judge, name):
    made = judge.page(name, "e", None)
    made.worth = judge.worth("e", 0, None)
    return made


def test_an_exploration_without_slack_is_a_violation(judge):
    judge.made(page(judge, "a"), "arm")
    assert judge.problems == {"violation": 1}


def test_a_reward_counts_once_it_is_there(judge):
    judge.endowed(25)
    play = page(judge, "a")
    judge.made(play, "arm")
    assert (judge.slack, judge.brought(play)) == (0, Fraction(-1, 4))
    judge.paid(play, Fraction(1))
    assert (judge.slack, judge.brought(play)) == (1, Fraction(3, 4))
    assert not judge.problems


def test_an_account_that_claims_more_than_there_is_is_found_out(judge):
    judge.made(page(judge, "a"), "default")
    judge.claimed(25)
    assert not judge.problems
    judge.claimed(26)
    assert judge.problems == {"violation": 1}
