"""Who may play where, and who is driven play by play."""

from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pytest

import surefoot as sf
from contestants import ENVIRONMENT, gencb, three, traces
from learners import Counter
from surefoot._jit import TABLES
from surefoot.errors import InvalidInput
from surefoot.kernels import IndexKernels, IndexPolicy, add_units, count_and_sum, register
from surefoot.simulation.loop import ARM, GAP, T
from surefoot.simulation.plan import Plan
from surefoot.simulation.runner import choose


class Forgetful(sf.UCB1):
    """Learns nothing: what an engine that trusts the record would not notice."""

    def update(self, arm, reward, context):
        pass


class Timid(sf.GenCB):
    """Never explores: what an engine that trusts the gate would not notice."""

    def _decide(self, context, allowed, terms):
        return self.new_play(-1, None, sf.Reason.PAUSED, terms, None, 1.0)


class Pulling:
    """An environment of the user's own, without a kernel."""

    n_arms, places, reward_range, record = 2, 0, (0, 1), None
    means, variances, best = ENVIRONMENT.means, ENVIRONMENT.variances, ENVIRONMENT.best
    pull = staticmethod(ENVIRONMENT.pull)
    value = staticmethod(ENVIRONMENT.value)


def test_subclasses_that_do_something_else_are_driven_play_by_play():
    floor = sf.RewardFloor(0.6, 0.2)
    patched = sf.UCB1(2)
    patched.update = lambda arm, reward, context: None
    agents = {
        "forgetful": sf.Plain(Forgetful(2), floor),
        "patched": sf.Plain(patched, floor),
        "timid": Timid(sf.UCB1(2), floor),
    }
    made = Plan(agents, ENVIRONMENT, 50, 0, "all")
    assert made.stepwise == ["forgetful", "patched", "timid"]
    played = made.run(0, choose("compiled"))
    assert set(played["forgetful"].books[:, ARM]) == set(played["patched"].books[:, ARM]) == {0}
    assert set(played["timid"].books[:, ARM]) == {-1}


class Holding(sf.RewardFloor):
    """Two holds for each play."""

    def terms(self, default=None):
        terms = super().terms(default)
        return terms._replace(hold=2 * terms.hold)


class Closed(sf.MeanVarianceFloor):
    """Its books afford nothing."""

    def open(self, keep=100_000):
        books = super().open(keep)
        books.__class__ = type("Never", (type(books),), {"affords": lambda books, terms: False})
        return books


def test_a_floor_derived_from_one_of_ours_is_kept_by_its_own_rule():
    floors = {"holding": Holding(0.5, 0.5), "closed": Closed(0.5, 0.5, 2)}
    agents = {name: sf.GenCB(sf.UCB1(2), floor) for name, floor in floors.items()}
    assert Plan(agents, ENVIRONMENT, 50, 0).stepwise == ["holding", "closed"]
    found = sf.simulate({"closed": agents["closed"]}, ENVIRONMENT, 50, 1, 0).summary()
    assert found["closed"]["default_plays"]["mean"] == 50


def test_a_policy_that_does_not_say_that_it_draws_gets_into_no_driver():
    silent = type("Silent", (sf.Thompson,), {"draws": False})
    with pytest.raises(InvalidInput, match="say `draws = True` in its class"):
        silent(3)


def of_one_name(sign):
    """A policy that plays the last arm or the first; its record is called as the other's."""

    class LastOrFirstRecord(NamedTuple):
        unit: float = 1e9

    def index(policy, state, k, s, best):
        return sign * float(k)

    index_kernels = IndexKernels(count_and_sum, lambda policy, m: 1.0, index, add_units)
    register(LastOrFirstRecord, index_kernels)
    return IndexPolicy(LastOrFirstRecord(), 2)


