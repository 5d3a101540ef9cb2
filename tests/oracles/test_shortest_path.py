"""Paths from source to target, against enumeration."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import oracles as naive
from surefoot.errors import InvalidInput
from surefoot.oracles import ShortestPath

quarters = st.integers(-8, 8).map(lambda n: n / 4)
costs = st.integers(-8, 0).map(lambda n: n / 4)
S, T = 0, 4


@st.composite
def graphs(draw, weights, cycles=False):
    """Edges between nodes 0..4 in any order, parallel ones too, with some path from S to T."""
    stops = draw(st.sets(st.integers(S + 1, T - 1)))
    way = pairwise([S, *sorted(stops), T])
    pairs = st.tuples(st.integers(S, T), st.integers(S, T)).filter(
        lambda edge: edge[0] != edge[1] if cycles else edge[0] < edge[1]
    )
    edges = draw(st.permutations([*way, *draw(st.lists(pairs, max_size=6))]))
    return edges, draw(st.lists(weights, min_size=len(edges), max_size=len(edges)))


@given(graphs(quarters))
def test_without_cycles_any_weights_do_and_ties_go_to_the_lowest_edge_from_the_source_on(graph):
    edges, weights = graph
    walks = naive.paths(edges, S, T)
    most = naive.total(naive.best(walks, weights)[0], weights)
    first = min(walk for walk in walks if naive.total(walk, weights) == most)
    oracle = ShortestPath(edges, S, T)
    assert oracle(weights) == tuple(sorted(first))
    assert oracle.size == (min(map(len, walks)), max(map(len, walks)))


@given(graphs(st.floats(-1, 1)))
def test_no_path_beats_it_by_more_than_rounding(graph):
    edges, weights = graph
    most = max(naive.total(walk, weights) for walk in naive.paths(edges, S, T))
    got = naive.total(ShortestPath(edges, S, T)(weights), weights)
    assert float(most - got) <= 10 * 2**-53 * sum(map(abs, weights))


@given(graphs(costs, cycles=True))
def test_with_cycles_costs_do(graph):
    edges, weights = graph
    oracle = ShortestPath(edges, S, T)
    arm = oracle(weights)
    assert arm in [tuple(sorted(walk)) for walk in naive.best(naive.paths(edges, S, T), weights)]
    assert oracle.size[0] <= len(arm) <= oracle.size[1]


@given(graphs(quarters, cycles=True))
def test_with_cycles_weights_are_refused_exactly_if_going_round_one_pays(graph):
    edges, weights = graph
    oracle = ShortestPath(edges, S, T)
    if naive.cycle_pays(edges, S, T, weights):
        with pytest.raises(InvalidInput, match="has the positive weight") as refused:
            oracle(weights)
        assert_names_a_cycle_that_pays(str(refused.value), edges, weights)
    else:
        walks = naive.paths(edges, S, T)
        assert oracle(weights) in [tuple(sorted(walk)) for walk in naive.best(walks, weights)]


def assert_names_a_cycle_that_pays(text, edges, weights):
    named = re.match(r"the cycle (.*) \(base arms (.*)\) has the positive weight (\S+):", text)
    nodes = [int(node) for node in named[1].split(" -> ")]
    cycle = [int(e) for e in named[2].split(", ")]
    assert [edges[e] for e in cycle] == list(pairwise(nodes))
    assert nodes[0] == nodes[-1]
    assert len(set(nodes)) == len(cycle)
    assert naive.total(cycle, weights) == float(named[3]) > 0


def test_a_cycle_that_gains_only_by_rounding_gains_nothing():
    """In floats .3 - .2 - .1 is above 0, or below, by the order of adding."""
    edges = [("s", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("a", "t"), ("b", "t"), ("c", "t")]
    for turn in ([0.3, -0.2, -0.1], [-0.2, -0.1, 0.3], [-0.1, 0.3, -0.2], [-0.1, -0.2, 0.3]):
        weights = [0.1, *turn, 0.7, 0.1, 0.1]
        path = [tuple(sorted(walk)) for walk in naive.paths(edges, "s", "t")]
        most = max(naive.total(arm, weights) for arm in path)
        got = ShortestPath(edges, "s", "t")(weights)
        assert got in path
        assert float(most - naive.total(got, weights)) < 1e-14


def test_a_cycle_off_the_way_is_of_no_account():
    edges = [("s", "t"), ("s", "a"), ("a", "b"), ("b", "a"), ("t", "s")]
    assert ShortestPath(edges, "s", "t")(np.ones(5)) == (0,)


def test_a_long_cycle_is_named_in_short():
    ring = [(node, (node + 1) % 50) for node in range(50)]
    with pytest.raises(InvalidInput, match=r"the cycle .* -> \.\.\. -> ") as refused:
        ShortestPath([("s", 0), *ring, (7, "t")], "s", "t")(np.ones(52))
    assert len(str(refused.value)) < 400


def test_a_path_of_a_thousand_edges_is_no_trouble():
    edges = [(node, node + 1) for node in range(1000)]
    oracle = ShortestPath([*edges, (0, 1000)], 0, 1000)
    assert oracle(np.ones(1001)) == tuple(range(1000))
    assert oracle(-np.ones(1001)) == (1000,)
    assert oracle.size == (1, 1000)


@pytest.mark.parametrize(
    ("edges", "source", "target", "message"),
    [
        ([("s", "a"), ("b", "t")], "s", "t", "no path leads from source = 's' to target = 't'"),
        ([("t", "s")], "s", "t", "no path leads from source = 's' to target = 't'"),
        ([("a", "b")], "s", "b", "source = 's' is a node of no edge"),
        ([("a", "b")], "a", 1, "target = 1 is a node of no edge"),
        ([("a", "b")], "a", "a", "source and target are both 'a'"),
        ([("a", "b")], None, "b", "source names the node None"),
        ([("a", "a"), ("a", "b")], "a", "b", r"edges\[0\] joins 'a' to itself"),
        ([], "a", "b", "edges is empty"),
    ],
)
def test_a_target_that_cannot_be_reached_is_refused(edges, source, target, message):
    with pytest.raises(InvalidInput, match=message):
        ShortestPath(edges, source, target)


def test_only_a_network_without_cycles_is_known_to_the_engine():
    class Mine(ShortestPath):
        pass

    edges = [("s", "a"), ("a", "t"), ("s", "t")]
    assert ShortestPath(edges, "s", "t").network == (0, 2, 2, (1, 0, 2), (0, 1, 0), (1, 2, 2))
    assert ShortestPath([*edges, ("a", "s")], "s", "t").network is not None  # off the way
    assert ShortestPath([*edges, ("a", "b"), ("b", "a")], "s", "t").network is None
    assert Mine(edges, "s", "t").network is None
