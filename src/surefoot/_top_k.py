"""The k largest of some weights: kernel text that oracles and compiled policies share."""

from __future__ import annotations

from typing import Any

from surefoot._jit import jittable


@jittable
def top_k(weights: Any, k: int, out: Any) -> None:
    """Write the indices of the k largest weights to ``out``, ascending; ties to the lowest index.

    O(K log k) for K weights, 1 <= k <= K. ``out`` holds k ints; it first serves as a heap of the
    best so far with the worst of them at the root.
    """
    for i in range(k):
        out[i] = i
    for root in range(k // 2 - 1, -1, -1):
        _sift(weights, k, out, root)
    for i in range(k, len(weights)):
        if weights[i] > weights[out[0]]:
            out[0] = i
            _sift(weights, k, out, 0)
    last = out[0]
    taken = 0
    for i in range(len(weights)):
        if weights[i] > weights[last] or (weights[i] == weights[last] and i <= last):
            out[taken] = i
            taken += 1


@jittable
def _sift(weights: Any, k: int, heap: Any, root: int) -> None:
    """Let the arm at ``root`` sink until no arm below it is worse."""
    arm = heap[root]
    child = 2 * root + 1
    while child < k:
        if child + 1 < k and _worse(weights, heap[child + 1], heap[child]):
            child += 1
        if not _worse(weights, heap[child], arm):
            break
        heap[root] = heap[child]
        root = child
        child = 2 * root + 1
    heap[root] = arm


@jittable
def _worse(weights: Any, i: int, j: int) -> bool:
    """Whether arm i is to be given up before arm j."""
    return bool(weights[i] < weights[j] or (weights[i] == weights[j] and i > j))
