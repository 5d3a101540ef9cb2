"""A path through a network: routes, and any sequence of choices that can be drawn as a graph."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from surefoot._longest_path import follow, longest_path, relax
from surefoot.errors import InvalidInput
from surefoot.oracles._graph import Edge, Net, Node, net_between, numbered, read_edges, read_node
from surefoot.oracles.base import Structure, SuperArm, Weights

Numbers = tuple[int, ...]

_EPS = 2.0**-52


@dataclass(frozen=True, init=False)
class ShortestPath(Structure):
    """The path from source to target of largest weight; for costs, pass their negatives.

        best(target) = 0,   best(v) = max over edges e from v to u of w_e + best(u)

    Source: Bellman 1958; as an oracle of GenCB-CCCB (paths): Du, Wang, Huang 2021.

    ``edges``: pairs (from, to) of nodes (ints or strings); edge e is base arm e, parallel edges are
    two base arms, a street open both ways is two edges. ``source``, ``target``: two nodes. Only
    edges on some way from source to target count. Without a cycle among them: one pass in
    topological order, O(E), whatever the signs of the weights. With one: Bellman-Ford,
    O(nodes * E), and a call in which a cycle's weight is positive is refused, naming the cycle.

    The path's weight is the largest to within the rounding of float64 sums; with cycles, to within
    nodes^2 * 2**-52 * sum of |w|. Without cycles, of edges that lead to equal computed sums the
    lowest is taken, from the source on; with cycles the choice among equal paths is fixed, but by
    no simple rule. Raises InvalidInput for a loop, and for a target that cannot be reached.

    >>> ShortestPath([("s", "a"), ("s", "t"), ("a", "t")], "s", "t")([0.5, 0.9, 0.6])
    (0, 2)
    >>> ShortestPath([("s", "a"), ("b", "t")], "s", "t")
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: no path leads from source = 's' to target = 't'; add the edge ...

    Holds when: f is the sum of the weights, and the graph has no cycle, or weights are costs
    (never positive). Does not hold when: cycles meet upper confidence bounds of rewards, which
    are positive: unroll the graph into layers, one for each step.
    """

    edges: tuple[Edge, ...]
    source: Node
    target: Node
    _net: Net = field(repr=False, compare=False)

    def __init__(self, edges: Iterable[tuple[Node, Node]], source: Node, target: Node) -> None:
        read = read_edges(edges)
        net = net_between(numbered(read), read_node(source, "source"), read_node(target, "target"))
        names = net.graph.names
        ends: Any = {"source": names[net.source], "target": names[net.target]}
        self._settle(edges=read, _net=net, n_base=len(read), **ends)
        ones = np.ones(len(read))
        longest = len(self._best(ones)) if net.acyclic else net.n_nodes - 1
        self._settle(size=(len(self._best(-ones)), longest))

    @property
    def network(self) -> tuple[int, int, int, Numbers, Numbers, Numbers] | None:
        """(source, target, the most edges, order, tails, heads), for a policy to be compiled.

        None with a cycle, which weights may make impossible, and from a subclass.
        """
        net = self._net
        if not net.acyclic or type(self) is not ShortestPath:
            return None
        return net.source, net.target, self.size[1], net.order, net.graph.tails, net.graph.heads

    def _best(self, w: Weights) -> SuperArm:
        weights, net = w.tolist(), self._net
        source, target, order, (names, tails, heads) = net.source, net.target, net.order, net.graph
        best, step, path = [0.0] * len(names), [-1] * len(names), [-1] * (net.n_nodes - 1)
        if net.acyclic:
            longest_path(weights, source, target, order, tails, heads, best, step, path)
        else:
            self._relax_all(weights, best, step)
            if not follow(source, target, heads, step, path):
                self._refuse_cycle(weights, step, source)
        return tuple(e for e in path if e >= 0)

    def _relax_all(self, weights: list[float], best: list[float], step: list[int]) -> None:
        """Bellman-Ford, in which a cycle that gains no more than rounding gains nothing."""
        net = self._net
        best[:] = [-math.inf] * len(best)
        best[net.target] = 0.0
        slack = net.n_nodes * _EPS * sum(abs(weights[e]) for e in net.order)
        for _ in range(net.n_nodes):
            gained = relax(weights, net.order, net.graph.tails, net.graph.heads, slack, best, step)
            if gained < 0:
                return
        # A best path has fewer edges than there were passes, so the last gain came round a cycle.
        self._refuse_cycle(weights, step, gained)

    def _refuse_cycle(self, weights: list[float], step: list[int], node: int) -> NoReturn:
        """Report the cycle that ``step`` runs into from ``node``."""
        heads, names = self._net.graph.heads, self._net.graph.names
        for _ in range(self._net.n_nodes):
            node = heads[step[node]]
        nodes, cycle = [node], [step[node]]
        while heads[cycle[-1]] != node:
            nodes.append(heads[cycle[-1]])
            cycle.append(step[nodes[-1]])
        walk = _listed([names[v] for v in [*nodes, node]], " -> ")
        weight = math.fsum(weights[e] for e in cycle)
        raise InvalidInput(
            f"the cycle {walk} (base arms {_listed(cycle, ', ')}) has the positive weight "
            f"{weight:.6g}: going round it for ever would pay, and the best path that does not is "
            "NP-hard to find; pass costs as negative weights, or unroll the graph into layers"
        )


def _listed(items: list[Any], joint: str) -> str:
    """All items, or where there are many the first few and the last."""
    texts = [repr(item) for item in items]
    return joint.join(texts if len(texts) <= 9 else [*texts[:7], "...", texts[-1]])
