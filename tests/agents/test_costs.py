"""An agent under a ceiling is told costs, speaks of costs, and its policy learns what is spared."""

import math
from decimal import Decimal

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput, PlayConflict, RewardOutOfRange


def agent(policy=None, **settings):
    given = {"default": 0.012, "alpha": 0.5, "cost_range": (0, 0.05), **settings}
    return sf.GenCB(policy or sf.UCB1(2), sf.CostCeiling(**given), seed=1)


def played(ours, plays, cost=0.01):
    for _ in range(plays):
        play = ours.select()
        ours.update(play) if play.is_default else ours.update(play, cost=cost)
    return ours


def test_it_is_the_agent_under_the_floor_on_the_negated_costs():
    """Play by play: the same arms, the same slack, the same scores."""
    for policy in (sf.UCB1, sf.Thompson):
        rng = np.random.default_rng(3)
        ceiling = sf.GenCB(policy(3), sf.CostCeiling(0.4, 0.3, (0, 1), margin=0.01), seed=7)
        floor = sf.GenCB(
            policy(3), sf.RewardFloor(-0.4, 0.3, reward_range=(-1, 0), margin=0.01), seed=7
        )
        for _ in range(300):
            ours, theirs = ceiling.select(), floor.select()
            assert ours == theirs._replace(binding=ours.binding)
            cost = float(rng.random()) if not ours.is_default else None
            ceiling.update(ours, cost=cost)
            floor.update(theirs, None if cost is None else -cost)
        assert ceiling.account.slack == floor.account.slack
        assert ceiling.account.spent == -floor.account.earned
        assert ceiling.account.allowed == -floor.account.required


def test_a_linear_policy_learns_minus_the_cost():
    learned = []

    class Spy(sf.LinUCB):
        def update(self, arm, reward, context=None):
            learned.append(reward)
            super().update(arm, reward, context)

    ours = agent(Spy(arms=[[1.0, 0.0], [0.0, 1.0]]), reserve=1)
    ours.default_competes = False
    ours.update(ours.select(), cost=0.02)
    assert learned == [-0.02]


def test_what_it_says_is_in_costs():
    ours = played(agent(), 6)
    play = ours.select()
    assert ours.explain(play) == (
        "Play 6 explores arm 0, which scores inf: it may cost 0.05, 0.032 above the 0.018 it is "
        "allowed, and the slack is 0.036, so at worst 0.004 is left."
    )
    shut = agent().select()
    assert "an exploration could cost 0.05, 0.032 above the 0.018 it is allowed" in agent().explain(
        shut
    )
    says = ours.account
    assert (says.spent, says.allowed, says.slack) == (
        Decimal("0.072"), Decimal("0.108"), Decimal("0.004"),
    )  # fmt: skip
    assert ours.accounts == {"cost": says}
    assert type(says).from_json(says.to_json()) == says
    assert list(sf.GenCB(sf.UCB1(2), sf.RewardFloor(0.5, 0.5)).accounts) == ["reward"]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"reward": 1}, "reward = 1: under a single CostCeiling a play is reported by its cost"),
        ({"cost": 1, "reward": 1}, "reward = 1: under a single CostCeiling"),
        ({"base_rewards": [1]}, r"base_rewards = \[1\]: under a single CostCeiling"),
        ({"cost": math.nan}, "cost of play 6 must be finite, got nan"),
        ({"cost": "1"}, "cost of play 6 must be a number, got '1'"),
        ({"measures": {"cost": 1}}, "this one has one; give cost"),
        ({}, "pass its cost, or report that there is none"),
    ],
)
def test_what_is_refused_changes_nothing(told, message):
    ours = played(agent(), 6)
    play, before = ours.select(), ours.account
    with pytest.raises(InvalidInput, match=message):
        ours.update(play, **told)
    assert ours.account == before


def test_a_cost_is_refused_under_a_floor_on_rewards():
    ours = sf.GenCB(sf.UCB1(2), sf.RewardFloor(0.5, 0.5))
    with pytest.raises(InvalidInput, match=r"cost = 1 is told to an agent under a CostCeiling"):
        ours.update(ours.select(), cost=1)


@pytest.mark.parametrize("cost", [np.uint8(0), np.float32(0.25), Decimal("0.03"), -0.0, 0])
def test_any_number_is_a_cost(cost):
    ours = agent(cost_range=(0, 1), reserve=1)
    assert ours.update(ours.select(), cost=cost) is sf.Outcome.BOOKED
    assert ours.account.spent == Decimal(str(cost)).copy_abs()