def test_two_records_of_one_name_are_not_taken_for_one_another():
    agents = {"last": sf.Plain(of_one_name(1)), "first": sf.Plain(of_one_name(-1))}
    made = Plan(agents, sf.BernoulliArms([0.4, 0.6]), 20, 0, "all")
    assert made.stepwise == ["first"]
    for engine in ("plain", "compiled"):
        played = made.run(0, choose(engine))
        assert [set(played[name].books[:, ARM]) for name in agents] == [{1}, {0}]


class SpelledRecord(NamedTuple):
    unit: float = 1e9


def test_kernels_that_numba_refuses_are_named_and_run_as_plain_text():
    def index(policy, state, k, s, best):
        return float(eval(str(k)))

    kernels = IndexKernels(count_and_sum, lambda policy, m: 1.0, index, add_units)
    register(SpelledRecord, kernels)
    agents = {"it": sf.Plain(IndexPolicy(SpelledRecord(), 2))}
    asked = agents, ENVIRONMENT, 20, 1, 0
    said = r'numba cannot compile .*SpelledRecord: kernels call only .* engine="plain"'
    try:
        with pytest.raises(InvalidInput, match=said):
            sf.simulate(*asked, engine="compiled")
        assert sf.simulate(*asked, engine="plain").summary()["it"]
    finally:
        for table in TABLES:
            table.pop(SpelledRecord, None)


def test_an_environment_without_a_kernel_pays_the_same_play_by_play():
    made = Plan(three(), Pulling(), 200, 0, "all")
    assert made.stepwise == list(three())
    assert traces(three(), 200, environment=Pulling()) == traces(three(), 200)


class Drift(sf.BernoulliArms):
    """Pays nothing: what an engine that trusts the record would not notice."""

    def pull(self, key, turn, arm):
        return 0.0


class Named(sf.BernoulliArms):
    """Pays what Bernoulli arms pay."""

    def __repr__(self):
        return "Named"


def test_an_environment_that_pays_something_else_is_driven_play_by_play():
    instance = sf.BernoulliArms([0.8, 0.5])
    instance.pull = lambda key, turn, arm: 0.0
    borrowed = Pulling()
    borrowed.record = sf.BernoulliArms([0.1, 0.1]).record
    for environment in (Drift([0.8, 0.5]), instance, borrowed):
        made = Plan(three(), environment, 60, 0, "all")
        assert made.stepwise == list(three())
        paid = 0 if environment is not borrowed else ENVIRONMENT.pull(made.key(0), 1, 0)
        first = made.run(0, choose("compiled"))["UCB1"].books[0]
        assert first[2] == int(paid * 10**9) - 480_000_000
    assert Plan(three(), Named([0.8, 0.5]), 60).stepwise == []


def test_what_an_action_is_worth_is_the_environments_to_say():
    environment = Pulling()
    environment.best, environment.value = 10.0, lambda action: 10.0 - 7.0 * action
    made = Plan({"UCB1": three()["UCB1"]}, environment, 20, 0, "all")
    trace = made.run(0, choose("compiled"))["UCB1"]
    played = np.cumsum(trace.books[:, ARM] == 1)
    assert played[-1] > 0
    assert trace.losses[:, GAP].tolist() == (7.0 * played).tolist()


@pytest.mark.parametrize("value", [float("nan"), None, "much"])
def test_a_value_that_is_no_number_is_named(value):
    environment = Pulling()
    environment.value = lambda action: value
    with pytest.raises(InvalidInput, match=r"value\(0\) of the environment = .* must be a finite"):
        Plan(three(), environment, 20).run(0, choose("compiled"))


def test_units_too_far_apart_for_the_engine_are_driven_play_by_play():
    huge = sf.RewardFloor(Decimal("1e29"), 0.5, (0, Decimal("1e30")))
    agents = {"huge": sf.GenCB(sf.UCB1(2), huge, default_competes=False)}
    assert traces(agents, 30) == traces(agents, 30, engine="plain")
    assert Plan(agents, ENVIRONMENT, 30).stepwise == ["huge"]
    near = sf.RewardFloor(Decimal("1e20"), 0.5, (0, Decimal("1e27")))  # 10**18 fits 64 bits
    agents = {"near": sf.GenCB(sf.UCB1(2), near, default_competes=False)}
    assert near.places == -18
    assert Plan(agents, ENVIRONMENT, 30).stepwise == []
    assert traces(agents, 30) == traces(agents, 30, engine="plain")


