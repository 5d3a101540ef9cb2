"""A tree that joins all nodes: which links of a network to keep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefoot._jit import jittable
from surefoot.errors import InvalidInput
from surefoot.oracles._graph import Edge, Node, Numbered, numbered, read_edges
from surefoot.oracles.base import Structure, SuperArm, Weights, whole


@jittable
def kruskal(order: Any, tails: Any, heads: Any, parent: Any, out: Any) -> int:
    """Take each edge of ``order`` that closes no cycle; how many edges ``out`` then holds.

    ``parent`` starts as 0, 1, ..., n-1, each node its own tree, and ends as a forest of the trees.
    """
    taken = 0
    for e in order:
        tail = root(parent, tails[e])
        head = root(parent, heads[e])
        if tail != head:
            parent[head] = tail
            out[taken] = e
            taken += 1
    return taken


@jittable
def root(parent: Any, node: int) -> int:
    """The node that stands for the tree of ``node``; halves the path to it on the way."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@dataclass(frozen=True, init=False)
class SpanningTree(Structure):
    """The spanning tree of largest weight; weights may be negative.

        X = {A : the edges A join all nodes and close no cycle},   |A| = n_nodes - 1

    Source: Kruskal 1956, the edges by falling weight; as an oracle of GenCB-CCCB: Du, Wang, Huang
    2021.

    ``edges``: pairs of nodes (ints or strings), undirected; edge e is base arm e, parallel edges
    are two base arms. ``n_nodes``: how many nodes the edges must join, None for those they name.
    Exact, as weights are only compared; of equal trees the lexicographically smallest.
    O(E log E) a call. Raises InvalidInput for a loop, and for a graph that is not connected.

    >>> SpanningTree([("a", "b"), ("b", "c"), ("a", "c")])([0.5, 0.9, 0.5])
    (0, 1)
    >>> SpanningTree([("a", "b"), ("c", "d")])
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: the edges do not join 'a' and 'c'; a spanning tree needs an edge \
between their parts

    Holds when: f is the sum of the weights. Does not hold when: a node may be left out (Steiner
    trees), or edges have a direction.
    """

    edges: tuple[Edge, ...]
    n_nodes: int
    _graph: Numbered = field(repr=False, compare=False)

    def __init__(self, edges: Iterable[tuple[Node, Node]], n_nodes: int | None = None) -> None:
        read = read_edges(edges)
        graph = numbered(read)
        n = len(graph.names)
        if n_nodes is not None and whole(n_nodes, "n_nodes", 2) != n:
            raise InvalidInput(
                f"n_nodes = {n_nodes}, but the edges name {n} nodes; a spanning tree "
                "joins all nodes, so each needs an edge"
            )
        parent = list(range(n))
        kruskal(range(len(read)), graph.tails, graph.heads, parent, [0] * n)
        for node in range(1, n):
            if root(parent, node) != root(parent, 0):
                raise InvalidInput(
                    f"the edges do not join {graph.names[0]!r} and {graph.names[node]!r}; "
                    "a spanning tree needs an edge between their parts"
                )
        self._settle(edges=read, n_nodes=n, _graph=graph, n_base=len(read), size=(n - 1, n - 1))

    def _best(self, w: Weights) -> SuperArm:
        order = np.argsort(-w, kind="stable").tolist()
        tree = [0] * (self.n_nodes - 1)
        kruskal(order, self._graph.tails, self._graph.heads, list(range(self.n_nodes)), tree)
        return tuple(sorted(tree))
