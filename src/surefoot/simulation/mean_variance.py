"""The loop of an agent with a mean-variance floor, which needs moments instead of one sum.

The exact comparison needs products of moments, which leave 64 bits after a few thousand plays. So
each comparison is made in floats whose error is bounded. Where the bound leaves it in doubt, the
loop stops, the floor's own account decides that one play in Python's integers, and the loop goes on
with that ruling. Every decision is thus the exact one.
"""

from __future__ import annotations

from typing import NamedTuple

from surefoot._jit import jittable
from surefoot.simulation import loop
from surefoot.simulation.loop import Block, FloatRow, IntRow, Ints, Trace

VIABLE, EXACT, PAPER = range(3)
CHECKS = {"viable": VIABLE, "exact": EXACT, "paper": PAPER}

BASE = 1 << 31
"""Sums of squares are kept as two digits of this base."""
WIDEST = 3_000_000_000
"""In units. The square of a reward that is no larger, 9e18, fits an int64, and 10**9 of their high
digits sum to 4.2e18, which does too."""
EPS = 1e-14
"""Every float below is made by at most a dozen roundings of 2**-53 of terms that its ``size``
adds up: an error of 1.4e-15 of it. This is seven times as much."""

# Columns of ``sums``: the moments of all rewards so far, and those at the least slack.
TURN, TOTAL, HIGH, LOW, LEAST_N, LEAST_TOTAL, LEAST_HIGH, LEAST_LOW = range(8)
# Columns of ``ruling``: whether there is one; if so, the exact answers for the next play.
GIVEN, OPENED, SHORT, LESS = range(4)
DOUBT = -2


class Promise(NamedTuple):
    """A mean-variance floor in floats; rewards are in units."""

    check: int
    unit: int
    """Units of 1."""
    value: int
    """mu0."""
    low: int
    high: int
    rho: float
    mu0: float
    asked: float
    """(1-alpha)*rho*mu0."""
    root: float
    """sqrt(alpha*rho*mu0)."""
    each: float
    """A unit: multiplying takes a fraction of the time of dividing."""


@jittable
def slack_near(promise: Promise, n: int, total: int, high: int, low: int) -> tuple[float, float]:
    """S_n and a bound on its error."""
    sum_ = total * promise.each
    squares = (float(high) * BASE + low) * promise.each * promise.each
    gained = promise.rho * sum_
    centred = sum_ * sum_ / n
    asked = promise.asked * n
    size = abs(gained) + squares + centred + abs(asked)
    return gained - squares + centred - asked, EPS * size


