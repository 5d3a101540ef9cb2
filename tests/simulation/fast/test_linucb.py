"""The Gram form plays LinUCB: against a fresh solve of the same history, and as the plain loop."""

import numpy as np
import pytest

import surefoot as sf
from gram_cases import (
    CASES,
    ZERO_ONE,
    assert_same,
    environment,
    rows,
    settings,
    walked,
    won_by_default,
)
from naive.gram import Counted
from surefoot._jit import HELPERS
from surefoot.simulation import loop
from surefoot.simulation.fast import gram, linucb
from surefoot.simulation.loop import Scale

RADII = ["paper", "determinant"]
PAID = Scale(1, 1, -1, 4)
"""A 0 of the environment is told as 1/4, a 1 as 2/4."""


def twin_in_lockstep(policy, X, blocks):
    """Replay what was played; every choice must be within a tie of the twin's best."""
    twin = Counted(policy, X)
    turns = [turn for block in blocks for turn in zip(block.arms, block.rewards, strict=True)]
    for m, (arm, reward) in enumerate(turns, start=1):
        upper = twin.upper(m)
        assert upper[arm] >= upper.max() - 1.1e-9 * max(1.0, abs(upper.max())), (m, arm)
        twin.learn(arm, float(reward))
    return twin


def assert_close(policy, state, twin):
    """q and y against the twin's."""
    V, X = twin.gram(policy.d), twin.X
    inverse = np.linalg.solve(V, X.T)
    assert np.allclose(state[gram.NORMS], np.einsum("ki,ik->k", X, inverse), rtol=1e-9, atol=0)
    means = X @ np.linalg.solve(V, X.T @ twin.total)
    assert np.allclose(state[gram.MEANS], means, rtol=1e-9, atol=1e-9)
    logdet = np.linalg.slogdet(V / policy.ridge)[1]
    grown = state[gram.AGE][2] + np.log(state[gram.AGE][0])
    assert np.isclose(grown, logdet, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("case", CASES)
def test_every_choice_is_that_of_a_fresh_solve(case, radius):
    policy, X = settings(case, radius), rows(case)
    T = 300 if case == "wide" else 1500
    blocks, state = walked(linucb.walk, gram.init, policy.record, environment(len(X)), 7, [T])
    twin = twin_in_lockstep(policy, X, blocks)
    assert list(state[gram.COUNTS]) == twin.n.tolist()
    assert list(state[gram.SUMS]) == twin.total.tolist()
    assert_close(policy, state, twin)


@pytest.mark.parametrize("scale", [ZERO_ONE, PAID])
@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("rival", [-np.inf, 1.9])
def test_the_path_is_that_of_the_plain_loop(radius, rival, scale):
    ridge = sf.Ridge(theta_bound=0.8, noise=0.5, radius=radius)
    won = won_by_default(
        linucb.walk, lambda world: sf.LinUCB(world.X, ridge=ridge), [100, 500], rival, scale
    )
    assert (won > 0) == (rival > 0)


@pytest.mark.parametrize("radius", RADII)
def test_while_a_leader_surely_leads_no_radius_is_computed(monkeypatch, radius):
    calls, beta = [], gram.beta
    monkeypatch.setattr(gram, "beta", lambda *given: calls.append(given) or beta(*given))
    world = sf.LinearArms.embedded(8, 4, 1)
    policy = sf.LinUCB(world.X, ridge=sf.Ridge(noise=0.1, radius=radius)).record
    walked(linucb.walk, gram.init, policy, world, 1, [4000])
    assert 4000 / linucb.RADIUS_EVERY < len(calls) < 2000


def test_a_turn_that_the_default_wins_holds_nothing():
    """Though the block held something before: its sums are taken over all turns."""
    policy = settings("plain", "paper").record
    state = gram.init(policy, 10)
    block = loop.Block(*([9] * 5 for _ in range(5)), *[()] * (len(loop.Block._fields) - 5))
    world = environment(10)
    linucb.walk(policy, state, world.record, 1, 1, 1, ZERO_ONE, 1e9, ([0.5] * 10,) * 2, block)
    assert block.arms == [-1] * 5
    assert block.rewards == [0] * 5
    assert block.means == block.variances == [0.0] * 5


@pytest.mark.parametrize("sizes", [[1] * 60, [59, 1], [7, 23, 30]])
def test_blocks_of_any_size_hold_the_same_path(sizes):
    policy, world = settings("plain", "determinant").record, environment(10)
    whole, _ = walked(linucb.walk, gram.init, policy, world, 3, [60])
    parts, _ = walked(linucb.walk, gram.init, policy, world, 3, sizes)
    assert_same(parts, whole)


def test_the_first_turn_is_a_tie_that_goes_to_the_lowest_arm():
    policy = sf.LinUCB([[0.6, 0.8], [1, 0], [0, 1]]).record
    blocks, _ = walked(linucb.walk, gram.init, policy, environment(3), 0, [1])
    assert blocks[0].arms == [0]


def test_a_long_feature_and_a_small_lambda_lose_no_digits():
    """One step alone would leave 1/lambda - 1/lambda."""
    X = np.array([[1e3, 1e3], [1e3, -1e3]])
    with pytest.warns(UserWarning, match="is below"):
        policy = sf.LinUCB(X, ridge=sf.Ridge(penalty=1e-9))
    blocks, state = walked(linucb.walk, gram.init, policy.record, environment(2), 5, [40])
    assert set(blocks[0].arms) == {0, 1}
    assert np.allclose(state[gram.NORMS], [1 / n for n in state[gram.COUNTS]], rtol=1e-9)


@pytest.mark.parametrize("kept", [1, 5])
def test_all_is_computed_anew_when_det_v_has_grown_or_after_many_steps(monkeypatch, kept):
    monkeypatch.setattr(gram, "EVERY", kept)
    policy, world = settings("plain", "paper").record, environment(10)
    _, state = walked(linucb.walk, gram.init, policy, world, 3, [200])
    assert state[gram.AGE][1] < kept
    assert state[gram.AGE][0] <= gram.SURPRISE


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_after_a_million_updates_nothing_has_drifted(case):
    numba = pytest.importorskip("numba")
    from surefoot.simulation import compiled

    compiled.engine()
    assert not HELPERS
    policy, X = settings(case, "paper"), rows(case)
    walk = numba.njit(linucb.walk)
    world = environment(len(X))
    _, state = walked(walk, gram.init, policy.record, world, 7, [10**6], array=np.array)
    twin = Counted(policy, X)
    twin.n, twin.total = np.array(state[gram.COUNTS]), np.array(state[gram.SUMS])
    assert twin.n.sum() == 10**6
    if case != "small ridge":  # there the twin itself has no nine digits left
        assert_close(policy, state, twin)
    norms = np.array(state[gram.NORMS])
    gram.renew(policy.record, state, 0, 1)
    assert np.allclose(norms, state[gram.NORMS], rtol=1e-9, atol=0)
