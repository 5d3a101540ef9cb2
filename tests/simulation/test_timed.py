"""Rewards that come late and arms that drift, play by play, against a twin that counts anew."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from late import ARMS, DRIFT, assert_is, floors, timed, twin
from naive import simulate as naive
from surefoot.errors import InvalidInput
from surefoot.simulation.loop import ARM, LEAST, SLACK
from surefoot.simulation.plan import Plan
from surefoot.simulation.runner import choose

SEEDS = st.integers(0, 99)


class Naive:
    """UCB1 of one's own; it hears of a play when its reward comes."""

    contextual, unit_rewards = False, True

    def __init__(self, n_arms):
        self.n_arms, self.m = n_arms, 0
        self.plays, self.sums = [0] * n_arms, [0] * n_arms

    def best(self, context, rng, allowed=None):
        self.m += 1
        return naive.best(self.plays, self.sums, self.m)

    def select(self, context, rng):
        return self.best(context, rng)[0]

    def update(self, arm, reward, context):
        self.plays[arm] += 1
        self.sums[arm] += Fraction(reward).limit_denominator(1000)

    def state(self):
        return vars(self)

    def restore(self, state):
        vars(self).update(state)


@settings(max_examples=25)
@given(
    timed(ARMS, DRIFT) | st.sampled_from([ARMS, DRIFT]),
    floors(),
    st.booleans(),
    st.booleans(),
    st.integers(0, 99),
)
def test_a_live_run_is_that_of_the_twin(environment, floor, guarded, competes, seed):
    policy = Naive(environment.n_arms)
    agent = sf.GenCB(policy, floor, default_competes=competes)
    if not guarded:
        agent = sf.Plain(policy, floor)
    plan = Plan({"it": agent}, environment, 130, seed, "all")
    trace = plan.run(0, choose("plain"))["it"]
    assert_is(trace, twin(agent, plan, environment, 130), 10**floor.places)
    if guarded:
        assert trace.books[-1, LEAST] >= 0


def test_no_delay_is_the_plain_simulation():
    agents = {"it": sf.GenCB(sf.UCB1(3), sf.RewardFloor(0.5, 0.2))}
    worlds = (ARMS, sf.Delayed(ARMS, 0), sf.Batched(ARMS, 1))
    traces = [Plan(agents, world, 500, 3, "all").run(0, choose("plain"))["it"] for world in worlds]
    for trace in traces[1:]:
        assert (trace.books == traces[0].books).all()
        np.testing.assert_allclose(trace.losses, traces[0].losses)


def test_what_is_out_at_the_horizon_stays_open():
    env = sf.Delayed(sf.BernoulliArms([1.0]), 1000)
    agent = sf.GenCB(sf.UCB1(1), sf.RewardFloor(0.5, 0.5))
    result = sf.simulate({"it": agent}, env, 100, seed=1, engine="plain")
    plays = 100 - result.measure("it", "default_plays")[0, -1]
    assert plays == 50  # each second play, since nothing of what was explored came back
    assert result.exact_minimum_slack("it") == 0
    assert result.measure("it", "received")[0, -1] == 25  # the default's part alone


def test_regret_under_drift_is_against_the_best_of_each_play():
    env = sf.Drifting(sf.BernoulliArms([0.9, 0.1]), {11: [0.3, 0.4]})
    agents = {
        "guarded": sf.GenCB(sf.UCB1(2), sf.RewardFloor(0.5, 0.001)),  # never explores by then
        "free": sf.Plain(sf.UCB1(2)),
    }
    result = sf.simulate(agents, env, 20, seed=2, checkpoints="all", engine="plain")
    regret = result.measure("guarded", "regret")[0]
    assert regret[9] == pytest.approx(10 * 0.4)
    assert regret[-1] == pytest.approx(10 * 0.4)  # then the default is the best there is
    arms = result.runs[0]["free"].books[:, ARM]
    means = [env.value(arm, t) for t, arm in enumerate(arms, 1)]
    lost = np.cumsum([env.best_at(t) - mean for t, mean in enumerate(means, 1)])
    np.testing.assert_allclose(result.measure("free", "regret")[0], lost)
    assert result.summary()["guarded"]["violating_rounds"]["max"] == 0


