"""Arms whose plays have several measures."""

import copy
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.environments import Environment
from surefoot.environments._kernels import draw, draws_for
from surefoot.errors import InvalidInput

QUALITY = sf.BernoulliArms([0.9, 0.8, 0.5])
COST = sf.EmpiricalArms([[0.03], [0.01, 0.02], [0.001]])
WEIGHTS = {"quality": 1, "cost": -20}
TURNS = range(1, 4001)


def world(**changed):
    settings = {"measures": {"quality": QUALITY, "cost": COST}, "objective": WEIGHTS}
    return sf.MeasuredArms(**settings | changed)


def close(mean, true, variance, n):
    return abs(mean - true) < 4 * np.sqrt(variance / n)


def test_it_is_an_environment_of_its_objective():
    env = world()
    assert isinstance(env, Environment)
    assert (env.n_arms, env.reward_range) == (3, (Decimal("-0.60"), Decimal("0.980")))
    assert env.means == pytest.approx([0.3, 0.5, 0.48])
    assert (env.best, env.value(2)) == (env.means.max(), env.means[2])
    assert env.variances == pytest.approx(QUALITY.variances + 400 * COST.variances)
    assert env.ranges == {"quality": (0, 1), "cost": (Decimal("0.001"), Decimal("0.03"))}
    assert repr(env).endswith("objective={quality: 1, cost: -20})")
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert other.pull_measures(5, 3, 1) == env.pull_measures(5, 3, 1)


@given(st.integers(0, 2**64 - 1), st.integers(1, 10**9), st.integers(0, 2))
def test_the_objective_is_the_weighed_sum_of_the_measures_to_the_last_unit(key, turn, arm):
    env = world()
    paid = env.pull_measures(key, turn, arm)
    exact = Fraction(str(paid["quality"])) - 20 * Fraction(str(paid["cost"]))
    assert Fraction(str(env.pull(key, turn, arm))) == exact
    assert Fraction(draw(env.record, key, turn, arm), 10**env.places) == exact


