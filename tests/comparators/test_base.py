"""What the comparators share: one known default, options that are checked, no turn by a peek."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from surefoot._exact import one_of
from surefoot.agents import load
from surefoot.comparators import (
    C3UCB,
    CLUCB,
    CLUCB2,
    BudgetFirst,
    C3UCBUnknown,
    CLUCBUnknown,
    ConUCB,
    ConUCBUnknown,
    UnbalancedMOSS,
)
from surefoot.comparators.base import failure
from surefoot.environments import CombinatorialArms, LinearArms
from surefoot.errors import InvalidInput
from surefoot.oracles import TopK
from surefoot.policies import Ridge
from surefoot.simulation import Plan, stepwise
from surefoot.simulation.compiled import PLAIN

KINDS = {
    "ConUCB": lambda **more: ConUCB(2, **more),
    "BudgetFirst": lambda **more: BudgetFirst(2, horizon=99, **more),
    "UnbalancedMOSS": lambda **more: UnbalancedMOSS(2, horizon=99, **more),
    "CLUCB": lambda **more: CLUCB(np.eye(2), **more),
    "CLUCB2": lambda **more: CLUCB2(np.eye(2), **more),
    "C3UCB": lambda **more: C3UCB(np.eye(2), TopK(1), **more),
}
UNKNOWN = {
    "ConUCBUnknown": lambda **more: ConUCBUnknown(2, **more),
    "CLUCBUnknown": lambda **more: CLUCBUnknown(np.eye(2), [0.5, 0.5], **more),
    "C3UCBUnknown": lambda **more: C3UCBUnknown(np.eye(2), TopK(1), horizon=99, **more),
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
    with pytest.raises(InvalidInput, match="radius = 3 must be one of 'a', 'b'"):
        one_of(3, "radius", ("a", "b"))


TIGHT = Ridge(theta_bound=0.5**0.5, noise=0.05)
PAIRS = CombinatorialArms.embedded(3, 2, TopK(1), 2)
ROWS = LinearArms([[1, 0], [0, 1], [0.6, 0.8]], [0.6, 0.3])


@pytest.mark.parametrize("radius", ["paper", "determinant"])
@pytest.mark.parametrize(
    ("world", "build"),
    [
        (
            PAIRS,
            lambda radius: C3UCB(
                PAIRS.X, TopK(1), 0.8, 0.9, 0.1, ridge=replace(TIGHT, radius=radius)
            ),
        ),
        (ROWS, lambda radius: CLUCB(ROWS.X, 0.5, 0.5, 0.1, ridge=replace(TIGHT, radius=radius))),
        (ROWS, lambda radius: ConUCB(3, 0.5, 0.5, 0.1)),
        (ROWS, lambda radius: ConUCB(3, 0.9, 0.9, 0.4, "simple", "bounded")),
    ],
)
def test_live_it_is_what_the_engine_makes_of_it(world, build, radius):
    """A turn lost to the default counts in both: the "paper" radius widens with the turns."""
    plan = Plan({"one": build(radius)}, world, 600, 0, "all")
    engine = plan.run(0, PLAIN)["one"]
    driven = stepwise.drive(
        plan.agents["one"], world, plan.tops["one"], plan.key(0), np.random.SeedSequence(0),
        plan.checkpoints, lambda: False,
    )  # fmt: skip
    assert plan.paths
    assert driven.books.tolist() == engine.books.tolist()


@pytest.mark.parametrize("delta", [Decimal("0.01"), np.float32(0.01), 0.01])
@pytest.mark.parametrize("kind", [*KINDS, *UNKNOWN])
def test_delta_of_any_kind_is_saved_and_is_the_same(kind, delta, tmp_path):
    default = {"default": 0.5} if kind in KINDS else {}
    chance = {} if kind == "UnbalancedMOSS" else {"delta": delta}
    agent = {**KINDS, **UNKNOWN}[kind](**default, **chance)
    agent.save(tmp_path / "agent.json")
    again = load(tmp_path / "agent.json")
    assert again.config().get("delta", 0.01) == agent.config().get("delta", 0.01) == 0.01
    assert again.policy.record[1:] == agent.policy.record[1:]


@pytest.mark.parametrize("kind", UNKNOWN)
def test_an_unknown_default_has_a_range_of_its_own(kind):
    build = UNKNOWN[kind]
    with pytest.raises(InvalidInput, match=r"default_range = 0\.5 must be a pair \(l, u\)"):
        build(default_range=0.5)
    with pytest.raises(InvalidInput, match=r"reward_range = 7 must be a pair"):
        build(reward_range=7)
    message = (
        r"default_range = \(-1, 1\), taken from reward_range, must have 0 <= l <= u: give the "
        r"default's own"
    )
    with pytest.raises(InvalidInput, match=message):
        build(reward_range=(-1, 1))
    with pytest.raises(InvalidInput, match=r"default_range = \(-0\.5, 1\) must have 0 <= l <= u"):
        build(reward_range=(-1, 1), default_range=(-0.5, 1))
    with pytest.raises(InvalidInput, match=r"default_range = \(0\.5, 2\) must have 0 <= l <= u"):
        build(default_range=[0.5, 2])
    with pytest.raises(InvalidInput, match="default_range l must be a number, got 'x'"):
        build(default_range=("x", 2))
    agent = build(default_range=[0.5, 1])
    with pytest.raises(InvalidInput, match=f"{kind} learns its default from its plays: leave it"):
        agent.select(default=0.5)
    assert agent.account.plays == 0
