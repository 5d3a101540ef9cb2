"""Contextual arms: features by (key, play), rewards by (key, turn, arm), regret against each play's
best arm."""

import copy
import math

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InvalidInput
from surefoot.policies import Ridge

ROWS = [[0.3, -0.2, 0.5], [-0.1, 0.4, 0.5], [0.0, 0.0, 0.45]]
FLOOR = {"default": 0.5, "alpha": 0.1}


def worlds():
    return {
        "one parameter each": sf.ContextualArms(ROWS),
        "table": sf.ContextualArms(ROWS, context="table"),
        "logistic": sf.ContextualArms(np.array(ROWS) * 4, link="logistic"),
        "one for all": sf.ContextualArms([0.3, -0.2, 0.5], n_arms=3),
    }


@pytest.mark.parametrize("kind", worlds())
def test_means_follow_from_the_features_that_agents_are_told(kind):
    env = worlds()[kind].in_run(99)
    for play in (1, 2, 7, 10**9):
        told = env.context(play)
        if kind == "table":
            scores = told @ env.theta.ravel()  # one linear model of all arms
            assert told.shape == (3, 9)
        elif kind == "one for all":
            scores = told @ env.theta
            assert told.shape == (3, 3)
        else:
            scores = [sum(x * w for x, w in zip(told, row, strict=True)) for row in env.theta]
            assert told.shape == (3,)
        means = [1 / (1 + math.exp(-s)) if kind == "logistic" else s for s in scores]
        assert [env.value(arm, play) for arm in range(3)] == pytest.approx(means, abs=1e-12)
        assert env.best_at(play) == max(env.value(arm, play) for arm in range(3))
        norms = np.linalg.norm(np.atleast_2d(told), axis=1)
        assert norms == pytest.approx(math.sqrt(2))
        assert np.atleast_2d(told)[:, -1 if kind != "table" else 2][0] == 1


def test_features_are_a_function_of_key_and_play():
    env = sf.ContextualArms(ROWS)
    one, other = env.in_run(1), env.in_run(2)
    first = [one.context(play).tolist() for play in (5, 6, 5)]
    assert first[0] == first[2] != first[1]
    assert first[0] != other.context(5).tolist()
    assert first[0] == copy.deepcopy(env).in_run(1).context(5).tolist()
    assert env.context(5).tolist() == env.in_run(0).context(5).tolist()


@pytest.mark.parametrize("kind", worlds())
def test_who_writes_into_a_context_changes_nobody_elses(kind):
    env = worlds()[kind]
    told = env.context(3).copy()
    env.context(3)[:] = 0
    assert (env.context(3) == told).all()


def test_features_are_uniform_on_their_sphere():
    env = sf.ContextualArms([0.0, 0.0, 0.0, 0.5], n_arms=4).in_run(5)
    z = np.concatenate([env.context(play)[:, :3] for play in range(1, 2001)])
    assert np.abs(z.mean(axis=0)).max() < 4 * math.sqrt(1 / 3 / len(z))
    assert np.abs(z.T @ z / len(z) - np.eye(3) / 3).max() < 0.02
    assert len(np.unique(z[:, 0])) == len(z)  # no arm or play shares its features with another


def test_rewards_are_drawn_with_those_means():
    env = sf.ContextualArms(ROWS).in_run(3)
    for arm in range(3):
        paid = np.array([env.pull(3, turn, arm, 8) for turn in range(1, 3001)])
        assert set(paid) == {0.0, 1.0}
        assert abs(paid.mean() - env.value(arm, 8)) < 4 * math.sqrt(0.25 / 3000)
    assert env.pull(3, 10, 0, 8) == sf.ContextualArms(ROWS).in_run(3).pull(3, 10, 0, 8)


def test_what_it_says_of_itself_is_an_average_over_plays():
    env = sf.ContextualArms(ROWS)
    plays = range(1, 1001)
    values = np.array([[env.value(arm, play) for arm in range(3)] for play in plays])
    assert env.means == pytest.approx(values.mean(axis=0))
    assert env.best == pytest.approx(values.max(axis=1).mean())
    assert env.variances == pytest.approx((values * (1 - values)).mean(axis=0))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"theta": []}, "theta is empty"),
        ({"theta": "x"}, "must be a list of numbers"),
        ({"theta": [[0.5]]}, "theta has 1 number for each arm"),
        ({"theta": [[0.2, 0.5], [0.2]]}, r"theta\[1\] = \[0.2\] must be a row"),
        ({"theta": [[0.2, 0.5], 0.2]}, r"theta\[1\] = 0.2 must be a row"),
        ({"theta": [[0.2, float("nan")]]}, r"theta\[0\]\[1\] must be finite"),
        ({"theta": [[0.2, 0.5], [0.6, 0.5]]}, r"theta\[1\] gives means from -0.1 to 1.1"),
        ({"theta": [0.6, 0.5], "n_arms": 3}, "theta gives means from -0.1 to 1.1"),
        ({"theta": [0.2, 0.5]}, "n_arms = None must be an int >= 1"),
        ({"theta": [0.2, 0.5], "n_arms": 10**9}, "n_arms = 1000000000 with 2 features each"),
        ({"theta": [0.2, 0.5], "n_arms": True}, "n_arms = True must be an int >= 1"),
        ({"theta": ROWS, "n_arms": 4}, "n_arms = 4, but theta has 3 rows"),
        ({"theta": ROWS, "link": "probit"}, "link = 'probit' must be one of"),
        ({"theta": ROWS, "context": "columns"}, "context = 'columns' must be one of"),
    ],
)
def test_what_is_refused(settings, says):
    with pytest.raises(InvalidInput, match=says):
        sf.ContextualArms(**settings)


