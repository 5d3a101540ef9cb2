"""The text of the path, plain and compiled; against enumeration: ``oracles/test_shortest_path``."""

import numba
import numpy as np
import pytest

from gram_cases import network
from surefoot._compile import compiling
from surefoot._longest_path import follow, longest_path
from surefoot.oracles import ShortestPath


@pytest.fixture(scope="module")
def compiled():
    with compiling() as njit:
        return njit(longest_path)


@pytest.mark.parametrize("levels", [0, 1, 4])
def test_compiled_it_chooses_as_the_oracle_does(compiled, levels):
    """``levels``: of how few sizes the weights are, 0 for any; they may be negative."""
    for seed in range(100):
        rng = np.random.default_rng([seed, levels])
        oracle = ShortestPath(*network(rng))
        source, target, most, *edges = oracle.network
        order, tails, heads = (np.array(one) for one in edges)
        nodes = 1 + max(tails.max(), heads.max())
        best, step, out = np.zeros(nodes), np.zeros(nodes, int), np.zeros(most, int)
        for _ in range(3):  # in the same room
            w = rng.normal(size=len(tails))
            if levels:
                w = np.round(w * levels) / levels
            compiled(w, source, target, order, tails, heads, best, step, out)
            arm = oracle(w)
            assert out.tolist() == [*arm, *[-1] * (most - len(arm))], seed
            assert best[source] == pytest.approx(w[list(arm)].sum(), abs=1e-12)


@pytest.mark.parametrize("form", [follow, numba.njit(follow)], ids=["plain", "compiled"])
def test_a_walk_that_never_arrives_ends(form):
    """0 -> 1 -> 2 -> 1 -> ... by the edges 5, 3 and 4; the target is node 3, by edge 1 from 2."""
    heads, out = np.array([9, 3, 9, 2, 1, 1]), np.zeros(4, int)
    assert not form(0, 3, heads, np.array([5, 3, 4]), out)
    assert form(0, 3, heads, np.array([5, 3, 1]), out)
    assert out.tolist() == [1, 3, 5, -1]
    assert form(3, 3, heads, np.array([5, 3, 1]), out)
    assert out.tolist() == [-1] * 4
