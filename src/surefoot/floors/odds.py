"""The odds sequence: what is sure of a constant mean at every moment, from bounded rewards.

    W_n(U) = 1/K sum_k prod_{i<=n} (D + t_k (r_max - X_i)) / (D + t_k (r_max - U))^n

D = r_max - r_min, t_k = 2^k for k = -8..8, K = 17. U is *refuted* once W_n(U) >= 1/delta; the test
from below is the mirror image. Each factor has mean 1 where U is the mean, so W is a nonnegative
martingale there and the chance that the mean is ever refuted is at most delta (Ville 1939). A bet
on a bounded mean as in Waudby-Smith, Ramdas (arXiv 2010.09686); bets by odds, so that data and
candidate come apart and no grid of candidates is kept, are ours. W rises in U and falls in each
X_i: all points above a refuted one are refuted, and a reward that never came may count as r_max.

Everything is whole numbers: a product is m*2^e with an m of 64 bits, rounded down, the power of a
candidate is rounded up, and so W is never overstated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

ODDS = range(17)
"""k + 8: the factors are taken 2^8 times as large, so that they are whole."""
K = len(ODDS)
_BITS = 64
_ONE = 8
CHUNK = 64
"""So many factors of at most 2 * 257 stay below 2^1024 as floats, and so many of their products,
each cut to [1/2, 1), above 2^-1022."""
WHOLE = 1 << 128
"""The 1 of ``Restarts``: what it keeps are whole numbers of 2^-128."""
_ENOUGH = 10**100 * K * WHOLE
"""Once the bets have come to this, no more is bet: their digits would grow with every value."""
RARE = 8
"""How often a value may come and still be multiplied one by one."""
_SURE = 1 - 2.0**-38
"""Less than what is left after rounding: 64 * 64 factors of at most 5 roundings each."""

Scaled = tuple[int, int]
"""m, e: the number m*2^e, with an m of 64 bits at most."""


def due(n: int) -> bool:
    """Whether to look after n values: at each of the first 64, then 64 times per doubling.

    Looking at fewer times is valid too, and each look costs milliseconds.

    >>> [n for n in (1, 64, 127, 128, 129, 130, 1000, 1008) if due(n)]
    [1, 64, 127, 128, 130, 1000, 1008]
    """
    return n > 0 and n % (1 << max(0, n.bit_length() - 7)) == 0


class Odds:
    """One side of the sequence, of values y = r_max - X, 0 <= y <= D; n and K numbers.

    ``width``: D, in whole units. What refutes a candidate is that the y are too *large* for it;
    for the test from below y = X - r_min.

    >>> side = Odds(10)
    >>> side.take_many([5] * 40)
    >>> side.edge(Fraction(1, 20)), side.refutes(2, Fraction(1, 20))
    (4, True)
    """

    __slots__ = ("n", "products", "width")

    def __init__(self, width: int, n: int = 0, products: Iterable[Iterable[int]] = ()) -> None:
        self.width, self.n = width, n
        self.products: list[Any] = [(m, e) for m, e in products] or [(1, 0)] * K

    def take(self, y: int) -> None:
        """One value more."""
        unit, self.n = self.width << _ONE, self.n + 1
        self.products = [
            _down(m * (unit + (y << k)), e) for k, (m, e) in zip(ODDS, self.products, strict=True)
        ]

    def take_many(self, values: Iterable[int]) -> None:
        """Many values, in a tenth to a hundredth of the time.

        Products of floats, shrunk by more than their rounding: 2^-38 for each 4,096 values.
        """
        import numpy as np

        ys = np.asarray(list(values), dtype=np.float64)
        if not len(ys):
            return
        shift = (self.width << _ONE).bit_length() - 1
        unit = float(self.width << _ONE) / 2.0**shift  # in [1, 2)
        odds = 2.0 ** np.arange(K)[:, None]
        for first in range(0, len(ys), CHUNK * CHUNK):
            some = ys[first : first + CHUNK * CHUNK]
            factors = unit + odds * (some / 2.0**shift)
            starts = range(0, len(some), CHUNK)
            parts, powers = np.frexp(np.multiply.reduceat(factors, starts, axis=1))
            found, more = np.frexp(np.multiply.reduce(parts, axis=1) * _SURE)
            whole = (found * 2.0**53).astype(np.int64).tolist()
            up = (powers.sum(axis=1) + more).tolist()
            self.n += len(some)
            self.products = [
                _down(m * part, e + power - 53 + shift * len(some))
                for (m, e), part, power in zip(self.products, whole, up, strict=True)
            ]

    def take_counts(self, counts: Iterable[tuple[int, int]]) -> None:
        """Values with how often each came: a rare one as a float, the others by their power."""
        pairs = list(counts)
        self.take_many(y for y, count in pairs for _ in range(count) if count <= RARE)
        unit = self.width << _ONE
        for y, count in pairs:
            if count > RARE:
                self.n += count
                for k, (m, e) in zip(ODDS, list(self.products), strict=True):
                    of, by = _power(unit + (y << k), count, _down)
                    self.products[k] = _down(m * of, e + by)

    def refutes(self, y: int, delta: Fraction) -> bool:
        """Whether W_n at the candidate y is at least 1/delta; never yes where the exact W is not.

        ``delta``: 0 < delta < 1.
        """
        unit, total = self.width << _ONE, 0
        for k, (m, e) in zip(ODDS, self.products, strict=True):
            over, by = _power(unit + (y << k), self.n, _up)
            quotient, up = (m << _BITS) // over, e - by  # 2^64 times the quotient of m and over
            if up > 2 * _BITS + delta.denominator.bit_length():
                return True
            total += quotient << up if up >= 0 else quotient >> -up
        return total * delta.numerator >= (K * delta.denominator) << _BITS

    def edge(self, delta: Fraction, step: int = 1, offset: int = 0) -> int | None:
        """The largest refuted y among offset, offset + step, ... up to D; None if there is none.

        Found by floats, then certified: it is refuted, the next one is not.
        """
        last = (self.width - offset) // step
        at = self._guess(delta, step, offset, last)
        by = 1
        while at >= 0 and not self.refutes(offset + at * step, delta):
            at, by = at - by, 2 * by
        at = max(at, -1)
        by = 1
        while at < last and self.refutes(offset + (at + 1) * step, delta):
            by = min(2 * by, last - at)
            while not self.refutes(offset + (at + by) * step, delta):
                by //= 2
            at += by
        return None if at < 0 else offset + at * step

    def _guess(self, delta: Fraction, step: int, offset: int, last: int) -> int:
        """The place of the edge, by floats: at most a few places off; -1: none is refuted."""
        unit = self.width << _ONE
        logs = [math.log2(m) + e for m, e in self.products]
        over, under = delta.as_integer_ratio()  # as a float it may be 0
        asked = math.log2(K) + math.log2(under) - math.log2(over)

        def refuted(place: int) -> bool:
            y = offset + place * step
            terms = [
                one - self.n * math.log2(unit + (y << k)) for k, one in zip(ODDS, logs, strict=True)
            ]
            top = max(terms)
            whole = math.fsum(2.0 ** (one - top) for one in terms)
            return bool(top + math.log2(whole) >= asked)

        low, high = -1, last + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if refuted(middle) else (low, middle)
        return low

    def copied(self) -> Odds:
        """A copy that can be taken further by itself."""
        return Odds(self.width, self.n, self.products)


class Restarts:
    """The same bets against a value declared for each X, begun anew at every one of them.

        W_n = 1/(n+1) + 1/K sum over k, s <= n of 1/(s (s+1)) prod_{i=s..n} F_k,i
        F_k,i = (D + t_k (r_max - X_i)) / (D + t_k (r_max - v_i))

    A factor has a mean of at most 1 where v_i is worth no more than X_i is on average, given all
    that was known before it; then W is a nonnegative supermartingale, and the chance that it ever
    reaches 1/delta is at most delta. To begin anew is from the e-detectors of Shin, Ramdas and
    Rinaldo 2024; the weights, which sum to 1 so that Ville still applies, are ours. They find a
    mean that falls later, at the price of 2 ln s in the evidence. K whole numbers, rounded down.

    >>> side = Restarts()
    >>> for _ in range(40):
    ...     side.take(y=5, declared=3, width=10)
    >>> side.n, side.wealth > 100 * WHOLE
    (40, True)
    """

    __slots__ = ("bets", "n")

    def __init__(self) -> None:
        self.n, self.bets = 0, [0] * K

    def take(self, y: int, declared: int, width: int) -> None:
        """The next value y = r_max - X, what was declared for it, and D, in one unit of any size.

        0 <= y, declared <= width.
        """
        unit, self.n = width << _ONE, self.n + 1
        if sum(self.bets) >= _ENOUGH:
            return
        joins = WHOLE // (self.n * (self.n + 1))
        self.bets = [
            (bet + joins) * (unit + (y << k)) // (unit + (declared << k))
            for k, bet in zip(ODDS, self.bets, strict=True)
        ]

    @property
    def wealth(self) -> int:
        """W_n * 2^128, never overstated; it grows no more once W has been 10^100."""
        return sum(self.bets) // K + WHOLE // (self.n + 1)


class Sequence:
    """Both sides: an interval that holds a constant mean at every moment.

    ``low``, ``high``: r_min and r_max, in whole units. State is n and 2K numbers, however many
    rewards there were.

    >>> coins = Sequence(0, 100)
    >>> coins.take_many([100, 0] * 500)
    >>> coins.ends(Fraction(1, 40), Fraction(1, 40))
    (44, 56)

    Holds when: given all that was known when play i was decided, and every earlier reward, told
    or not, reward i has the same mean mu0; then P(mu0 is ever left out) <= the sum of the deltas,
    however the moments to look are chosen. So rewards are taken in the order of the decisions, one
    that never came by ``lose``. Does not hold when: the mean drifts, contexts pick the plays, or
    rewards are taken as they arrive.
    """

    __slots__ = ("above", "below", "high", "low")

    def __init__(self, low: int, high: int) -> None:
        self.low, self.high = low, high
        self.above, self.below = Odds(high - low), Odds(high - low)

    @property
    def n(self) -> int:
        """How many values were taken."""
        return self.above.n

    def take(self, x: int) -> None:
        """One reward; one outside the range counts as its nearer end."""
        x = min(max(x, self.low), self.high)
        self.above.take(self.high - x)
        self.below.take(x - self.low)

    def lose(self) -> None:
        """One reward that never came: r_max to the test from above, r_min to that from below."""
        self.above.take(0)
        self.below.take(0)

    def take_many(self, rewards: Iterable[int | None]) -> None:
        """As ``take`` and, for None, ``lose``: many at once."""
        low, high = self.low, self.high
        inside = [None if x is None else min(max(x, low), high) for x in rewards]
        self.above.take_many(0 if x is None else high - x for x in inside)
        self.below.take_many(0 if x is None else x - low for x in inside)

    def take_counts(self, counts: Mapping[int | None, int]) -> None:
        """As ``take_many``, of rewards with how often each came; their order does not matter."""
        low, high = self.low, self.high
        inside = [
            (None if x is None else min(max(x, low), high), count) for x, count in counts.items()
        ]
        self.above.take_counts((0 if x is None else high - x, count) for x, count in inside)
        self.below.take_counts((0 if x is None else x - low, count) for x, count in inside)

    def upper(self, delta: Fraction, step: int = 1) -> int:
        """The least refuted multiple of ``step``; r_max if none within the range is."""
        y = self.above.edge(delta, step, self.high % step)
        return self.high if y is None else self.high - y

    def lower(self, delta: Fraction, step: int = 1) -> int:
        """The greatest refuted multiple of ``step``; r_min if none within the range is."""
        y = self.below.edge(delta, step, -self.low % step)
        return self.low if y is None else self.low + y

    def ends(self, below: Fraction, above: Fraction, step: int = 1) -> tuple[int, int]:
        """Both ends, each with its own delta."""
        return self.lower(below, step), self.upper(above, step)

    def copied(self) -> Sequence:
        """A copy that can be taken further by itself."""
        fresh = Sequence(self.low, self.high)
        fresh.above, fresh.below = self.above.copied(), self.below.copied()
        return fresh

    def state(self) -> list[Any]:
        """JSON-able state."""
        products = [[list(pair) for pair in side.products] for side in (self.above, self.below)]
        return [self.low, self.high, self.n, *products]

    @classmethod
    def restored(cls, state: list[Any]) -> Sequence:
        """The inverse of ``state``; ValueError for what is none."""
        low, high, n, *sides = state
        flat = [number for side in sides for pair in side for number in pair]
        if {type(x) for x in (low, high, n, *flat)} != {int} or not (low < high and n >= 0):
            raise ValueError(f"the sequence of {n} rewards in {low}..{high} is not one of integers")
        if any(len(side) != K or any(m <= 0 for m, _ in side) for side in sides):
            raise ValueError(f"the sequence of {n} rewards does not have {K} products above 0")
        fresh = cls(low, high)
        fresh.above, fresh.below = (Odds(high - low, n, side) for side in sides)
        return fresh


def _down(m: int, e: int) -> Scaled:
    """m*2^e rounded down to 64 bits."""
    over = m.bit_length() - _BITS
    return (m >> over, e + over) if over > 0 else (m, e)


def _up(m: int, e: int) -> Scaled:
    """m*2^e rounded up to 64 bits."""
    over = m.bit_length() - _BITS
    return (-(-m >> over), e + over) if over > 0 else (m, e)


def _power(base: int, n: int, cut: Callable[[int, int], Scaled]) -> Scaled:
    """base^n by squaring; ``cut``: whether it is rounded up or down."""
    (m, e), (of, by) = (1, 0), cut(base, 0)
    while n:
        if n & 1:
            m, e = cut(m * of, e + by)
        of, by = cut(of * of, 2 * by)
        n >>= 1
    return m, e
