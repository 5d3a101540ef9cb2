"""While it runs: whether rewards still bear out the mean that was declared for them.

A bettor who stakes some of her wealth on each next reward falling short of its declared value
cannot expect to gain where the declared values are true. Her wealth is the evidence that they are
not, at any time and however often one looks.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import inf, lcm, log, nextafter
from typing import Any, NamedTuple

from surefoot._exact import exact, exact_range, fraction, shown
from surefoot._types import JsonObject, Number
from surefoot.errors import InvalidInput
from surefoot.floors.odds import WHOLE, Restarts


class Stretch(NamedTuple):
    """The rewards that the evidence is about: numbered from 1, both ends included."""

    first: int
    last: int
    mean: float
    declared: float


class Shortfall:
    """Evidence that rewards fall short of the means declared for them; may be read at any time.

    H0: every reward, given what was known before it, is worth its declared value or more on
    average. W_n of ``floors.odds.Restarts`` is the evidence against it, and under H0
    P(W_n >= 1/delta for any n) <= delta.

    Source: bets on a bounded mean are Waudby-Smith and Ramdas 2024; the probability is Ville's
    inequality (1939), wealth as evidence is Shafer 2021. All is exact: a float counts as its
    shortest decimal, and W is rounded down.

    ``reward_range``: (r_min, r_max). A reward outside counts as its nearer end, and in
    ``clipped``. Below r_min that makes evidence weaker; above r_max the test is about the mean of
    what counts, as the books count it. Raises InvalidInput for an invalid range.

    >>> test = Shortfall()
    >>> for reward in [1, 0, 1, 0] * 50:
    ...     test.update(reward, declared=0.7)
    >>> test.n, test.mean, test.declared, test.p_value < 0.001
    (200, 0.5, 0.7, True)
    >>> test.below(delta=0.01), test.worst.first, test.worst.last
    (True, 2, 200)

    Holds when: each v_t was fixed before its reward, and which reward comes next does not depend
    on its value; under any dependence, drift or stopping. Does not hold when: bad rewards are
    reported sooner or more often than good ones, or the default pays above r_max to reach its mean.
    """

    __slots__ = ("_odds", "_peak", "_sums", "_top", "_unit", "clipped", "high", "low", "worst")

    def __init__(self, reward_range: tuple[Number, Number] = (0, 1)) -> None:
        self.low, self.high = exact_range(reward_range)
        self.clipped = 0
        """How many rewards lay outside the range."""
        self.worst: Stretch | None = None
        """Where rewards fell short most when W was at its peak; None: it never grew."""
        self._odds, self._peak = Restarts(), WHOLE
        # Sums are whole numbers of 1 / unit, which becomes finer when a number needs it.
        self._unit, self._sums, self._top = 1, (0, 0), (0, 0, 0)

    def update(self, reward: Any, declared: Any) -> None:
        """Take the next reward and the value declared for it; InvalidInput if not numbers."""
        value = exact(declared, "declared")
        if not self.low <= value <= self.high:
            raise InvalidInput(
                f"declared = {shown(declared)} lies outside reward_range ({self.low}, "
                f"{self.high}); widen the range or correct the value"
            )
        paid = exact(reward, "reward")
        counted = min(max(paid, self.low), self.high)
        self.clipped += counted != paid
        x, v, low, high = self._whole(counted, value, self.low, self.high)
        self._odds.take(high - x, high - v, high - low)
        self._sums = self._sums[0] + x, self._sums[1] + v
        self._note()

    def _whole(self, *numbers: Decimal) -> list[int]:
        ratios = [number.as_integer_ratio() for number in numbers]
        if any(self._unit % under for _, under in ratios):
            finer = lcm(self._unit, *(under for _, under in ratios))
            by, self._unit = finer // self._unit, finer
            (rewards, values), (first, ahead, due) = self._sums, self._top
            self._sums, self._top = (rewards * by, values * by), (first, ahead * by, due * by)
        return [over * (self._unit // under) for over, under in ratios]

    def _note(self) -> None:
        """Keep where the rewards were last ahead of the values, and the peak of W."""
        rewards, values = self._sums
        first, ahead, due = self._top
        if rewards - values >= ahead - due:
            self._top = first, ahead, due = self.n, rewards, values
        wealth = self._odds.wealth
        if wealth > self._peak:
            self._peak, plays = wealth, max(1, self.n - first) * self._unit
            means = (rewards - ahead) / plays, (values - due) / plays
            self.worst = Stretch(first + 1, self.n, *means)

    @property
    def n(self) -> int:
        """How many rewards were taken."""
        return self._odds.n

    @property
    def mean(self) -> float | None:
        """The mean of the rewards as they count; None if there are none."""
        return self._sums[0] / (self.n * self._unit) if self.n else None

    @property
    def declared(self) -> float | None:
        """The mean of the values declared for them; None if there are none."""
        return self._sums[1] / (self.n * self._unit) if self.n else None

    @property
    def evidence(self) -> float:
        """ln W_n: the evidence now; it grows no more once W has been 10^100."""
        return log(self._odds.wealth) - log(WHOLE)

    @property
    def p_value(self) -> float:
        """1 over the most that W ever was: at any time at most delta with probability delta."""
        return min(1.0, nextafter(WHOLE / self._peak, inf))  # rounded up, as W is down

    def below(self, delta: Number = 0.01) -> bool:
        """Whether the mean is or was below the declared one; wrong with probability <= delta."""
        level = fraction(delta, "delta", "0.01 gives one false alarm in a hundred tests", Fraction)
        return self._peak * level >= WHOLE

    def state(self) -> JsonObject:
        """JSON-able state."""
        return {
            "range": [str(self.low), str(self.high)], "n": self.n, "clipped": self.clipped,
            "bets": self._odds.bets, "peak": self._peak, "worst": self.worst,
            "unit": self._unit, "sums": self._sums, "top": self._top,
        }  # fmt: skip

    def restore(self, state: JsonObject) -> None:
        """The inverse of ``state``."""
        self.low, self.high = map(Decimal, state["range"])
        self.clipped, self._peak, self._unit = state["clipped"], state["peak"], state["unit"]
        self._odds.n, self._odds.bets = state["n"], list(state["bets"])
        (rewards, values), (first, ahead, due) = state["sums"], state["top"]
        self._sums, self._top = (rewards, values), (first, ahead, due)
        self.worst = None if state["worst"] is None else Stretch(*state["worst"])
