import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.choosing import LONG, MANY, ROWS, SCARCE
from surefoot.errors import InvalidInput
from surefoot.policies import Ball

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "choose-policy.md"
X = [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]

COMMON = {
    "delay": st.sampled_from([0, 1, LONG - 1, LONG, 5000.5]),
    "alpha": st.sampled_from([0.005, SCARCE, 0.05, 0.5]),
    "drift": st.sampled_from([False, True, 1, 50, 10**6]),
    "rewards": st.sampled_from(["binary", "bounded"]),
}
ARMS = st.fixed_dictionaries(
    {**COMMON, "n_arms": st.sampled_from([1, 2, 5, MANY])},
    optional={"propensities": st.booleans()},
)
RISKY = st.fixed_dictionaries({**COMMON, "n_arms": st.integers(1, 5), "rho": st.just(8)})
ROWS_OF_FEATURES = st.fixed_dictionaries(
    {**COMMON, "features": st.just(X)},
    optional={"propensities": st.booleans(), "n_arms": st.just(3)},
)
SETS = st.fixed_dictionaries({**COMMON, "features": st.sampled_from([Ball(1.0, 2), 2])})
SUPER_ARMS = st.fixed_dictionaries(
    {**COMMON, "features": st.just(X), "oracle": st.just(sf.TopK(2))}
)


def floor_of(asked):
    alpha = asked["alpha"]
    if "rho" in asked:
        return sf.MeanVarianceFloor(0.5, alpha, asked["rho"])
    return sf.RewardFloor(0.5, alpha, (0, 2) if "oracle" in asked else (0, 1), reserve=3)


def play(agent, asked, plays=40):
    """The agent's plays meet random rewards, the floor is kept; how often it explored."""
    rng, explored = np.random.default_rng(0), 0
    rows = [[0.5, 0.5], [0.0, 1.0]]
    for _ in range(plays):
        one = agent.select(context=rows if isinstance(asked.get("features"), int) else None)
        explored += not one.is_default
        if one.is_default:
            agent.update(one)
        elif "oracle" in asked:
            agent.update(one, base_rewards=[float(rng.integers(2)) for _ in one.arm])
        else:
            agent.update(one, reward=float(rng.integers(2)))
        assert agent.account.slack >= -3 * ("rho" not in asked)
        assert agent.account.earned >= agent.account.required - 3
    return explored


@settings(max_examples=40)
@given(st.one_of(ARMS, RISKY, ROWS_OF_FEATURES, SETS, SUPER_ARMS))
def test_every_problem_has_a_policy_that_runs_guarded(asked):
    found = sf.recommend(**asked)
    assert found.row in ROWS.values()
    agent = sf.GenCB(found.policy, floor_of(asked), seed=1, **found.options)
    explored = play(agent, asked)
    assert explored or "rho" in asked
    for said in (found.call, found.reason, found.row.command, found.row.bad):
        assert said in str(found)


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"n_arms": 5}, "rewards 0 or 1"),
        ({"n_arms": 5, "rewards": "bounded"}, "rewards in [0, 1]"),
        ({"n_arms": 5, "delay": 1}, "late rewards"),
        ({"n_arms": 5, "delay": 10_000}, "late rewards"),
        ({"n_arms": 5, "alpha": 0.01}, "little slack"),
        ({"n_arms": 5, "drift": True}, "drift"),
        ({"n_arms": 5, "drift": 100, "delay": 10_000}, "drift"),
        ({"n_arms": 5, "propensities": True}, "propensities"),
        ({"features": X, "propensities": True}, "propensities"),
        ({"features": X}, "fixed features"),
        ({"features": np.array(X), "n_arms": 3}, "fixed features"),
        ({"features": 4}, "features with each play"),
        ({"features": X, "oracle": sf.TopK(2)}, "super arms"),
        ({"n_arms": 5, "rho": 1}, "risk, rewards 0 or 1"),
        ({"n_arms": 5, "rho": 0.5}, "risk, rewards in [0, 1]"),
        ({"n_arms": 5, "rho": 10, "rewards": "bounded"}, "risk, rewards in [0, 1]"),
    ],
)
def test_each_problem_has_its_row(asked, problem):
    assert sf.recommend(**asked).row.problem == problem


def test_every_row_is_reached_and_says_what_was_measured_by_a_command():
    for problem, row in ROWS.items():
        assert row.problem == problem
        assert re.search(r"\d", row.measured)
        assert row.command.startswith(("surefoot study ", "uv run "))


