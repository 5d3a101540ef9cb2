"""CLUCB decides as its pseudo-code does, and its bound covers the played means."""

import math
import re

import numpy as np
import pytest

from naive import clucb
from naive.clucb import DEFAULT, Settings
from ridges import ridged
from surefoot.agents import Reason
from surefoot.comparators import CLUCB
from surefoot.errors import InvalidInput
from surefoot.kernels.registry import best, init, member, pledge, update, width
from surefoot.policies import Ridge

NEAR = 1e-7
"""Decisions closer to a tie than this may go either way: the twin sums in another order."""


def instance(seed, K=6, d=3):
    """Arms and theta* whose means lie in [0, 1]."""
    rng = np.random.default_rng(seed)
    X, theta = rng.random((K, d)), rng.random(d)
    X /= np.linalg.norm(X, axis=1).max()
    return rng, X, theta / max((X @ theta).max(), np.linalg.norm(theta))


def build(settings, X, **more):
    mu0, alpha, delta, B, noise, radius, clip = settings
    return CLUCB(
        X,
        mu0,
        alpha,
        delta,
        ridge=Ridge(theta_bound=B, noise=noise, radius=radius, **more),
        clip=clip,
    )


def lockstep(settings, X, theta, rng, horizon, contexts=False):
    """Play by play against the twin; how many explorations there were."""
    agent, history, m = build(settings, X, feature_bound=1), [], 1
    for _ in range(horizon):
        rows = X * rng.uniform(0.5, 1, (len(X), 1)) if contexts else X
        expected, wanted, margin = clucb.decide(settings, rows, 1, history, m)
        play = agent.select(rows if contexts else None)
        assert play.choice.arm == wanted
        assert float(play.amount(play.choice.margin)) == pytest.approx(margin, abs=1e-6)
        if abs(margin) > NEAR:
            assert play.index == expected
        reward = None if play.is_default else int(rng.random() < rows[play.index] @ theta)
        agent.update(play, reward)
        history.append((play.index, None if play.is_default else rows[play.index], reward))
        m += not play.is_default
    return m - 1


@pytest.mark.parametrize("radius", ["paper", "determinant"])
@pytest.mark.parametrize("contexts", [False, True], ids=["arms", "contexts"])
@pytest.mark.parametrize("seed", range(3))
def test_every_decision_is_the_twins(radius, contexts, seed):
    rng, X, theta = instance(seed)
    settings = Settings(0.3, 0.6, 0.1, 1, 0.2, radius)
    explored = lockstep(settings, X, theta, rng, 250, contexts)
    assert 0 < explored < 250


def test_without_the_clip_nothing_is_given_for_free():
    """The bound starts below zero, so the default is played longer."""
    rng, X, theta = instance(5)
    settings = Settings(0.3, 0.6, 0.1, 1, 0.05, "paper", clip=False)
    agent, free = build(settings, X), build(settings._replace(clip=True), X)
    first = []
    for one in (agent, free):
        plays = 0
        while (play := one.select()).is_default:
            one.update(play)
            plays += 1
        first.append(plays)
    assert first[1] == 1 < first[0]
    lockstep(settings, X, theta, rng, 150)


def test_the_engines_kernels_are_the_agents_decisions():
    """The same turns from the record alone: what the engine walks is what the agent plays."""
    rng, X, theta = instance(7)
    agent = build(Settings(0.3, 0.6, 0.1, 1, 0.3), X)
    record = agent.policy.record
    state, m = init(record, len(X)), 1
    for _ in range(200):
        play = agent.select()
        if play.is_default:
            agent.update(play)
            continue
        k, score = best(record, state, m, 0, None, None)
        assert (play.index, play.choice.score) == (k, score)
        assert (width(record), member(record, state, k, 0)) == (1, k)
        proved = math.floor(pledge(record, state, k) * 10**9)
        account = agent.account
        asked = play.terms.floor * account.plays
        defaults = account.default_plays * play.terms.value
        assert play.choice.margin == proved + defaults - asked
        reward = int(rng.random() < X[k] @ theta)
        agent.update(play, reward)
        update(record, state, k, float(reward))
        m += 1
    assert m > 20


