"""Several measures a play: floors by name and ceilings on costs, in every driver."""

import copy
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from stopping import Kept
from surefoot.errors import InvalidInput
from surefoot.simulation import Plan, stages, stepwise
from surefoot.simulation.runner import choose, kind_of

ARMS = 3
QUALITY = sf.BernoulliArms([0.9, 0.8, 0.5])
COST = sf.EmpiricalArms([[0.03], [0.01, 0.02], [0.001]])
WEIGHTS = {"quality": 1, "cost": -20}
FLOOR = sf.RewardFloor(0.82, 0.05)
CEILING = sf.CostCeiling(0.012, 0.2, (0, 0.05))


def world(**changed):
    given = {"measures": {"quality": QUALITY, "cost": COST}, "objective": WEIGHTS}
    return sf.MeasuredArms(**given | {"default": {"quality": 0.82, "cost": 0.012}} | changed)


def guarded(policy=None, floors=None, **settings):
    given = {"objective_range": (-1, 1)} | settings
    floors = {"quality": FLOOR, "cost": CEILING} if floors is None else floors
    return sf.GenCB(sf.UCB1(ARMS) if policy is None else policy, floors, **given)


def live(plan, name):
    return stepwise.drive(
        plan.agents[name], plan.environment, plan.tops[name], plan.key(0),
        plan._stream(0, 1), plan.checkpoints, lambda: False,
    )  # fmt: skip


def assert_same(one, other):
    assert np.flatnonzero((one.books != other.books).any(axis=1)).tolist() == []
    assert np.array_equal(one.floors, other.floors)
    np.testing.assert_allclose(one.losses, other.losses, rtol=1e-11, atol=1e-9)


hundredths = st.integers(0, 100).map(lambda n: n / 100)
rewards = st.lists(st.lists(hundredths, min_size=1, max_size=3), min_size=ARMS, max_size=ARMS)


@st.composite
def floors(draw):
    default, alpha = draw(st.integers(1, 99)) / 100, draw(st.integers(1, 99)) / 100
    kind = draw(st.sampled_from([sf.RewardFloor, sf.CostCeiling]))
    own = {"places": draw(st.sampled_from([None, 1, 2])), "reserve": draw(st.sampled_from([0, 2]))}
    return kind(default, alpha, (0, 1), **own, margin=draw(st.sampled_from([0.1, 0.3])))


def test_an_environment_of_ones_own_may_say_its_ranges_in_floats():
    env = world()
    own = copy.copy(env)
    vars(own)["ranges"] = {name: tuple(map(float, ends)) for name, ends in env.ranges.items()}
    ceiling = sf.CostCeiling(0.012, 0.2, env.ranges["cost"])
    agents = {"it": guarded(floors={"quality": FLOOR, "cost": ceiling})}
    found, wanted = (Plan(agents, one, 60, 0).run(0, choose("plain"))["it"] for one in (own, env))
    assert_same(found, wanted)
    vars(own)["ranges"] = {"quality": (0, 1), "cost": 0.05}
    with pytest.raises(InvalidInput, match=r"^ranges\['cost'\] = 0.05 of the environment must be"):
        Plan(agents, own, 60, 0)


@settings(max_examples=25)
@given(rewards, rewards, st.lists(floors(), min_size=2, max_size=2), st.booleans(), st.data())
def test_three_drivers_make_the_same_plays_under_several_floors(one, other, both, competes, data):
    env = sf.MeasuredArms({"a": sf.EmpiricalArms(one), "b": sf.EmpiricalArms(other)}, {"b": -1})
    names = data.draw(st.sampled_from([["a"], ["b"], ["a", "b"], ["b", "a"]]))
    named = dict(zip(names, both, strict=False))
    agents = {"UCB1": guarded(floors=named, default_objective=-0.3, default_competes=competes)}
    plan = Plan(agents, env, 150, data.draw(st.integers(0, 99)), "all")
    assert not plan.stepwise
    fast, plain = (plan.run(0, choose(engine))["UCB1"] for engine in ("compiled", "plain"))
    assert_same(fast, plain)
    assert_same(fast, live(plan, "UCB1"))
    assert (fast.floors[:, :, 1] >= 0).all()


