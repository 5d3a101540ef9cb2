"""C3UCB decides as its pseudo-code does, and its bound covers the played means."""

import math
import re

import numpy as np
import pytest

from naive import c3ucb
from naive.clucb import DEFAULT, Settings
from ridges import ridged
from surefoot.agents import Reason
from surefoot.comparators import C3UCB
from surefoot.errors import InvalidInput
from surefoot.kernels.registry import best, init, member, pledge, update, width
from surefoot.oracles import Enumerated, TopK
from surefoot.policies import Ridge


def instance(seed, K=5, d=3):
    rng = np.random.default_rng(seed)
    X, theta = rng.random((K, d)), rng.random(d)
    X /= np.linalg.norm(X, axis=1).max()
    return rng, X, theta / max((X @ theta).max(), np.linalg.norm(theta))


def build(settings, X, oracle):
    mu0, alpha, delta, B, noise, radius, _ = settings
    return C3UCB(
        X,
        oracle,
        mu0,
        alpha,
        delta,
        ridge=Ridge(theta_bound=B, noise=noise, radius=radius, feature_bound=1),
    )


def all_pairs(K):
    return Enumerated([(i, j) for i in range(K) for j in range(i + 1, K)])


@pytest.mark.parametrize("radius", ["paper", "determinant"])
@pytest.mark.parametrize("oracle", [TopK(2), all_pairs(5)], ids=["TopK", "Enumerated"])
@pytest.mark.parametrize("seed", range(3))
def test_every_decision_is_the_twins(radius, oracle, seed):
    rng, X, theta = instance(seed)
    settings = Settings(0.7, 0.5, 0.2, 0.5, 0.1, radius)
    agent, history, m = build(settings, X, oracle), [], 1
    for _ in range(120):
        expected, wanted, score, margin = c3ucb.decide(settings, X, 2, 1, history, m)
        play = agent.select()
        assert play.choice.score == pytest.approx(score, abs=1e-7)
        if play.choice.arm == wanted and play.reason is not Reason.DEFAULT_BEST:
            assert float(play.amount(play.choice.margin)) == pytest.approx(margin, abs=1e-6)
            if abs(margin) > 1e-7:
                assert (DEFAULT if play.is_default else play.arm) == expected
        if play.is_default:
            agent.update(play)
            history.append((DEFAULT, None))
            continue
        rewards = [int(rng.random() < X[e] @ theta) for e in play.arm]
        agent.update(play, base_rewards=rewards)
        history.append((play.arm, rewards))
        m += 1
    assert 10 < m


def test_the_engines_kernels_are_the_agents_decisions():
    rng, X, theta = instance(8)
    agent = build(Settings(0.7, 0.5, 0.2, 0.5, 0.1, "determinant"), X, TopK(2))
    record = agent.policy.record
    state, m = init(record, len(X)), 1
    for _ in range(150):
        play = agent.select()
        if play.is_default:
            agent.update(play)
            continue
        k, score = best(record, state, m, 0, None, None)
        arm = tuple(member(record, state, k, i) for i in range(width(record)))
        assert (arm, score) == (play.arm, play.choice.score)
        proved = math.floor(pledge(record, state, k) * 10**play.places)
        defaults = agent.account.default_plays * play.terms.value
        asked = play.terms.floor * agent.account.plays
        assert play.choice.margin == proved + defaults - asked
        rewards = [int(rng.random() < X[e] @ theta) for e in arm]
        for e, reward in zip(arm, rewards, strict=True):
            update(record, state, e, float(reward))
        agent.update(play, base_rewards=rewards)
        m += 1
    assert m > 20


def test_other_oracles_are_not_the_engines():
    assert build(Settings(0.7, 0.5, 0.2, 1, 1), np.eye(5), all_pairs(5)).policy.record is None


class Last(TopK):
    """A user's own oracle, which happens to have a k."""

    def __call__(self, weights):
        return (len(weights) - 1,)


def test_an_oracle_with_a_k_is_asked():
    policy = C3UCB(np.eye(2), Last(1), default=0.1).policy
    assert policy.record is None
    assert policy.peek(1)[0] == (1,)


def failures(runs, horizon, delta):
    failed = 0
    for seed in range(runs):
        rng, X, theta = instance(seed)
        bounds = build(Settings(0.7, 0.5, delta, 1, 0.5, "determinant"), X, TopK(2)).bounds
        means, total = X @ theta, 0.0
        for turn in range(1, horizon + 1):
            arm, _ = bounds.peek(turn)
            if bounds.pledge(arm) > total + means[list(arm)].sum() + 1e-9:
                failed += 1
                break
            total += means[list(arm)].sum()
            bounds.update(arm, [float(rng.random() < means[e]) for e in arm], None)
    return failed


def test_the_bound_covers():
    """With failures of chance .1 at most, 34 or more of 200 runs have chance < .001."""
    assert failures(200, 40, 0.1) < 34


@pytest.mark.slow
def test_the_bound_covers_for_long():
    assert failures(200, 1000, 0.1) < 34


def test_a_tie_with_the_default_is_the_default():
    """Upper bounds are cut at 1, so two base arms are worth at most 2."""
    agent = C3UCB(np.eye(3), TopK(2), default=2, alpha=0.5)
    assert agent.select().reason is Reason.DEFAULT_BEST


def test_a_pending_play_counts_at_the_least():
    agent = C3UCB(np.eye(3), TopK(2), default=1, alpha=0.5)
    agent.pause()
    for play in agent.select_many(20):
        agent.update(play)
    agent.resume()
    first, second = agent.select_many(2)
    assert second.choice.margin == first.choice.margin - first.terms.floor


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"oracle": TopK(4)}, "does not fit base_arms: 3 base arms"),
        ({"oracle": 7}, "oracle = 7 must be callable"),
        ({"oracle": Enumerated([(0, 1)])}, "does not fit base_arms"),
        (
            {"oracle": Enumerated([(0, 2)], f=lambda arm, w: w[0])},
            "has an f; C3UCB bounds the sum only",
        ),
        ({"default": None}, "default is missing; C3UCB needs"),
        ({"default": 3}, "default = 3 lies outside reward_range (0, 2)"),
        ({"base_arms": [1]}, "base_arms is of shape"),
        ({"delta": 2}, "delta = 2 must lie"),
        ({"labels": [1, 1, 2]}, "arm label 1 is given twice"),
    ],
)
def test_what_it_is_not_defined_for_is_refused(settings, message):
    given = {
        "base_arms": np.eye(3),
        "oracle": TopK(2),
        "default": 1,
        "alpha": 0.1,
        **ridged(settings),
    }
    with pytest.raises(InvalidInput, match=re.escape(message)):
        C3UCB(**{**given, **ridged(settings)})


def test_its_features_stay():
    agent = C3UCB(np.eye(3), TopK(2), default=1, alpha=0.5)
    with pytest.raises(InvalidInput, match="C3UCB takes none, its features stay"):
        agent.select(np.eye(3))
    assert agent.account.plays == 0
