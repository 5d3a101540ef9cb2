"""The floor holds whatever a learner of another library does, also one that is hostile.

Each run draws a floor, lets the learner answer badly at random, and has rewards that are worst as
often as not come late or never. The promise is computed in fractions, without the books.
"""

import random
from decimal import Decimal

import numpy as np
import pytest

import surefoot as sf
from adapted import CASES, SCORING, cases
from surefoot.testing._floors import Outcomes

PLAYS = 80


class Watch:
    """A clock that a hostile learner may advance."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def fail():
    raise RuntimeError("no model is served")


def made_hostile(policy, chance, rng):
    """Let ``choose`` and ``teach`` fail with that chance, in every way there is."""
    name = "_best" if hasattr(policy, "_best") else "choose"
    asks, teaches, watch = getattr(policy, name), policy.teach, policy.clock

    def ask(*args):
        kind = rng.randrange(5) if rng.random() < chance else None
        if kind == 0:
            fail()
        if kind == 1:
            watch.now += 10
        if kind in {None, 1}:
            return asks(*args)
        bad = [float("nan"), policy.n_arms + 7, "no such arm"][kind - 2]
        return bad if name == "choose" else rng.choice([(bad, 0.5), (0, float("nan"))])

    def teach(arm, reward, context):
        if rng.random() < chance:
            fail()
        teaches(arm, reward, context)

    setattr(policy, name, ask)
    policy.teach = teach


def floor_of(rng):
    low = Decimal(rng.choice(["0", "0", "-1.5", "0.1"]))
    high = low + Decimal(rng.choice(["2", "2.5"]))
    default = max(Decimal("0.01"), low + (high - low) * Decimal(rng.choice(["0.3", "0.7", "1"])))
    alpha = Decimal(rng.choice(["0.05", "0.3", "0.9"]))
    reserve = Decimal(rng.choice(["0", "3", "40"]))
    return sf.RewardFloor(default, alpha, reward_range=(low, high), reserve=reserve)


def guarded_run(case, number):
    """One run; returns how many plays were explorations, and how many faults there were."""
    rng, world = random.Random(number), np.random.default_rng(number)
    policy = case.make()
    policy.time_limit, policy.clock = 5.0, Watch()
    made_hostile(policy, rng.choice([0, 0.1, 0.5]), rng)
    floor = floor_of(rng)
    low, high = floor.reward_range
    agent = sf.GenCB(policy, floor, seed=number, on_fault="default")
    outcomes, waiting, explored = Outcomes(floor), [], 0
    for _ in range(PLAYS):
        play = agent.select(case.context(world))
        outcomes.decide(not play.is_default)
        explored += not play.is_default
        waiting.append(play)
        rng.shuffle(waiting)
        while waiting and rng.random() < 0.8:
            play = waiting.pop()
            if play.is_default:
                agent.update(play)
                outcomes.report("settle", play.id)
            elif rng.random() < 0.1:
                agent.expire(play)
                outcomes.report("expire", play.id)
            else:
                reward = rng.choice(
                    [low, low, high] if case.whole else [low, low, (low + high) / 2, high]
                )
                agent.update(play, reward)
                outcomes.report("settle", play.id, reward)
        assert outcomes.least() >= 0
        assert agent.account.slack >= 0
    return explored, agent.faults


def check(case, runs):
    totals = [guarded_run(case, number) for number in runs]
    explored, faults = map(sum, zip(*totals, strict=True))
    assert explored > 5 * len(totals), "too few explorations to show anything"
    assert faults > 2 * len(totals)


@pytest.mark.parametrize("case", cases(CASES | SCORING))
def test_the_floor_holds_around_a_hostile_learner(case):
    check(case, range(6))


@pytest.mark.slow
@pytest.mark.parametrize("case", (CASES | SCORING).values(), ids=CASES | SCORING)
def test_the_floor_holds_in_200_runs(case):
    check(case, range(100, 300))


@pytest.mark.parametrize("case", cases(CASES | SCORING))
def test_unguarded_the_same_learner_breaks_it(case):
    """So the runs above could fail."""
    floor = sf.RewardFloor(0.7, 0.05)
    agent, world = sf.Plain(case.make(), floor, seed=0), np.random.default_rng(0)
    for _ in range(20):
        agent.update(agent.select(case.context(world)), 0)
    assert agent.account.slack < 0
