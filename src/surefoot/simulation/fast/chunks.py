"""The fast calendars: whole chunks of turns are taken, or runs of default plays, at once.

Each decides as the plain text does, ``loop.interleave`` or ``mean_variance.interleave_moments``.
``survey`` sums up each chunk of a block once, for all agents. Everything the books hold is an
integer: taken together or one by one, it is equal.

**Reward floor.** No regular play can cost more than ``hold``. So where the account could pay for a
chunk of worst plays, its gate is open throughout, and neither the least slack nor a play below zero
can hide in it. While the gate stays closed the slack only grows, by one deposit a play, so when it
opens is a division.

**Mean-variance floor.** One more reward r changes the slack S by rho*r - n/(n+1) (r - mean)^2 -
(1-alpha)*rho*mu0, so none takes more than

    fall = (1-alpha)*rho*mu0 - rho*r_min + (r_max - r_min)^2

and the mean moves by less than (r_max - r_min)/n. Where a whole chunk of such falls would neither
close the gate nor bring S to zero or to its least so far, the sums of the chunk are added (or of
what is left of it up to a checkpoint); else one play is made, as in the plain text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefoot._jit import jittable
from surefoot.simulation import loop
from surefoot.simulation import mean_variance as mv
from surefoot.simulation.loop import Block, FloatRow, Floats, IntRow, Ints, Terms, Trace, Truth

CHUNK = 64
# Columns of ``Block.chunks``: the rewards of its regular turns; how many turns the default won; the
# least pledge of the others; the digits of the sum of squares (``mean_variance.BASE``).
GAINED, RIVALS, PLEDGED, SQUARES_HIGH, SQUARES_LOW = range(5)
_NONE = 1 << 61
"""The pledge of a chunk without any. A larger one is noted as this: too low, which is safe."""


class Chunks(NamedTuple):
    """What is known of the chunks of a block."""

    totals: Ints
    """One row a chunk."""
    before: Floats
    """The sums of ``trace.losses`` before each chunk, and after all; gaps are to ``best``."""
    truth: Truth
    """The true means and variances of the (base) arms."""
    best: float
    """The true mean of the best regular action."""
    single: bool
    """Whether a turn plays one arm: then the truth is looked up by ``Block.arms``."""


def blank(turns: int, truth: Truth, best: float, single: bool) -> Chunks:
    """The chunks of a block before any turn."""
    count = -(-turns // CHUNK)
    totals, before = np.zeros((count, 5), np.int64), np.zeros((count + 1, loop.SUMS))
    return Chunks(totals, before, truth, best, single)


def survey(block: Block, pledged: bool, moments: bool) -> None:
    """Sum up every chunk of a block.

    ``pledged``: some agent's gate needs pledges; ``moments``: some floor needs squares.
    """
    totals, before = block.chunks.totals, block.chunks.before
    last = len(totals)
    for i in range(loop.SUMS):
        before[0, i] = before[last, i]  # the sums go on from the block that was here before
    for c in range(last):
        start = c * CHUNK
        end = min(start + CHUNK, len(block.arms))
        rewards, arms = block.rewards[start:end], block.arms[start:end]
        totals[c, GAINED], totals[c, RIVALS], changes = gained(rewards, arms)
        if pledged:
            totals[c, PLEDGED] = _least(block, start, end)
        if moments:
            totals[c, SQUARES_HIGH], totals[c, SQUARES_LOW] = squares(rewards)
        for i in range(loop.SUMS):
            before[c + 1, i] = before[c, i]
        _lose(block, start, end, changes == 0, before[c + 1])


@jittable
def gained(rewards: IntRow, arms: IntRow) -> tuple[int, int, int]:
    """The rewards of some turns, how many the default won, and how many had another arm than the
    first."""
    first = arms[0]
    total = rivals = changes = 0
    for i in range(len(rewards)):
        total += rewards[i]
        rivals += 1 if arms[i] < 0 else 0
        changes += 1 if arms[i] != first else 0
    return total, rivals, changes


@jittable
def squares(rewards: IntRow) -> tuple[int, int]:
    """The digits of their sum of squares; a square fits an int64, see ``mean_variance.WIDEST``."""
    high = low = 0
    for i in range(len(rewards)):
        square = rewards[i] * rewards[i]
        high += square >> 31  # as // BASE and % BASE, for a number that is not negative
        low += square & 0x7FFFFFFF
    return high, low


@jittable
def _least(block: Block, start: int, end: int) -> int:
    """The least pledge of the turns that the default does not win."""
    arms, pledges = block.arms[start:end], block.pledges[start:end]
    least = _NONE
    for i in range(len(arms)):
        least = min(least, pledges[i] if arms[i] >= 0 else _NONE)
    return least


@jittable
def _lose(block: Block, start: int, end: int, same: bool, losses: FloatRow) -> None:
    """Add turns start..end-1 to ``losses``.

    ``same``: one arm was played throughout, as is most common. A run of n plays adds n times a
    float, so only here do the last digits differ from the plain text's.
    """
    best = block.chunks.best
    if not block.chunks.single:
        for j in range(start, end):
            if block.arms[j] >= 0:
                loop.lose(losses, best, block.means[j], block.variances[j])
        return
    arms = block.arms[start:end]
    if same:
        _lose_run(block, arms[0], len(arms), losses)
        return
    k, n = arms[0], 0
    for arm in arms:
        if arm != k:
            _lose_run(block, k, n, losses)
            k, n = arm, 0
        n += 1
    _lose_run(block, k, n, losses)


@jittable
def _lose_run(block: Block, k: int, n: int, losses: FloatRow) -> None:
    """Add n turns of one arm to ``losses``; those the default wins lose nothing."""
    if k >= 0:
        means, variances = block.chunks.truth
        losses[loop.GAP] += n * (block.chunks.best - means[k])
        losses[loop.MEAN] += n * means[k]
        losses[loop.SQUARE] += n * (means[k] * means[k])
        losses[loop.VARIANCE] += n * variances[k]


def interleave_chunks(
    gate: int, terms: Terms, block: Block, top: float, books: IntRow, losses: FloatRow,
    checkpoints: IntRow, trace: Trace,
) -> None:  # fmt: skip
    """As ``loop.interleave``."""
    _, floor, _, deposit = terms
    totals = block.chunks.totals
    t, defaults, slack = books[loop.T], books[loop.DEFAULTS], books[loop.SLACK]
    least, below, spot = books[loop.LEAST], books[loop.BELOW], books[loop.NEXT]
    size = len(block.arms)
    last = checkpoints[-1]
    j = 0
    while j < size and t < last:
        due, arm = checkpoints[spot] - t, -1
        if (
            j % CHUNK == 0 and j + CHUNK <= size and due >= CHUNK
            and _opened(gate, totals[j // CHUNK], t, defaults, slack, terms)
        ):  # fmt: skip
            slack, least, below = _through(block, j, terms, slack, least, below)
            defaults += totals[j // CHUNK, RIVALS]
            t, j = t + CHUNK, j + CHUNK
            arm = block.arms[j - 1]
        else:
            k = block.arms[j]
            wait = _closed_for(gate, k, block.pledges[j], t, defaults, slack, terms, last - t)
            if wait > 0:
                wait = min(wait, due)
                least = min(least, slack + deposit)  # deposits are >= 0, so the first is the least
                below += _short(slack, deposit, wait)
                slack += wait * deposit
                defaults, t = defaults + wait, t + wait
            else:
                slack += deposit if k < 0 else block.rewards[j] - floor
                defaults += 1 if k < 0 else 0
                least = min(least, slack)
                below += 1 if slack < 0 else 0
                t, j, arm = t + 1, j + 1, k
        if t == checkpoints[spot]:
            _note(block, j, top, trace, spot, (t, defaults, slack, least, below), arm)
            spot += 1
    books[loop.T], books[loop.DEFAULTS], books[loop.SLACK] = t, defaults, slack
    books[loop.LEAST], books[loop.BELOW], books[loop.NEXT] = least, below, spot


@jittable
def _opened(gate: int, chunk: IntRow, t: int, defaults: int, slack: int, terms: Terms) -> bool:
    """Whether the gate is surely open at every turn of a chunk."""
    value, floor, hold, _ = terms
    if gate == loop.ACCOUNT:  # a regular play takes at most a hold, a default play nothing
        return bool(slack >= CHUNK * hold)
    if gate == loop.PLEDGE:  # the least pledge suffices for the last turn; floor, value >= 0
        return bool(chunk[PLEDGED] >= floor * (t + CHUNK) - defaults * value)
    return True


@jittable
def _through(
    block: Block, j: int, terms: Terms, slack: int, least: int, below: int
) -> tuple[int, int, int]:
    """Take all turns of the chunk from turn j on: the slack, its least value, the plays below 0."""
    _, floor, hold, deposit = terms
    # ``least`` starts at the largest int64: a slack below zero less that would leave 64 bits.
    if slack >= 0 and slack - max(least, 0) >= CHUNK * hold:
        chunk = block.chunks.totals[j // CHUNK]
        slack += chunk[GAINED] + chunk[RIVALS] * deposit - (CHUNK - chunk[RIVALS]) * floor
        return slack, least, below
    for i in range(j, j + CHUNK):
        slack += deposit if block.arms[i] < 0 else block.rewards[i] - floor
        least = min(least, slack)
        below += 1 if slack < 0 else 0
    return slack, least, below


@jittable
def _closed_for(
    gate: int, k: int, pledged: int, t: int, defaults: int, slack: int, terms: Terms, most: int
) -> int:
    """How many default plays the gate asks for before the next turn, at most ``most``."""
    value, floor, hold, deposit = terms
    if gate == loop.ACCOUNT:
        short, each = hold - slack, deposit
    elif gate == loop.PLEDGE and k >= 0:
        short, each = floor * (t + 1) - pledged - defaults * value, value - floor
    else:
        return 0
    if short <= 0:
        return 0
    # Rounded up: the gate opens once the deposits cover what is short.
    return most if each <= 0 else min(most, (short + each - 1) // each)


@jittable
def _short(slack: int, deposit: int, plays: int) -> int:
    """After how many of these default plays the slack is below zero."""
    if slack >= 0:
        return 0
    # slack + i deposit < 0, in integers i deposit <= -slack - 1.
    return plays if deposit <= 0 else min(plays, (-slack - 1) // deposit)


@jittable
def _note(
    block: Block, j: int, top: float, trace: Trace, spot: int, books: tuple[int, ...], arm: int
) -> None:
    """Write down a checkpoint, after j turns of the block."""
    t, defaults, slack, least, below = books
    row = trace.books[spot]
    row[loop.T], row[loop.DEFAULTS], row[loop.SLACK], row[loop.LEAST] = t, defaults, slack, least
    row[loop.BELOW], row[loop.NEXT], row[loop.ARM] = below, spot, arm
    regrets(block, j, top, t - defaults, trace.losses[spot])


@jittable
def regrets(block: Block, j: int, top: float, regular: int, row: FloatRow) -> None:
    """The sums that regrets are made of, after j turns of the block; ``regular`` were no default.

    ``top`` is mu_*, which may be the default's value and above the best action's.
    """
    c = j // CHUNK
    for i in range(loop.SUMS):
        row[i] = block.chunks.before[c, i]
    if c * CHUNK < j:
        _lose(block, c * CHUNK, j, False, row)
    row[loop.GAP] += regular * (top - block.chunks.best)  # the sums' gaps are to ``best``


def interleave_moment_chunks(
    gate: int, promise: mv.Promise, block: Block, top: float, books: IntRow, sums: IntRow,
    least: FloatRow, ruling: IntRow, losses: FloatRow, checkpoints: IntRow, trace: Trace,
    marks: Ints,
) -> bool:  # fmt: skip
    """As ``mean_variance.interleave_moments``."""
    size, totals = len(block.arms), block.chunks.totals
    while sums[mv.TURN] < size and books[loop.T] < checkpoints[-1]:
        j = sums[mv.TURN]
        if ruling[mv.GIVEN] == 0 and _clear(gate, promise, books[loop.T], sums, least):
            due = checkpoints[books[loop.NEXT]] - books[loop.T]
            end = min(j - j % CHUNK + CHUNK, j + due, size)
            arms, rewards, chunk = block.arms[j:end], block.rewards[j:end], totals[j // CHUNK]
            arm = _take(promise, chunk, arms, rewards, books, sums)
        else:
            arm = mv.step(gate, promise, block, books, sums, least, ruling)
            if arm == mv.DOUBT:
                return True
        if books[loop.T] == checkpoints[books[loop.NEXT]]:
            regrets(block, sums[mv.TURN], top, books[loop.T] - books[loop.DEFAULTS], losses)
            mv.note(books, sums, losses, arm, trace, marks)
    return False


@jittable
def _clear(gate: int, promise: mv.Promise, n: int, sums: IntRow, least: FloatRow) -> bool:
    """Whether a chunk of worst plays leaves the gate open, and the slack above zero and its least.

    The plain text decides every play exactly, so what counts is the true slack: it is at least the
    float's less ``error`` now, and falls by at most ``fall`` a play. Errors are taken eight times.
    """
    if n < CHUNK:  # before the first play there is no mean
        return False
    slack, error = mv.slack_near(promise, n, sums[mv.TOTAL], sums[mv.HIGH], sums[mv.LOW])
    width = (promise.high - promise.low) * promise.each
    fall = promise.asked - promise.rho * (promise.low * promise.each) + width * width
    fall = max(0.0, fall)
    worst = slack - CHUNK * fall * (1.0 + mv.EPS) - 8.0 * error
    if worst <= max(0.0, least[0] + least[1]):
        return False
    if gate == loop.UNGUARDED:
        return True
    if promise.check == mv.PAPER:
        return bool(worst > 2.0 + promise.asked)
    if promise.check == mv.VIABLE:  # at most n + CHUNK plays, the mean moved by width/n each
        mean = sums[mv.TOTAL] * promise.each / n
        off = abs(mean - promise.mu0) - promise.root + CHUNK * width / n
        off += 8.0 * mv.EPS * (abs(mean) + abs(promise.mu0) + promise.root + width)
        return bool(off <= 0.0 or worst > (n + CHUNK) * off * off * (1.0 + 8.0 * mv.EPS))
    return True


@jittable
def _take(
    promise: mv.Promise, chunk: IntRow, arms: IntRow, rewards: IntRow, books: IntRow, sums: IntRow
) -> int:
    """Make the plays of some turns of a chunk; the arm of the last one.

    It takes no block: a call that is not inlined copies every argument.
    """
    if len(arms) == CHUNK:
        total, rivals = chunk[GAINED], chunk[RIVALS]
        high, low = chunk[SQUARES_HIGH], chunk[SQUARES_LOW]
    else:
        total, rivals, _ = gained(rewards, arms)
        high, low = squares(rewards)
    square = promise.value * promise.value
    digit = sums[mv.LOW] + low + rivals * (square % mv.BASE)
    sums[mv.TOTAL] += total + rivals * promise.value
    sums[mv.HIGH] += high + rivals * (square // mv.BASE) + digit // mv.BASE
    sums[mv.LOW] = digit % mv.BASE
    books[loop.T] += len(arms)
    books[loop.DEFAULTS] += rivals
    sums[mv.TURN] += len(arms)
    return arms[len(arms) - 1]
