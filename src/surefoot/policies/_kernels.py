"""One policy text, two drivers: how the same kernels run live and compiled.

An index policy is a parameter record (a small NamedTuple) and a few kernels: module-level
functions with hand-written loops on plain arrays, which numba can compile and Python can run.
The dispatchers below pick the kernels by the class of the record. In Python they look it up; the
engine teaches numba the same choice (``surefoot.simulation.compiled``), so its one loop is the text
that runs either way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from surefoot._jit import jittable

NANO = 1e9
"""Policies keep sums in integer billionths: equal sums tie exactly, in whatever order they came."""


class IndexKernels(NamedTuple):
    """The text of one index policy; ``policy`` is its parameter record.

    ``init(policy, n_arms) -> tuple of lists``, the state, one entry an arm ·
    ``scale(policy, m) -> s``, what all arms share at turn m, never falling ·
    ``index(policy, state, k, s, best) -> y``, never falling as s grows; where y is certainly not
    above ``best`` any number not above it may be returned · ``update(policy, state, k, reward)`` ·
    ``pledge(policy, state, k)``, a lower bound on the mean reward of all turns and of one more
    of arm k, for agents whose gate asks for it.
    """

    init: Callable[..., Any]
    scale: Callable[..., Any]
    index: Callable[..., Any]
    update: Callable[..., Any]
    pledge: Callable[..., Any]


KERNELS: dict[type, IndexKernels] = {}


def register(record: type, kernels: IndexKernels) -> None:
    """Make the kernels of a parameter record known to both drivers."""
    KERNELS[record] = kernels


def init(policy: Any, n_arms: int) -> Any:
    return KERNELS[type(policy)].init(policy, n_arms)


def scale(policy: Any, m: int) -> Any:
    return KERNELS[type(policy)].scale(policy, m)


def index(policy: Any, state: Any, k: int, s: float, best: float) -> Any:
    return KERNELS[type(policy)].index(policy, state, k, s, best)


def update(policy: Any, state: Any, k: int, reward: float) -> None:
    KERNELS[type(policy)].update(policy, state, k, reward)


def pledge(policy: Any, state: Any, k: int) -> Any:
    return KERNELS[type(policy)].pledge(policy, state, k)


def no_pledge(policy: Any, state: Any, k: int) -> float:
    """For policies whose agent asks for none."""
    return 0.0


@jittable
def argmax(policy: Any, state: Any, m: int, arms: Any) -> tuple[int, float]:
    """The first arm with the largest index at turn m, and that index."""
    s = scale(policy, m)
    chosen = -1
    best = -math.inf
    for k in arms:
        y = index(policy, state, k, s, best)
        if chosen < 0 or y > best:
            chosen = k
            best = y
    return chosen, best


def count_and_sum(policy: Any, n_arms: int) -> tuple[list[int], list[int]]:
    """State of a policy that needs each arm's plays N and exact sum of rewards S."""
    return [0] * n_arms, [0] * n_arms


@jittable
def add(policy: Any, state: Any, k: int, reward: float) -> None:
    """Count one reward of arm k and add it, in billionths, to its exact sum."""
    state[0][k] += 1
    state[1][k] += math.floor(reward * NANO + 0.5)