def failures(radius, runs, horizon, delta):
    """In how many runs the bound on the sum of means is above it at some play."""
    failed = 0
    for seed in range(runs):
        rng, X, theta = instance(seed)
        agent = build(Settings(0.3, 0.6, delta, 1, 0.5, radius, clip=False), X)
        means = X @ theta
        total = 0.0
        for turn in range(1, horizon + 1):
            k, _ = agent.bounds.peek(turn)
            if agent.bounds.pledge(k) > total + means[k] + 1e-9:
                failed += 1
                break
            total += means[k]
            agent.bounds.update(k, int(rng.random() < means[k]), None)
    return failed


@pytest.mark.parametrize("radius", ["paper", "determinant"])
def test_the_bound_covers(radius):
    """With failures of chance .1 at most, 34 or more of 200 runs have chance < .001."""
    assert failures(radius, 200, 60, 0.1) < 34


@pytest.mark.slow
def test_the_bound_covers_for_long():
    assert failures("determinant", 200, 2000, 0.1) < 34


def test_a_pending_play_counts_at_the_least_and_a_void_one_not():
    agent = CLUCB([[1.0]], 0.5, 0.5, 0.1, ridge=Ridge(noise=0.1))
    agent.pause()
    for play in agent.select_many(20):
        agent.update(play)
    agent.resume()
    agent.update(agent.select(), 1)
    first = agent.select()
    agent.void(first)
    second = agent.select()
    assert second.choice.margin == first.choice.margin
    assert agent.select().choice.margin == second.choice.margin - second.terms.floor


def test_allowed_arms_and_labels():
    agent = CLUCB(np.eye(3), 0.4, 0.6, labels=["a", "b", "c"])
    agent.update(agent.select())
    assert agent.select(allowed=["c", "b"]).arm == "b"


def test_reasons_are_told_in_numbers():
    agent = CLUCB(np.eye(2), 0.5, 0.5)
    play = agent.select()
    assert play.reason is Reason.NOT_PROVED
    assert "prove 0.25 less mean reward" in agent.explain(play)
    assert DEFAULT == play.index


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"arms": [1, 2]}, "arms is of shape (2,)"),
        ({"arms": [[math.nan]]}, "arms[0][0] is nan"),
        ({"default": None}, "default is missing; CLUCB needs"),
        ({"delta": 0}, "delta = 0 must lie"),
        ({"delta": True}, "delta = True must lie"),
        ({"theta_bound": -1}, "theta_bound = -1 must be >= 0"),
        ({"theta_bound": math.inf}, "theta_bound must be finite"),
        ({"feature_bound": 0.5}, "feature_bound = 0.5"),
        ({"feature_bound": -1}, "feature_bound = -1"),
        ({"noise": "1"}, "noise must be a number"),
        ({"penalty": 0}, "penalty = 0 must be > 0"),
        ({"radius": "wide"}, "radius = 'wide' must be one of"),
        ({"clip": 1}, "clip = 1 must be True or False"),
        ({"labels": ["a"]}, "got 1 labels for 2 arms"),
    ],
    ids=str,
)
def test_what_it_is_not_defined_for_is_refused(settings, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        CLUCB(**{"arms": np.eye(2), "default": 0.5, "alpha": 0.1, **ridged(settings)})


@pytest.mark.parametrize(
    ("context", "message"),
    [
        (np.ones((2, 3)), "context is of shape (2, 3)"),
        (np.full((2, 2), np.nan), "context[0][0] is nan"),
        (np.ones((2, 2)), "feature_bound"),
        ("x", "context is 'x'"),
    ],
    ids=["shape", "nan", "norm", "text"],
)
def test_a_bad_context_changes_nothing(context, message):
    agent = CLUCB(np.eye(2), 0.5, 0.5)
    with pytest.raises(InvalidInput, match=re.escape(message)):
        agent.select(context)
    assert (agent.account.plays, agent.turns) == (0, 0)
