"""What an agent brings over its holdout, with an interval for the running mean at every moment.

At play i, H_i = 1 with probability h puts it into the holdout, c_i is the default's known value and

    Z_i = (Y_i - c_i) (1 - H_i)/(1 - h) - (Y_i - c_i) H_i/h,   E[Z_i | before] = m_i - d_i

m_i, d_i: what the agent and the default pay on average at play i. Of a play at which the agent
would have played the default for sure, Z_i = 0 is known. Both means may change with all that was
before: a policy learns. With |Z_i| <= B = (r_max - r_min)/min(h, 1 - h) and x_i = Z_i/B

    exp(l x_i - psi(l) x_i^2) <= 1 + l x_i,   psi(l) = -ln(1 - l) - l,   0 <= l < 1, x_i >= -1

(Fan, Grama, Liu 2015), whose mean is at most exp(l (m_i - d_i)/B). So

    M_n = sum_k w_k exp(l_k sum_i (Z_i - m_i + d_i)/B - psi(l_k) sum_i Z_i^2/B^2)

is a nonnegative supermartingale from 1, and P(any M_n >= 2/delta) <= delta/2 (Ville 1939). Solved
for the sum of m_i - d_i that gives the lower end, the same of -Z_i the upper. Empirical Bernstein
intervals of running means: Howard, Ramdas, McAuliffe, Sekhon 2021 (arXiv 1810.08240), Theorem 4;
the mixture over l_k = 2^-k is ours, and so is that l_k <= 1/2: then each factor rises with Z_i on
all of -B..B, so a reward that never came may count at its worst whatever made it so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot._types import JsonObject
from surefoot.agents.play import Play, Reason

if TYPE_CHECKING:
    from surefoot.agents.agent import Agent

RATES = [2.0**-k for k in range(1, 13)]
"""l_k."""
PSI = [-math.log1p(-rate) - rate for rate in RATES]
AGENT, HELD_OUT, SURE = range(3)
"""Whose play it is; SURE: the default's, whatever the draw."""
Row = tuple[int, int, int, int | None]
"""A closed play: its id, whose it is, c_i, and what it paid; None: that never came."""


class Uplift(NamedTuple):
    """What the agent brought over its holdout, see ``Agent.uplift``; amounts are per play."""

    plays: int
    """The plays that count: all up to the first that is still open."""
    held_out: int
    """How many of them were held out."""
    sure: int
    """How many of them were default plays whatever the draw, at which nothing was gained."""
    lost: int
    """How many rewards never came, and count at their worst."""
    mean: float
    """The estimate, by inverse propensities, brought within low..high; 0 before the first play."""
    low: float
    """The interval that holds the mean uplift of these plays, at every moment."""
    high: float


class _End:
    """The sums that one end of the interval is made of, in units."""

    __slots__ = ("sums",)

    def __init__(self, sums: Iterable[int] = (0, 0, 0, 0)) -> None:
        self.sums = list(sums)
        """Of the agent's plays Y - c and its square, then the same of the holdout."""

    def take(self, side: int, off: int) -> None:
        self.sums[2 * side] += off
        self.sums[2 * side + 1] += off * off

    def total(self, share: Fraction) -> Fraction:
        """The sum of the Z_i."""
        return self.sums[0] / (1 - share) - self.sums[2] / share

    def squares(self, share: Fraction) -> Fraction:
        """The sum of their squares."""
        return self.sums[1] / (1 - share) ** 2 + self.sums[3] / share**2


