"""MV-UCB for K arms: the mean-variance optimist of Du, Wang, Huang 2021, after Sani et al. 2012."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from surefoot._exact import exact, exact_range, shown
from surefoot._jit import jittable
from surefoot._labels import arm_labels
from surefoot._types import JsonObject, Number
from surefoot.errors import InvalidInput
from surefoot.kernels.policy import IndexPolicy, rounded
from surefoot.kernels.registry import (
    LARGEST,
    NANO,
    IndexKernels,
    LineKernels,
    register,
    subtract,
)

_SHIFT, _MASK = 31, (1 << 31) - 1
_HALF, _LOW, _REST = 17, (1 << 17) - 1, (1 << 14) - 1
"""Units are below 2**34, so that a sum of 10**9 fits an int64: so do they times either half."""
_OPEN = 4
"""Where open plays stand in the state."""
_SQUARED = 3.0e9
"""The square of so many units fits an int64."""


class MVUCBRecord(NamedTuple):
    """Parameters of MV-UCB on rewards in [0, 1]."""

    rho: float
    """The weight of the mean, on that scale."""
    level: float
    """ln(12 K)."""
    unit: float = NANO
    """Into how many the range of rewards is divided for the sums, see ``kernels.unit_of``."""


def _init(policy: MVUCBRecord, n_arms: int) -> Any:
    """Each arm's rewards, their exact sum, that of their squares, and its open plays.

    The sum of squares has two digits of base ``unit``: squares of billionths leave an int64 after
    nine plays; their digits do not within 10**9.
    """
    return [0] * n_arms, [0] * n_arms, [0] * n_arms, [0] * n_arms, [0] * n_arms


@jittable
def _scale(policy: MVUCBRecord, m: int) -> Any:
    # 12 K m^3 itself would leave an int64.
    return policy.level + 3.0 * math.log(m)


def _index(policy: MVUCBRecord, state: Any, k: int, s: float, best: float) -> Any:
    told, waiting = state[0][k], state[_OPEN][k]
    plays = told + waiting
    if plays == 0:
        return math.inf
    mean, variance = 0.5, 0.0
    if told > 0:
        mean = float(state[1][k]) / policy.unit / told
        square = (float(state[2][k]) + float(state[3][k]) / policy.unit) / policy.unit / told
        variance = max(0.0, square - mean * mean)
    return policy.rho * mean - variance + (5.0 + policy.rho) * math.sqrt(s / (2.0 * plays))


def _rise(policy: MVUCBRecord, m: int) -> Any:
    s = math.sqrt(_scale(policy, m))
    return s, 1.5 / (m * s), (5.0 + policy.rho) * (1.0 + s)


def _line(policy: MVUCBRecord, state: Any, k: int) -> Any:
    plays = state[0][k]
    mean = float(state[1][k]) / policy.unit / plays
    square = (float(state[2][k]) + float(state[3][k]) / policy.unit) / policy.unit / plays
    variance = max(0.0, square - mean * mean)
    return policy.rho * mean - variance, (5.0 + policy.rho) / math.sqrt(2.0 * plays)


@jittable
def _read(policy: MVUCBRecord, state: Any, k: int) -> Any:
    """Plays, sum, the two digits, and of later squares the bits above the 31st and below it.

    They are kept apart because dividing takes longer than drawing a reward.
    """
    return state[0][k], state[1][k], state[2][k], state[3][k], 0, 0


@jittable
def _gain(policy: MVUCBRecord, known: Any, n: int, total: int) -> Any:
    return known[0] + n, known[1] + total, known[2], known[3], known[4], known[5]


@jittable
def _square(policy: MVUCBRecord, known: Any, nano: int) -> Any:
    plays, total, high, low, above, below = known
    if policy.unit > _SQUARED:
        tall = nano * (nano >> _HALF)  # the square is tall * 2**17 + square
        square = ((tall & _REST) << _HALF) + nano * (nano & _LOW)
        above += tall >> (_SHIFT - _HALF)
    else:
        square = nano * nano
    return plays, total, high, low, above + (square >> _SHIFT), below + (square & _MASK)


def _above(policy: MVUCBRecord, known: Any, n: int, total: int, level: float) -> Any:
    """A reward in 0..1 is no less than its square, and as much where it is 0 or 1."""
    plays, before, high, low, above, below = known
    each = 1.0 / policy.unit
    squares = (float(high) + float(low) * each) * each
    squares += (float(above) * (_MASK + 1.0) + float(below)) * (each * each)
    later = float(total) * each
    gained = float(before + total) * each
    N = float(plays + n)
    return (policy.rho * gained - (squares + later)) * N + gained * gained > N * (N * level)


@jittable
def _write(policy: MVUCBRecord, state: Any, k: int, known: Any) -> None:
    plays, total, high, low, above, below = known
    base = int(policy.unit)
    # above * 2**31, divided in two steps: no product here leaves 64 bits within 10**9 plays.
    half = above % base << 15
    rest = half % base << 16
    digit = low + below + rest % base
    state[0][k], state[1][k] = plays, total
    high += (above // base << _SHIFT) + (half // base << 16) + rest // base
    state[2][k] = high + digit // base
    state[3][k] = digit % base


def _update(policy: MVUCBRecord, state: Any, k: int, reward: float) -> None:
    nano = math.floor(reward * policy.unit + 0.5)
    known = _gain(policy, _read(policy, state, k), 1, nano)
    _write(policy, state, k, _square(policy, known, nano))


def _opened(policy: MVUCBRecord, state: Any, k: int, by: int) -> None:
    state[_OPEN][k] = max(0, state[_OPEN][k] + by)


def _take(policy: MVUCBRecord, state: Any, k: int, reward: float) -> None:
    subtract(policy, state, k, reward)
    base, units = int(policy.unit), math.floor(reward * policy.unit + 0.5)
    state[2][k], state[3][k] = divmod(state[2][k] * base + state[3][k] - units**2, base)


register(
    MVUCBRecord,
    IndexKernels(_init, _scale, _index, _update, take=_take, opened=_opened),
    LineKernels(_rise, _line, _read, _gain, _square, _above, _write),
)


class MVUCB(IndexPolicy):
    """Play the arm with the largest upper confidence bound on rho*mean - variance.

        index_i = MV_i + (5+rho) sqrt(ln(12 K m^3) / (2 N_i)),   N_i = 0 first, ties to the lowest
        MV_i = rho*mean_i - population variance_i

    Source: Du, Wang, Huang 2021, Algorithm MV-CUCB, the argmax line; the radius is that of Sani,
    Lazaric, Munos 2012. It is made for rewards in [0, 1]: those of another range are scaled to
    it, with rho/(r_max-r_min) for rho, which changes no comparison of arms (ours). m counts this
    policy's own turns. Open plays count in N_i alone; before the first reward of an arm its mean
    is taken as 1/2 and its variance as 0 (ours).

    ``n_arms`` or ``arms``: the regular arms, the default not counted. ``rho`` > 0: the weight of
    the mean. ``reward_range``: bounds of every reward. Both must be those of the floor. Raises
    InvalidInput for anything else.

    >>> import numpy as np
    >>> policy = MVUCB(2, rho=1)
    >>> for arm, reward in ((0, 0.5), (0, 0.5), (1, 0.0), (1, 1.0)):
    ...     policy.update(arm, reward, None)
    >>> policy.select(None, np.random.default_rng(0))  # equal means; arm 1 varies
    0

    Holds when: rewards lie in the range and are independent over time. Does not hold when:
    rewards drift. The radius is wide: neighbouring arms are not told apart before some 10**6
    turns (K = 24, rho = 10).
    """

    def __init__(
        self,
        n_arms: int | None = None,
        rho: Number | None = None,
        reward_range: tuple[Number, Number] = (0, 1),
        arms: Sequence[Any] | None = None,
    ) -> None:
        self.rho = exact(rho, "rho")
        if self.rho <= 0:
            raise InvalidInput(f"rho = {shown(rho)} must be > 0; it weighs the mean")
        self.reward_range = exact_range(reward_range)
        low, high = map(Fraction, self.reward_range)
        K = len(arm_labels(n_arms, arms))
        if Fraction(self.rho) / (high - low) > LARGEST:
            raise InvalidInput(
                f"rho = {shown(rho)} must be at most {LARGEST:g} times the width of the rewards"
            )
        record = MVUCBRecord(float(Fraction(self.rho) / (high - low)), math.log(12 * K))
        super().__init__(record, n_arms, arms)

    def sure(self, value: float) -> float:
        """The mean-variance of an arm that surely pays ``value``, on the scale of [0, 1]."""
        return float(self.record.rho * value)

    def _rescaled(self, rows: Any, unit: float) -> Any:
        plays, sums = super()._rescaled(rows[:2], unit)
        before, base = int(self.record.unit), int(unit)
        squares = [
            rounded((high * before + low) * base**2, before**2)
            for high, low in zip(*rows[2:_OPEN], strict=True)
        ]
        digits = [one // base for one in squares], [one % base for one in squares]
        return plays, sums, *digits, rows[_OPEN]

    def config(self) -> JsonObject:
        """JSON-able settings; decimals as strings."""
        low, high = self.reward_range
        return {
            "arms": list(self.arms),
            "rho": str(self.rho),
            "reward_range": [str(low), str(high)],
        }

    @classmethod
    def from_config(cls, config: JsonObject) -> MVUCB:
        """The inverse of ``config``."""
        low, high = map(Decimal, config["reward_range"])
        return cls(rho=Decimal(config["rho"]), reward_range=(low, high), arms=config["arms"])

    def __repr__(self) -> str:
        low, high = self.reward_range
        return f"MVUCB(n_arms={self.n_arms}, rho={self.rho}, reward_range=({low}, {high}))"
