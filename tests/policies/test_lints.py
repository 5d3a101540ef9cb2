"""LinTS samples as its twin does, in every driver alike, for arms, contexts, sets, super arms."""

import json
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import surefoot as sf
from driven import check_plan
from gram_cases import network
from naive import lints as naive
from surefoot import verifier
from surefoot.errors import InvalidInput
from surefoot.kernels import registry, warm
from surefoot.kernels.policy import POLICIES
from surefoot.policies import CombLinTS, _factored
from surefoot.policies.lints import Sampler
from surefoot.simulation import Plan

SEEDS = st.integers(0, 10**6)
X3 = [[1, 0], [0, 1], [0.6, 0.8]]


def rows_of(rng, K, d):
    X = rng.normal(size=(K, d))
    return X / np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]


def close(one, other):
    return np.allclose(one, other, rtol=1e-8, atol=1e-8)


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 5), st.integers(1, 8), st.sampled_from([None, 3.0]), st.booleans())
def test_in_lockstep_with_the_twin(seed, d, K, penalty, late):
    """Rows that change at some plays, learnt late and out of order, some corrected."""
    rng = np.random.default_rng(seed)
    X = rows_of(rng, K, d)
    ridge = sf.Ridge(feature_bound=1, penalty=penalty)
    policy = sf.LinTS(X, scale=float(rng.choice([0.1, 0.5, 2])), ridge=ridge)
    history, pending = [], []
    for m in range(1, 40):
        rows = rows_of(rng, K, d) if m % 3 == 0 else None
        arm, score = policy.best(rows, rng)
        seen = X if rows is None else rows
        theta = naive.sample(history, d, policy.ridge, policy.scale, m, policy.key)
        assert close(policy.sample(m), theta)
        assert close(score, (seen @ theta).max())
        assert close(seen[arm] @ theta, score)
        pending.append((arm, rows, seen))
        while len(pending) > (3 if late else 0):
            arm, rows, seen = pending.pop(int(rng.integers(len(pending))))
            reward = round(float(rng.random()), 3)
            policy.update(arm, reward, rows)
            if m % 4 == 0:
                policy.correct(arm, reward, 1.0, rows)
                reward = 1.0
            history.append((seen[arm], reward))


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 4), st.sampled_from([sf.TopK(2), sf.Matching((2, 2)), "list", "max"]))
def test_super_arms_are_the_oracles_for_the_twins_weights(seed, d, oracle):
    rng = np.random.default_rng(seed)
    sets = [(0,), (1, 2), (0, 2, 3)]
    if isinstance(oracle, str):
        most = None if oracle == "list" else lambda arm, w: max(w[e] for e in arm)
        oracle = sf.Enumerated(sets, f=most)
    X = rows_of(rng, 4, d)
    policy, history = sf.LinTS(X, oracle=oracle), []
    for m in range(1, 25):
        arm, score = policy.best(None, rng)
        theta = naive.sample(history, d, policy.ridge, 0.5, m, policy.key)
        weights = X @ theta
        best = oracle(weights)
        value = policy.f or (lambda arm, w: sum(w[e] for e in arm))
        assert close([score, value(arm, weights)], value(best, weights))
        rewards = tuple(np.round(rng.random(len(arm)), 3).tolist())
        policy.update(arm, rewards, None)
        history += [(X[e], r) for e, r in zip(arm, rewards, strict=True)]


def test_of_a_ball_it_plays_the_point_along_the_sample():
    policy, rng = sf.LinTS(sf.Ball(2.0, 3)), np.random.default_rng(0)
    for m in range(1, 20):
        point, score = policy.best(None, rng)
        theta = np.array(policy.sample(m))
        assert close(point, 2 * theta / np.linalg.norm(theta))
        assert close(score, 2 * np.linalg.norm(theta))
        policy.update(point, 0.5, None)


@pytest.mark.parametrize("size", [1e-150, 1e-8, 1.0, 1e8, 1e40])
def test_a_feature_of_any_size_beside_small_ones_loses_no_digits(size):
    """Sherman-Morrison would cancel them."""
    factor, u = _factored.fresh(2, 1.0)
    for row, reward in [(0, 1.0), (1, 0.25)] * 3:
        _factored.learn(factor, u, [0.0, 0.0], [size, size, 0.0, 1.0], row, reward)
    _factored.solve(factor, u)
    s = Fraction(size)
    a, b, c = 1 + 3 * s * s, 3 * s * s, 4 + 3 * s * s  # V = I + sum x x'
    p, q = 3 * s, 3 * s + Fraction(3, 4)
    exact = [float(part / (a * c - b * b)) for part in (c * p - b * q, a * q - b * p)]
    assert np.allclose(u, exact, rtol=1e-12, atol=0)


