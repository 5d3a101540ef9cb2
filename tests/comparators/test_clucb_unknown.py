"""CLUCB with a default it has to learn decides by the least value of the whole contrast."""

import re

import numpy as np
import pytest

from naive import clucb
from naive.clucb import Settings
from ridges import ridged
from surefoot.comparators import CLUCBUnknown
from surefoot.errors import InvalidInput
from surefoot.policies import Ridge


def instance(seed, K=5, d=3):
    rng = np.random.default_rng(seed)
    X, theta = rng.random((K, d)), rng.random(d)
    X /= np.linalg.norm(X, axis=1).max()
    return rng, X, theta / max((X @ theta).max(), np.linalg.norm(theta))


@pytest.mark.parametrize("radius", ["paper", "determinant"])
@pytest.mark.parametrize("seed", range(4))
def test_every_decision_is_the_twins(radius, seed):
    rng, X, theta = instance(seed)
    b = X.mean(axis=0) * 0.6
    settings = Settings(0, 0.8, 0.1, 1, 0.02, radius)
    agent = CLUCBUnknown(
        X,
        b,
        0.8,
        0.1,
        ridge=Ridge(noise=0.02, radius=radius, feature_bound=1),
        default_range=(0, 1),
    )
    history = []
    for _ in range(250):
        expected, worth = clucb.decide_unknown(settings, X, b, 1, history)
        play = agent.select()
        assert float(play.amount(play.choice.margin)) == pytest.approx(worth, abs=1e-6)
        if abs(worth) > 1e-7:
            assert play.index == expected
        x = b if play.is_default else X[play.index]
        reward = float(np.clip(x @ theta + 0.02 * rng.normal(), 0, 1))
        agent.update(play, reward)
        history.append((play.index, x, reward))
    assert 0 < agent.account.explorations < 250


def test_its_bound_covers():
    """The contrast is never proved above the truth; with chance .1 a run, 34 of 200 is < .001."""
    failed = 0
    for seed in range(200):
        rng, X, theta = instance(seed)
        b, truth = X.mean(axis=0) * 0.6, 0.0
        agent = CLUCBUnknown(X, b, 0.8, 0.1, ridge=Ridge(noise=0.5))
        for _ in range(40):
            play = agent.select()
            mean = float((b if play.is_default else X[play.index]) @ theta)
            wanted = float(X[play.choice.arm] @ theta)
            proved = float(play.amount(play.choice.margin))
            asked = 0.2 * float(b @ theta)
            if proved > truth + wanted - asked + 1e-6:
                failed += 1
                break
            truth += mean - asked
            agent.update(play, int(rng.random() < mean))
    assert failed < 34


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"default_features": [1]}, "default_features is of shape (1, 1)"),
        ({"default_features": 3}, "default_features"),
        ({"default_features": [9, 0], "feature_bound": 1}, "arms and default_features"),
        ({"radius": "x"}, "radius = 'x' must be one of"),
        ({"reward_range": (-1, 1)}, "must have 0 <= l <= u"),
    ],
    ids=str,
)
def test_what_it_is_not_defined_for_is_refused(settings, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        CLUCBUnknown(**{"arms": np.eye(2), "default_features": [0, 1], **ridged(settings)})


def test_a_default_play_brings_its_reward():
    agent = CLUCBUnknown(np.eye(2), [0.5, 0.5])
    with pytest.raises(InvalidInput, match="CLUCBUnknown learns what its default pays"):
        agent.update(agent.select())
