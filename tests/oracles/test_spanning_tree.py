"""Trees that join all nodes, against enumeration."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.extending import register_jitable

from naive import oracles as naive
from surefoot.errors import InvalidInput
from surefoot.oracles import SpanningTree, spanning_tree

quarters = st.integers(-8, 8).map(lambda n: n / 4)


@st.composite
def graphs(draw):
    """Edges of a connected graph of 2 to 5 nodes, parallel ones too, and weights."""
    n = draw(st.integers(2, 5))
    tree = [(draw(st.integers(0, node - 1)), node) for node in range(1, n)]
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] != e[1])
    edges = draw(st.permutations(tree + draw(st.lists(pairs, max_size=4))))
    return edges, draw(st.lists(quarters, min_size=len(edges), max_size=len(edges)))


@given(graphs())
def test_the_largest_sum_ties_to_the_lexicographically_smallest(graph):
    edges, weights = graph
    oracle = SpanningTree(edges)
    assert oracle(weights) == naive.best(naive.spanning_trees(edges), weights)[0]
    assert oracle.size == (oracle.n_nodes - 1, oracle.n_nodes - 1)


def test_of_parallel_edges_the_better_one_is_taken():
    edges = [("a", "b"), ("b", "a"), ("a", "b")]
    assert SpanningTree(edges)([-3.0, -1.0, -2.0]) == (1,)


def test_a_network_of_a_thousand_nodes_in_a_line_is_no_trouble():
    edges = [(node, node + 1) for node in range(999)]
    assert SpanningTree(edges, 1000)(np.ones(999)) == tuple(range(999))


@pytest.mark.parametrize(
    ("edges", "n_nodes", "message"),
    [
        ([("a", "b"), ("c", "d"), ("c", "d")], None, "the edges do not join 'a' and 'c'"),
        ([(0, 1), (2, 3), (1, 0)], 4, "the edges do not join 0 and 2"),
        ([(0, 1)], 3, "n_nodes = 3, but the edges name 2 nodes"),
        ([(0, 1), (1, 2)], 2, "n_nodes = 2, but the edges name 3 nodes"),
        ([(0, 1)], 1, "n_nodes = 1 must be an int >= 2"),
        ([], None, "edges is empty"),
    ],
)
def test_nodes_that_cannot_be_joined_are_refused(edges, n_nodes, message):
    with pytest.raises(InvalidInput, match=message):
        SpanningTree(edges, n_nodes)


def test_the_kernel_compiles_to_the_same():
    register_jitable(spanning_tree.root)
    kernel = numba.njit(spanning_tree.kruskal)
    edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 0), (3, 1)]
    tails, heads = np.array(edges).T.copy()
    for w in np.random.default_rng(0).integers(0, 3, (20, 6)).astype(float):
        out = np.zeros(3, dtype=np.int64)
        assert kernel(np.argsort(-w, kind="stable"), tails, heads, np.arange(4), out) == 3
        assert tuple(sorted(out.tolist())) == SpanningTree(edges)(w)