def test_what_is_written_as_a_call_is_the_policy():
    for asked in (
        {"n_arms": 4}, {"n_arms": 4, "drift": 10_000}, {"n_arms": 4, "rho": 0.5},
        {"n_arms": 4, "propensities": True}, {"features": 2}, {"features": X},
    ):  # fmt: skip
        found = sf.recommend(**asked)
        names = {**vars(sf.policies), "features": asked.get("features")}
        made = eval(found.call, names)
        assert type(made) is type(found.policy)
        assert made.config() == found.policy.config()


def test_little_slack_is_funded_where_that_was_measured_alone():
    assert sf.recommend(MANY, alpha=SCARCE).options == {"fund": True}
    assert sf.recommend(MANY - 1, alpha=SCARCE).options == {}
    for other in ({"alpha": 0.05}, {"delay": 5}, {"drift": True}):
        assert sf.recommend(MANY, **{"alpha": 0.01, **other}).options == {}
    assert sf.recommend(features=X, alpha=0.01).options == {}


def test_where_probabilities_are_logged_no_default_takes_the_place_of_an_arm():
    found = sf.recommend(2, alpha=0.01, propensities=True)
    assert found.options == {"default_competes": False}
    agent = sf.GenCB(found.policy, sf.RewardFloor(0.9, 0.5, reserve=9), seed=0, **found.options)
    for arm in (0, 1):
        for reward in (1.0, 0.0, 0.0):
            agent.policy.update(arm, reward, None)
    assert {agent.select().reason for _ in range(9)} == {sf.Reason.SLACK_OK}


def test_a_recommendation_cannot_be_changed_and_is_legible():
    found = sf.recommend(72, alpha=0.01)
    with pytest.raises(AttributeError):
        found.policy = None
    with pytest.raises(TypeError):
        found.options["fund"] = False
    first = str(found).splitlines()[0]
    assert first == "agent: GenCB(AdaUCB(n_arms=72), floor, fund=True)"
    assert found._repr_html_().count("<tr>") == str(found).count("\n") + 1
    assert "<script" not in sf.recommend(features=X)._repr_html_()


def test_two_recommendations_share_no_policy():
    assert sf.recommend(3).policy is not sf.recommend(3).policy


def test_the_window_is_a_quarter_of_what_means_last_but_room_for_every_arm():
    assert "window=2500)" in sf.recommend(8, drift=True).call
    assert "window=500)" in sf.recommend(8, drift=2_003).call
    assert "window=80)" in sf.recommend(8, drift=4).call
    assert "window=1000000)" in sf.recommend(8, drift=10**30).call  # the widest that there is


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "got neither n_arms nor features"),
        ({"n_arms": 0}, "n_arms = 0 must be an int >= 1"),
        ({"n_arms": True}, "n_arms = True must be an int >= 1"),
        ({"n_arms": 2.0}, r"n_arms = 2.0 must be an int >= 1"),
        ({"n_arms": 2, "rewards": "count"}, "rewards = 'count' must be one of 'binary', 'bounded'"),
        ({"n_arms": 2, "delay": -1}, "delay = -1 must be >= 0"),
        ({"n_arms": 2, "delay": "long"}, "delay must be a number"),
        ({"n_arms": 2, "alpha": 1}, "alpha = 1 must lie strictly between 0 and 1"),
        ({"n_arms": 2, "drift": 0}, "drift = 0 must be an int >= 1"),
        ({"n_arms": 2, "rho": 0}, "rho = 0 must be > 0"),
        ({"n_arms": 2, "propensities": 1}, "propensities = 1 must be True or False"),
        ({"n_arms": 2, "oracle": sf.TopK(1)}, "needs features"),
        ({"n_arms": 2, "features": X}, "n_arms = 2, but features has 3 rows"),
        ({"n_arms": 4, "features": X, "oracle": sf.TopK(2)}, "but features has 3 base arms"),
        ({"features": [[1, float("nan")]]}, r"arms\[0\]\[1\] is nan"),
        ({"features": 0}, "features = 0 must be an int >= 1"),
        ({"features": 2, "propensities": True}, "not fixed rows"),
        ({"features": X, "oracle": sf.TopK(2), "propensities": True}, "not fixed rows"),
        ({"features": X, "rho": 0.5}, "no linear policy here scores the variance"),
        ({"features": X, "rho": 5, "oracle": sf.TopK(2)}, "no linear policy here scores"),
        ({"n_arms": 2, "rho": 0.5, "propensities": True}, "knows its propensities; leave one out"),
    ],
)
def test_what_does_not_fit_is_refused(asked, said):
    with pytest.raises(InvalidInput, match=said):
        sf.recommend(**asked)


def test_the_page_shows_the_table():
    text = PAGE.read_text(encoding="utf-8")
    for row in ROWS.values():
        problem, policy, measured, command, bad = row
        assert f"| {problem} | `{policy}` | {measured} | `{command}` | {bad} |" in text