@settings(max_examples=15)
@given(rewards, floors(), st.data())
def test_three_drivers_make_the_same_plays_under_one_ceiling(costs, floor, data):
    given = {"reserve": floor.reserve, "margin": floor.margin, "places": floor.places}
    ceiling = sf.CostCeiling(floor.default, floor.alpha * 2, (0, 1), **given)
    agents = {"UCB1": sf.GenCB(sf.UCB1(ARMS), ceiling)}
    plan = Plan(agents, sf.EmpiricalArms(costs), 150, data.draw(st.integers(0, 99)), "all")
    assert not plan.stepwise
    fast, plain = (plan.run(0, choose(engine))["UCB1"] for engine in ("compiled", "plain"))
    assert_same(fast, plain)
    assert_same(fast, live(plan, "UCB1"))
    assert (fast.books[:, 3] >= 0).all()


def test_a_floor_named_reward_guards_the_objective_that_is_so_named():
    env = sf.MeasuredArms({"reward": QUALITY, "cost": COST}, "reward")
    agents = {"a": sf.GenCB(sf.UCB1(ARMS), {"reward": FLOOR, "cost": CEILING})}
    plan = Plan(agents, env, 100, 1, "all")
    assert_same(plan.run(0, choose("compiled"))["a"], live(plan, "a"))


def test_each_account_is_what_its_measures_and_terms_add_up_to():
    env = world()
    result = sf.simulate({"a": guarded()}, env, 300, seed=3, checkpoints="all", engine="plain")
    key, turn = result.plan.key(0), 0
    slack = {"quality": Fraction(0), "cost": Fraction(0)}
    objective = Fraction(0)
    for t, arm in enumerate(result.runs[0]["a"].books[:, 6].tolist()):
        turn += arm >= 0
        if arm >= 0:
            paid = env.pull_measures(key, turn, arm)
            slack["quality"] += Fraction(str(paid["quality"])) - Fraction(779, 1000)
            slack["cost"] += Fraction(144, 10_000) - Fraction(str(paid["cost"]))
            objective += Fraction(str(env.pull(key, turn, arm)))
        else:
            slack["quality"] += Fraction(41, 1000)
            slack["cost"] += Fraction(24, 10_000)
            objective += Fraction(58, 100)
        for name, amount in slack.items():
            assert result.measure("a", "slack", name)[0, t] == pytest.approx(float(amount))
        assert result.measure("a", "received")[0, t] == pytest.approx(float(objective))


def test_measures_of_a_result_are_those_of_each_floor():
    agents = {"both": guarded(), "one": sf.GenCB(sf.UCB1(ARMS), sf.RewardFloor(0.5, 0.1, (-1, 1)))}
    result = sf.simulate(agents, world(), 400, runs=2, seed=1, engine="plain")
    summary = result.summary()["both"]
    assert [column for column in summary if "_" in column] == [
        "default_plays", "violating_rounds",
        "received_quality", "minimum_slack_quality", "violating_rounds_quality",
        "received_cost", "minimum_slack_cost", "violating_rounds_cost",
    ]  # fmt: skip
    assert summary["violating_rounds"]["max"] == summary["violating_rounds_cost"]["max"] == 0
    assert float(result.exact_minimum_slack("both", "cost")) == pytest.approx(
        summary["minimum_slack_cost"]["min"]
    )
    assert result.violating_runs("both") == result.violating_runs("both", "quality") == 0
    spent = result.measure("both", "received", "cost")[:, -1]
    assert summary["received_cost"]["max"] == spent.max()
    assert spent + result.measure("both", "slack", "cost")[:, -1] == pytest.approx(400 * 0.0144)
    frame = result.frame
    own = frame.filter(frame["agent"] == "both")
    assert own["slack"].null_count() == own["minimum_slack"].null_count() == len(own)
    assert own["slack_cost"].null_count() == own["violating_rounds"].null_count() == 0
    other = frame.filter(frame["agent"] == "one")
    assert other["slack_cost"].null_count() == len(other)
    assert other["slack"].null_count() == 0
    titles = [axes.get_title(loc="left") for axes in result.plot(["slack"]).axes]
    assert titles == ["Above the floor: quality", "Below the ceiling: cost", "Above the floor"]


