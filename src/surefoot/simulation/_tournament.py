"""A kinetic tournament of lines a + s w: who is largest, and until which s that is certain.

A complete binary tree on flat lists. Leaf i sits at size + i, node n has children 2n and 2n+1;
every node knows the winner among its leaves and the s up to which all duels below it are certain.
A changed line is put right on its path to the root; as s grows, only nodes whose certainty has run
out are played anew. Source: Basch, Guibas, Hershberger 1999, "Data structures for mobile data".
"""

from __future__ import annotations

from math import inf
from typing import Any

from surefoot._jit import jittable

LEVEL, SLOPE, WIN, FAIL, QUEUE = range(-5, 0)
"""The lists behind a policy's own: a and w of each leaf; winner, certainty, and room to sort the
nodes in. ``WIN[0]``, which is no node, names an arm whose line changed, or is -1."""
LOST = -1e300
"""The level of a leaf without an arm."""


def size_of(n_arms: int) -> int:
    """How many leaves: a power of two."""
    return 1 << (n_arms - 1).bit_length()


@jittable
def _duel(state: Any, node: int, s: float, margin: float) -> None:
    """Play one node: its winner, and until when that is certain."""
    level, slope, win, fail = state[LEVEL], state[SLOPE], state[WIN], state[FAIL]
    left, right = win[2 * node], win[2 * node + 1]
    steeper = slope[right] - slope[left]
    lead = (level[left] - level[right]) - s * steeper
    steeper = steeper if lead >= 0.0 else -steeper
    win[node] = left if lead >= 0.0 else right
    behind = abs(lead) - margin
    sure = s + behind / steeper * 0.999999 if steeper > 0.0 else inf
    # In doubt (so is a nan) unless they are equal for ever: then the left one is the lower.
    if not behind > 0.0:
        sure = inf if level[left] == level[right] and steeper == 0.0 else -inf
    fail[node] = min(sure, fail[2 * node], fail[2 * node + 1])


@jittable
def begin(state: Any, n_arms: int, s: float, margin: float) -> None:
    """Play all duels."""
    size = len(state[LEVEL])
    for i in range(size):
        state[WIN][size + i] = i
    for back in range(1, size):
        _duel(state, size - back, s, margin)


@jittable
def put(state: Any, arm: int, s: float, margin: float) -> None:
    """The line of one arm changed: play its duels anew, as ``_duel`` would."""
    level, slope, win, fail = state[LEVEL], state[SLOPE], state[WIN], state[FAIL]
    winner, a, w, certain = arm, level[arm], slope[arm], inf
    node = len(level) + arm
    while node > 1:
        other = win[node ^ 1]
        b, v = level[other], slope[other]
        lead = (a - b) + s * (w - v)
        wins = lead > 0.0 or (lead == 0.0 and node & 1 == 0)
        steeper = v - w if wins else w - v
        behind = abs(lead) - margin
        sure = s + behind / steeper * 0.999999 if steeper > 0.0 else inf
        if not behind > 0.0:
            sure = inf if a == b and steeper == 0.0 else -inf
        certain = min(certain, sure, fail[node ^ 1])
        winner, a, w = (winner, a, w) if wins else (other, b, v)
        node >>= 1
        win[node], fail[node] = winner, certain


@jittable
def settle(state: Any, s: float, margin: float) -> None:
    """Play anew what is no longer certain at s, from the leaves up."""
    fail, queue = state[FAIL], state[QUEUE]
    size = len(state[LEVEL])
    if size == 1 or fail[1] >= s:
        return
    queue[0] = 1
    count, i = 1, 0
    while i < count:
        node = 2 * queue[i]
        for child in (node, node + 1):
            if child < size and fail[child] < s:
                queue[count] = child
                count += 1
        i += 1
    for i in range(count - 1, -1, -1):
        _duel(state, queue[i], s, margin)


@jittable
def against(state: Any, arm: int, s: float, end: float) -> tuple[float, float, float]:
    """The largest line but the arm's own at s and at ``end``, and until when that is certain.

    It is one of the winners beside the arm's path.
    """
    level, slope, win, fail = state[LEVEL], state[SLOPE], state[WIN], state[FAIL]
    now = after = LOST
    sure = inf
    node = len(level) + arm
    while node > 1:
        beside = node ^ 1
        other = win[beside]
        now = max(now, level[other] + s * slope[other])
        after = max(after, level[other] + end * slope[other])
        sure = min(sure, fail[beside])
        node >>= 1
    return now, after, sure
