"""C3UCB with a default it has to learn decides as its pseudo-code does."""

import re

import numpy as np
import pytest

from naive import c3ucb
from naive.clucb import DEFAULT, Settings
from ridges import ridged
from surefoot.comparators import C3UCBUnknown
from surefoot.errors import InvalidInput
from surefoot.oracles import TopK
from surefoot.policies import Ridge


@pytest.mark.parametrize("seed", range(4))
def test_every_decision_is_the_twins(seed):
    rng = np.random.default_rng(seed)
    X, theta = rng.random((5, 3)), rng.random(3)
    X /= np.linalg.norm(X, axis=1).max()
    theta /= max((X @ theta).max(), np.linalg.norm(theta))
    settings = Settings(0, 0.9, 0.2, 0.5, 0.1, "determinant")
    agent = C3UCBUnknown(
        X, TopK(2), 0.9, 0.2, 50, ridge=Ridge(theta_bound=0.5, noise=0.1, feature_bound=1)
    )
    history, m = [], 1
    for _ in range(150):
        expected, near = c3ucb.decide_unknown(settings, X, 2, 1, history, m, 50)
        play = agent.select()
        if near > 1e-7:
            assert (DEFAULT if play.is_default else play.arm) == expected
        if play.is_default:
            reward = float(rng.random() * 0.4)
            agent.update(play, reward)
            history.append((DEFAULT, reward))
            continue
        rewards = [int(rng.random() < X[e] @ theta) for e in play.arm]
        agent.update(play, base_rewards=rewards)
        history.append((play.arm, rewards))
        m += 1
    assert 5 < m < 150


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"horizon": None}, "horizon is missing"),
        ({"horizon": 0}, "horizon = 0 must be"),
        ({"oracle": TopK(9)}, "does not fit base_arms"),
        ({"default_range": (1, 5)}, "within reward_range"),
    ],
    ids=str,
)
def test_what_it_is_not_defined_for_is_refused(settings, message):
    given = {"base_arms": np.eye(3), "oracle": TopK(2), "horizon": 9, **ridged(settings)}
    with pytest.raises(InvalidInput, match=re.escape(message)):
        C3UCBUnknown(**given)


def test_a_default_play_brings_its_reward():
    agent = C3UCBUnknown(np.eye(3), TopK(2), horizon=9)
    with pytest.raises(InvalidInput, match="C3UCBUnknown learns what its default pays"):
        agent.update(agent.select())


def test_its_own_promise_holds_at_its_level():
    """The means of what is played keep the floor, but for a share delta of the runs.

    With failures of chance .2 at most, 23 or more of 60 runs have chance < .001.
    """
    failed = explored = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, theta = rng.random((5, 3)), rng.random(3)
        X /= np.linalg.norm(X, axis=1).max()
        theta /= max((X @ theta).max(), np.linalg.norm(theta))
        agent = C3UCBUnknown(X, TopK(2), 0.7, 0.2, 150, ridge=Ridge(noise=0.5, feature_bound=1))
        total, short = 0.0, False
        for t in range(1, 151):
            play = agent.select()
            if play.is_default:
                total += 0.2
                agent.update(play, float(rng.random() < 0.2))
            else:
                total += float(sum(X[e] @ theta for e in play.arm))
                paid = [int(rng.random() < X[e] @ theta) for e in play.arm]
                agent.update(play, base_rewards=paid)
            short |= total < 0.3 * 0.2 * t - 1e-9
        failed += short
        explored += agent.account.explorations
    assert failed < 23
    assert explored > 60 * 5
