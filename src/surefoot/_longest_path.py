"""The path of largest weight in a network: kernel text that oracles and compiled policies share."""

from __future__ import annotations

from math import inf
from typing import Any

from surefoot._jit import jittable


@jittable
def longest_path(
    weights: Any, source: int, target: int, order: Any, tails: Any, heads: Any,
    best: Any, step: Any, out: Any,
) -> None:  # fmt: skip
    """Write the edges of the best path from source to target to ``out``, as ``follow`` does.

    O(E). ``order``: the edges on some way from source to target, which close no cycle, each behind
    all those that its head leads to. ``best`` and ``step`` are room, an entry a node.
    """
    for node in range(len(best)):
        best[node] = -inf
    best[target] = 0.0
    relax(weights, order, tails, heads, 0.0, best, step)
    follow(source, target, heads, step, out)


@jittable
def relax(
    weights: Any, order: Any, tails: Any, heads: Any, slack: float, best: Any, step: Any
) -> int:
    """Bellman's equation once for each edge of ``order``; a node that gained last, or -1 if none.

    ``best[v]``: the largest weight found of a path from v to the target (0 there, -inf where none
    is known yet); ``step[v]``: that path's first edge. A gain of at most ``slack`` is none.
    """
    gained = -1
    for e in order:
        tail = tails[e]
        value = weights[e] + best[heads[e]]
        if value > best[tail] + slack:
            best[tail] = value
            step[tail] = e
            gained = tail
    return gained


@jittable
def follow(source: int, target: int, heads: Any, step: Any, out: Any) -> bool:
    """Write the edges that ``step`` leads along to ``out``, ascending, and -1 behind them.

    Whether they arrive at the target: ``step`` may lead into a cycle, and ``out`` ends.
    """
    node, count = source, 0
    while node != target and count < len(out):
        e = int(step[node])  # in plain Python a record's arrays hold numpy's numbers
        place = count
        while place > 0 and out[place - 1] > e:
            out[place] = out[place - 1]
            place -= 1
        out[place] = e
        count += 1
        node = heads[e]
    for place in range(count, len(out)):
        out[place] = -1
    return bool(node == target)
