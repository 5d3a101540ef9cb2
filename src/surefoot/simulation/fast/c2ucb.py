"""The fast driver of C2UCB over fixed rows: O(K) a turn, and O(K^2) for each base arm played.

The base arms' bounds are y_e + beta(m)*sqrt(q_e), in the terms of ``gram``, and each base arm
observed is one step of it. Where any k are a super arm, the last one is kept as long as its bounds
with an earlier turn's beta are above all others with a later turn's, for beta grows. A turn's
choice is that of ``loop.base_path`` but where rounding, which differs, decides a near tie.
"""

from __future__ import annotations

from math import inf
from typing import Any

from surefoot._jit import jittable
from surefoot.environments._kernels import draw
from surefoot.policies.c2ucb import BOUNDS, COSTS, LINKS, MEMBERS, PRICES, choose
from surefoot.simulation.fast import gram
from surefoot.simulation.fast.linucb import RADIUS_EVERY
from surefoot.simulation.loop import Block, FloatRow, IntRow, Scale, Truth, units_of


def walk(
    policy: Any, state: Any, environment: Any, key: int, own: int, first: int, scale: Scale,
    rival: float, truth: Truth, block: Block,
) -> None:  # fmt: skip
    """As ``loop.base_path``: take the turns m = first, first+1, ... until the block is full."""
    means, norms, bounds = state[gram.MEANS], state[gram.NORMS], state[BOUNDS]
    form, members, low, width = state[gram.COUNTS :], state[MEMBERS], scale.low, scale.width
    costs, prices, links = state[COSTS], state[PRICES], state[LINKS]
    any_k, settled = policy.rows == 0 and len(policy.order) == 0, False
    span = 1 if policy.determinant else RADIUS_EVERY
    since = -span
    least = largest = 0.0
    for j in range(len(block.arms)):
        m = first + j
        if j == since + span:
            since = j
            least = largest = gram.beta(policy, state, m, 1.0)
            if span > 1:
                largest = gram.beta(policy, state, m + span - 1, 1.0)
        reward = 0
        mean = variance = 0.0
        value = _sure(means, norms, members, least, largest) if settled else -inf
        if not value > rival:
            radius = least if j == since else gram.beta(policy, state, m, 1.0)
            _bounds(means, norms, radius, bounds)
            value = choose(policy, bounds, members, costs, prices, links)
            settled = any_k
        if value > rival:
            block.arms[j] = 0
            block.pledges[j] = low * m
            for i in range(len(members)):
                e = members[i]
                if e < 0:
                    break
                units = units_of(scale, draw(environment, key, m, e))
                reward += units
                mean += truth[0][e]
                variance += truth[1][e]
                if gram.observe(form, e, 1, units, low, width):
                    gram.renew(policy, state, low, width)
        else:
            block.arms[j] = -1
        block.rewards[j] = reward
        block.means[j] = mean
        block.variances[j] = variance


@jittable
def _sure(means: FloatRow, norms: FloatRow, members: IntRow, least: float, largest: float) -> float:
    """A bound below the value of a super arm that surely is the k largest; -inf if it may not be.

    Surely: at every radius from ``least`` to ``largest``.
    """
    value, lowest = 0.0, inf
    for e in members:
        bound = means[e] + least * gram.root(norms[e])
        value += bound
        lowest = min(lowest, bound)
    count = 0
    for e in range(len(means)):
        if not means[e] + largest * gram.root(norms[e]) < lowest:
            count += 1
    return value if count == len(members) else -inf


@jittable
def _bounds(means: FloatRow, norms: FloatRow, radius: float, out: Any) -> None:
    """Write down the bounds of all base arms."""
    for e in range(len(out)):
        out[e] = means[e] + radius * gram.root(norms[e])
