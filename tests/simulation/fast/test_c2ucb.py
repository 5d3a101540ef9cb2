"""The Gram form plays C2UCB: against a fresh solve of the same history, and as the plain loop."""

import numpy as np
import pytest

import surefoot as sf
from driven import live
from gram_cases import (
    CASES,
    ZERO_ONE,
    environment,
    network,
    rows,
    settings,
    walked,
    won_by_default,
)
from naive.gram import Counted
from reference import differences
from surefoot._jit import HELPERS
from surefoot.environments._kernels import draw
from surefoot.oracles import ShortestPath, TopK
from surefoot.policies.c2ucb import MEMBERS, choose
from surefoot.simulation.compiled import PLAIN
from surefoot.simulation.fast import c2ucb, gram
from surefoot.simulation.loop import Scale
from surefoot.simulation.plan import Plan

RADII = ["paper", "determinant"]


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("case", CASES)
def test_every_choice_is_that_of_a_fresh_solve(case, radius):
    policy, X, key = settings(case, radius, sf.C2UCB, TopK(3)), rows(case), 7
    record, world, twin = policy.record, environment(len(X)), Counted(policy, X)
    T = 100 if case == "wide" else 500
    state = gram.init(record, len(X))
    for m in range(1, T + 1):
        (block,), _ = walked(
            c2ucb.walk, lambda *_, state=state: state, record, world, key, [1], first=m,
            array=lambda one: one,
        )  # fmt: skip
        members = state[MEMBERS]
        upper = twin.upper(m, per_turn=len(X))
        best = np.sort(upper)[-3:].sum()
        assert upper[members].sum() >= best - 1.1e-9 * max(1.0, abs(best)), m
        paid = [draw(world.record, key, m, e) for e in members]
        assert block.rewards == [sum(paid)]
        for e, reward in zip(members, paid, strict=True):
            twin.learn(e, reward)
    assert state[gram.COUNTS] == twin.n.tolist()
    assert state[gram.SUMS] == twin.total.tolist()


@pytest.mark.parametrize("scale", [ZERO_ONE, Scale(1, 1, -1, 4)])
@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("rival", [-np.inf, 5.0])
def test_the_path_is_that_of_the_plain_loop(radius, rival, scale):
    ridge = sf.Ridge(theta_bound=0.8, noise=0.5, radius=radius)
    won = won_by_default(
        c2ucb.walk, lambda world: sf.C2UCB(world.X, TopK(3), ridge=ridge), [50, 250], rival, scale
    )
    assert (won > 0) == (rival > 0)


@pytest.mark.parametrize("radius", RADII)
def test_a_super_arm_that_surely_leads_is_not_selected_anew(monkeypatch, radius):
    world, calls = sf.LinearArms.embedded(8, 4, 1), []

    def counted(*given):
        calls.append(choose(*given))
        return calls[-1]

    monkeypatch.setattr(c2ucb, "choose", counted)
    policy = sf.C2UCB(
        world.X, TopK(3), ridge=sf.Ridge(theta_bound=0.8, noise=0.5, radius=radius)
    ).record
    walked(c2ucb.walk, gram.init, policy, world, 1, [2000])
    assert 0 < len(calls) < 1000


def test_what_is_sure_holds_at_every_radius():
    means, norms = [0.9, 0.5, 0.4], [0.01, 0.04, 0.25]
    assert c2ucb._sure(means, norms, [0, 1], 0.1, 0.2) == pytest.approx(0.91 + 0.52)
    assert c2ucb._sure(means, norms, [0, 1], 0.1, 0.24) == -np.inf  # 0.4 + 0.24*0.5 = 0.52
    assert c2ucb._sure(means, norms, [0, 2], 0.1, 0.1) == -np.inf
    assert c2ucb._sure([0.5, 0.5], [0.0, 0.0], [1], 0.1, 0.1) == -np.inf  # a tie is not sure


def of_paths(seed, horizon):
    """Agents on the paths of a random network in which parallel edges have equal features."""
    random = np.random.default_rng(seed)
    edges, source, target = network(random)
    oracle = ShortestPath(edges, source, target)
    drawn = sf.LinearArms.embedded(len(edges), int(random.integers(3, 9)), seed)
    X = drawn.X[[edges.index(edge) for edge in edges]]
    world, most = sf.CombinatorialArms(X, drawn.theta, oracle), oracle.size[1]
    mu0, competes = round(most * float(random.uniform(0.1, 0.9)), 2), bool(random.integers(2))
    radius = str(random.choice(RADII))

    def policy():
        return sf.C2UCB(X, oracle, ridge=sf.Ridge(theta_bound=0.8, noise=0.5, radius=radius))

    agents = {"Plain": sf.Plain(policy(), sf.RewardFloor(mu0, 0.1, (0, most)))}
    for alpha in (0.01, 0.1, 0.3):
        floor = sf.RewardFloor(mu0, alpha, (0, most))
        agents[f"GenCB {alpha}"] = sf.GenCB(policy(), floor, default_competes=competes)
    return Plan(agents, world, horizon, seed, "all")


def test_on_30_random_networks_no_decision_differs_from_the_plain_text():
    for seed in range(30):
        assert differences(of_paths(seed, 300)) == [], f"seed {seed}"


@pytest.mark.slow
def test_nor_on_500_others():
    for seed in range(1000, 1500):
        assert differences(of_paths(seed, 300)) == [], f"seed {seed}"


def test_the_plain_text_plays_paths_as_the_live_driver_does():
    sizes = set()
    for seed in range(25):
        plan = of_paths(seed, 60)
        plain = plan.run(0, PLAIN)
        for name in plan.agents:
            trace = live(plan, name)
            assert np.array_equal(trace.books, plain[name].books), (seed, name)
            np.testing.assert_allclose(trace.losses, plain[name].losses, rtol=1e-12, atol=1e-12)
        sizes.add(plan.environment.oracle.size)
    assert any(least < most for least, most in sizes)


def test_a_turn_that_the_default_wins_holds_nothing():
    policy = settings("plain", "paper", sf.C2UCB, TopK(3)).record
    (block,), _ = walked(
        c2ucb.walk, gram.init, policy, environment(10), 1, [5], 1e9,
        array=lambda one: [9] * len(one) if len(one) == 5 else one,
    )  # fmt: skip
    assert block.arms == [-1] * 5
    assert block.rewards == [0] * 5
    assert block.means == block.variances == [0.0] * 5


@pytest.mark.slow
@pytest.mark.parametrize("case", ["plain", "duplicates", "huge", "wide"])
def test_after_a_million_updates_nothing_has_drifted(case):
    numba = pytest.importorskip("numba")
    from surefoot.simulation import compiled

    compiled.engine()
    assert not HELPERS
    policy, X = settings(case, "determinant", sf.C2UCB, TopK(4)).record, rows(case)
    walk, sizes = numba.njit(c2ucb.walk), [250_000]
    given = (policy, environment(len(X)), 7, sizes)
    _, state = walked(walk, gram.init, *given, array=np.array)
    assert state[gram.COUNTS].sum() == 10**6
    before = [np.array(state[one]) for one in (gram.NORMS, gram.MEANS)]
    gram.renew(policy, state, 0, 1)
    for kept, anew in zip(before, (state[gram.NORMS], state[gram.MEANS]), strict=True):
        assert np.allclose(kept, anew, rtol=1e-9, atol=1e-12)