def test_columns_of_single_floors_are_what_they_were():
    agents = {"one": sf.GenCB(sf.UCB1(ARMS), sf.RewardFloor(0.5, 0.1, (-1, 1)))}
    frame = sf.simulate(agents, world(), 20, engine="plain").frame
    assert frame.columns == [
        "agent", "run", "t", "regret", "default_plays", "received", "slack", "minimum_slack",
        "violating_rounds",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("slack",), "slack of agent 'a': each floor has its own: give floor=, one of 'quality'"),
        (("regret", "cost"), "it is of the whole agent: leave floor= out"),
        (("slack", "price"), "floor = 'price' must be one of 'quality', 'cost'"),
        (("regret_exact",), "measure = 'regret_exact' must be one of"),
    ],
)
def test_what_several_floors_do_not_have_is_named(asked, words):
    result = sf.simulate({"a": guarded()}, world(), 20, engine="plain")
    with pytest.raises(InvalidInput) as caught:
        result.measure("a", *asked)
    assert words in str(caught.value)
    with pytest.raises(InvalidInput, match="floor = None must be one of"):
        result.exact_minimum_slack("a")


def test_a_ceilings_amounts_are_costs_and_its_regret_is_what_was_paid_too_much():
    agents = {
        "guarded": sf.GenCB(sf.UCB1(ARMS), CEILING),
        "plain": sf.Plain(sf.UCB1(ARMS), CEILING),
    }
    result = sf.simulate(agents, COST, 500, seed=1, engine="plain")
    assert result.engines["guarded"] == "plain"
    plays = result.measure("guarded", "default_plays")[0, -1]
    assert result.plan.default_gap("guarded") == pytest.approx(0.012 - 0.001)
    spent = result.measure("guarded", "received")[0, -1]
    slack = result.measure("guarded", "slack", "cost")[0, -1]
    assert spent + slack == pytest.approx(500 * 0.0144)
    assert result.summary()["guarded"]["violating_rounds"]["max"] == 0 < plays
    assert result.summary()["plain"]["minimum_slack"]["min"] < 0
    assert result.plot(["slack"]).axes[0].get_ylabel() == "cost below the ceiling"


def test_delays_keep_the_promises_and_measures_may_come_apart():
    late = world(measures={"quality": sf.Delayed(QUALITY, (0, 60)), "cost": COST}, objective="cost")
    agents = {"a": guarded(default_objective=0.012, objective_range=(0, 0.05))}
    for env in (late, sf.Delayed(world(objective="cost"), (0, 60))):
        result = sf.simulate(agents, env, 600, runs=2, seed=1, engine="plain")
        assert result.engines == {"a": "stepwise"}
        assert result.violating_runs("a") == 0
        assert 0 < result.measure("a", "default_plays").max() < 600
    early = sf.simulate(agents, world(objective="cost"), 600, runs=2, seed=1, engine="plain")
    at_once, later = (each.measure("a", "default_plays")[:, -1] for each in (early, result))
    assert at_once.max() < later.min()


def test_nothing_is_out_of_range_and_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan = Plan({"a": guarded()}, world(), 200, 1, "all")
        live(plan, "a")


def test_agents_of_one_policy_share_their_turns_whatever_their_floors():
    agents = {
        "both": guarded(default_objective=0.58, default_competes=False),
        "quality": guarded(floors={"quality": FLOOR}, default_competes=False),
        "none": sf.Plain(sf.UCB1(ARMS), sf.RewardFloor(0.58, 0.1, (-1, 1))),
    }
    assert len(Plan(agents, world(), 100, 0).paths) == 1


class Learner:
    """A policy of one's own."""

    n_arms = ARMS
    contextual = False

    def __init__(self):
        self.turns = 0

    def select(self, context, rng):
        self.turns += 1
        return self.turns % ARMS

    def update(self, arm, reward, context):
        pass

    def state(self):
        return {"turns": self.turns}

    def restore(self, state):
        self.turns = state["turns"]


