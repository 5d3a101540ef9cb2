"""The fast driver of C2UCB over fixed rows: O(K) a turn, and O(K^2) for each base arm played.

The base arms' bounds are y_e + beta(m)*sqrt(q_e), in the terms of ``_gram``, and each base arm
observed is one step of it. A turn's choice is that of ``path.base_path`` but where rounding, which
differs, decides a near tie.
"""

from __future__ import annotations

from typing import Any

from surefoot._jit import jittable
from surefoot.environments._kernels import draw
from surefoot.policies.c2ucb import BOUNDS, COSTS, LINKS, MEMBERS, PRICES, choose
from surefoot.simulation._gram import (
    AGE,
    COUNTS,
    CROSS,
    MEANS,
    NORMS,
    ROW,
    SUMS,
    beta,
    observe,
    renew,
    root,
)
from surefoot.simulation.path import Block, Scale, units_of


def walk(
    policy: Any, state: Any, environment: Any, key: Any, first: int, scale: Scale,
    rival: float, truth: Any, block: Block,
) -> None:  # fmt: skip
    """As ``path.base_path``: take the turns m = first, first+1, ... until the block is full."""
    counts, sums, cross, norms = state[COUNTS], state[SUMS], state[CROSS], state[NORMS]
    means, row, age, bounds = state[MEANS], state[ROW], state[AGE], state[BOUNDS]
    members, low, width = state[MEMBERS], scale.low, scale.width
    costs, prices, links = state[COSTS], state[PRICES], state[LINKS]
    for j in range(len(block.arms)):
        m = first + j
        _bounds(means, norms, beta(policy, state, m, 1.0), bounds)
        reward = 0
        mean = variance = 0.0
        if choose(policy, bounds, members, costs, prices, links) > rival:
            block.arms[j] = 0
            block.pledges[j] = low * m
            for i in range(len(members)):
                e = members[i]
                units = units_of(scale, draw(environment, key, m, e))
                reward += units
                mean += truth[0][e]
                variance += truth[1][e]
                if observe(
                    counts, sums, cross, norms, means, row, age, e, 1, units, low, width
                ):  # fmt: skip
                    renew(policy, state, low, width)
        else:
            block.arms[j] = -1
        block.rewards[j] = reward
        block.means[j] = mean
        block.variances[j] = variance


@jittable
def _bounds(means: Any, norms: Any, radius: float, out: Any) -> None:
    """Write down the bounds of all base arms."""
    for e in range(len(out)):
        out[e] = means[e] + radius * root(norms[e])
