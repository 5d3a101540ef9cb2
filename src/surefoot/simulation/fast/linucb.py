"""The fast driver of LinUCB over fixed rows: O(K) a turn, O(K^2) where the arm changes.

While the same arm k is played, the index of arm i after n plays of it is, in the terms of
``gram``, y_i + p_i z + beta(m)*sqrt(q_i - p_i^2 w): a few operations, in a loop that a compiler
turns into vectors as it only counts who is ahead. As beta grows, the others with a later turn's and
arm k with an earlier one's tell as much for all turns between. Only where somebody may be ahead are
the indices written down and compared by the policy's own tie rule. A turn's choice is that of
``loop.base_path`` but where rounding, which differs, decides a near tie.
"""

from __future__ import annotations

from typing import Any

from surefoot._jit import jittable
from surefoot.environments._kernels import draw
from surefoot.policies import _ridge
from surefoot.policies._ridge import TIE
from surefoot.simulation.fast import gram
from surefoot.simulation.loop import Block, FloatRow, Scale, Truth, units_of

RADIUS_EVERY = 16
"""For so many turns the radius is computed at both ends only: its logarithms cost more than the
rest of a turn."""


def walk(
    policy: Any, state: Any, environment: Any, key: int, own: int, first: int, scale: Scale,
    rival: float, truth: Truth, block: Block,
) -> None:  # fmt: skip
    """As ``loop.base_path``: take the turns m = first, first+1, ... until the block is full."""
    j = 0
    while j < len(block.arms):
        radius = gram.beta(policy, state, first + j, 1.0)
        _write(state, 0.0, 0.0, radius)
        k = _ridge.first_best(state[gram.VALUES])
        row, at = state[gram.ROW], k * len(state[gram.ROW])
        for i in range(len(row)):
            row[i] = state[gram.CROSS][at + i]
        start = j
        j, units = _stretch(
            policy, state, environment, key, first, scale, rival, block, j, k, radius
        )
        n = _note(block, start, j, k, truth)
        if n > 0 and gram.observe(state[gram.COUNTS :], k, n, units, scale.low, scale.width):
            gram.renew(policy, state, scale.low, scale.width)


@jittable
def _stretch(
    policy: Any, state: Any, environment: Any, key: int, first: int, scale: Scale,
    rival: float, block: Block, j: int, k: int, radius: float,
) -> tuple[int, int]:  # fmt: skip
    """Take turns while arm k leads, at first with this radius; the next turn, and the rewards."""
    means, norms, row = state[gram.MEANS], state[gram.NORMS], state[gram.ROW]
    mean, norm = means[k], norms[k]
    most = gram.SURPRISE / state[gram.AGE][0]
    start, n, total = j, 0, 0
    z, w, grown = 0.0, 0.0, 1.0
    least = largest = radius
    until = j
    while j < len(block.arms):
        if j == until:
            until = min(j + RADIUS_EVERY, len(block.arms))
            if j > start:
                least = gram.beta(policy, state, first + j, grown)
            largest = gram.beta(policy, state, first + until - 1, 1.0 + (n + until - 1 - j) * norm)
        spread = gram.root(norm - norm * norm * w)
        top = mean + norm * z + least * spread
        doubt = j > start and _ahead(means, norms, row, k, z, w, largest, top) > 0
        if doubt or not top > rival:
            radius = gram.beta(policy, state, first + j, grown)
            top = mean + norm * z + radius * spread
            if doubt and _ahead(means, norms, row, k, z, w, radius, top) > 0:
                _write(state, z, w, radius)
                if _ridge.first_best(state[gram.VALUES]) != k:
                    break
            if not top > rival:
                block.arms[j] = -1
                block.rewards[j] = 0
                j += 1
                continue
        units = units_of(scale, draw(environment, key, first + j, k))
        block.arms[j] = k
        block.rewards[j] = units
        block.pledges[j] = scale.low * (first + j)
        total += units
        n += 1
        j += 1
        grown = 1.0 + n * norm
        z = ((total - n * scale.low) / scale.width - n * mean) / grown
        w = n / grown
        if not grown <= most:
            break
    return j, total


@jittable
def _ahead(
    means: FloatRow,
    norms: FloatRow,
    row: FloatRow,
    k: int,
    z: float,
    w: float,
    radius: float,
    top: float,
) -> int:
    """How many others may be ahead of arm k, of index ``top``: above it, or lower and tied."""
    # Twice the tie, so that rounding cannot hide a lower arm that is in it.
    bar = top - 2.0 * TIE * max(1.0, abs(top))
    count = 0
    for i in range(len(means)):
        value = means[i] + row[i] * z + radius * gram.root(norms[i] - row[i] * row[i] * w)
        if i != k and value > (bar if i < k else top):
            count += 1
    return count


@jittable
def _write(state: Any, z: float, w: float, radius: float) -> None:
    """Write down the indices of all arms."""
    means, norms, row, values = (
        state[gram.MEANS],
        state[gram.NORMS],
        state[gram.ROW],
        state[gram.VALUES],
    )
    for i in range(len(values)):
        values[i] = means[i] + row[i] * z + radius * gram.root(norms[i] - row[i] * row[i] * w)


@jittable
def _note(block: Block, start: int, stop: int, k: int, truth: Truth) -> int:
    """Note what else is known of the turns of a stretch; how many of them arm k had."""
    plays = 0
    for j in range(start, stop):
        own = block.arms[j] == k
        block.means[j] = truth[0][k] * own
        block.variances[j] = truth[1][k] * own
        plays += own
    return plays
