"""The fast calendar of a reward floor: whole spans of turns are taken, or default plays, at once.

As ``path.interleave``, decision by decision. ``survey`` sums up each span of a block once, for all
agents. No regular play can cost more than ``hold``; so, where the account could pay for a span of
worst plays, its gate is open throughout, and neither the least slack nor a play below zero can hide
in it. And while the gate stays closed the slack only grows, by one deposit a play, so when it opens
is a division. Everything the books hold is an integer: taken together or one by one, it is equal.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefoot._jit import jittable
from surefoot.simulation.path import ACCOUNT, PLEDGE, Block, lose
from surefoot.simulation.trace import (
    ARM,
    BELOW,
    DEFAULTS,
    GAP,
    LEAST,
    MEAN,
    NEXT,
    SLACK,
    SQUARE,
    SUMS,
    VARIANCE,
    T,
)

SPAN = 64
# Columns of ``Block.spans``: the rewards of its regular turns; how many turns the default won; the
# least pledge of the others; the digits of the sum of squares (``moments.BASE``).
GAINED, RIVALS, PLEDGED, SQUARES_HIGH, SQUARES_LOW = range(5)
_NONE = 1 << 61
"""More than any pledge."""


class Spans(NamedTuple):
    """What is known of the spans of a block."""

    totals: Any
    """One row a span."""
    before: Any
    """The sums of ``trace.losses`` before each span, and after all; gaps are to ``best``."""
    truth: Any
    """The true means and variances of the (base) arms."""
    best: float
    """The true mean of the best regular action."""
    single: bool
    """Whether a turn plays one arm: then the truth is looked up by ``Block.arms``."""


def blank(turns: int, truth: Any, best: float, single: bool) -> Spans:
    """The spans of a block before any turn."""
    count = -(-turns // SPAN)
    totals, before = np.zeros((count, 5), np.int64), np.zeros((count + 1, SUMS))
    return Spans(totals, before, truth, best, single)


def survey(block: Block, pledged: bool, moments: bool) -> None:
    """Sum up every span of a block.

    ``pledged``: some agent's gate asks for pledges; ``moments``: some floor asks for squares.
    """
    spans, before = block.spans.totals, block.spans.before
    last = len(spans)
    for i in range(SUMS):
        before[0, i] = before[last, i]  # of the block that was here before
    for c in range(last):
        start = c * SPAN
        end = min(start + SPAN, len(block.arms))
        rewards, arms = block.rewards[start:end], block.arms[start:end]
        spans[c, GAINED], spans[c, RIVALS], changes = gained(rewards, arms)
        if pledged:
            spans[c, PLEDGED] = _least(block, start, end)
        if moments:
            spans[c, SQUARES_HIGH], spans[c, SQUARES_LOW] = squares(rewards)
        for i in range(SUMS):
            before[c + 1, i] = before[c, i]
        _lose(block, start, end, changes == 0, before[c + 1])


@jittable
def gained(rewards: Any, arms: Any) -> tuple[int, int, int]:
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
def squares(rewards: Any) -> tuple[int, int]:
    """The digits of their sum of squares."""
    high = low = 0
    for i in range(len(rewards)):
        square = rewards[i] * rewards[i]
        high += square >> 31
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
def _lose(block: Block, start: int, end: int, same: bool, losses: Any) -> None:
    """Add turns start..end-1 to ``losses``.

    ``same``: one arm was played throughout; an optimist seldom changes its mind.
    """
    best = block.spans.best
    if not block.spans.single:
        for j in range(start, end):
            if block.arms[j] >= 0:
                lose(losses, best, block.means[j], block.variances[j])
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
def _lose_run(block: Block, k: Any, n: int, losses: Any) -> None:
    """Add n turns of one arm to ``losses``; those the default wins lose nothing."""
    if k >= 0:
        means, variances = block.spans.truth
        losses[GAP] += n * (block.spans.best - means[k])
        losses[MEAN] += n * means[k]
        losses[SQUARE] += n * (means[k] * means[k])
        losses[VARIANCE] += n * variances[k]


def interleave_spans(
    gate: int, terms: Any, block: Block, top: float, books: Any, losses: Any, checkpoints: Any,
    trace: Any,
) -> None:  # fmt: skip
    """As ``path.interleave``."""
    _, floor, _, deposit = terms
    spans = block.spans.totals
    t, defaults, slack = books[T], books[DEFAULTS], books[SLACK]
    least, below, spot = books[LEAST], books[BELOW], books[NEXT]
    size = len(block.arms)
    last = checkpoints[-1]
    j = 0
    while j < size and t < last:
        due, arm = checkpoints[spot] - t, -1
        if (
            j % SPAN == 0 and j + SPAN <= size and due >= SPAN
            and _opened(gate, spans[j // SPAN], t, defaults, slack, terms)
        ):  # fmt: skip
            slack, least, below = _through(block, j, terms, slack, least, below)
            defaults += spans[j // SPAN, RIVALS]
            t, j = t + SPAN, j + SPAN
            arm = block.arms[j - 1]
        else:
            k = block.arms[j]
            wait = _closed_for(gate, k, block.pledges[j], t, defaults, slack, terms, last - t)
            if wait > 0:
                wait = min(wait, due)
                least = min(least, slack + deposit)
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
    books[T], books[DEFAULTS], books[SLACK] = t, defaults, slack
    books[LEAST], books[BELOW], books[NEXT] = least, below, spot


@jittable
def _opened(gate: int, span: Any, t: Any, defaults: Any, slack: Any, terms: Any) -> bool:
    """Whether the gate is surely open at every turn of a span."""
    value, floor, hold, _ = terms
    if gate == ACCOUNT:
        return bool(slack >= SPAN * hold)
    if gate == PLEDGE:
        return bool(span[PLEDGED] >= floor * (t + SPAN) - defaults * value)
    return True


@jittable
def _through(
    block: Block, j: Any, terms: Any, slack: Any, least: Any, below: Any
) -> tuple[Any, Any, Any]:
    """Take all turns of the span from turn j on: the slack, its least value, the plays below 0."""
    _, floor, hold, deposit = terms
    if slack >= 0 and slack - max(least, 0) >= SPAN * hold:  # in this order within 64 bits
        span = block.spans.totals[j // SPAN]
        slack += span[GAINED] + span[RIVALS] * deposit - (SPAN - span[RIVALS]) * floor
        return slack, least, below
    for i in range(j, j + SPAN):
        slack += deposit if block.arms[i] < 0 else block.rewards[i] - floor
        least = min(least, slack)
        below += 1 if slack < 0 else 0
    return slack, least, below


@jittable
def _closed_for(
    gate: int, k: Any, pledged: Any, t: Any, defaults: Any, slack: Any, terms: Any, most: Any
) -> Any:
    """How many default plays the gate asks for before the next turn, at most ``most``."""
    value, floor, hold, deposit = terms
    if gate == ACCOUNT:
        short, each = hold - slack, deposit
    elif gate == PLEDGE and k >= 0:
        short, each = floor * (t + 1) - pledged - defaults * value, value - floor
    else:
        return 0
    if short <= 0:
        return 0
    return most if each <= 0 else min(most, (short + each - 1) // each)


@jittable
def _short(slack: Any, deposit: Any, plays: Any) -> Any:
    """After how many of these default plays the slack is below zero."""
    if slack >= 0:
        return 0
    return plays if deposit <= 0 else min(plays, (-slack - 1) // deposit)


@jittable
def _note(block: Block, j: int, top: float, trace: Any, spot: int, books: Any, arm: Any) -> None:
    """Write down a checkpoint, after j turns of the block."""
    t, defaults, slack, least, below = books
    row = trace.books[spot]
    row[T], row[DEFAULTS], row[SLACK], row[LEAST] = t, defaults, slack, least
    row[BELOW], row[NEXT], row[ARM] = below, spot, arm
    regrets(block, j, top, t - defaults, trace.losses[spot])


@jittable
def regrets(block: Block, j: int, top: float, regular: Any, row: Any) -> None:
    """The sums that regrets are made of, after j turns of the block; ``regular`` were no default.

    ``top`` is mu_*, which may be the default's value and above the best action's.
    """
    c = j // SPAN
    for i in range(SUMS):
        row[i] = block.spans.before[c, i]
    if c * SPAN < j:
        _lose(block, c * SPAN, j, False, row)
    row[GAP] += regular * (top - block.spans.best)