def test_super_arms_and_mean_variance_floors_wait_too():
    world = sf.CombinatorialArms([[1, 0], [0, 1], [0.5, 0.5]], [0.25, 0.5], sf.TopK(2))
    agents = {"C2UCB": sf.gencb_cccb([[1, 0], [0, 1], [0.5, 0.5]], sf.TopK(2), 0.6, 0.3)}
    result = sf.simulate(agents, sf.Delayed(world, 5), 150, seed=1, engine="plain")
    assert result.summary()["C2UCB"]["violating_rounds"]["max"] == 0
    assert result.measure("C2UCB", "default_plays")[0, -1] < 150
    floor = sf.MeanVarianceFloor(0.5, 0.5, rho=2)
    risky = {"MV": sf.GenCB(sf.MVUCB(3, rho=2), floor)}
    late, at_once = (
        sf.simulate(risky, world, 150, seed=1, engine="plain")
        for world in (sf.Batched(ARMS, 10), ARMS)
    )
    assert late.exact_minimum_slack("MV") >= 0
    assert late.engines == {"MV": "stepwise"}
    pairs = [one.measure("MV", "default_plays")[0, -1] for one in (late, at_once)]
    assert pairs[1] < pairs[0] < 150


def test_mean_variance_regret_has_no_meaning_under_drift():
    floor = sf.MeanVarianceFloor(0.5, 0.5, rho=2)
    with pytest.raises(InvalidInput, match="the environment drifts; give it a RewardFloor"):
        sf.simulate({"MV": sf.GenCB(sf.MVUCB(3, rho=2), floor)}, DRIFT, 10)


class Backwards(sf.BernoulliArms):
    def arrival(self, key, play):
        return self.due(play)


@pytest.mark.parametrize("due", [0, 1.5, True, None])
def test_an_environment_whose_rewards_come_before_their_play_is_refused(due):
    env = Backwards([0.9, 0.2])
    env.due = lambda t: due
    agents = {"it": sf.Plain(sf.UCB1(2))}
    with pytest.raises(InvalidInput, match=r"arrival\(\d+, 1\) of the environment is .* play 1"):
        sf.simulate(agents, env, 10, seed=1)


def test_an_environment_of_ones_own_says_when_its_rewards_arrive():
    env = Backwards([0.9, 0.5, 0.4])
    env.due = lambda t: t + 7
    floor = sf.RewardFloor(0.5, 0.2)
    ours, theirs = (
        Plan({"it": sf.GenCB(sf.UCB1(3), floor)}, world, 300, 3, "all").run(0, choose("plain"))
        for world in (sf.Delayed(ARMS, 7), env)
    )
    assert (ours["it"].books == theirs["it"].books).all()


def test_an_environment_that_drifts_says_its_best():
    env = sf.BernoulliArms([0.9, 0.2])
    env.drifts = True
    with pytest.raises(InvalidInput, match=r"lacks best_at\(\.\.\.\)"):
        sf.simulate({"it": sf.Plain(sf.UCB1(2))}, env, 10)


def test_the_promise_counts_what_is_out_at_its_worst():
    """With rewards of 1 to come, an agent that counted on them would explore earlier."""
    env = sf.Delayed(sf.BernoulliArms([1.0]), 30)
    agent = sf.GenCB(sf.UCB1(1), sf.RewardFloor(0.5, 0.1))
    books = (
        sf.simulate({"it": agent}, env, 60, 1, 1, checkpoints="all", engine="plain")
        .runs[0]["it"]
        .books
    )
    explored = np.flatnonzero(books[:, ARM] >= 0) + 1
    assert explored[:4].tolist() == [10, 20, 30, 40]  # one in ten until the first comes back
    assert books[:, SLACK].min() >= 0
    assert Decimal(int(books[38, SLACK])) == 5 * 10**7 * 36 - 3 * 45 * 10**7