class Gain:
    """The books of an agent's uplift; a few integers, and the plays behind an open one.

    Source: the module's docstring.
    """

    def __init__(self, low: int, high: int, since: int = 0) -> None:
        self.low, self.high = low, high
        self.passed = since
        """The first play that has not been taken in."""
        self.plays = self.held_out = self.sure = self.lost = 0
        self.ends = _End(), _End()
        """For the lower end of the interval, and for the upper."""
        self.behind: list[Row] = []

    def row(self, play: Play, paid: int | None) -> Row:
        """What counts of a closed play."""
        side = HELD_OUT if play.reason is Reason.HOLDOUT else AGENT
        if play.index < 0 and play.propensity == 1.0:
            side = SURE
        worth = None if play.binding is None else play.binding.worth
        return play.id, side, play.terms.value if worth is None else worth, paid

    def take(self, rows: Iterable[Row], waiting: Sequence[Play], most: int) -> None:
        """Take in closed plays in the order of the decisions, up to the first that is open.

        ``waiting``: the open ones, in their order; ``most``: how many closed ones may wait for one.
        """
        found = [*self.behind, *(row for row in rows if row[0] >= self.passed)]
        found.sort(key=itemgetter(0))
        if len(found) > most:  # what is open for so long counts as lost
            bound = found[-most][0]
            found += [self.row(play, None) for play in waiting if self.passed <= play.id < bound]
            found.sort(key=itemgetter(0))
            waiting = [play for play in waiting if play.id >= bound]
        first = min((play.id for play in waiting if play.id >= self.passed), default=math.inf)
        self.behind = []
        for row in found:
            if row[0] >= first:
                self.behind.append(row)
            else:
                self._feed(*row)

    def _feed(self, number: int, side: int, base: int, paid: int | None) -> None:
        self.passed = number + 1
        self.plays += 1
        self.held_out += side == HELD_OUT
        if side == SURE:
            self.sure += 1
            return
        low, high = self.low, self.high
        base = min(max(base, low), high)
        if paid is None:
            self.lost += 1
            worst, best = (low, high) if side == AGENT else (high, low)
        else:
            worst = best = min(max(paid, low), high)
        self.ends[0].take(side, worst - base)
        self.ends[1].take(side, best - base)

    def result(self, holdout: float, unit: Fraction, delta: Fraction) -> Uplift:
        """The uplift so far; ``unit``: what one unit of the books is worth."""
        share, n = Fraction(holdout), self.plays
        width = self.high - self.low
        reach = width / min(share, 1 - share)
        counts = self.plays, self.held_out, self.sure, self.lost
        if not n:
            return Uplift(*counts, 0.0, float(-width * unit), float(width * unit))
        totals = [end.total(share) for end in self.ends]
        far = [
            Fraction(boundary(float(end.squares(share) / reach**2), delta / 2)) for end in self.ends
        ]
        most = Fraction(width * n)
        low = min(max(totals[0] - far[0] * reach, -most), most)
        high = max(min(totals[1] + far[1] * reach, most), -most)
        middle = min(max(sum(totals) / 2, low), high)  # few plays of one side weigh much
        return Uplift(*counts, *(float(total * unit / n) for total in (middle, low, high)))

    def state(self) -> JsonObject:
        """JSON-able state."""
        return {
            "range": [self.low, self.high, self.passed],
            "counts": [self.plays, self.held_out, self.sure, self.lost],
            "ends": [end.sums for end in self.ends],
            "behind": [list(row) for row in self.behind],
        }

    @classmethod
    def restored(cls, state: JsonObject) -> Gain:
        """The inverse of ``state``."""
        gain = cls(*state["range"])
        gain.plays, gain.held_out, gain.sure, gain.lost = state["counts"]
        below, above = state["ends"]
        gain.ends = _End(below), _End(above)
        gain.behind = [(number, side, base, paid) for number, side, base, paid in state["behind"]]
        return gain


def boundary(squares: float, delta: float | Fraction) -> float:
    """The least S/B at which M_n reaches 1/delta; ``squares``: the sum of the Z_i^2, by B^2.

    >>> round(boundary(100, 0.025), 1)
    39.1
    """
    over, under = delta.as_integer_ratio()  # as a float it may be 0
    asked = math.log(len(RATES) * under) - math.log(over)
    pairs = list(zip(RATES, PSI, strict=True))
    found = min((asked + psi * squares) / rate for rate, psi in pairs)  # one k alone reaches it
    for _ in range(50):  # Newton's steps from above stay above, as ln M is convex
        logs = [rate * found - psi * squares for rate, psi in pairs]
        top = max(logs)
        parts = [math.exp(one - top) for one in logs]
        whole = math.fsum(parts)
        slope = math.fsum(rate * part for (rate, _), part in zip(pairs, parts, strict=True)) / whole
        step = (top + math.log(whole) - asked) / slope
        if step <= 1e-12 * found:
            break
        found -= step
    return found


def waiting(agent: Agent, lost: set[int]) -> list[Play]:
    """The plays of an agent that are open, in the order of the decisions."""
    given: Any = agent.open_plays
    return [play for number, (play, _) in given.items() if number not in lost]
