"""BudgetFirst saves as long as its author's text does, and then plays the same arms."""

import random
import re

import pytest

from naive import budget_first
from surefoot.agents import Reason
from surefoot.comparators import BudgetFirst
from surefoot.errors import InvalidInput


@pytest.mark.parametrize("seed", range(6))
def test_every_decision_is_the_twins(seed):
    rng = random.Random(seed)
    n_arms, delta, n = rng.randint(1, 4), rng.choice([0.3, 0.1]), rng.choice([400, 2000])
    mu0, alpha = rng.randint(50, 95) / 100, rng.randint(80, 95) / 100
    agent = BudgetFirst(n_arms, mu0, alpha, n, delta)
    first = budget_first.savings(n_arms, mu0, alpha, n, delta)
    assert agent.savings == first
    chances, history = [rng.random() for _ in range(n_arms)], []
    for t in range(first + 120):
        play = agent.select()
        if t >= first or t in (0, first - 1):
            assert play.index == budget_first.decide(n_arms, mu0, first, delta, history)
        reward = None if play.is_default else int(rng.random() < chances[play.index])
        agent.update(play, reward)
        history.append((play.index, reward))
    assert agent.account.explorations > 0


def test_it_can_be_all_savings():
    agent = BudgetFirst(4, 0.5, 0.1, 50)
    reasons = set()
    for _ in range(50):
        play = agent.select()
        reasons.add(play.reason)
        agent.update(play)
    assert (agent.savings, reasons) == (50, {Reason.SAVING_UP})


def test_a_wider_range_has_to_save_for_more():
    near = BudgetFirst(2, 0.5, 0.5, 10**6, 0.1)
    wide = BudgetFirst(2, 0.5, 0.5, 10**6, 0.1, reward_range=(-1, 1))
    assert abs(wide.savings - 2 * near.savings) <= 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"horizon": None}, "horizon is missing"),
        ({"horizon": 0}, "horizon = 0 must be an int >= 1"),
        ({"horizon": True}, "horizon = True must be"),
        ({"horizon": 2.5}, "horizon = 2.5 must be"),
        ({"horizon": "9"}, "horizon = '9' must be"),
        ({"horizon": 10**400}, "is above 10**15"),
        ({"default": None}, "default is missing; BudgetFirst needs"),
        ({"delta": 1}, "delta = 1 must lie"),
        ({"alpha": 0}, "alpha = 0 must lie"),
        ({"arms": ["a"]}, "give exactly one"),
    ],
    ids=str,
)
def test_what_it_is_not_defined_for_is_refused(settings, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        BudgetFirst(**{"n_arms": 2, "default": 0.5, "alpha": 0.1, "horizon": 100, **settings})
