"""A policy learns a log before its first play: the same as by its own turns, and nothing else."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from learners import Counter, Softmax, snapshot
from leased import opened
from surefoot.errors import InvalidInput
from surefoot.live import MemoryStore
from surefoot.live.fold import Fold
from surefoot.policies import Ridge

ARMS = ["red", "blue", "green"]
ROWS = [("red", 1.0), ("blue", 0.0), ("red", 0.25), ("green", 1.0)]
LOG = {"arm": [arm for arm, _ in ROWS], "reward": [reward for _, reward in ROWS]}
FLOOR = sf.RewardFloor(default=0.5, alpha=0.2, reserve=9)

POLICIES = {
    "UCB1": lambda: sf.UCB1(arms=ARMS),
    "KLUCB": lambda: sf.KLUCB(arms=ARMS),
    "AdaUCB": lambda: sf.AdaUCB(arms=ARMS),
    "UCB1, discounted": lambda: sf.UCB1(arms=ARMS, discount=0.9),
    "GaussianThompson": lambda: sf.GaussianThompson(arms=ARMS),
    "KLMS": lambda: sf.KLMS(arms=ARMS),
    "Thompson": lambda: sf.Thompson(arms=ARMS),
    "LinUCB": lambda: sf.LinUCB(np.eye(3), labels=ARMS),
    "LinTS": lambda: sf.LinTS(np.eye(3), labels=ARMS),
}


@pytest.mark.parametrize("make", POLICIES.values(), ids=POLICIES.keys())
def test_it_learns_as_by_turns_of_its_own(make):
    learned, own = make(), make()
    assert learned.learn(LOG) == 4
    for arm, reward in ROWS:
        own.update(ARMS.index(arm), reward, None)
    own.turns = 4
    assert learned.state() == own.state()
    assert not learned.fresh
    rng = np.random.default_rng(0)
    assert learned.best(None, rng) == own.best(None, np.random.default_rng(0))


def pandas_log(dtype):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(LOG, index=[7, 7, 7, 7])
    return frame.astype({"arm": dtype})


TABLES = {
    "lists": lambda: LOG,
    "arrays": lambda: {key: np.array(column) for key, column in LOG.items()},
    "masked, nothing missing": lambda: {**LOG, "reward": np.ma.array(LOG["reward"])},
    "polars": lambda: pl.DataFrame(LOG),
    "polars, lazy": lambda: pl.LazyFrame(LOG),
    "polars, categorical": lambda: pl.DataFrame(LOG).with_columns(
        pl.col("arm").cast(pl.Enum(ARMS))
    ),
    "structured": lambda: np.array(ROWS, dtype=[("arm", "U5"), ("reward", "f8")]),
    "float32": lambda: pl.DataFrame(LOG).with_columns(pl.col("reward").cast(pl.Float32)),
    "pandas": lambda: pandas_log("object"),
    "pandas, categorical": lambda: pandas_log("category"),
    "pandas, strings": lambda: pandas_log("string"),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_a_log_is_any_table(table):
    policy, same = sf.UCB1(arms=ARMS), sf.UCB1(arms=ARMS)
    assert policy.learn(table()) == same.learn(LOG) == 4
    assert policy.state() == same.state()


def test_arms_without_labels_columns_by_other_names_and_rewards_that_are_booleans():
    policy, other = sf.UCB1(3), sf.UCB1(3)
    policy.learn({"k": np.array([2, 0]), "won": [True, False]}, arm="k", reward="won")
    other.learn({"arm": [2.0, 0.0], "reward": [1, 0]})  # floats, as of a column with gaps
    assert policy.state() == other.state()


def with_gap(value):
    return {**LOG, "reward": [1.0, value, 0.25, 1.0]}


REFUSED = {
    "unknown arm": ({**LOG, "arm": ["red", "pink", "red", "red"]}, "'arm' in row 2 of log is 'pin"),
    "no arm": ({**LOG, "arm": ["red", "red", None, "red"]}, "'arm' in row 3 of log is missing"),
    "boolean arm": ({**LOG, "arm": ["red", True, "red", "red"]}, "row 2 of log is True"),
    "list for an arm": ({**LOG, "arm": ["red", ["red"], "red", "red"]}, r"row 2 of log is \['red'"),
    "none": (with_gap(None), "'reward' in row 2 of log is missing"),
    "nan": (with_gap(float("nan")), "'reward' in row 2 of log is missing"),
    "masked": (
        {**LOG, "reward": np.ma.array(LOG["reward"], mask=[0, 1, 0, 0])},
        "'reward' in row 2 of log is missing",
    ),
    "null": (pl.DataFrame(with_gap(None)), "'reward' in row 2 of log is missing"),
    "infinite": (with_gap(float("inf")), "'reward' in row 2 of log must be finite"),
    "text": (with_gap("1"), "'reward' in row 2 of log must be a number"),
    "above": (with_gap(1.5), r"'reward' in row 2 of log is 1.5, outside \(0, 1\)"),
    "below": (with_gap(-0.1), r"'reward' in row 2 of log is -0.1, outside \(0, 1\)"),
    "lengths": ({**LOG, "arm": ["red"]}, r"columns of \[1, 4\] rows"),
    "no column": (pl.DataFrame({"arm": ["red"]}), "log has no column 'reward', but 'arm'"),
    "path": ("log.csv", "log.csv. is a path; read it first"),
    "rows": ([{"arm": "red", "reward": 1}], "log is a list, not a table"),
    "nothing": ({**LOG, "reward": None}, r"log\['reward'\] = None is not one column"),
    "set": ({**LOG, "reward": {0, 1}}, "is not one column"),  # it has no order
    "matrix": ({**LOG, "reward": np.ones((4, 2))}, "is not one column"),
}


@pytest.mark.parametrize(("log", "says"), REFUSED.values(), ids=REFUSED.keys())
def test_a_log_that_is_refused_changes_nothing(log, says):
    agent = sf.GenCB(sf.UCB1(arms=ARMS), FLOOR, seed=0)
    before = snapshot(agent)
    for learn in (agent.learn, agent.policy.learn):
        with pytest.raises(InvalidInput, match=says):
            learn(log)
        assert snapshot(agent) == before


def test_what_pandas_puts_where_a_value_is_missing():
    pandas = pytest.importorskip("pandas")
    for kind in ("Int64", "Float64", "object"):
        frame = pandas.DataFrame({"arm": ["red", "red"], "reward": [1, None]})
        with pytest.raises(InvalidInput, match="'reward' in row 2 of log is missing"):
            sf.UCB1(arms=ARMS).learn(frame.astype({"reward": kind}))
    frame = pandas.DataFrame({"arm": pandas.array(["red", None], "string"), "reward": [1, 0]})
    with pytest.raises(InvalidInput, match="'arm' in row 2 of log is missing"):
        sf.UCB1(arms=ARMS).learn(frame)
    twice = pandas.DataFrame([["red", 1, 1]], columns=["arm", "reward", "reward"])
    with pytest.raises(InvalidInput, match="has several columns"):
        sf.UCB1(arms=ARMS).learn(twice)


def test_an_agent_scales_the_rewards_and_moves_no_book():
    floor = sf.RewardFloor(default=5, alpha=0.2, reward_range=(-10, 10))
    agent = sf.GenCB(sf.UCB1(arms=ARMS), floor, seed=0)
    account = agent.account
    agent.learn({"arm": ["red", "blue"], "reward": [10, -5]})
    twin = sf.GenCB(sf.UCB1(arms=ARMS), floor, seed=0)  # whose books give the sums their unit
    twin.policy.learn({"arm": ["red", "blue"], "reward": [1, 0.25]})
    assert agent.policy.state() == twin.policy.state()
    assert agent.account == account
    assert agent.turns == 0
    with pytest.raises(InvalidInput, match=r"row 1 of log is 11, outside \(-10, 10\)"):
        agent.learn({"arm": ["red"], "reward": [11]})


def test_only_before_the_first_play():
    agent = sf.GenCB(sf.UCB1(arms=ARMS), FLOOR, seed=0)
    agent.learn(LOG)
    agent.learn(LOG)  # in parts
    assert agent.policy.state()["arms"][0] == [4, 2, 2]
    agent.select()
    with pytest.raises(InvalidInput, match="has made 1 plays; learn a log before the first"):
        agent.learn(LOG)


def test_a_policy_of_one_s_own_learns_by_update_or_is_put_back():
    agent = sf.GenCB(Softmax(3, 2), FLOOR, seed=0)
    log = {"arm": [0, 2], "reward": [1, 0], "hour": [0.5, 1.0], "age": [1, 2]}
    assert agent.learn(log, context=["hour", "age"]) == 2
    twin = Softmax(3, 2)
    twin.update(0, 1.0, np.array([0.5, 1.0]))
    twin.update(2, 0.0, np.array([1.0, 2.0]))
    assert np.array_equal(agent.policy.weights, twin.weights)

    class Weak(Counter):
        def update(self, arm, reward, context):
            if len(self.learnt) == 1:
                raise ZeroDivisionError
            super().update(arm, reward, context)

    agent = sf.GenCB(Weak(3), FLOOR, seed=0)
    with pytest.raises(ZeroDivisionError):
        agent.learn({"arm": [0, 1], "reward": [1, 1]})
    assert agent.policy.learnt == []


def test_linear_policies_learn_the_features_of_what_was_played():
    ridge = Ridge(feature_bound=2)
    policy, own = sf.LinUCB(dim=2, ridge=ridge), sf.LinUCB(dim=2, ridge=ridge)
    log = pl.DataFrame({"age": [0.5, 1.0], "price": [1, 0], "reward": [1, 0]})
    assert policy.learn(log, context=["age", "price"]) == 2
    for row in ([0.5, 1.0], [1.0, 0.0]):
        own.update(0, float(row[0] == 0.5), np.array([row]))
    assert policy.theta_hat == own.theta_hat
    before = policy.state()
    far = pl.DataFrame({"age": [0.5, 9.0], "price": [1, 0], "reward": [1, 0]})
    with pytest.raises(InvalidInput, match="row 2 of log: context"):
        policy.learn(far, context=["age", "price"])
    gap = pl.DataFrame({"age": [0.5, None], "price": [1, 0], "reward": [1, 0]})
    with pytest.raises(InvalidInput, match="'age' in row 2 of log is missing"):
        policy.learn(gap, context=["age", "price"])
    with pytest.raises(InvalidInput, match="name the columns of the features"):
        policy.learn(log)
    for none in ([], 5):
        with pytest.raises(InvalidInput, match="must name columns"):
            policy.learn(log, context=none)
    assert policy.state() == before
    shared = sf.LinUCB(np.eye(3))
    tables = [np.eye(3), 0.5 * np.eye(3)]
    shared.learn({"arm": [1, 2], "reward": [1, 1], "rows": tables}, context="rows")
    assert shared.theta_hat[0] == 0 < shared.theta_hat[2] < shared.theta_hat[1]


def test_super_arms_and_points_have_no_column():
    for policy in (sf.C2UCB(base_arms=np.eye(3), oracle=sf.TopK(2)), sf.LinUCB(sf.Ball(1, 2))):
        with pytest.raises(InvalidInput, match="cannot learn a log"):
            policy.learn(LOG)


def test_what_was_learned_is_saved_and_goes_live(tmp_path):
    agent = sf.GenCB(sf.Thompson(arms=ARMS), FLOOR, seed=3)
    agent.learn(LOG)
    agent.save(tmp_path / "a.json")
    assert sf.load(tmp_path / "a.json").policy.state() == agent.policy.state()
    store = MemoryStore()
    live = opened(store, tmp_path, agent)
    for turn in range(30):
        play = live.select()
        live.update(play, *([] if play.is_default else [turn % 2]))
    live.close()
    fold = Fold("default", None)
    for entry in store.entries("default"):
        fold.apply(entry)
    again = sf.Live(None, store)
    assert fold.state() == again._engine.fold.state()
    plays = fold.agent.policy.state()["arms"][0]
    assert sum(plays) == 4 + fold.books.explorations
    with pytest.raises(InvalidInput, match="has already taken turns or rewards"):
        sf.simulate({"warm": agent}, sf.BernoulliArms([0.1, 0.2, 0.3]), horizon=9, runs=1, seed=0)


def test_arms_that_come_later_know_nothing_of_the_log():
    live = sf.Live(warm := sf.GenCB(sf.UCB1(arms=ARMS), FLOOR, seed=0), MemoryStore())
    assert live.select().arm == "red"
    warm = sf.GenCB(sf.UCB1(arms=ARMS), FLOOR, seed=0)
    warm.learn(LOG)
    live = sf.Live(warm, MemoryStore())
    live.add_arms(["pink"])
    assert live.select().arm == "pink"  # the only one that was never played


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 10)), max_size=40), st.randoms())
def test_the_order_of_a_log_does_not_matter_to_sums(rows, random):
    one, other = sf.KLUCB(3), sf.KLUCB(3)
    mixed = random.sample(rows, len(rows))
    for policy, log in ((one, rows), (other, mixed)):
        policy.learn({"arm": [k for k, _ in log], "reward": [r / 10 for _, r in log]})
    assert one.state() == other.state()
