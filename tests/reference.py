"""The plain text of the engine, compiled as it stands: what the fast drivers are held against."""

from functools import cache
from typing import NamedTuple

import numpy as np

import surefoot as sf
from surefoot._compile import compiling
from surefoot.kernels import NANO, IndexPolicy, register, registry
from surefoot.policies.klucb import KLUCBRecord
from surefoot.simulation import loop, mean_variance, waiting
from surefoot.simulation.compiled import PLAIN, Driver, engine
from surefoot.simulation.plan import Plan

ALPHAS = (0.01, 0.05, 0.1, 0.3, 0.95)
KINDS = 7


def users_policy(K, c=0.0):
    """KL-UCB as a user's own policy: the engine knows no more of it than its indices.

    Registered when it is first asked for: collecting doctests imports this file a second time.
    """
    return IndexPolicy(_users_record()(c), K)


@cache
def _users_record():
    class UsersRecord(NamedTuple):
        c: float = 0.0
        unit: float = NANO

    register(UsersRecord, registry.INDEX_KERNELS[KLUCBRecord])
    return UsersRecord


@cache
def plain_compiled():
    engine()  # teaches numba the dispatchers
    with compiling() as njit:
        walk = Driver(registry.init, njit(loop.base_path))
        return PLAIN._replace(
            driver=lambda record: walk, interleave=njit(loop.interleave),
            interleave_moments=njit(mean_variance.interleave_moments), go=njit(waiting.go),
            array=np.array, zeros=np.zeros, word=np.uint64,
        )  # fmt: skip


def drawn_environment(random, K):
    """Spread, equal, 0/1, nearly equal or beta arms."""
    kind = random.integers(KINDS)
    if kind == 0:
        return sf.BernoulliArms(np.full(K, random.random()))
    if kind == 1:
        return sf.BernoulliArms(random.integers(0, 2, K))
    if kind == 2:
        return sf.BernoulliArms(0.5 + 1e-6 * np.arange(K) / K)
    if kind == 3:
        return sf.BernoulliArms(np.linspace(0.8, 0.2, K))
    if kind == 4 and K < 20:
        return sf.BetaArms(*random.uniform(0.2, 3, (2, K)))
    return sf.BernoulliArms(random.random(K))


def drawn_arms(random):
    return int(random.choice([1, 2, 3, 24, random.integers(4, 40), random.integers(40, 301)]))


def drawn_checkpoints(random, horizon):
    """All plays, where no chunk can be taken at once, or a few, where most are."""
    few = random.integers(1, horizon + 1, 3).tolist()
    return few if random.integers(2) else "all"


def lines_case(random):
    """Agents whose indices are lines, on a drawn environment."""
    K, alpha = drawn_arms(random), float(random.choice(ALPHAS))
    mu0, rho = round(float(random.uniform(0.05, 0.95)), 2), float(random.choice([0.5, 3, 10, 60]))
    floor, competes = sf.RewardFloor(mu0, alpha), bool(random.integers(2))
    c = float(random.choice([2, 2, 0.5, 0.01]))
    agents = {
        "GenCB": sf.GenCB(sf.UCB1(K, c=c), floor, default_competes=competes),
        "UCB1": sf.Plain(sf.UCB1(K, c=c), floor),
    }
    spread = sf.MeanVarianceFloor(mu0, alpha, rho)
    if random.integers(3) == 0:
        agents["MV"] = sf.GenCB(sf.MVUCB(K, rho), spread, default_competes=competes)
        agents["MV-UCB"] = sf.Plain(sf.MVUCB(K, rho), spread)
    horizon = int(random.choice([60, 400, 400, 3000]))
    environment, seed = drawn_environment(random, K), int(random.integers(2**32))
    return Plan(agents, environment, horizon, seed, drawn_checkpoints(random, horizon))


def curves_case(random):
    """Agents whose indices are curves, on a drawn environment."""
    K, alpha = min(drawn_arms(random), 80), float(random.choice(ALPHAS))
    mu0 = round(float(random.uniform(0.05, 0.95)), 2)
    horizon = int(random.choice([60, 400, 1500, 1500, 6000]))
    floor, competes = sf.RewardFloor(mu0, alpha), bool(random.integers(2))
    c = float(random.choice([0, 1, 3]))
    agents = {
        "KL": sf.GenCB(sf.KLUCB(K, c=c), floor, default_competes=competes),
        "Ada": sf.GenCB(sf.AdaUCB(K), floor, default_competes=competes),
    }
    environment, seed = drawn_environment(random, K), int(random.integers(2**32))
    return Plan(agents, environment, horizon, seed, drawn_checkpoints(random, horizon))


def ceilings_case(random):
    """Agents of every other index policy, on a drawn environment."""
    K, alpha = min(drawn_arms(random), 60), float(random.choice(ALPHAS))
    mu0, horizon = round(float(random.uniform(0.05, 0.95)), 2), int(random.choice([60, 400, 1500]))
    floor, competes = sf.RewardFloor(mu0, alpha), bool(random.integers(2))
    own = users_policy(K, float(random.integers(2)))
    agents = {
        "own": sf.GenCB(own, floor, default_competes=competes),
        "ConUCB": sf.ConUCB(K, mu0, alpha, 0.01, radius=random.choice(["iterated", "simple"])),
        "MOSS": sf.GenCB(
            sf.comparators.UnbalancedMOSS(K, mu0, alpha, horizon).policy,
            floor,
            default_competes=competes,
        ),
    }
    environment, seed = drawn_environment(random, K), int(random.integers(2**32))
    return Plan(agents, environment, horizon, seed, drawn_checkpoints(random, horizon))


def differences(plan):
    """The agents whose books differ between fast and plain text, at any play; there are none."""
    assert plan.stepwise == []  # what is driven play by play would be compared with itself
    fast, plain = plan.run(0, engine()), plan.run(0, plain_compiled())
    for name in plan.agents:
        np.testing.assert_allclose(fast[name].losses, plain[name].losses, rtol=1e-10, atol=1e-8)
    return [name for name in plan.agents if not np.array_equal(fast[name].books, plain[name].books)]
