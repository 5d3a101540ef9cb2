"""While it runs: whether rewards still bear out the mean that was declared for them.

A bettor who stakes some of her wealth on each next reward falling short of its declared value
cannot expect to gain where the declared values are true. Her wealth is the evidence that they are
not, at any time and however often one looks.
"""

from __future__ import annotations

from math import log
from typing import Any, NamedTuple

from surefoot._exact import exact_range, fraction, shown
from surefoot._types import JsonObject, Number
from surefoot.errors import InvalidInput
from surefoot.theory.inputs import number

STAKES = tuple(0.5**k for k in range(11))
"""The bets: which part of its wealth each loses to a reward of r_max."""
_ENOUGH = 1e100
# A declared value next to r_max is proof of nothing by itself: a reward multiplies the evidence by
# no more than this.
_MOST = 1024


class Stretch(NamedTuple):
    """The rewards that the evidence is about: numbered from 1, both ends included."""

    first: int
    last: int
    mean: float
    declared: float


class Shortfall:
    """Evidence that rewards fall short of the means declared for them; may be read at any time.

        W_n = 1/(n+1) + sum over k, s <= n of 1/(11 s (s+1)) prod_{t=s..n} (1 + c_k (v_t - r_t) / d)

    with c_k = 2^-k, k = 0..10, d = r_max - v_t (at least a 1024th of the range). H0: every reward,
    given what was known before it, is worth v_t or more on average. Then each product is a
    nonnegative supermartingale, W_n is their mean, and P(W_n >= 1/delta for any n) <= delta.

    Source: bets on a bounded mean, spread over a grid, are Waudby-Smith and Ramdas 2024; the
    probability is Ville's inequality (1939), wealth as evidence is Shafer 2021. Starting a bettor
    at every reward is from the e-detectors of Shin, Ramdas and Rinaldo 2024; the weights
    1/(s (s+1)), which sum to 1 so that Ville still applies, and this grid are ours. They find a
    mean that falls later, at the price of 2 ln s in the evidence. Wealth is kept in floats.

    ``reward_range``: (r_min, r_max). A reward outside counts as its nearer end, and in
    ``clipped``. Below r_min that makes evidence weaker; above r_max the test is about the mean of
    what counts, as the books count it. Raises InvalidInput for an invalid range.

    >>> test = Shortfall()
    >>> for reward in [1, 0, 1, 0] * 50:
    ...     test.update(reward, declared=0.7)
    >>> test.n, test.mean, round(test.declared, 9), test.p_value < 0.001
    (200, 0.5, 0.7, True)
    >>> test.below(delta=0.01), test.worst.first, test.worst.last
    (True, 2, 200)

    Holds when: each v_t was fixed before its reward, and which reward comes next does not depend
    on its value; under any dependence, drift or stopping. Does not hold when: bad rewards are
    reported sooner or more often than good ones, or the default pays above r_max to reach its mean.
    """

    __slots__ = ("_bets", "_sums", "_top", "clipped", "high", "low", "n", "peak", "worst")

    def __init__(self, reward_range: tuple[Number, Number] = (0, 1)) -> None:
        self.low, self.high = map(float, exact_range(reward_range))
        self.n = 0
        """How many rewards were taken."""
        self.clipped = 0
        """How many of them lay outside the range."""
        self.peak = 1.0
        """The most the wealth ever was."""
        self.worst: Stretch | None = None
        """Where rewards fell short most when the wealth was at its peak; None: it never grew."""
        self._bets = [0.0] * len(STAKES)
        self._sums = (0.0, 0.0)
        self._top = (0, 0.0, 0.0)

    def update(self, reward: Any, declared: Any) -> None:
        """Take the next reward and the value declared for it; InvalidInput if not numbers."""
        value = number(declared, "declared")
        if not self.low <= value <= self.high:
            raise InvalidInput(
                f"declared = {shown(declared)} lies outside reward_range ({self.low:g}, "
                f"{self.high:g}); widen the range or correct the value"
            )
        value_paid = number(reward, "reward")
        counted = min(max(value_paid, self.low), self.high)
        self.clipped += counted != value_paid
        if self.peak < _ENOUGH:
            room = max(self.high - value, (self.high - self.low) / _MOST)
            self._bet((value - counted) / room)
        self.n += 1
        self._sums = (self._sums[0] + counted, self._sums[1] + value)
        self._note()

    def _bet(self, short: float) -> None:
        """Let a new bettor join, and all of them bet; ``short``: how far it fell short, >= -1."""
        joins = 1 / ((self.n + 1) * (self.n + 2))
        self._bets = [
            (wealth + joins) * (1 + stake * short)
            for wealth, stake in zip(self._bets, STAKES, strict=True)
        ]

    def _note(self) -> None:
        """Keep where the rewards were last ahead of the values, and the wealth's peak."""
        rewards, values = self._sums
        first, ahead, due = self._top
        if rewards - values >= ahead - due:
            self._top = first, ahead, due = self.n, rewards, values
        wealth = self._wealth
        if wealth > self.peak:
            self.peak, plays = wealth, max(1, self.n - first)
            means = (rewards - ahead) / plays, (values - due) / plays
            self.worst = Stretch(first + 1, self.n, *means)

    @property
    def _wealth(self) -> float:
        return sum(self._bets) / len(STAKES) + 1 / (self.n + 1)

    @property
    def mean(self) -> float | None:
        """The mean of the rewards as they count; None if there are none."""
        return self._sums[0] / self.n if self.n else None

    @property
    def declared(self) -> float | None:
        """The mean of the values declared for them; None if there are none."""
        return self._sums[1] / self.n if self.n else None

    @property
    def evidence(self) -> float:
        """ln W_n: the evidence now; it grows no more once W has been 10^100."""
        return log(self._wealth)

    @property
    def p_value(self) -> float:
        """1 over the most that W ever was: at any time at most delta with probability delta."""
        return 1 / self.peak

    def below(self, delta: Number = 0.01) -> bool:
        """Whether the mean is or was below the declared one; wrong with probability <= delta."""
        level = fraction(delta, "delta", "0.01 gives one false alarm in a hundred tests", float)
        return self.p_value <= level

    def state(self) -> JsonObject:
        """JSON-able state."""
        return {name.lstrip("_"): getattr(self, name) for name in self.__slots__}

    def restore(self, state: JsonObject) -> None:
        """The inverse of ``state``."""
        for name in self.__slots__:
            setattr(self, name, state[name.lstrip("_")])
        self._sums, self._top = tuple(state["sums"]), tuple(state["top"])
        self.worst = None if state["worst"] is None else Stretch(*state["worst"])
