"""Every oracle by enumeration: all super arms of a structure, and the best of them in fractions."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

SuperArm = tuple[int, ...]


def total(arm: Iterable[int], weights: Sequence[float]) -> Fraction:
    """The exact sum of an arm's weights.

    >>> total((0, 2), [0.5, 9.0, 0.25])
    Fraction(3, 4)
    """
    return sum((Fraction(weights[e]) for e in arm), Fraction(0))


def best(super_arms: Iterable[SuperArm], weights: Sequence[float]) -> list[SuperArm]:
    """All super arms of the largest exact sum, the lexicographically smallest first."""
    arms = sorted(super_arms)
    most = max(total(arm, weights) for arm in arms)
    return [arm for arm in arms if total(arm, weights) == most]


def subsets(n_base: int, sizes: Iterable[int]) -> list[SuperArm]:
    """All sets of base arms of the given sizes."""
    return list(chain.from_iterable(combinations(range(n_base), size) for size in sizes))


def matchings(rows: int, columns: int, forbidden: Iterable[tuple[int, int]]) -> list[SuperArm]:
    """All matchings of at least one pair that is not forbidden.

    >>> matchings(1, 3, [(0, 1)])
    [(0,), (2,)]
    """
    never = set(forbidden)

    def is_matching(arm: SuperArm) -> bool:
        pairs = [divmod(e, columns) for e in arm]
        return len({r for r, _ in pairs}) == len({c for _, c in pairs}) == len(
            pairs
        ) and not never & set(pairs)

    most = range(1, min(rows, columns) + 1)
    return [arm for arm in subsets(rows * columns, most) if is_matching(arm)]


def paths(edges: Sequence[tuple[Any, Any]], source: Any, target: Any) -> list[SuperArm]:
    """All paths that meet no node twice, as the edges in the order they are walked.

    >>> paths([("s", "t"), ("a", "t"), ("s", "a"), ("t", "a")], "s", "t")
    [(0,), (2, 1)]
    """

    def onward(node: Any, met: frozenset[Any]) -> Iterator[SuperArm]:
        if node == target:
            yield ()
            return
        for e, (tail, head) in enumerate(edges):
            if tail == node and head not in met:
                for rest in onward(head, met | {head}):
                    yield (e, *rest)

    return list(onward(source, frozenset([source])))


def spanning_trees(edges: Sequence[tuple[Any, Any]]) -> list[SuperArm]:
    """All sets of one edge less than there are nodes that join every node to every other."""
    nodes = {node for edge in edges for node in edge}
    return [
        arm
        for arm in subsets(len(edges), [len(nodes) - 1])
        if joined(nodes, [edges[e] for e in arm])
    ]


def joined(nodes: set[Any], edges: Sequence[tuple[Any, Any]]) -> bool:
    """Whether the edges, walked in either direction, lead from any node to all others."""
    met = {next(iter(nodes))}
    for _ in nodes:
        met |= {node for edge in edges if met & set(edge) for node in edge}
    return met == nodes


def cycle_pays(
    edges: Sequence[tuple[Any, Any]], source: Any, target: Any, weights: Sequence[float]
) -> bool:
    """Whether a walk from source to target can meet a cycle of positive exact sum.

    A walk ends where it first meets the target, and never comes back to the source.
    """
    walked = [
        (edge, weight)
        for edge, weight in zip(edges, weights, strict=True)
        if edge[1] != source and edge[0] != target
    ]
    roads = [edge for edge, _ in walked]
    return any(
        weight + total(back, [weight for _, weight in walked]) > 0
        for (tail, head), weight in walked
        if paths(roads, source, tail) and paths(roads, head, target)
        for back in paths(roads, head, tail)
    )
