"""The Gram form plays C2UCB: against a fresh solve of the same history, and as the plain loop."""

import warnings

import numpy as np
import pytest

import surefoot as sf
from gram_cases import CASES, ZERO_ONE, assert_same, environment, played, rows, walked
from naive.gram import Counted
from surefoot._jit import HELPERS
from surefoot.environments._kernels import draw
from surefoot.oracles import TopK
from surefoot.policies import _kernels
from surefoot.policies.c2ucb import MEMBERS
from surefoot.simulation import _gram, gram_sets, path
from surefoot.simulation.path import Scale

RADII = ["paper", "determinant"]


def settings(case, k, radius):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a small ridge
        return sf.C2UCB(rows(case), TopK(k), noise=0.5, ridge=CASES[case][4], radius=radius)


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("case", CASES)
def test_every_choice_is_that_of_a_fresh_solve(case, radius):
    policy, X, key = settings(case, 3, radius), rows(case), 7
    record, world, twin = policy.record, environment(len(X)), Counted(policy, X)
    T = 100 if case == "wide" else 500
    state = _gram.init(record, len(X))
    for m in range(1, T + 1):
        (block,), _ = walked(
            gram_sets.walk, lambda *_, state=state: state, record, world, key, [1], first=m,
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
    assert state[_gram.COUNTS] == twin.n.tolist()
    assert state[_gram.SUMS] == twin.total.tolist()


@pytest.mark.parametrize("scale", [ZERO_ONE, Scale(1, 1, -1, 4)])
@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("rival", [-np.inf, 5.0])
def test_the_path_is_that_of_the_plain_loop(radius, rival, scale):
    competed = 0
    for seed in range(4):
        world = sf.LinearArms.embedded(8, 4, seed)
        policy = sf.C2UCB(world.X, TopK(3), theta_bound=0.8, noise=0.5, radius=radius).record
        given = (policy, world, seed, [50, 250], rival, scale)
        fast, _ = walked(gram_sets.walk, _gram.init, *given)
        plain, _ = walked(path.base_path, _kernels.init, *given)
        assert_same(fast, plain)
        competed += sum(turn == -1 for turn in played(fast))
    assert (competed > 0) == (rival > 0)


def test_a_turn_that_the_default_wins_holds_nothing():
    policy = settings("plain", 3, "paper").record
    (block,), _ = walked(
        gram_sets.walk, _gram.init, policy, environment(10), 1, [5], 1e9,
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
    policy, X = settings(case, 4, "determinant").record, rows(case)
    walk, sizes = numba.njit(gram_sets.walk), [250_000]
    given = (policy, environment(len(X)), 7, sizes)
    _, state = walked(walk, _gram.init, *given, array=np.array)
    assert state[_gram.COUNTS].sum() == 10**6
    before = [np.array(state[one]) for one in (_gram.NORMS, _gram.MEANS)]
    _gram.renew(policy, state, 0, 1)
    for kept, anew in zip(before, (state[_gram.NORMS], state[_gram.MEANS]), strict=True):
        assert np.allclose(kept, anew, rtol=1e-9, atol=1e-12)