@jittable
def margin_near(
    promise: Promise, n: int, total: int, high: int, low: int, units: int
) -> tuple[float, float]:
    """What one more reward would leave above what the check asks, and a bound on its error."""
    square = units * units
    digit = low + square % BASE
    n += 1
    total += units
    margin, error = slack_near(promise, n, total, high + square // BASE, digit)
    if promise.check == VIABLE:
        mean = total * promise.each / n
        off = abs(mean - promise.mu0) - promise.root
        doubt = EPS * (abs(mean) + abs(promise.mu0) + promise.root)
        if off > 0.0:  # as in Constants.viable, with the root
            margin -= n * off * off
        # (off +- doubt)^2 = off^2 +- 2 off doubt + doubt^2; the rest is the product's own rounding.
        error += n * (abs(off) * (2.0 * doubt + EPS * abs(off)) + doubt * doubt)
    return margin, error


@jittable
def gate_near(promise: Promise, n: int, total: int, high: int, low: int) -> int:
    """1 where the gate is surely open, 0 where it is surely closed, -1 in doubt."""
    if promise.check == PAPER:
        if n == 0:
            return 0
        margin, error = slack_near(promise, n, total, high, low)
        margin -= 2.0 + promise.asked
        return sign_near(margin, error + EPS * (2.0 + promise.asked))
    worst = 1  # what is left is concave in the next reward, so one of the ends is its worst
    for units in (promise.low, promise.high):
        margin, error = margin_near(promise, n, total, high, low, units)
        side = sign_near(margin, error)
        if side == 0:
            return 0
        worst = min(worst, side)
    return worst


@jittable
def sign_near(margin: float, error: float) -> int:
    """1 where the margin is surely >= 0, 0 where it is surely < 0, -1 in doubt."""
    if margin > error:
        return 1
    return 0 if margin < -error else -1


def interleave_moments(
    gate: int, promise: Promise, block: Block, top: float, books: IntRow, sums: IntRow,
    least: FloatRow, ruling: IntRow, losses: FloatRow, checkpoints: IntRow, trace: Trace,
    marks: Ints,
) -> bool:  # fmt: skip
    """Take the block's turns under a mean-variance gate; True where a play is in doubt.

    As ``loop.interleave``, with moments in ``sums`` for a slack. ``least``: the least slack so
    far in floats, and the bound on its error. After play checkpoints[i] ``sums`` become row i of
    ``marks``. Nothing of a play in doubt has happened yet.
    """
    while sums[TURN] < len(block.arms) and books[loop.T] < checkpoints[-1]:
        j = sums[TURN]
        arm = step(gate, promise, block, books, sums, least, ruling)
        if arm == DOUBT:
            return True
        if arm >= 0:
            loop.lose(losses, top, block.means[j], block.variances[j])
        if books[loop.T] == checkpoints[books[loop.NEXT]]:
            note(books, sums, losses, arm, trace, marks)
    return False


@jittable
def step(
    gate: int, promise: Promise, block: Block, books: IntRow, sums: IntRow, least: FloatRow,
    ruling: IntRow,
) -> int:  # fmt: skip
    """Make one play, and return its arm: -1 for the default, DOUBT where it was not made."""
    j, t, k = sums[TURN], books[loop.T], block.arms[sums[TURN]]
    ruled = ruling[GIVEN] == 1
    if ruled or gate == loop.UNGUARDED:
        opened = ruling[OPENED] if ruled else 1
    else:
        opened = gate_near(promise, t, sums[TOTAL], sums[HIGH], sums[LOW])
        if opened < 0:
            return DOUBT
    explores = opened == 1 and k >= 0
    units = block.rewards[j] if explores else promise.value
    square = units * units
    digit = sums[LOW] + square % BASE  # below 2 * BASE: the carry is 0 or 1
    total = sums[TOTAL] + units
    high, low = sums[HIGH] + square // BASE + digit // BASE, digit % BASE
    slack, error = slack_near(promise, t + 1, total, high, low)
    if ruled:
        short, less = ruling[SHORT], ruling[LESS]
        ruling[GIVEN] = 0
    else:
        short = 1 - sign_near(slack, error)  # 0 no, 1 yes, 2 in doubt
        less = 1 - sign_near(slack - least[0], error + least[1])
        if short == 2 or less == 2:
            return DOUBT
    sums[TOTAL], sums[HIGH], sums[LOW] = total, high, low
    books[loop.T] = t + 1
    if less == 1:
        least[0], least[1] = slack, error
        sums[LEAST_N], sums[LEAST_TOTAL] = t + 1, total
        sums[LEAST_HIGH], sums[LEAST_LOW] = high, low
    books[loop.BELOW] += short
    if not explores:
        books[loop.DEFAULTS] += 1
    if opened == 1:
        sums[TURN] = j + 1
    return int(k) if explores else -1


@jittable
def note(
    books: IntRow, sums: IntRow, losses: FloatRow, arm: int, trace: Trace, marks: Ints
) -> None:
    """Write down a checkpoint: the next row of ``trace`` and of ``marks``."""
    spot = books[loop.NEXT]
    row = trace.books[spot]
    for column in (loop.T, loop.DEFAULTS, loop.BELOW):
        row[column] = books[column]
    row[loop.NEXT], row[loop.ARM] = spot, arm
    for i in range(len(losses)):
        trace.losses[spot][i] = losses[i]
    for i in range(len(sums)):
        marks[spot][i] = sums[i]
    books[loop.NEXT] = spot + 1
