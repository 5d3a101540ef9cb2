"""The fast drivers of CLUCB and C3UCB: their bounds, and what they can prove, in Gram form.

To the lists of ``gram`` come, for z the sum of the features of all plays,

    c = X V^-1 z,   ||z||^2 in V^-1,   <z, theta_hat>

each carried along: by the step of ``gram`` when an observation changes V and theta_hat, and by one
row of G when its features join z. What is proved of z and the next features is then O(K). A turn's
choice is that of ``loop.base_path`` but where rounding, which differs, decides a near tie.
"""

from __future__ import annotations

import math
from typing import Any

from surefoot._jit import jittable
from surefoot._top_k import top_k
from surefoot.comparators import ellipsoid
from surefoot.comparators.c3ucb import LOWS, MEMBERS
from surefoot.comparators.ellipsoid import NOW, SCORES
from surefoot.environments._kernels import draw
from surefoot.kernels import registry
from surefoot.policies import _ridge
from surefoot.policies.c2ucb import total
from surefoot.simulation.fast import gram
from surefoot.simulation.loop import Block, IntRow, Scale, Truth, units_of

ALONG, TOTALS = -11, -10
"""Before the lists of ``gram``: c; the square norm of z and its mean."""


def init(policy: Any, n_arms: int) -> Any:
    """The comparator's own state, and behind it the Gram form with what goes along."""
    own = (*registry.init(policy, n_arms), [0.0] * n_arms, [0.0, 0.0])
    return gram.behind(policy, own, n_arms)


def walk(
    policy: Any, state: Any, environment: Any, key: int, own: int, first: int, scale: Scale,
    rival: float, truth: Truth, block: Block,
) -> None:  # fmt: skip
    """CLUCB's, as ``loop.base_path``."""
    means, norms, scores, now = state[gram.MEANS], state[gram.NORMS], state[SCORES], state[NOW]
    for j in range(len(block.arms)):
        m = first + j
        radius = _radius(policy, state, m)
        for i in range(len(scores)):
            scores[i] = means[i] + radius * gram.root(norms[i])
        k = _ridge.first_best(scores)
        if not scores[k] > rival:
            _rest(block, j)
            continue
        bound = state[TOTALS][1] + means[k]
        bound -= radius * gram.root(state[TOTALS][0] + 2.0 * state[ALONG][k] + norms[k])
        bound = max(bound, policy.least * (now[1] + 1.0))
        units = units_of(scale, draw(environment, key, m, k))
        _learn(policy, state, k, units, scale.low, scale.width)
        now[1] += 1.0
        block.arms[j], block.rewards[j] = k, units
        block.pledges[j] = math.floor(bound * scale.width) + scale.low * m
        block.means[j], block.variances[j] = truth[0][k], truth[1][k]


def walk_super_arms(
    policy: Any, state: Any, environment: Any, key: int, own: int, first: int, scale: Scale,
    rival: float, truth: Truth, block: Block,
) -> None:  # fmt: skip
    """C3UCB's, as ``loop.base_path``."""
    means, norms, scores, lows = state[gram.MEANS], state[gram.NORMS], state[SCORES], state[LOWS]
    members = state[MEMBERS]
    for j in range(len(block.arms)):
        m = first + j
        radius = _radius(policy, state, m)
        for e in range(len(scores)):
            reach = radius * gram.root(norms[e])
            scores[e] = min(1.0, means[e] + reach)
            lows[e] = max(0.0, means[e] - reach)
        top_k(scores, policy.k, members)
        if not total(scores, members) > rival:
            _rest(block, j)
            continue
        bound = _proved(state, members, radius)
        reward = 0
        mean = variance = 0.0
        for i in range(len(members)):
            e = members[i]
            units = units_of(scale, draw(environment, key, m, e))
            _learn(policy, state, e, units, scale.low, scale.width)
            reward += units
            mean += truth[0][e]
            variance += truth[1][e]
        block.arms[j], block.rewards[j] = 0, reward
        block.pledges[j] = math.floor(bound * scale.width) + scale.low * m
        block.means[j], block.variances[j] = mean, variance


@jittable
def _radius(policy: Any, state: Any, m: int) -> float:
    gram.note_growth(policy, state, 1.0)
    return ellipsoid.beta(policy, state, m)


@jittable
def _rest(block: Block, j: int) -> None:
    """A turn that the default wins."""
    block.arms[j], block.rewards[j] = -1, 0
    block.means[j] = block.variances[j] = 0.0


@jittable
def _proved(state: Any, members: IntRow, radius: float) -> float:
    """What all plays so far and the super arm's surely earn: apart, and as one sum."""
    apart, lows, counts = 0.0, state[LOWS], state[gram.COUNTS]
    for e in range(len(lows)):
        apart += counts[e] * lows[e]
    stride, square, mean = len(state[gram.ROW]), state[TOTALS][0], state[TOTALS][1]
    for e in members:
        apart += lows[e]
        mean += state[gram.MEANS][e]
        square += 2.0 * state[ALONG][e]
        for other in members:
            square += state[gram.CROSS][e * stride + other]
    return float(max(apart, mean - radius * gram.root(square)))


@jittable
def _learn(policy: Any, state: Any, k: int, units: Any, low: Any, width: Any) -> None:
    """One observation of row k, whose features join z."""
    along, totals, row, means, norms = (
        state[ALONG], state[TOTALS], state[gram.ROW], state[gram.MEANS], state[gram.NORMS]
    )  # fmt: skip
    grown = 1.0 + norms[k]
    surprise = ((units - low) / width - means[k]) / grown
    if gram.observe(state[gram.COUNTS :], k, 1, units, low, width):
        gram.renew(policy, state, low, width)
        _along(state)
        return
    mine = along[k]
    part = mine / grown
    totals[0] -= part * mine
    totals[1] += surprise * mine
    at = k * len(row)
    for i in range(len(along)):
        along[i] += state[gram.CROSS][at + i] - row[i] * part
    totals[0] += 2.0 * (mine - row[k] * part) + norms[k]  # row: what G[k] was before the step
    totals[1] += means[k]


@jittable
def _along(state: Any) -> None:
    """c, the square norm of z and its mean, from the counts."""
    along, counts, cross = state[ALONG], state[gram.COUNTS], state[gram.CROSS]
    n_arms = len(along)
    square = mean = 0.0
    for i in range(n_arms):
        inner = 0.0
        for j in range(n_arms):
            inner += counts[j] * cross[i * len(state[gram.ROW]) + j]
        along[i] = inner
        square += counts[i] * inner
        mean += counts[i] * state[gram.MEANS][i]
    state[TOTALS][0], state[TOTALS][1] = square, mean
