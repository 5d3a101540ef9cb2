"""The fast calendar of a mean-variance floor: whole spans of turns are taken at once.

As ``moments.interleave_moments``, decision by decision. One more reward r changes the slack S by
rho*r - n/(n+1) (r - mean)^2 - (1-alpha)*rho*mu0, so none takes more than

    fall = (1-alpha)*rho*mu0 - rho*r_min + (r_max - r_min)^2

and the mean moves by less than (r_max - r_min)/n. Where S is so far up that a whole span of such
falls would neither close the gate nor reach zero or the least slack so far, the sums of the span,
or of what is left of it up to a checkpoint, are added; else one play is made, as in the plain text.
"""

from __future__ import annotations

from typing import Any

from surefoot._jit import jittable
from surefoot.simulation.moments import (
    BASE,
    DOUBT,
    EPS,
    GIVEN,
    HIGH,
    LOW,
    PAPER,
    TOTAL,
    TURN,
    VIABLE,
    Promise,
    note,
    slack_near,
    step,
)  # fmt: skip
from surefoot.simulation.path import UNGUARDED, Block
from surefoot.simulation.spans import (
    GAINED,
    RIVALS,
    SPAN,
    SQUARES_HIGH,
    SQUARES_LOW,
    gained,
    regrets,
    squares,
)
from surefoot.simulation.trace import DEFAULTS, NEXT, T


def interleave_moment_spans(
    gate: int, promise: Promise, block: Block, top: float, books: Any, sums: Any, least: Any,
    ruling: Any, losses: Any, checkpoints: Any, trace: Any, marks: Any,
) -> bool:  # fmt: skip
    """As ``moments.interleave_moments``."""
    size, totals = len(block.arms), block.spans.totals
    while sums[TURN] < size and books[T] < checkpoints[-1]:
        j = sums[TURN]
        if ruling[GIVEN] == 0 and _clear(gate, promise, books[T], sums, least):
            due = checkpoints[books[NEXT]] - books[T]
            end = min(j - j % SPAN + SPAN, j + due, size)
            arms, rewards, span = block.arms[j:end], block.rewards[j:end], totals[j // SPAN]
            arm = int(_take(promise, span, arms, rewards, books, sums))
        else:
            arm = step(gate, promise, block, books, sums, least, ruling)
            if arm == DOUBT:
                return True
        if books[T] == checkpoints[books[NEXT]]:
            regrets(block, sums[TURN], top, books[T] - books[DEFAULTS], losses)
            note(books, sums, losses, arm, trace, marks)
    return False


@jittable
def _clear(gate: int, promise: Promise, n: Any, sums: Any, least: Any) -> bool:
    """Whether a span of worst plays leaves the gate open, and the slack above zero and its least.

    All errors are taken several times over.
    """
    if n < SPAN:
        return False
    slack, error = slack_near(promise, n, sums[TOTAL], sums[HIGH], sums[LOW])
    width = (promise.high - promise.low) * promise.each
    fall = promise.asked - promise.rho * (promise.low * promise.each) + width * width
    fall = max(0.0, fall)
    worst = slack - SPAN * fall * (1.0 + EPS) - 8.0 * error
    if worst <= max(0.0, least[0] + least[1]):
        return False
    if gate == UNGUARDED:
        return True
    if promise.check == PAPER:
        return bool(worst > 2.0 + promise.asked)
    if promise.check == VIABLE:
        mean = sums[TOTAL] * promise.each / n
        off = abs(mean - promise.mu0) - promise.root + SPAN * width / n
        off += 8.0 * EPS * (abs(mean) + abs(promise.mu0) + promise.root + width)
        return bool(off <= 0.0 or worst > (n + SPAN) * off * off * (1.0 + 8.0 * EPS))
    return True


@jittable
def _take(promise: Promise, span: Any, arms: Any, rewards: Any, books: Any, sums: Any) -> Any:
    """Make the plays of some turns of a span; the arm of the last one.

    Not told the block: a call that is not inlined copies all that it is told.
    """
    if len(arms) == SPAN:
        total, rivals = span[GAINED], span[RIVALS]
        high, low = span[SQUARES_HIGH], span[SQUARES_LOW]
    else:
        total, rivals, _ = gained(rewards, arms)
        high, low = squares(rewards)
    square = promise.value * promise.value
    digit = sums[LOW] + low + rivals * (square % BASE)
    sums[TOTAL] += total + rivals * promise.value
    sums[HIGH] += high + rivals * (square // BASE) + digit // BASE
    sums[LOW] = digit % BASE
    books[T] += len(arms)
    books[DEFAULTS] += rivals
    sums[TURN] += len(arms)
    return arms[len(arms) - 1]
