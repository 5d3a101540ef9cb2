"""Defaults whose mean is learned, in simulations: what they draw, and who judges."""

from fractions import Fraction

import numpy as np
import pytest

import surefoot as sf
from stopping import Kept
from surefoot.errors import InvalidInput
from surefoot.simulation import Plan
from surefoot.simulation.runner import choose

ARMS = sf.BernoulliArms([0.8, 0.2])
COST = sf.EmpiricalArms([[0.03], [0.001]])


def learned(low, high, alpha=0.1):
    return sf.RewardFloor(sf.LearnedDefault(between=(low, high)), alpha)


def world(mean=0.7):
    return sf.MeasuredArms({"reward": ARMS}, default=sf.BernoulliArms([mean]))


def both():
    """Quality and cost, with a default that draws both."""
    draws = {"quality": sf.BernoulliArms([0.7]), "cost": sf.EmpiricalArms([[0.01, 0.02]])}
    return sf.MeasuredArms({"quality": ARMS, "cost": COST}, "quality", draws)


def ceiling(low=0.005, high=0.03):
    return sf.CostCeiling(sf.LearnedDefault(between=(low, high)), 0.2, (0, 0.05))


def test_default_plays_are_told_with_what_the_default_drew():
    agents = {"learned": sf.GenCB(sf.UCB1(2), learned(0, 1)), "known": sf.gencb_cmab(2, 0.7, 0.1)}
    result = sf.simulate(agents, world(), 400, runs=3, seed=1, engine="plain")
    assert result.engines == {"learned": "stepwise", "known": "plain"}
    made = {name: result.measure(name, "default_plays")[:, -1].mean() for name in agents}
    assert made["known"] < made["learned"] < 400
    assert result.violating_runs("learned") == 0


def test_the_slack_is_that_at_the_true_mean():
    env = world()
    agents = {"a": sf.GenCB(sf.UCB1(2), learned(0.5, 0.9))}
    result = sf.simulate(agents, env, 300, seed=2, checkpoints="all")
    key, turn, slack, received = result.plan.key(0), 0, Fraction(0), Fraction(0)
    for t, arm in enumerate(result.runs[0]["a"].books[:, 6].tolist()):
        turn += arm >= 0
        paid = Fraction(7, 10) if arm < 0 else Fraction(env.pull(key, turn, arm))
        slack += paid - Fraction(63, 100)
        received += paid
        assert result.measure("a", "slack")[0, t] == pytest.approx(float(slack))
        assert result.measure("a", "received")[0, t] == pytest.approx(float(received))
    assert result.exact_minimum_slack("a") >= 0


def test_violations_are_those_at_the_true_mean():
    unguarded = {"a": sf.Plain(sf.UCB1(2), sf.RewardFloor(0.7, 0.1))}
    known = sf.simulate(unguarded, world(), 100, runs=4, seed=1, engine="plain")
    plain = {"a": sf.Plain(sf.UCB1(2), learned(0, 1))}
    result = sf.simulate(plain, world(), 100, runs=4, seed=1, engine="plain")
    assert result.violating_runs("a") == known.violating_runs("a") > 0
    for measure in ("slack", "minimum_slack", "violating_rounds"):
        assert result.measure("a", measure) == pytest.approx(known.measure("a", measure))


def test_several_floors_and_ceilings_learn_each_its_own():
    agents = {
        "both": sf.GenCB(sf.UCB1(2), {"quality": learned(0.5, 0.9), "cost": ceiling()},
                         objective_range=(0, 1)),
        "cost": sf.GenCB(sf.UCB1(2), ceiling()),
    }  # fmt: skip
    result = sf.simulate(agents, both(), 400, runs=2, seed=1)
    assert set(result.engines.values()) == {"stepwise"}
    for name in agents:
        assert result.violating_runs(name) == 0
        assert 0 < result.measure(name, "default_plays")[:, -1].max() < 400
    spent = result.measure("both", "received", "cost")[:, -1]
    slack = result.measure("both", "slack", "cost")[:, -1]
    assert spent + slack == pytest.approx(400 * 0.015 * 1.2)


@pytest.mark.parametrize("late", [False, True])
def test_a_run_goes_on_from_what_was_kept_of_it(late):
    env = sf.Delayed(both(), 9) if late else both()
    floors = {"quality": learned(0.5, 0.9), "cost": ceiling()}
    agents = {"a": sf.GenCB(sf.UCB1(2), floors, objective_range=(0, 1))}
    plan, keeper = Plan(agents, env, 200, 1, "all"), Kept(120)
    whole = plan.run(0, choose("plain"), keeper=keeper)["a"]
    again = plan.run(0, choose("plain"), keeper=keeper)["a"]
    assert np.array_equal(whole.books, again.books)
    assert np.array_equal(whole.floors, again.floors)


@pytest.mark.parametrize(
    ("agent", "env", "words"),
    [
        (sf.GenCB(sf.UCB1(2), learned(0, 1)), ARMS, "does not say what the default draws of the"),
        (sf.GenCB(sf.UCB1(2), learned(0, 0.5)), world(), "has the mean 0.7; give a wider between"),
        (
            sf.GenCB(sf.UCB1(2), {"cost": ceiling()}, objective_range=(0, 1)),
            sf.MeasuredArms({"quality": ARMS, "cost": COST}, "quality", {"quality": 0.7}),
            "what the default draws of cost; give MeasuredArms(..., default={...})",
        ),
    ],
)
def test_what_does_not_fit_is_named(agent, env, words):
    with pytest.raises(InvalidInput) as caught:
        Plan({"a": agent}, env, 50)
    assert words in str(caught.value)
