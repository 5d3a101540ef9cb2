"""The matching of largest weight: kernel text, which decides as scipy's does, ties included.

Shortest augmenting paths with dual prices u, v (Crouse 2016): row by row, Dijkstra over reduced
costs finds the cheapest free column. Which of equal columns is taken follows from the order of the
search; it is scipy's, so that an oracle that calls scipy and this text choose alike.
"""

from __future__ import annotations

from math import inf
from typing import Any

from surefoot._jit import jittable


def room(rows: int, columns: int, pairs: int) -> tuple[list[float], list[float], list[int]]:
    """Lists for ``match``: costs; u, v and distances; links. None is empty, to have a kind."""
    wide = max(1, sides(rows, columns, pairs)[1])
    return [0.0] * (wide * wide), [0.0] * (3 * wide), [0] * (6 * wide)


@jittable
def sides(rows: int, columns: int, pairs: int) -> tuple[int, int]:
    """The shorter and the longer side, with blanks for those that must stay unmatched."""
    if pairs < min(rows, columns):
        side = rows + columns - pairs
        return side, side
    return min(rows, columns), max(rows, columns)


@jittable
def match(
    weights: Any, rows: int, columns: int, pairs: int, permitted: Any,
    costs: Any, prices: Any, links: Any, out: Any,
) -> None:  # fmt: skip
    """Write the ``pairs`` pairs r*columns + c of the best matching to ``out``, ascending."""
    short, wide = sides(rows, columns, pairs)
    turned = short < wide and columns < rows
    for i in range(short * wide):
        costs[i] = 0.0
    for r in range(rows):
        for c in range(columns):
            e = r * columns + c
            place = c * wide + r if turned else r * wide + c
            costs[place] = -weights[e] if permitted[e] else inf
    _assign(costs, short, wide, prices, links)
    found = 0
    for e in range(rows * columns):
        r, c = e // columns, e % columns
        one, other = (c, r) if turned else (r, c)
        if links[2 * wide + one] == other:
            out[found] = e
            found += 1


@jittable
def _assign(costs: Any, short: int, wide: int, prices: Any, links: Any) -> None:
    """Leave the column of each row r in links[2*wide + r]."""
    for i in range(wide):
        prices[i] = prices[wide + i] = 0.0
        links[wide + i] = links[2 * wide + i] = -1
    for row in range(short):
        sink, lowest = _search(costs, row, wide, prices, links)
        prices[row] += lowest
        for r in range(short):
            if links[3 * wide + r] == 1 and r != row:
                prices[r] += lowest - prices[2 * wide + links[2 * wide + r]]
        for c in range(wide):
            if links[4 * wide + c] == 1:
                prices[wide + c] -= lowest - prices[2 * wide + c]
        c = sink
        r = -1
        while r != row:
            r = links[c]
            links[wide + c] = r
            before = links[2 * wide + r]
            links[2 * wide + r] = c
            c = before


@jittable
def _search(costs: Any, row: int, wide: int, prices: Any, links: Any) -> tuple[int, float]:
    """The free column that is cheapest to reach from a row, and at what cost.

    ``links``: the row before each column, the row of each column, the column of each row, the rows
    and the columns seen, the columns left.
    """
    v, far, taken, seen, reached, left = wide, 2 * wide, wide, 3 * wide, 4 * wide, 5 * wide
    for c in range(wide):
        prices[far + c] = inf
        links[seen + c] = links[reached + c] = 0
        links[left + c] = wide - 1 - c
    lowest, r, sink, count = 0.0, row, -1, wide
    while sink < 0:
        links[seen + r] = 1
        nearest, chosen = inf, 0
        for place in range(count):
            c = links[left + place]
            cost = lowest + costs[r * wide + c] - prices[r] - prices[v + c]
            if cost < prices[far + c]:
                prices[far + c] = cost
                links[c] = r
            cost = prices[far + c]
            if cost < nearest or (cost == nearest and links[taken + c] < 0):
                nearest, chosen = cost, place
        lowest = nearest
        c = links[left + chosen]
        if links[taken + c] < 0:
            sink = c
        else:
            r = links[taken + c]
        links[reached + c] = 1
        count -= 1
        links[left + chosen] = links[left + count]
    return sink, lowest
