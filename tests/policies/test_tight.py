"""The tight form of LinUCB and C2UCB: the smaller of two bounds, in every driver alike."""

import json
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

import surefoot as sf
from driven import check_plan
from naive.klucb import kl
from naive.linucb import LinUCB as Twin
from surefoot.errors import InvalidInput
from surefoot.kernels import registry, warm
from surefoot.policies._optimist import Optimist
from surefoot.policies._tight import OwnBounds
from surefoot.simulation import Plan

SEEDS = st.integers(0, 10**6)
X4 = np.array([[1, 0, 0.2], [0, 1, -0.5], [0.6, 0.6, 0], [0.1, 0, 0.3]])
MAKES = {
    "LinUCB": lambda: sf.LinUCB(X4, tight=True),
    "C2UCB": lambda: sf.C2UCB(X4, sf.TopK(2), tight=True),
    "C2UCB, list": lambda: sf.C2UCB(X4, sf.Enumerated([[0], [1, 2], [2, 3]]), tight=True),
}
every_kind = pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)


def own(rewards, waiting, m):
    """KL-UCB's bound of one arm; without a reward there is none."""
    if not rewards:
        return math.inf
    p, level = sum(rewards) / len(rewards), math.log(2 * m * m) / (len(rewards) + waiting)
    last = math.nextafter(1, 0)
    if p >= last or kl(p, last) <= level:
        return 1.0
    return brentq(lambda q: kl(p, q) - level, p, last, xtol=1e-15)


def paid(policy, arm, rng):
    rewards = [float(reward) for reward in rng.choice([0.0, 1.0, 0.3], len(np.atleast_1d(arm)))]
    return tuple(rewards) if policy.semi_bandit else rewards[0]


@every_kind
@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_in_lockstep_with_the_twin(make, seed):
    policy, rng = make(), np.random.default_rng(seed)
    twin = Twin(1.0, policy.feature_bound, 0.5, policy.ridge, "determinant")
    told, waiting = [[] for _ in X4], []
    for m in range(1, 40):
        open_rows = [e for arm in waiting for e in np.atleast_1d(arm)]
        twin.open = [X4[e] for e in open_rows]
        linear = twin.bounds(X4, m)
        bounds = [min(bound, own(told[e], open_rows.count(e), m)) for e, bound in enumerate(linear)]
        assert np.allclose(policy._scores(policy._flat, m), bounds, rtol=1e-9, atol=1e-9)
        arm, score = policy.best(None, rng)
        if policy.numbered:
            assert math.isclose(score, max(bounds), rel_tol=1e-9)
            allowed = sorted({1, int(rng.integers(4))})
            assert policy.peek(m, None, allowed)[1] == pytest.approx(
                max(bounds[e] for e in allowed)
            )
        assert math.isclose(sum(bounds[e] for e in np.atleast_1d(arm)), score, rel_tol=1e-9)
        policy.opened(arm, None)
        waiting.append(arm)
        while len(waiting) > m % 3:
            arm = waiting.pop(int(rng.integers(len(waiting))))
            rewards = paid(policy, arm, rng)
            policy.update(arm, (0.5,) * len(arm) if policy.semi_bandit else 0.5, None)
            policy.correct(arm, (0.5,) * len(arm) if policy.semi_bandit else 0.5, rewards, None)
            policy.closed(arm, None)
            for e, reward in zip(np.atleast_1d(arm), np.atleast_1d(rewards), strict=True):
                told[e].append(reward)
                twin.history.append((X4[e], reward))


def below_its_mean(mu, m):
    """P(KL-UCB's bound at level ln(2 m^2) fell below mu within m - 1 plays), of a Bernoulli arm."""
    paths, failed = [1.0], 0.0
    for n in range(1, m):
        paths = [a * (1 - mu) + b * mu for a, b in zip([*paths, 0], [0, *paths], strict=True)]
        for won in range(n + 1):
            if won < mu * n and own([won / n] * n, 0, m) < mu:
                failed, paths[won] = failed + paths[won], 0.0
    return failed


@pytest.mark.parametrize("mu", [0.5, 0.9])
def test_the_bound_fails_as_seldom_as_the_theorem_says(mu):
    m = 12
    says = math.e * math.ceil(math.log(2 * m * m) * math.log(m)) / (2 * m * m)
    assert 0 < below_its_mean(mu, m) < says


@pytest.mark.parametrize("kind", ["LinUCB", "C2UCB"])
@pytest.mark.parametrize("doubled", [False, True])
def test_the_kernels_play_what_the_class_plays(kind, doubled):
    """Of equal arms, too, which tie."""
    X = np.vstack([X4, X4]) if doubled else X4
    policy = sf.LinUCB(X, tight=True) if kind == "LinUCB" else sf.C2UCB(X, sf.TopK(2), tight=True)
    record, rng = policy.record, np.random.default_rng(2)
    state, waiting = registry.init(record, len(X)), []
    for m in range(1, 300):
        allowed = sorted({0, 3, int(rng.integers(len(X)))}) if m % 5 == 0 else None
        allowed = allowed if policy.numbered else None
        chosen, score = policy.best(None, rng, allowed)
        among = range(len(X)) if allowed is None else allowed
        number, found = registry.best(record, state, m, 0, None, among)
        assert found == score
        arms = [registry.member(record, state, number, i) for i in range(registry.width(record))]
        assert arms == np.atleast_1d(chosen).tolist()
        policy.opened(chosen, None)
        for e in arms:
            registry.opened(record, state, e, 1)
        waiting.append((chosen, arms))
        while len(waiting) > m % 3:
            chosen, arms = waiting.pop(0)
            rewards = paid(policy, chosen, rng)
            policy.update(chosen, rewards, None)
            policy.closed(chosen, None)
            for e, reward in zip(arms, np.atleast_1d(rewards).tolist(), strict=True):
                registry.update(record, state, e, reward)
                registry.opened(record, state, e, -1)


