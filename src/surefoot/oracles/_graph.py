"""Graphs as users write them: a list of edges between named nodes; edge e is base arm e."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from surefoot._exact import shown
from surefoot.errors import InvalidInput
from surefoot.oracles.base import listed, pair

Node = int | str
"""A node as the user names it, so that it can be saved as JSON."""
Edge = tuple[Node, Node]


class Numbered(NamedTuple):
    """The same edges between nodes 0, 1, ... in the order in which the edges name them."""

    names: tuple[Node, ...]
    tails: tuple[int, ...]
    heads: tuple[int, ...]

    def number(self, node: Node, what: str) -> int:
        """The number of a named node; InvalidInput if no edge touches it."""
        if node not in self.names:
            raise InvalidInput(f"{what} = {shown(node)} is a node of no edge")
        return self.names.index(node)


def read_edges(edges: Any) -> tuple[Edge, ...]:
    """Check edges, given as pairs of nodes; parallel ones are two base arms, loops are refused.

    >>> read_edges([("a", "b"), ("a", "b"), ["b", "c"]])
    (('a', 'b'), ('a', 'b'), ('b', 'c'))
    >>> read_edges([("a", "a")])
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: edges[0] joins 'a' to itself; no super arm can hold it, drop it
    """
    given = listed(edges, "edges", "pairs of nodes")
    read = tuple(_edge(edge, f"edges[{e}]") for e, edge in enumerate(given))
    if not read:
        raise InvalidInput("edges is empty; give one pair of nodes for each base arm")
    return read


def _edge(edge: Any, what: str) -> Edge:
    tail, head = (read_node(end, what) for end in pair(edge, what, " of nodes"))
    if tail == head:
        raise InvalidInput(f"{what} joins {tail!r} to itself; no super arm can hold it, drop it")
    return tail, head


def read_node(node: Any, what: str) -> Node:
    """A node's name as a plain int or str."""
    if isinstance(node, bool) or not isinstance(node, int | str | np.integer):
        raise InvalidInput(f"{what} names the node {shown(node)}; a node is an int or a string")
    return str(node) if isinstance(node, str) else int(node)


def numbered(edges: tuple[Edge, ...]) -> Numbered:
    """Number the nodes in the order in which the edges name them."""
    numbers: dict[Node, int] = {}
    for edge in edges:
        for node in edge:
            numbers.setdefault(node, len(numbers))
    return Numbered(
        tuple(numbers),
        tuple(numbers[tail] for tail, _ in edges),
        tuple(numbers[head] for _, head in edges),
    )


class Net(NamedTuple):
    """The edges that lie on some way from source to target, in the order to relax them."""

    graph: Numbered
    source: int
    target: int
    n_nodes: int
    order: tuple[int, ...]
    acyclic: bool


def net_between(graph: Numbered, source_node: Node, target_node: Node) -> Net:
    """The part of a graph that paths from source to target use; InvalidInput if there is none."""
    source, target = graph.number(source_node, "source"), graph.number(target_node, "target")
    if source == target:
        raise InvalidInput(f"source and target are both {source_node!r}; a path needs two nodes")
    # A simple path never comes back to its source nor leaves its target again.
    walkable = [
        e
        for e, (tail, head) in enumerate(zip(graph.tails, graph.heads, strict=True))
        if head != source and tail != target
    ]
    on_the_way = _reached(source, graph.tails, graph.heads, walkable) & _reached(
        target, graph.heads, graph.tails, walkable
    )
    if source not in on_the_way:
        raise InvalidInput(
            f"no path leads from source = {source_node!r} to target = {target_node!r}; "
            "add the edge that is missing, or turn one round"
        )
    edges = [e for e in walkable if {graph.tails[e], graph.heads[e]} <= on_the_way]
    nodes, acyclic = _backwards(target, edges, graph)
    place = {node: i for i, node in enumerate(nodes)}
    order = sorted(edges, key=lambda e: place[graph.tails[e]])  # stable: lower edges come first
    return Net(graph, source, target, len(on_the_way), tuple(order), acyclic)


def _reached(
    start: int, tails: Sequence[int], heads: Sequence[int], edges: Iterable[int]
) -> set[int]:
    leaving: dict[int, list[int]] = {}
    for e in edges:
        leaving.setdefault(tails[e], []).append(heads[e])
    seen, todo = {start}, [start]
    while todo:
        for node in leaving.get(todo.pop(), ()):
            if node not in seen:
                seen.add(node)
                todo.append(node)
    return seen


def _backwards(target: int, edges: list[int], graph: Numbered) -> tuple[list[int], bool]:
    """The nodes with each after all it leads to; those that a cycle makes impossible come last."""
    ahead = Counter(graph.tails[e] for e in edges)
    entering: dict[int, list[int]] = {}
    for e in edges:
        entering.setdefault(graph.heads[e], []).append(graph.tails[e])
    nodes = [target]
    for node in nodes:  # grows while it is read
        for tail in entering.get(node, ()):
            ahead[tail] -= 1
            if not ahead[tail]:
                nodes.append(tail)
    stuck = [node for node, left in ahead.items() if left]
    return nodes + stuck, not stuck