def test_it_cannot_be_changed():
    env = sf.ContextualArms(ROWS)
    with pytest.raises(AttributeError, match="make a new one"):
        env.link = "logistic"
    with pytest.raises(ValueError, match="read-only"):
        env.theta[0, 0] = 1


@pytest.mark.parametrize("link", ["linear", "logistic"])
def test_a_random_instance(link):
    env = sf.ContextualArms.embedded(6, 4, seed=2, link=link)
    assert env.theta.shape == (6, 4)
    assert env.theta.tolist() == sf.ContextualArms.embedded(6, 4, seed=2, link=link).theta.tolist()
    assert 0.7 < env.best < 1
    assert np.abs(env.means - 0.5).max() < 0.1


def ridge():
    return Ridge(feature_bound=2, noise=0.5)


def test_simulated_as_by_hand():
    env = sf.ContextualArms(ROWS, context="table")
    make = {
        "LinUCB": lambda: sf.GenCB(
            sf.LinUCB(np.eye(9)[:3], ridge=ridge()), sf.RewardFloor(**FLOOR)
        ),
        "rows": lambda: sf.GenCB(sf.LinUCB(dim=9, ridge=ridge()), sf.RewardFloor(**FLOOR)),
        "UCB1": lambda: sf.GenCB(sf.UCB1(3), sf.RewardFloor(**FLOOR)),
    }
    agents = {name: one() for name, one in make.items()}
    result = sf.simulate(agents, env, horizon=150, runs=2, seed=4, checkpoints="all")
    assert set(result.engines.values()) == {"stepwise"}
    for name, one in make.items():
        key = result.plan.key(1)
        agent, run, regret = one(), env.in_run(key), 0.0
        agent.rng = np.random.default_rng(np.random.SeedSequence(4, spawn_key=(1, 1)))
        for t in range(1, 151):
            play = agent.select(None if name == "UCB1" else run.context(t))
            top = max(run.best_at(t), 0.5)
            regret += top - (0.5 if play.is_default else run.value(play.index, t))
            paid = {} if play.is_default else {"reward": run.pull(key, play.turn, play.index, t)}
            agent.update(play, **paid)
        frame = result.frame.filter(agent=name, run=1)
        assert frame["regret"][-1] == pytest.approx(regret)
        assert frame["default_plays"][-1] == agent.account.default_plays
    summary = result.summary()
    assert summary["LinUCB"]["violating_rounds"]["max"] == 0
    assert summary["LinUCB"]["regret"] == summary["rows"]["regret"]


def test_rewards_may_be_late_here_too():
    env = sf.Delayed(sf.ContextualArms(ROWS, context="table"), 20)
    agents = {"LinUCB": sf.GenCB(sf.LinUCB(dim=9, ridge=ridge()), sf.RewardFloor(**FLOOR))}
    late = sf.simulate(agents, env, horizon=200, runs=1, seed=4).summary()
    at_once = sf.simulate(agents, env.env, horizon=200, runs=1, seed=4).summary()
    assert late["LinUCB"]["violating_rounds"]["max"] == 0
    assert late["LinUCB"]["regret"] != at_once["LinUCB"]["regret"]


def test_rows_of_a_context_need_an_environment_that_tells_them():
    agent = sf.GenCB(sf.LinUCB(dim=9, ridge=ridge()), sf.RewardFloor(**FLOOR))
    with pytest.raises(InvalidInput, match="plays points, or rows of a context"):
        sf.simulate({"LinUCB": agent}, sf.BernoulliArms([0.1, 0.2]), horizon=9, runs=1, seed=0)
    ball = sf.GenCB(sf.LinUCB(sf.Ball(1, 3)), sf.RewardFloor(**FLOOR))
    with pytest.raises(InvalidInput, match="plays points, or rows of a context"):
        sf.simulate({"LinUCB": ball}, sf.ContextualArms(ROWS), horizon=9, runs=1, seed=0)


def test_a_model_of_scikit_learn_beside_a_policy_that_is_blind_to_contexts():
    linear_model = pytest.importorskip("sklearn.linear_model")
    env = sf.ContextualArms.embedded(3, 3, seed=1)
    policy = sf.adapters.ScikitLearn(linear_model.SGDRegressor(eta0=0.1), n_arms=3, epsilon=0.1)
    floor = sf.RewardFloor(default=0.4, alpha=0.2)
    agents = {
        "model": sf.GenCB(policy, floor, default_competes=False, on_fault="default"),
        "blind": sf.GenCB(sf.UCB1(3), floor, default_competes=False),
    }
    summary = sf.simulate(agents, env, horizon=400, runs=1, seed=0).summary()
    assert summary["model"]["regret"]["mean"] < 0.8 * summary["blind"]["regret"]["mean"]
    assert {summary[name]["violating_rounds"]["max"] for name in agents} == {0}
