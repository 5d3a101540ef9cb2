"""The engine in two loops: read this file first.

The policy of a paper's agent sees only its own turns. The noise is indexed by the turn, so the
actions of turns 1, 2, 3, ... are the same for every alpha (and, unless the default competes, for
every mu0): the gate decides when a turn is taken, not what happens in it. ``base_path`` takes the
policy's turns, once for all agents that share them; ``interleave`` puts one agent's default plays
between them. Both are plain Python on plain lists, and numba compiles the same text for arrays.
This text says what a simulation is: ``simulation.fast`` has to decide as it does.

The counts and sums of the books are integers. A plan admits floors and horizons for which 10**9
plays fit an int64 (``_exact.fits``), so compiled arithmetic does not overflow.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot._jit import jittable
from surefoot.environments._kernels import draw
from surefoot.kernels.registry import best, member, pledge, update, width

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
IntRow = list[int] | Ints
"""Numbers that a loop reads and writes: a list in plain Python, an array when compiled."""
FloatRow = list[float] | Floats
Truth = tuple[FloatRow, FloatRow]
"""The true means and variances of the (base) arms."""
Terms = tuple[int, int, int, int]
"""A play's value, floor, hold and deposit, in units of the books."""

# Columns of ``Trace.books``; the first six are also an agent's state between two blocks.
T, DEFAULTS, SLACK, LEAST, BELOW, NEXT, ARM = range(7)
COLUMNS = 7
# Columns of ``Trace.losses``, sums over the regular plays: how far the true mean is below the best
# one, the true mean, its square, and the variance.
GAP, MEAN, SQUARE, VARIANCE = range(4)
SUMS = 4
# One more sum where the arms drift: how far the default plays are below the best of their play.
DEFAULT = 4
# The last axis of ``Trace.floors``.
OF_SLACK, OF_LEAST, OF_BELOW = range(3)


class Trace(NamedTuple):
    """One row for each checkpoint."""

    books: Ints
    """Shape (checkpoints, 7): play, default plays so far, slack, least slack so far, plays with
    slack below zero so far, row number, arm of this play (-1: the default, 0: a super arm)."""
    losses: Floats
    """Shape (checkpoints, 4), or 5 where the arms drift: what the regrets are made of."""
    faults: int = 0
    """How often the policy failed, of an agent that plays on."""
    floors: Ints = np.zeros((0, 0, 3), np.int64)
    """Shape (checkpoints, floors, 3), of an agent with several: of each floor its slack, the least
    so far, and the plays with it below zero. ``books`` then has the objective that explorations
    brought in place of the slack, and counts plays with any account below zero."""
    forfeited: Ints = np.zeros((0, 0), np.int64)
    """Shape (checkpoints, floors), where a floor has ``max_slack``: what each slack lacks of what
    came in."""


def blank(checkpoints: int, sums: int = SUMS, floors: int = 0, forfeiting: int = 0) -> Trace:
    """An empty trace to be filled.

    ``floors``: how many there are, where there are several; ``forfeiting``: how many there are,
    where one forfeits.

    >>> blank(2).books.shape, blank(2).losses.shape, blank(2, floors=3).floors.shape
    ((2, 7), (2, 4), (2, 3, 3))
    """
    return Trace(
        np.zeros((checkpoints, COLUMNS), np.int64), np.zeros((checkpoints, sums)),
        floors=np.zeros((checkpoints, floors, 3), np.int64),
        forfeited=np.zeros((checkpoints if forfeiting else 0, forfeiting), np.int64),
    )  # fmt: skip


UNGUARDED, ACCOUNT, PLEDGE = 0, 1, 2
GATES = {"none": UNGUARDED, "account": ACCOUNT, "pledge": PLEDGE}


class Scale(NamedTuple):
    """From an environment's draw to units of the books, and on to the policy's own scale."""

    times: int
    """A draw is worth draw * times // over units, one of the two being 1."""
    over: int
    low: int
    """The policy sees (units - low) / width: r_min for rewards in [0, 1], 0 for raw ones."""
    width: int
    """r_max - r_min in units, or the units of 1."""


class Block(NamedTuple):
    """A stretch of the base path: one entry a turn."""

    arms: IntRow
    """The number of the arm, 0 for a super arm, -1 where the default competes and wins the turn."""
    rewards: IntRow
    """In units of the books."""
    pledges: IntRow
    """A lower bound on the mean reward of all turns up to this one, in units; 0 from a policy
    whose agent asks for none."""
    means: FloatRow
    """The true mean of what was played; of single arms the fast drivers do not write it."""
    variances: FloatRow
    chunks: Any
    """The sums that the fast calendars add at once, see ``fast.chunks``."""


