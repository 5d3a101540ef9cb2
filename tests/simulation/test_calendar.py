"""Mean-variance agents make the same plays live, in plain Python, compiled, and all in integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.simulation import calendar, mean_variance, stepwise
from surefoot.simulation.plan import Plan
from surefoot.simulation.runner import choose

RANGES = [(0, 1), (0, 2), (-1, 2), (-3, 5)]


def agents(floor, K):
    low_high = floor.reward_range

    def policy():
        return sf.MVUCB(K, floor.rho, low_high)

    return {
        "printed": sf.GenCB(policy(), floor, default_competes=False),
        "competing": sf.GenCB(policy(), floor),
        "plain": sf.Plain(policy(), floor),
        "UCB1": sf.GenCB(sf.UCB1(K), floor, default_competes=False),
    }


@st.composite
def plans(draw):
    low, high = draw(st.sampled_from(RANGES))
    mu0 = draw(st.integers(1, 10 * high).map(lambda n: n / 10))
    alpha = draw(st.integers(1, 9).map(lambda n: n / 10))
    rho = draw(st.sampled_from([0.1, 1, 4, 10, 60]))
    try:
        check = draw(st.sampled_from(["viable", "exact", "paper"]))
        floor = sf.MeanVarianceFloor(mu0, alpha, rho, (low, high), check)
    except sf.errors.InvalidInput:
        floor = sf.MeanVarianceFloor(mu0, alpha, rho, (low, high))
    tenths = st.integers(10 * low, 10 * high).map(lambda n: n / 10)
    paid = [draw(st.lists(tenths, min_size=1, max_size=4)) for _ in range(3)]
    frame = {
        "arm": [arm for arm, rewards in enumerate(paid) for _ in rewards],
        "reward": [reward for rewards in paid for reward in rewards],
    }
    environment = sf.BernoulliArms([0.9, 0.5, 0.7])
    if floor.places == 9 and draw(st.booleans()):
        environment = sf.ReplayLog(frame)
    horizon, seed = draw(st.integers(1, 200)), draw(st.integers(0, 99))
    return Plan(agents(floor, 3), environment, horizon, seed, "all")


def same(one, other):
    assert [*zip(*np.nonzero(one.books != other.books), strict=True)] == []
    # The compiled sums are added chunk by chunk.
    np.testing.assert_allclose(one.losses, other.losses, rtol=1e-11, atol=1e-9)


@given(plans())
def test_all_drivers_agree_at_every_play(plan):
    assert not plan.stepwise
    by_numba, by_python = plan.run(0, choose("compiled")), plan.run(0, choose("plain"))
    for name, agent in plan.agents.items():
        played = stepwise.drive(
            agent, plan.environment, plan.tops[name], plan.key(0), np.random.SeedSequence(0),
            plan.checkpoints, lambda: False,
        )  # fmt: skip
        same(by_numba[name], by_python[name])
        same(by_numba[name], played)


@pytest.mark.parametrize("check", ["viable", "exact", "paper"])
def test_a_calendar_that_doubts_everything_is_the_same(monkeypatch, check):
    floor = sf.MeanVarianceFloor(0.7, 0.1, 10, check=check)
    plan = Plan(agents(floor, 3), sf.BernoulliArms([0.9, 0.5, 0.1]), 300, 1, "all")
    expected, asked = plan.run(0, choose("compiled")), []
    rule = calendar.MomentCalendar._rule
    monkeypatch.setattr(mean_variance, "EPS", 1e9)
    monkeypatch.setattr(
        calendar.MomentCalendar, "_rule", lambda self, block: (asked.append(1), rule(self, block))
    )
    doubted = plan.run(0, choose("plain"))
    assert len(asked) > 4 * 290
    for name in plan.agents:
        same(expected[name], doubted[name])


def test_ties_are_ruled_in_integers_and_allowed():
    """alpha*rho*mu0 = 1: after 3 default plays the paper's test is 3 >= 2 + 1."""
    floor = sf.MeanVarianceFloor(0.5, 0.5, 4, check="paper")
    plan = Plan(agents(floor, 1), sf.BernoulliArms([1]), 4, 0, "all")
    for engine in ("compiled", "plain"):
        books = plan.run(0, choose(engine))["printed"].books
        assert books[:, -1].tolist() == [-1, -1, -1, 0]


def test_rewards_too_wide_for_their_squares_are_driven_play_by_play():
    wide = sf.MeanVarianceFloor(11, 0.5, 0.001, (10, 12))
    fine = sf.MeanVarianceFloor(1, 0.5, 0.001, (0, 2))
    for floor, driven in ((wide, [*agents(wide, 1)]), (fine, [])):
        paid = {"arm": [0], "reward": [floor.default]}
        assert floor.places == 9
        assert Plan(agents(floor, 1), sf.ReplayLog(paid), 5).stepwise == driven


def test_agents_of_both_kinds_of_floor_share_a_path():
    moment, total = sf.MeanVarianceFloor(0.7, 0.1, 10), sf.RewardFloor(0.7, 0.1)
    players = {
        "moments": sf.GenCB(sf.UCB1(2), moment, default_competes=False),
        "sum": sf.GenCB(sf.UCB1(2), total, default_competes=False),
    }
    plan = Plan(players, sf.BernoulliArms([0.9, 0.2]), 200, 0, "all")
    paths = {walk.scale for walk, _ in plan.paths}
    assert len(plan.paths) == len(paths)
    together = plan.run(0, choose("compiled"))
    for name, agent in players.items():
        alone = Plan({name: agent}, sf.BernoulliArms([0.9, 0.2]), 200, 0, "all")
        same(together[name], alone.run(0, choose("compiled"))[name])
