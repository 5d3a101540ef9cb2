"""The fast driver of every other index policy: the others' indices are recomputed seldom.

An index never falls as its scale grows, and the scale never falls. So the largest index the others
would have at turn m+h is an upper bound for all of them until then. The leader of turn m keeps the
turn while its own index, the only one computed anew after each of its plays, is above that bound.
Where the scale stands still (ConUCB, the index of MOSS) the bound is exact and never expires.
"""

from __future__ import annotations

from math import floor, inf
from typing import Any

from surefoot._jit import jittable
from surefoot.environments._kernels import draw
from surefoot.kernels.registry import MARGIN, best, index, pledge, scale, update
from surefoot.simulation.loop import Block, Scale, Truth, policy_reward, units_of


def walk(
    policy: Any, state: Any, environment: Any, key: int, own: int, first: int, scaling: Scale,
    rival: float, truth: Truth, block: Block,
) -> None:  # fmt: skip
    """As ``loop.base_path``: take the turns m = first, first+1, ... until the block is full."""
    j = 0
    while j < len(block.arms):
        m = first + j
        k, score = best(policy, state, m, own, None, range(len(truth[0])))
        if not score > rival:
            end = j + _beaten(policy, state, m, rival, len(block.arms) - j)
            for i in range(j, end):
                block.arms[i], block.rewards[i] = -1, 0
            j = end
            continue
        now = scale(policy, m)
        horizon = _horizon(policy, m, now, len(block.arms) - j)
        bound = max(rival, _largest(policy, state, k, scale(policy, m + horizon)))
        bound += MARGIN  # an index found by iteration may fall by less than this
        start = j
        while True:
            turn = first + j
            proved = floor(pledge(policy, state, k) * scaling.width) + scaling.low * turn
            units = units_of(scaling, draw(environment, key, turn, k))
            block.pledges[j], block.rewards[j] = proved, units
            update(policy, state, k, policy_reward(scaling, units))
            j += 1
            if j - start > horizon or j >= len(block.arms):
                break
            # At turn m's scale, where the leader's index is lowest: what is above now stays so.
            if not index(policy, state, k, now, bound) > bound:
                break
        for i in range(start, j):
            block.arms[i] = k


@jittable
def _horizon(policy: Any, m: int, now: float, left: int) -> int:
    """How many turns ahead the bound is to hold: any is right, a long one makes it loose."""
    return left if scale(policy, m + left) == now else min(left, 16 + (m >> 6))


@jittable
def _largest(policy: Any, state: Any, k: int, s: float) -> float:
    """The largest index of all arms but k."""
    top = -inf
    for i in range(len(state[0])):
        if i != k:
            top = max(top, index(policy, state, i, s, top))
    return top


@jittable
def _beaten(policy: Any, state: Any, m: int, rival: float, left: int) -> int:
    """For how many turns, from turn m on that it wins, the default surely wins."""
    now = scale(policy, m)
    if scale(policy, m + left) == now:
        return left
    ahead = min(left - 1, 16 + (m >> 6))
    top = _largest(policy, state, -1, scale(policy, m + ahead))
    return 1 + ahead if top + MARGIN < rival else 1