def base_path(
    policy: Any, state: Any, environment: Any, key: int, own: int, first: int, scale: Scale,
    rival: float, truth: Truth, block: Block,
) -> None:  # fmt: skip
    """Take the turns m = first, first+1, ... until the block is full.

    ``policy`` and ``environment`` are parameter records, whose class picks the kernels. ``rival``:
    the default's value on the policy's scale, -inf where it does not compete. ``truth``: the true
    means and variances of the (base) arms.
    """
    means, variances = truth
    for j in range(len(block.arms)):
        m = first + j
        k, score = best(policy, state, m, own, None, range(len(truth[0])))
        if not score > rival:  # so a tie goes to the default
            block.arms[j], block.rewards[j] = -1, 0
            block.means[j] = block.variances[j] = 0.0
            continue
        block.arms[j] = k
        # Rounded down: what is proved must not be overstated. Each of m rewards was shifted by low.
        block.pledges[j] = math.floor(pledge(policy, state, k) * scale.width) + scale.low * m
        reward = 0
        mean = variance = 0.0
        for i in range(width(policy)):
            e = member(policy, state, k, i)
            if e < 0:
                break
            units = units_of(scale, draw(environment, key, m, e))
            update(policy, state, e, policy_reward(scale, units))
            reward += units
            mean += means[e]
            variance += variances[e]
        block.rewards[j] = reward
        block.means[j] = mean
        block.variances[j] = variance


def interleave(
    gate: int, terms: Terms, block: Block, top: float, books: IntRow, losses: FloatRow,
    checkpoints: IntRow, trace: Trace,
) -> None:  # fmt: skip
    """Take the block's turns under one gate, and play the default whenever it is closed.

    ``terms``: what one play is worth to the books. ``top``: mu_*, which pseudo-regret is measured
    against. After play checkpoints[i] books and losses become row i of ``trace``; the last
    checkpoint ends the run.
    """
    value, floor, hold, deposit = terms
    t, defaults, slack = books[T], books[DEFAULTS], books[SLACK]
    least, below, spot = books[LEAST], books[BELOW], books[NEXT]
    j = 0
    while j < len(block.arms) and t < checkpoints[-1]:
        k = block.arms[j]
        if gate == ACCOUNT:  # Du, Wang, Huang 2021, Algorithm 1, line 3
            opened = slack >= hold
        elif gate == PLEDGE:  # Wu et al. 2016, Algorithm 1; a turn of the default needs no proof
            opened = k < 0 or block.pledges[j] + defaults * value >= floor * (t + 1)
        else:
            opened = True
        if opened and k >= 0:
            slack += block.rewards[j] - floor
            lose(losses, top, block.means[j], block.variances[j])
        else:
            k = -1
            slack += deposit
            defaults += 1
        if opened:
            j += 1
        t += 1
        least = min(least, slack)
        if slack < 0:
            below += 1
        if t == checkpoints[spot]:
            row = trace.books[spot]
            row[T], row[DEFAULTS], row[SLACK], row[LEAST] = t, defaults, slack, least
            row[BELOW], row[NEXT], row[ARM] = below, spot, k
            for i in range(len(losses)):
                trace.losses[spot][i] = losses[i]
            spot += 1
    books[T], books[DEFAULTS], books[SLACK] = t, defaults, slack
    books[LEAST], books[BELOW], books[NEXT] = least, below, spot


@jittable
def units_of(scale: Scale, drawn: Any) -> int:
    """A draw in units of the books, rounded down where they are coarser: no credit is overstated.

    ``//`` rounds down below zero too, in Python and in compiled code.
    """
    units = int(drawn) * scale.times
    return units if scale.over == 1 else units // scale.over


@jittable
def policy_reward(scale: Scale, units: int) -> float:
    """A reward on the policy's scale."""
    return float((units - scale.low) / scale.width)


@jittable
def lose(losses: FloatRow, top: float, mean: float, variance: float) -> None:
    """Add one regular play to the sums that the regrets are made of."""
    losses[GAP] += top - mean
    losses[MEAN] += mean
    losses[SQUARE] += mean * mean
    losses[VARIANCE] += variance
