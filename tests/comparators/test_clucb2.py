"""CLUCB2 decides as its structure says, and each bound it uses covers."""

import math
import re

import numpy as np
import pytest

from naive import clucb2
from naive.clucb import Settings
from ridges import ridged
from surefoot.agents import Reason
from surefoot.comparators import CLUCB, CLUCB2
from surefoot.comparators.clucb2 import received
from surefoot.errors import InvalidInput
from surefoot.policies import Ridge


def instance(seed, K=5, d=3):
    rng = np.random.default_rng(seed)
    X, theta = rng.random((K, d)), rng.random(d)
    X /= np.linalg.norm(X, axis=1).max()
    return rng, X, theta / max((X @ theta).max(), np.linalg.norm(theta))


def build(settings, X, n=1):
    mu0, alpha, delta, B, noise, radius, _ = settings
    return CLUCB2(
        X, mu0, alpha, delta, checkpoint=n,
        ridge=Ridge(theta_bound=B, noise=noise, radius=radius, feature_bound=1),
    )  # fmt: skip


@pytest.mark.parametrize("radius", ["paper", "determinant"])
@pytest.mark.parametrize("n", [1, 10])
@pytest.mark.parametrize("seed", range(3))
def test_every_decision_is_the_twins(radius, n, seed):
    rng, X, theta = instance(seed)
    settings = Settings(0.3 if n == 1 else 0.5, 0.5 if n == 1 else 0.2, 0.2, 1, 0.1, radius)
    agent, history, m = build(settings, X, n), [], 1
    for _ in range(250):
        expected, near = clucb2.decide(settings, X, 1, history, m, n)
        play = agent.select()
        if near > 1e-7:
            assert play.index == expected
        reward = None if play.is_default else int(rng.random() < X[play.index] @ theta)
        agent.update(play, reward)
        history.append((play.index, None if play.is_default else X[play.index], reward))
        m += not play.is_default
    assert 20 < m < 251


def test_another_range_is_scaled():
    """Rewards in (0, 2), features and default twice as large: the same arms."""
    rng, X, theta = instance(4)
    one = CLUCB2(X, 0.3, 0.5, 0.2, ridge=Ridge(noise=0.1, penalty=1))
    two = CLUCB2(
        X, 0.6, 0.5, 0.2, ridge=Ridge(noise=0.2, theta_bound=2, penalty=1), reward_range=(0, 2)
    )
    for _ in range(150):
        ours, theirs = one.select(), two.select()
        assert ours.index == theirs.index
        reward = int(rng.random() < X[ours.index] @ theta)
        one.update(ours, None if ours.is_default else reward)
        two.update(theirs, None if theirs.is_default else 2 * reward)


def test_it_explores_no_later_than_clucb():
    """What is received proves more of the past than the ellipsoid does."""
    rng, X, theta = instance(9)
    draws = rng.random(400)
    explored = []
    for kind in (CLUCB, CLUCB2):
        agent = kind(X, 0.4, 0.3, 0.05, ridge=Ridge(noise=0.5, radius="determinant"))
        for t in range(400):
            play = agent.select()
            won = not play.is_default and draws[t] < X[play.index] @ theta
            agent.update(play, None if play.is_default else int(won))
        explored.append(agent.account.explorations)
    assert explored[0] < explored[1]


def test_checkpoints_lend_what_the_default_will_earn():
    agent = CLUCB2(np.eye(2), 0.5, 0.2, checkpoint=10)
    plays = agent.select_many(10)
    assert [play.is_default for play in plays] == [False] * 2 + [True] * 8
    assert plays[2].reason is Reason.NOT_PROVED


@pytest.mark.parametrize("p", [0.05, 0.5, 0.9])
def test_psi_covers(p):
    """Of 300 runs at 1/20 for each of two bounds, 50 or more failures have chance < .001."""
    rng, level, failed = np.random.default_rng(1), math.log(20), 0
    for _ in range(300):
        sums = np.cumsum(rng.random(400) < p)
        spots = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377]
        failed += any(received(float(sums[m - 1]), m, level) > m * p + 1e-9 for m in spots)
    assert failed < 50


@pytest.mark.slow
def test_psi_covers_at_every_play():
    rng, level, failed = np.random.default_rng(2), math.log(20), 0
    for _ in range(300):
        means = rng.random(2000)
        sums, truth = np.cumsum(rng.random(2000) < means), np.cumsum(means)
        failed += any(
            received(float(sums[m - 1]), m, level) > truth[m - 1] + 1e-9 for m in range(1, 2001)
        )
    assert failed < 50


def test_psi_is_the_twins():
    rng = np.random.default_rng(0)
    for m in (1, 2, 10, 200):
        rewards = rng.random(m).tolist()
        ours = received(math.fsum(rewards), m, math.log(1 / 0.03))
        assert ours == pytest.approx(clucb2.received(rewards, 0.03), abs=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"checkpoint": 0}, "checkpoint = 0 must be an int >= 1"),
        ({"checkpoint": True}, "checkpoint = True must be"),
        ({"checkpoint": 2.5}, "checkpoint = 2.5 must be"),
        ({"delta": 1}, "delta = 1 must lie"),
        ({"default": None}, "default is missing; CLUCB2 needs"),
        ({"radius": "x"}, "radius = 'x' must be one of"),
        ({"arms": []}, "arms is"),
    ],
    ids=str,
)
def test_what_it_is_not_defined_for_is_refused(settings, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        CLUCB2(**{"arms": np.eye(2), "default": 0.5, "alpha": 0.1, **ridged(settings)})


@pytest.mark.parametrize("checkpoint", [1, 10])
def test_its_own_promise_holds_at_its_level(checkpoint):
    """The means of what is played keep the floor, at each checkpoint, but for a share of runs.

    With failures of chance .2 at most, 23 or more of 60 runs have chance < .001.
    """
    failed = explored = 0
    for seed in range(60):
        rng, X, theta = instance(seed)
        agent = CLUCB2(
            X, 0.4, 0.3, 0.2, ridge=Ridge(noise=0.5, feature_bound=1), checkpoint=checkpoint
        )
        mean, short = 0.0, False
        for t in range(1, 201):
            play = agent.select()
            true = 0.4 if play.is_default else float(X[play.index] @ theta)
            agent.update(play, None if play.is_default else int(rng.random() < true))
            mean += true
            short |= t % checkpoint == 0 and mean < 0.7 * 0.4 * t - 1e-9
        failed += short
        explored += agent.account.explorations
    assert failed < 23
    assert explored > 60 * 10
