"""What the comparators share: one known default, options that are checked, no turn by a peek."""

import numpy as np
import pytest

from surefoot.agents import C3UCB, CLUCB, CLUCB2, BudgetFirst, ConUCB, UnbalancedMOSS
from surefoot.agents._comparator import failure, one_of
from surefoot.errors import InvalidInput
from surefoot.oracles import TopK

KINDS = {
    "ConUCB": lambda **more: ConUCB(2, **more),
    "BudgetFirst": lambda **more: BudgetFirst(2, horizon=99, **more),
    "UnbalancedMOSS": lambda **more: UnbalancedMOSS(2, horizon=99, **more),
    "CLUCB": lambda **more: CLUCB(np.eye(2), **more),
    "CLUCB2": lambda **more: CLUCB2(np.eye(2), **more),
    "C3UCB": lambda **more: C3UCB(np.eye(2), TopK(1), **more),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_knows_one_default(kind):
    agent = KINDS[kind](default=0.5)
    with pytest.raises(InvalidInput, match=rf"default = 0\.4: {kind} knows one constant default"):
        agent.select(default=0.4)
    assert agent.account.plays == 0
    with pytest.raises(InvalidInput, match=f"default is missing; {kind} needs"):
        KINDS[kind]()
    with pytest.raises(InvalidInput, match=r"default must be a number, got \(0\.4, 0\.6\)"):
        KINDS[kind](default=(0.4, 0.6))


@pytest.mark.parametrize("kind", KINDS)
def test_a_forced_default_takes_no_turn(kind):
    agent = KINDS[kind](default=0.5, alpha=0.05)
    plays = agent.select_many(3)
    assert agent.turns == sum(not play.is_default for play in plays)
    assert plays[0].is_default


@pytest.mark.parametrize("delta", [0, 1, -1, 1e-300, float("nan"), "x", None])
def test_what_is_no_probability_of_failure(delta):
    with pytest.raises(InvalidInput, match="delta"):
        failure(delta)


def test_an_option_is_one_of_its_choices():
    assert one_of("a", "radius", ("a", "b")) == "a"
    with pytest.raises(InvalidInput, match="radius = 3 is none of 'a', 'b'"):
        one_of(3, "radius", ("a", "b"))