def test_float_bounds_of_an_environment_mean_their_shortest_decimals():
    environment = Pulling()
    environment.reward_range = (0.3, 0.7)
    environment.pull = lambda key, turn, arm: 0.3
    floor = sf.RewardFloor(0.5, 0.2, (Decimal("0.3"), Decimal("0.7")))
    result = Plan({"a": sf.Plain(sf.UCB1(2), floor)}, environment, 5).run(0, choose("plain"))
    assert result["a"].books[-1][T] == 5


@pytest.mark.parametrize(
    ("part", "given", "said"),
    [
        ("reward_range", None, "reward_range = None of the environment must be a pair"),
        ("means", [0.8, 0.5], "means = [0.8, 0.5] of the environment must be a numpy array of 2"),
        ("means", np.array([0.8]), "must be a numpy array of 2 finite numbers: one for each arm"),
        ("means", np.array([0.8, np.nan]), "of 2 finite numbers"),
        ("means", np.array(["0.8", "0.5"]), "of 2 finite numbers"),
        ("n_arms", None, "n_arms of the environment = None must be an int >= 1"),
        ("variances", np.array([0.8]), "variances = array([0.8]) of the environment must be"),
        ("best", float("inf"), "best of the environment = inf must be a finite number"),
        ("best", [0.8], "best of the environment = [0.8] must be a finite number"),
    ],
)
def test_an_environment_of_the_users_own_is_checked(part, given, said):
    environment = Pulling()
    setattr(environment, part, given)
    with pytest.raises(InvalidInput) as error:
        Plan(three(), environment, 10)
    assert said in str(error.value)


def taken(policy):
    policy.select(None, np.random.default_rng(0))
    return policy


def told(policy):
    policy.update(1, 0.5, None)
    return policy


def restored(policy):
    policy.restore(taken(told(sf.UCB1(2))).state())
    return policy


@pytest.mark.parametrize("touch", [taken, told, restored])
@pytest.mark.parametrize("environment", [ENVIRONMENT, Pulling()])
def test_a_policy_that_is_not_fresh_is_refused(touch, environment):
    agent = sf.GenCB(touch(sf.UCB1(2)), sf.RewardFloor(0.6, 0.2))
    with pytest.raises(InvalidInput, match="the UCB1 of agent 'a' has already taken turns or rew"):
        Plan({"a": agent}, environment, 10)


def test_the_policy_of_a_conucb_is_to_be_fresh_too():
    agent = sf.ConUCB(2, 0.6, 0.2)
    told(agent.policy)
    with pytest.raises(InvalidInput, match="of agent 'a' has already taken turns or rewards"):
        Plan({"a": agent}, ENVIRONMENT, 10)


@pytest.mark.parametrize("touch", ["select", "pause"])
def test_an_agent_that_has_played_or_is_paused_is_refused(touch):
    agent = gencb()
    getattr(agent, touch)()
    with pytest.raises(InvalidInput, match="agent 'a' has already played or is paused"):
        Plan({"a": agent}, ENVIRONMENT, 10)