def plans(random):
    """Agents that share a base path, or have one of their own, on drawn arms or super arms."""
    d, K = int(random.choice([2, 4])), int(random.choice([1, 5, 9]))
    alpha, mu0 = float(random.choice([0.05, 0.3, 0.95])), round(float(random.uniform(0.05, 0.9)), 2)
    oracle, seed = None, int(random.integers(2**32))
    match random.integers(3) if K > 1 else 0:
        case 1:
            oracle = sf.TopK(int(random.integers(1, K)))
        case 2:
            oracle = sf.ShortestPath(*network(random))
            K = oracle.n_base
    if oracle is None:
        floor, world = sf.RewardFloor(mu0, alpha), sf.LinearArms.embedded(K, d, seed)
    else:
        floor = sf.RewardFloor(mu0, alpha, (0, oracle.size[1]))
        world = sf.CombinatorialArms.embedded(K, d, oracle, seed)
    make = lambda: sf.LinTS(world.X, oracle=oracle)  # noqa: E731
    agents = {
        "competing": sf.GenCB(make(), floor),
        "printed": sf.GenCB(make(), floor, default_competes=False),
        "plain": sf.Plain(make(), floor),
    }
    return Plan(agents, world, int(random.choice([60, 200])), int(random.integers(2**32)), "all")


@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_live_plain_and_compiled_make_the_same_plays(count):
    pytest.importorskip("numba")
    random = np.random.default_rng(5)
    for _ in range(count):
        check_plan(plans(random))