def test_costs_are_counted_up_and_those_outside_the_range_are_named():
    ours = agent(reserve=1, places=3)
    first, second, third = ours.select_many(3)
    ours.update(first, cost=0.0101)
    assert ours.account.spent == Decimal("0.011")
    with pytest.warns(RewardOutOfRange, match=r"cost 0\.07 of play 1 is above c_max = 0\.05"):
        assert ours.update(second, cost=0.07) is sf.Outcome.BREACH
    with pytest.warns(RewardOutOfRange, match=r"cost -1 of play 2 is below c_min = 0: it counts"):
        assert ours.update(third, cost=-1) is sf.Outcome.CAPPED
    with pytest.raises(PlayConflict, match=r"cost 0\.08 contradicts it"):
        ours.update(second, cost=0.08)
    assert ours.account.spent == Decimal("0.081")
    ours.acknowledge(third)
    assert ours.account.spent == Decimal("-0.919")


def test_defaults_alpha_and_reserve_change_in_costs(tmp_path):
    ours = agent(default=None, reserve=1)
    play = ours.select(default=0.02)
    assert play.terms.value == -20_000_000
    ours.change(alpha=1.5, margin=0.001, default=0.01)
    ours.add_reserve(2)
    with pytest.raises(InvalidInput, match=r"cost_range = \(0, 1\) cannot change: UCB1 has"):
        ours.change(cost_range=(0, 1))
    with pytest.raises(InvalidInput, match=r"reward_range = \(0, 1\) cannot change"):
        ours.change(reward_range=(0, 1))
    ours.save(tmp_path / "agent.json")
    again = sf.load(tmp_path / "agent.json")
    assert again.floor == ours.floor
    assert again.account == ours.account
    assert again.explain(play.id) == ours.explain(play)
    again.update(play, cost=0.04)


def test_a_varying_default_cost_is_told_its_draws():
    ours = agent(default=(0.01, 0.02), alpha=0.1, reserve=0)
    play = ours.select()
    ours.update(play)
    assert ours.account.slack == Decimal("0.001")  # .1 * the least that any draw costs
    ours.update(play, cost=0.02)
    assert ours.account.slack == Decimal("0.002")
    with pytest.warns(RewardOutOfRange, match=r"cost 0\.03 of the default .* above it, it may"):
        ours.update(ours.select(), cost=0.03)


IDLE = [
    (sf.RewardFloor(0.5, 0), "may lose 0.5, a default play brings 0 and the reserve is 0"),
    (sf.RewardFloor(0, 0.5, (-1, 1)), "give a margin or a reserve above 0"),
    (sf.RewardFloor(0.5, 1e-12), "give more places, or a reserve"),
    (sf.RewardFloor((0, 0.5), 0), "would never let a play explore"),
    (sf.RewardFloor(None, 0), "alpha, margin and reserve are all 0"),
    (sf.CostCeiling(0.5, 0, (0, 1)), "may cost 0.5 more than allowed, a default play brings 0"),
    (sf.RewardFloor(0.5, 0, reserve=0.4), "the reserve is 0.4"),
    (sf.RewardFloor(0.5, 0.2, max_slack=0.3), "max_slack = 0.3 .* may lose 0.4; give at least"),
    (sf.CostCeiling(0.5, 0, (0, 1), 9, max_slack=0.4), "may cost 0.5 more than allowed; give at"),
    (sf.RewardFloor(sf.LearnedDefault((0.3, 0.6)), 0, reserve=0.2), "may lose 0.3, .* is 0.2"),
]


@pytest.mark.parametrize(("floor", "message"), IDLE, ids=[message for _, message in IDLE])
def test_what_could_never_explore_is_refused_at_the_first_decision(floor, message):
    ours = sf.GenCB(sf.UCB1(2), floor)
    with pytest.raises(InvalidInput, match=message):
        ours.select(default=0.5 if floor.default is None else None)
    assert ours.books.plays.next_id == 0


