"""The fast drivers of CLUCB and C3UCB decide as the plain text does."""

import numpy as np
import pytest

import surefoot as sf
from naive.ridge import Ridge
from reference import differences, plain_compiled
from surefoot.comparators.ellipsoid import NOW
from surefoot.simulation.compiled import engine
from surefoot.simulation.fast import clucb
from surefoot.simulation.fast.gram import COUNTS, renew
from surefoot.simulation.plan import Plan


def cases(random):
    """One plan of single arms and one of super arms."""
    d, seed = int(random.integers(2, 10)), int(random.integers(2**32))
    K, horizon = int(random.integers(1, 2 * d + 1)), int(random.choice([200, 1500]))
    radius = str(random.choice(["paper", "determinant"]))
    options = sf.Ridge(theta_bound=0.7072, noise=0.5, radius=radius)
    mu0, k = round(float(random.uniform(0.1, 0.9)), 2), int(random.integers(1, min(K, 4) + 1))
    line = sf.LinearArms.embedded(K, d, seed)
    agents = {"CLUCB": sf.CLUCB(line.X, mu0, 0.1, 0.01, ridge=options)}
    yield Plan(agents, line, horizon, seed, "all")
    sets = sf.CombinatorialArms.embedded(K, d, sf.TopK(k), seed)
    agents = {"C3UCB": sf.C3UCB(sets.X, sf.TopK(k), mu0 * k, 0.1, 0.01, ridge=options)}
    yield Plan(agents, sets, horizon, seed, "all")


def test_no_decision_differs_in_50_random_cases():
    for seed in range(25):
        for plan in cases(np.random.default_rng(seed)):
            assert differences(plan) == [], f"seed {seed}"


@pytest.mark.slow
def test_in_5000_random_cases_only_equal_super_arms_may_be_confused():
    """The k largest are taken without a tolerance: of two bounds that are equal but for rounding,
    which differs, either may come first."""
    differing = [
        name
        for seed in range(10**6, 10**6 + 2500)
        for plan in cases(np.random.default_rng(seed))
        for name in plan.agents
        if not np.array_equal(
            plan.run(0, engine())[name].books, plan.run(0, plain_compiled())[name].books
        )
    ]
    assert "CLUCB" not in differing
    assert len(differing) <= 10


def carried(policy, state):
    """c, the square norm of z and its mean as the driver carries them."""
    return [*state[clucb.ALONG], *state[clucb.TOTALS]]


def test_what_is_carried_along_is_what_the_matrices_say():
    env = sf.LinearArms.embedded(6, 4, 5)
    policy = sf.CLUCB(env.X, 0.5, 0.1, ridge=sf.Ridge(theta_bound=1)).policy.record
    state, random = clucb.init(policy, 6), np.random.default_rng(1)
    twin, z = Ridge(4, policy.ridge), np.zeros(4)
    for _ in range(2500):  # past two renewals
        k, reward = int(random.integers(6)), int(random.integers(2))
        clucb._learn(policy, state, k, reward, 0, 1)
        twin.learn(env.X[k], reward)
        z += env.X[k]
    inverse = np.linalg.inv(twin.gram())
    expected = [*(env.X @ inverse @ z), z @ inverse @ z, z @ twin.theta()]
    assert carried(policy, state) == pytest.approx(expected, rel=1e-9)
    renew(policy, state, 0, 1)
    clucb._along(state)
    assert carried(policy, state) == pytest.approx(expected, rel=1e-9)
    assert sum(state[COUNTS]) == 2500
    assert len(state[NOW]) == 2