@pytest.mark.parametrize("policy", [Learner, lambda: sf.UCB1(ARMS)])
@pytest.mark.parametrize("late", [False, True])
def test_a_run_goes_on_from_what_was_kept_of_it(policy, late, monkeypatch):
    monkeypatch.setattr(stages, "BLOCK", 20)
    quality = sf.Delayed(QUALITY, (0, 40)) if late else QUALITY
    env = world(measures={"quality": quality, "cost": COST}, objective="cost")
    agents = {"a": guarded(policy(), objective_range=(0, 0.05), default_objective=0.012)}
    plan = Plan(agents, env, 300, 1)
    whole, keeper = plan.run(0, choose("plain")), Kept(150 if plan.stepwise else 2)
    plan.run(0, choose("plain"), keeper=keeper)
    assert keeper.state is not None
    assert_same(whole["a"], plan.run(0, choose("plain"), keeper=keeper)["a"])


@pytest.mark.parametrize(
    ("agents", "env", "words"),
    [
        ({"a": guarded(floors={"speed": FLOOR})}, world(), "a floor named 'speed'"),
        ({"a": guarded()}, QUALITY, "it pays one reward a play; give one that has: MeasuredArms"),
        (
            {"a": guarded(floors={"cost": sf.CostCeiling(0.012, 0.2, (0, 0.02))})}, world(),
            "cost of the environment comes to (0.001, 0.03), outside the cost_range (0, 0.02)",
        ),
        ({"a": guarded(objective_range=(0, 1))}, world(), "outside the objective_range (0, 1)"),
        (
            {"a": guarded(floors={"quality": FLOOR})}, world(default=None),
            "nothing says what the default brings",
        ),
        (
            {"a": sf.GenCB(sf.UCB1(ARMS), CEILING), "b": sf.Plain(sf.UCB1(ARMS))}, COST,
            "some agents have a CostCeiling, which takes the environment's draws as costs",
        ),
        (
            {"a": sf.GenCB(sf.UCB1(ARMS), CEILING)},
            sf.MeasuredArms({"x": COST, "y": COST}, "x"), "give the ceiling a name",
        ),
        (
            {"a": guarded(floors={"quality": sf.RewardFloor(None, 0.1)})}, world(),
            "has a floor without one known default",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(agents, env, words):
    with pytest.raises(InvalidInput) as caught:
        Plan(agents, env, 50)
    assert words in str(caught.value)


def test_what_is_compiled_ahead_is_named_by_the_measures_too():
    pytest.importorskip("numba")
    one, other = (
        Plan({"a": guarded(floors={"x": FLOOR}, default_objective=0.1)}, env, 9)
        for env in (
            sf.MeasuredArms({"o": COST, "x": QUALITY}, "o"),
            sf.MeasuredArms({"o": COST, "x": COST}, "o"),
        )
    )
    assert kind_of(one) != kind_of(other)


def test_what_max_slack_forfeits_was_received_all_the_same():
    arms = {"quality": sf.BernoulliArms([0.9, 0.8]), "cost": sf.BernoulliArms([0.2, 0.3])}
    env = sf.MeasuredArms(arms, "quality", default={"quality": 0.5, "cost": 0.5})
    floor = sf.RewardFloor(0.5, 0.2, max_slack=3)
    floors = {"quality": floor, "cost": sf.CostCeiling(0.5, 0.2, (0, 1), max_slack=2)}
    agents = {
        "two": sf.GenCB(sf.UCB1(2), floors, objective_range=(0, 1)),
        "one": sf.GenCB(sf.UCB1(2), floor),
    }
    result = sf.simulate(agents, env, 300, runs=2, seed=0)
    received = result.measure("two", "received", "quality")
    assert received == pytest.approx(result.measure("two", "received"))  # defaults as they are
    assert (result.measure("two", "slack", "quality")[:, -1] < 4).all()
    spent = result.measure("two", "received", "cost")[:, -1]
    assert ((spent > 50) & (spent < 110)).all()
    assert (result.measure("one", "received")[:, -1] > 230).all()