@every_kind
def test_a_state_of_other_arms_is_refused_and_changes_nothing(make):
    policy = make()
    policy.update(*((0, 1.0) if policy.numbered else ((0,), (1.0,))), None)
    before, other = policy.state(), make().state()
    for told in ([row[:-1] for row in other["told"]], other["told"][:-1], [[], *other["told"][1:]]):
        with pytest.raises(ValueError, match="is not of 4 arms"):
            policy.restore({**other, "told": told})
    assert policy.state() == before


@pytest.mark.parametrize("kind", ["LinUCB", pytest.param("C2UCB", marks=pytest.mark.slow)])
def test_live_plain_and_compiled_make_the_same_plays(kind):
    pytest.importorskip("numba")
    for seed in range(4):
        if kind == "LinUCB":
            arms, floor = sf.LinearArms.embedded(6, 3, seed), sf.RewardFloor(0.5, 0.5)
            policy = sf.LinUCB(arms.X, tight=True)
        else:
            sets, floor = sf.TopK(2), sf.RewardFloor(1, 0.5, (0, 2))
            arms = sf.CombinatorialArms.embedded(6, 3, sets, seed)
            policy = sf.C2UCB(arms.X, sets, tight=True)
        plan = Plan({"one": sf.GenCB(policy, floor)}, arms, 300, seed, "all")
        check_plan(plan)


def test_after_a_warm_up_it_decides_the_same_and_states_go_both_ways(monkeypatch):
    pytest.importorskip("numba")
    plain = {kind: make() for kind, make in MAKES.items()}
    both = {kind: warm.LIVE[kind] for kind in (Optimist, OwnBounds)}
    monkeypatch.setattr(warm, "_READY", {})
    monkeypatch.setattr(warm, "wrappers", lambda: both)
    warm.warm_up()
    for kind, one in plain.items():
        other = MAKES[kind]()
        assert (one._compiled is None, other._compiled is None) == (True, False)
        rng = np.random.default_rng(0)
        for _ in range(200):
            chosen = one.best(None, rng)
            assert other.best(None, rng) == chosen
            assert type(other.peek(300)[1]) is float
            rewards = paid(one, chosen[0], rng)
            for policy in (one, other):
                policy.opened(chosen[0], None)
                policy.update(chosen[0], rewards, None)
        assert json.loads(json.dumps(other.state())) == one.state()
        again = MAKES[kind]()
        again.restore(json.loads(json.dumps(one.state())))
        assert again.best(None, rng) == one.best(None, rng)


def test_it_comes_back_from_its_config_and_is_told_in_it():
    policy = sf.LinUCB(X4, tight=True)
    again = sf.LinUCB.from_config(json.loads(json.dumps(policy.config())))
    assert (again.config(), again._own is None) == (policy.config(), False)
    assert (policy.noise, policy.radius) == (0.5, "determinant")
    assert sf.LinUCB(X4, tight=True, ridge=sf.Ridge(noise=1)).radius == "paper"
    assert "tight" not in sf.LinUCB(X4).config()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sf.LinUCB(dim=2, ridge=sf.Ridge(feature_bound=1), tight=True), "fixed arms"),
        (lambda: sf.LinUCB(sf.Ball(1, 2), tight=True), "features of fixed arms"),
        (lambda: sf.LinUCB(X4, tight=True).select(X4, None), "a bound of its own"),
        (lambda: sf.LinUCB(X4, tight=True).update(0, 1.5, None), "reward = 1.5 is outside [0, 1]"),
        (lambda: sf.LinUCB(X4, tight=True).correct(0, 0, -1, None), "new = -1.0 is outside"),
        (
            lambda: sf.C2UCB(X4, sf.TopK(2), tight=True).update((0, 1), (0, 2), None),
            "the reward of base arm 1 = 2.0 is outside [0, 1]",
        ),
    ],
)
def test_what_has_no_such_bound_is_refused(call, message):
    with pytest.raises(InvalidInput, match=re.escape(message)):
        call()


def test_the_constant_of_the_regret_bound():
    """6.8 bounds the sum over all m of e ceil(ln(2 m^2) ln m)/(2 m^2); its tail by an integral."""
    last = 10**5
    head = sum(
        math.ceil(math.log(2 * m * m) * math.log(m)) / (2 * m * m) for m in range(1, last + 1)
    )
    n = math.log(last)  # of (2 ln^2 m + ln 2 ln m + 1)/(2 m^2)
    tail = (n * n + 2 * n + 2 + math.log(2) / 2 * (n + 1) + 0.5) / last
    assert 6.7 < math.e * (head + tail) < 6.8