@pytest.mark.parametrize(
    "floor",
    [
        sf.RewardFloor(0.5, 0, reserve=0.5),
        sf.RewardFloor(0.5, 0, margin=0.01),
        sf.RewardFloor(0.5, 0, reward_range=(0.5, 1)),
        sf.RewardFloor((0, 0.5), 0.1),  # its draws may bring something
        sf.RewardFloor(-0.5, 0.1, (-1, 1)),
        sf.RewardFloor(0.5, 0.2, max_slack=0.4),
        # The ends of a mean move.
        sf.CostCeiling(sf.LearnedDefault((0, 0.05)), 0.1, (0, 0.05)),
        sf.RewardFloor(sf.LearnedDefault((-1, 0)), 0.1, (-1, 1)),
        sf.RewardFloor(sf.LearnedDefault((0, 1)), 0.1, (-1, 1)),
        sf.RewardFloor(sf.LearnedDefault((0.3, 0.6)), 0, reserve=0.3),
    ],
)
def test_what_may_explore_one_day_is_not_refused(floor):
    sf.GenCB(sf.UCB1(2), floor).select()


def test_a_running_agent_may_give_up_nothing_more():
    ours = sf.GenCB(sf.UCB1(2), sf.RewardFloor(0.5, 0.5))
    ours.update(ours.select())
    ours.change(alpha=0)
    assert ours.select().is_default


def test_a_year_of_savings_is_not_spent_in_a_week():
    ours = sf.GenCB(sf.UCB1(2), sf.RewardFloor(0.5, 0.5, max_slack=1), seed=0)
    ours.pause()
    for _ in range(40):
        ours.update(ours.select())
    assert ours.account.slack == Decimal("1.25")  # what was reported since the last decision
    ours.resume()
    assert ours.select().slack == 1
    assert ours.account.forfeited == 9
    ours.change(max_slack=None)
    for _ in range(8):
        play = ours.select()
        ours.update(play, reward=None if play.is_default else 1.0)
    assert ours.account.slack > 1


def test_policies_of_super_arms_need_rewards():
    policy = sf.C2UCB([[1.0, 0.0], [0.0, 1.0]], sf.TopK(1))
    with pytest.raises(InvalidInput, match="C2UCB learns from base_rewards"):
        sf.GenCB(policy, sf.CostCeiling(0.5, 0.5, (0, 1)))


def test_a_log_of_costs_is_learned():
    ours = agent(cost_range=(0, 1), default=0.5)
    assert ours.learn({"arm": [0, 0, 1], "paid": [0.25, 0.75, 1.0]}, reward="paid") == 3
    plays, sums, _ = ours.policy.state()["arms"]
    assert (plays, sums) == ([2, 1], [10**9, 0])  # of what is spared of c_max = 1
    with pytest.raises(InvalidInput, match="outside"):
        agent(cost_range=(0, 1), default=0.5).learn({"arm": [0], "paid": [-1]}, reward="paid")


def test_a_ceiling_among_several_floors_is_told_costs():
    floors = {"quality": sf.RewardFloor(0.8, 0.5), "cost": sf.CostCeiling(0.4, 0.5, (0, 1))}
    ours = sf.GenCB(sf.UCB1(2), floors, seed=1, objective_range=(0, 1))
    while (play := ours.select()).is_default:
        ours.update(play)
    assert "the slack of cost is" in ours.explain(play)
    assert "it may cost 1, 0.4 above the 0.6 it is allowed" in ours.explain(play)
    defaults = ours.accounts["cost"].default_plays
    with pytest.raises(InvalidInput, match=r"cost of play .* must be finite"):
        ours.update(play, measures={"cost": math.inf})
    with pytest.warns(RewardOutOfRange, match=r"cost 1\.5 of play .* is above c_max = 1"):
        ours.update(play, reward=0.5, measures={"quality": 0.9, "cost": 1.5})
    says = ours.accounts["cost"]
    assert says.spent == Decimal("0.4") * defaults + Decimal("1.5")
    idle = {**floors, "cost": sf.CostCeiling(0.4, 0, (0, 1))}
    with pytest.raises(InvalidInput, match=r"'cost': CostCeiling.* would never let a play explore"):
        sf.GenCB(sf.UCB1(2), idle, objective_range=(0, 1)).select()


def test_each_of_several_floors_forfeits_what_is_above_its_own_most():
    floors = {"quality": sf.RewardFloor(0.8, 0.5, max_slack=1), "cost": sf.RewardFloor(0.4, 0.5)}
    ours = sf.GenCB(sf.UCB1(2), floors, seed=1, objective_range=(0, 1))
    ours.pause()
    for _ in range(10):
        ours.update(ours.select())
    ours.select()
    assert ours.accounts["quality"].slack == 1
    assert ours.accounts["quality"].forfeited == 3
    assert (ours.accounts["cost"].slack, ours.accounts["cost"].forfeited) == (2, 0)