X = np.array([[1.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize(
    ("agent", "environment", "said"),
    [
        (
            sf.Plain(sf.C2UCB(X, sf.TopK(1))),
            ENVIRONMENT,
            "agent 'a' plays super arms, the environment pays single arms",
        ),
        (
            sf.Plain(sf.LinUCB(X)),
            sf.CombinatorialArms(X, [0.5, 0.4], sf.TopK(1)),
            "agent 'a' plays single arms, the environment pays super arms",
        ),
        (sf.Plain(sf.LinUCB(sf.Ball(1, 2))), ENVIRONMENT, "agent 'a' plays points, or rows of a"),
        (
            sf.Plain(sf.LinUCB(dim=2, ridge=sf.Ridge(feature_bound=1))),
            ENVIRONMENT,
            "agent 'a' plays points, or rows of a context",
        ),
        (
            sf.GenCB(sf.UCB1(2), sf.RewardFloor((0.4, 0.6), 0.1)),
            ENVIRONMENT,
            "agent 'a' has a floor without one known default",
        ),
    ],
)
def test_what_does_not_fit_the_environment_is_refused(agent, environment, said):
    with pytest.raises(InvalidInput) as error:
        Plan({"a": agent}, environment, 10)
    assert said in str(error.value)


def test_a_linear_policy_that_is_not_fresh_is_refused():
    policy = sf.LinUCB(X)
    policy.update(0, 0.5, None)
    with pytest.raises(InvalidInput, match="the LinUCB of agent 'a' has already taken turns"):
        Plan({"a": sf.Plain(policy)}, ENVIRONMENT, 10)


class Inverted(sf.C2UCB):
    """Tells the agent another reward: what an engine that trusts the record would not notice."""

    def value(self, base_rewards, super_arm=None):
        return 1 - sum(base_rewards)


def test_another_reward_or_f_of_super_arms_is_driven_play_by_play():
    floor = sf.RewardFloor(0.4, 0.5)
    ours, theirs = sf.C2UCB(X, sf.TopK(1)), Inverted(X, sf.TopK(1))
    arms = sf.CombinatorialArms(X, [0.5, 0.4], sf.TopK(1))
    squared = sf.CombinatorialArms(X, [0.5, 0.4], sf.TopK(1), f=lambda arm, w: w[arm[0]] ** 2)
    agents = {"ours": sf.GenCB(ours, floor), "theirs": sf.GenCB(theirs, floor)}
    assert Plan(agents, arms, 10).stepwise == ["theirs"]
    assert Plan(agents, squared, 10).stepwise == ["ours", "theirs"]
    assert squared.best == 0.25


def test_a_floor_that_is_kept_at_checkpoints_is_driven_play_by_play():
    floor = sf.RewardFloor(0.5, 0.2, checkpoint=10)
    agents = {"a": sf.GenCB(sf.UCB1(2), floor, default_competes=False)}
    made = Plan(agents, ENVIRONMENT, 100, 0, "all")
    assert made.stepwise == ["a"]
    books = made.run(0, choose("compiled"))["a"].books
    assert (books[9::10, 2] >= 0).all()
    assert (books[:, 2] < 0).any()


class Half:
    n_arms, places, reward_range, best = 1, 0, (0, 1), 0.5
    means = variances = np.array([0.5])
    pull = None


@pytest.mark.parametrize(
    ("environment", "what"),
    [
        (Half(), r"it lacks record, pull\(\.\.\.\), value\(\.\.\.\); give one of its kind"),
        (sf.BernoulliArms, "it is a class; pass an instance"),
        (None, "it lacks n_arms, places, reward_range, means, variances, best, record, pull"),
    ],
    ids=["half", "class", "none"],
)
def test_what_an_environment_lacks_is_said(environment, what):
    with pytest.raises(InvalidInput, match=f"does not follow .*: {what}"):
        sf.simulate({"a": sf.Plain(sf.UCB1(1))}, environment, 10)


class Random(Counter):
    def select(self, context, rng):
        return int(rng.integers(2))


def test_agents_that_differ_in_their_seeds_alone_share_a_path():
    """As the docstring of ``simulate`` says."""
    agents = {str(seed): sf.GenCB(Random(2), sf.RewardFloor(0.5, 0.5), seed) for seed in (1, 2)}
    found = sf.simulate(agents, sf.BernoulliArms([0.4, 0.6]), 200, 2, 0, engine="plain").summary()
    assert found["1"] == found["2"]