def test_after_a_warm_up_it_decides_the_same_and_files_go_both_ways(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(warm, "_READY", {})
    monkeypatch.setattr(warm, "wrappers", lambda: {Sampler: warm.LIVE[Sampler]})
    makes = [
        lambda: sf.LinTS(X3),
        lambda: sf.LinTS(dim=2, ridge=sf.Ridge(feature_bound=1)),
        lambda: sf.LinTS(sf.Ball(1, 2)),
        lambda: sf.LinTS(X3, oracle=sf.TopK(2)),
        lambda: sf.LinTS(X3, oracle=sf.Enumerated([[0], [1, 2]])),
    ]
    plain = [make() for make in makes]
    warm.warm_up()
    for one, make in zip(plain, makes, strict=True):
        other, rngs = make(), [np.random.default_rng(3) for _ in range(2)]
        assert (one._compiled is None, other._compiled is None) == (True, False)
        contexts = one.n_arms is None and one.numbered
        for turn in range(300):
            rows = X3[turn % 2 :] if contexts else None
            allowed = [1] if turn % 7 == 6 and one.numbered else None
            arm, score = one.best(rows, rngs[0], allowed)
            assert other.best(rows, rngs[1], allowed) == (arm, score)
            paid = (turn % 3 / 2,) * len(arm) if one.semi_bandit else turn % 3 / 2
            for policy in (one, other):
                policy.update(arm, paid, rows)
            if turn % 50 == 49:
                again = (0.5,) * len(arm) if one.semi_bandit else 0.5
                for policy in (one, other):
                    policy.correct(arm, paid, again, rows)
        assert json.loads(json.dumps(other.state())) == one.state()
        third = make()
        third.restore(json.loads(json.dumps(one.state())))
        assert third.best(rows, None) == one.best(rows, None)


@pytest.mark.parametrize("oracle", [None, sf.TopK(2)])
def test_an_agent_of_it_is_saved_with_its_key(tmp_path, oracle):
    floor = sf.RewardFloor(0.3, 0.9, (0, 2) if oracle else (0, 1))

    def arms(agent):
        seen = []
        for _ in range(60):
            play = agent.select()
            reward = {"base_rewards": [1, 0]} if oracle else {"reward": 1}
            agent.update(play, **({} if play.is_default else reward))
            seen.append(play.arm)
        return seen

    make = lambda seed: sf.GenCB(sf.LinTS(X3, oracle=oracle), floor, seed=seed)  # noqa: E731
    one = make(1)
    assert one.policy.key is None
    assert arms(one) == arms(make(1)) != arms(make(2))
    one.save(tmp_path / "one.json")
    again = sf.load(tmp_path / "one.json")
    assert type(again.policy) is type(one.policy)
    assert repr(again.policy) == repr(one.policy)
    assert arms(again) == arms(one)


def test_samples_are_of_the_posterior_and_independent_over_turns():
    """(theta - theta_hat)' V (theta - theta_hat)/v^2 is chi-square of d; each direction normal."""
    policy, rng = sf.LinTS(X3, scale=0.7), np.random.default_rng(0)
    for _ in range(30):
        policy.update(int(rng.integers(3)), float(rng.random()), None)
    policy.key = 12
    record = policy.record
    state = registry.init(record, 3)
    state[0][:], state[1][:] = policy._lists()
    thetas = []
    for m in range(1, 4001):
        registry.best(record, state, m, 12, None, range(3))
        thetas.append([*state[2]])
    assert tuple(thetas[6]) == policy.sample(7)
    factor = np.array(policy._lists()[0]).reshape(2, 2)
    R = np.triu(factor, 1) + np.eye(2)
    V = R.T @ np.diag(np.diag(factor)) @ R
    off = (np.array(thetas) - policy.theta_hat) / 0.7
    assert stats.kstest(np.einsum("mi,ij,mj->m", off, V, off), stats.chi2(2).cdf).pvalue > 0.01
    for x in X3:
        width = math.sqrt(np.array(x) @ np.linalg.solve(V, x))
        assert stats.kstest(off @ x / width, stats.norm.cdf).pvalue > 0.01
        assert abs(np.corrcoef(off[1:] @ x, off[:-1] @ x)[0, 1]) < 0.06


def test_a_fork_has_draws_of_its_own():
    policy = sf.LinTS(X3)
    policy.best(None, np.random.default_rng(0))
    key, arms = policy.key, [policy.peek(m) for m in range(9)]
    policy.renew()
    policy.best(None, np.random.default_rng(1))
    assert policy.key != key
    assert [policy.peek(m) for m in range(9)] != arms


def test_only_fixed_features_and_oracles_of_the_engine_have_a_record():
    assert sf.LinTS(sf.Ball(1, 2)).record is None
    assert sf.LinTS(dim=2, ridge=sf.Ridge(feature_bound=1)).record is None
    assert sf.LinTS(X3, oracle=lambda w: [0]).record is None
    assert sf.LinTS(X3, oracle=sf.TopK(2), f=lambda arm, w: 0.0).record is None
    assert type(sf.LinTS(X3, oracle=sf.TopK(2))) is CombLinTS


def test_the_verifier_adds_up_the_base_rewards_of_every_policy_of_super_arms():
    text = Path(verifier.__file__).read_text(encoding="utf-8")
    kinds = {name for name, kind in POLICIES.items() if getattr(kind, "semi_bandit", False)}
    assert kinds >= {"C2UCB", "CombLinTS"}
    assert [name for name in kinds if f'"{name}"' not in text] == []


def test_equal_rows_tie_and_the_lowest_is_played():
    policy = sf.LinTS([[0, 1], [1, 0], [1, 0], [0, 1]])
    assert {policy.select(None, np.random.default_rng(seed)) for seed in range(20)} == {0, 1}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scale": 0}, "scale = 0 must be > 0"),
        ({"scale": math.nan}, "scale must be finite"),
        ({"ridge": 2}, "ridge = 2 must be a Ridge"),
        ({"dim": 2}, "give exactly one"),
        ({"oracle": 3}, "oracle = 3 must be a callable"),
        ({"f": max}, "are for super arms"),
    ],
)
def test_what_is_no_setting_is_named(given, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        sf.LinTS(X3, **given)


def test_a_refused_first_turn_draws_no_key():
    policy, rng = sf.LinTS(dim=2, ridge=sf.Ridge(feature_bound=1)), np.random.default_rng(0)
    before = policy.state(), rng.bit_generator.state
    with pytest.raises(InvalidInput, match="context is None"):
        policy.select(None, rng)
    assert (policy.state(), rng.bit_generator.state) == before
    assert policy.fresh