def test_what_is_finer_than_the_books_is_rounded_down():
    env = world(objective={"cost": Decimal("-0.55"), "quality": Decimal("1e-6")})
    assert env.places == 9
    assert draws_for(env)
    paid = env.pull_measures(1, 2, 1)
    exact = Fraction(str(paid["quality"])) / 10**6 - Fraction(55, 100) * Fraction(str(paid["cost"]))
    assert draw(env.record, 1, 2, 1) == int(exact * 10**9 // 1)
    thirds = sf.EmpiricalArms([[Decimal("0.000000001")], [0], [0]])
    tiny = sf.MeasuredArms({"a": thirds}, objective={"a": Decimal("-0.3")})
    assert (tiny.pull(1, 1, 0), tiny.pull(1, 1, 1)) == (-1e-9, 0.0)


def test_the_first_measure_is_drawn_as_its_environment_alone_would_be():
    env = world(objective="quality")
    assert [env.pull(7, m, 1) for m in TURNS] == [QUALITY.pull(7, m, 1) for m in TURNS]
    assert env.best == QUALITY.best
    other = world(objective="cost")
    assert [other.pull_measures(7, m, 1) for m in TURNS[:99]] == [
        env.pull_measures(7, m, 1) for m in TURNS[:99]
    ]


def test_measures_and_the_default_are_drawn_independently():
    coin = sf.BernoulliArms([0.5])
    names = ["a", "b", "c"]
    env = sf.MeasuredArms(
        dict.fromkeys(names, coin), objective="a", default=dict.fromkeys(names, coin)
    )
    rows = [[*env.pull_measures(3, m, 0).values(), *env.pull_default(3, m).values()] for m in TURNS]
    paid = np.array(rows)
    assert all(close(mean, 0.5, 0.25, len(TURNS)) for mean in paid.mean(axis=0))
    correlations = np.corrcoef(paid.T)[np.triu_indices(6, 1)]
    assert np.abs(correlations).max() < 4 / np.sqrt(len(TURNS))
    assert env.pull_default(4, 1) == env.pull_default(4, 1)


def test_a_default_has_exact_means_and_an_objective():
    env = world(default={"quality": sf.BernoulliArms([0.82]), "cost": 0.012})
    assert env.default_means == {"quality": Fraction(41, 50), "cost": Fraction(12, 1000)}
    assert env.default_value == pytest.approx(0.58)
    assert world(default={"quality": 0.5}).default_value is None
    assert world().pull_default(1, 1) == {}
    thirds = sf.EmpiricalArms([[0, 0, 1]])
    assert world(default={"quality": thirds}).default_means["quality"] == Fraction(1, 3)
    assert world(default={"cost": 5}).ranges["cost"] == (Decimal("0.001"), 5)


def test_of_one_measure_objective_and_names_may_be_left_out():
    env = sf.MeasuredArms({"reward": QUALITY}, default=sf.BernoulliArms([0.7]))
    assert (env.objective, env.default_value) == ({"reward": 1}, 0.7)
    assert env.pull_default(1, 1).keys() == {"reward"}


def test_measures_may_come_late_or_drift_each_on_its_own():
    late = world(measures={"quality": sf.Delayed(QUALITY, 5), "cost": COST})
    assert (late.arrival(7, 10), late.arrival_of("cost", 7, 10)) == (15, 10)
    assert not hasattr(world(), "arrival")
    assert not hasattr(
        world(measures={"quality": sf.Delayed(QUALITY, 5), "cost": COST}, objective="cost"),
        "best_at",
    )
    changing = world(measures={"quality": sf.Drifting(QUALITY, {101: [0, 0, 0]}), "cost": COST})
    assert changing.drifts
    assert changing.best_at(100) == pytest.approx(0.5)
    assert changing.best_at(101) == pytest.approx(-0.02)
    assert changing.pull_measures(7, 1, 0, 101)["quality"] == 0
    assert changing.pull(7, 1, 0, 101) == -0.6


def test_a_wrapper_around_it_delays_all_and_hides_nothing():
    env = sf.Delayed(world(default={"cost": 1}), 3)
    assert env.arrival(1, 10) == 13
    assert env.pull_measures(7, 1, 2) == world().pull_measures(7, 1, 2)
    assert env.pull_default(7, 1) == {"cost": 1.0}
    assert draws_for(env)


def test_an_environment_without_kernels_has_no_record():
    class Own(sf.BernoulliArms):
        def pull(self, key, turn, arm):
            return 1.0

    assert world(measures={"quality": Own([0.1, 0.2, 0.3]), "cost": COST}).record is None
    assert world(measures={"quality": Own([1, 1, 1]), "cost": COST}, objective="cost").record


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"measures": {}}, "measures = {} must be a dict"),
        ({"measures": {"": QUALITY}}, "name '' must be a string"),
        ({"measures": {"quality": sf.BernoulliArms}}, "must be an environment"),
        ({"measures": {"a": QUALITY, "b": sf.BernoulliArms([1])}}, "'a': 3, 'b': 1"),
        ({"measures": {"q": sf.ContextualArms([[0.5, 0.5]] * 3)}}, "has contexts"),
        ({"objective": None}, "objective is missing: it must be one of the measures"),
        ({"objective": "price"}, "objective = {'price': 1} must be one of"),
        ({"objective": {"quality": 0}}, "counts for nothing; leave it out"),
        ({"objective": {"quality": "1"}}, "objective['quality'] must be a number"),
        ({"objective": {"cost": Decimal("1e-30")}}, "leave 64 bits"),
        ({"measures": {"reward": QUALITY, "cost": COST}, "objective": "cost"}, "named 'reward'"),
        ({"default": 0.5}, "must be a dict: there are several measures"),
        ({"default": {"price": 1}}, "'price' is none of the measures"),
        ({"default": {"cost": Decimal("1e-12")}}, "has more than 9 decimals; round it"),
        ({"default": {"cost": QUALITY}}, "must be an environment of one arm"),
        ({"default": {"cost": sf.Delayed(sf.BernoulliArms([1]), 3)}}, "neither drifts nor"),
        ({"default": {"cost": "dear"}}, "default['cost'] must be a number"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(settings, words):
    with pytest.raises(InvalidInput) as caught:
        world(**settings)
    assert words in str(caught.value)


def test_it_cannot_be_changed_behind_its_record():
    with pytest.raises(AttributeError, match="make a new one"):
        world().objective = "cost"


@pytest.mark.slow
def test_compiled_plays_of_a_weighed_objective_are_those_of_plain_text():
    floor = sf.RewardFloor(0.4, 0.1, reward_range=(-0.6, 1))
    agents = {"UCB1": sf.GenCB(sf.UCB1(3), floor), "Thompson": sf.GenCB(sf.Thompson(3), floor)}
    fast, plain = (
        sf.simulate(agents, world(), 3000, runs=2, seed=1, checkpoints="all", engine=engine)
        for engine in ("compiled", "plain")
    )
    assert fast.engines == dict.fromkeys(agents, "compiled")
    for name in agents:
        for measure in ("slack", "default_plays"):
            assert (fast.measure(name, measure) == plain.measure(name, measure)).all()
