"""The reward floor: received reward never below (1-alpha) of what the default is worth."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from surefoot._exact import exact, fraction, shown
from surefoot._types import Number
from surefoot.errors import InvalidInput
from surefoot.floors.general import GeneralFloor
from surefoot.floors.linear import checked_within


class RewardFloor(GeneralFloor):
    """At every moment, even if every open play pays its worst: reward >= sum of f_s - reserve.

        f_s = v_s - e_s,   e_s = alpha*|v_s| + margin

    v_s is the default's known value at play s (mu0 if constant), of any sign; for v_s >= 0 and no
    margin f_s = (1-alpha)*v_s. Source: Du, Wang, Huang 2021, eq. (2) and Algorithm 1; margin,
    signed values, per-play and interval defaults, ranges other than [0, 1], checkpoints and the
    reserve are ours, by the same one-line induction.

    ``default``: the default's known reward; a pair (l, u) if it pays at random, surely within
    that; None if each ``select(default=...)`` brings its own of either kind. ``alpha``: the
    fraction of it one is willing to lose, in [0, 1). ``reward_range``: surely known bounds (r_min,
    r_max) of every reward. ``reserve``: what may be lost on top, once, >= 0. ``places``: decimals
    of the books' unit; None takes nine, or fewer if 10**9 plays would leave an int64. ``against``:
    what an interval is held against: the default's own draws ("realised"), or a "fixed" level:
    ``target``, or u without one. ``checkpoint``: n to hold only after every n-th play made; the
    default plays until then are spent beforehand, so slack may be below zero. ``margin``: what one
    is willing to lose a play besides, in rewards, >= 0. ``max_slack``: the most slack that the
    next decision may find; what is above it is forfeited then, so that savings of long ago are not
    spent at once. None keeps all; not with a checkpoint.
    Numbers are exact decimals (a float by its repr); what is finer than the unit is rounded: f up,
    rewards, their bounds, deposits, reserve and max_slack down. Raises InvalidInput for anything
    else, and for a range that spans no whole unit. What could never explore (alpha = margin = 0
    without a reserve) is refused at the first ``select`` or ``simulate``.

    >>> floor = RewardFloor(default=0.7, alpha=0.05)
    >>> floor.terms()
    Terms(value=700000000, floor=665000000, hold=665000000, deposit=35000000)
    >>> RewardFloor(default=0.7, alpha=5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: alpha = 5 must lie within [0, 1); 0.05 gives up at most 5 % ...
    >>> RewardFloor(default=(0.5, 0.8), alpha=0.25).terms().floor  # (1-alpha)*u
    600000000
    >>> RewardFloor(default=-2, alpha=0.25, margin=0.5, reward_range=(-5, 1)).terms()
    Terms(value=-2000000000, floor=-3000000000, hold=2000000000, deposit=1000000000)

    Holds when: rewards are >= r_min, the default is worth its known value (an interval: pays within
    it, where it is played and where it would have been), and what is reported as played was played;
    under any delay, order or loss. With a checkpoint: at its multiples. Does not hold when: a
    default of one known value really pays at random and one means money received: a default play
    counts as its known value. An interval's counts as what was reported, as l before.
    """

    __slots__ = ()

    plain = GeneralFloor.plain  # named again: it asks for nothing else

    def __init__(
        self,
        default: Any,
        alpha: Number,
        reward_range: tuple[Number, Number] = (0, 1),
        reserve: Number = 0,
        places: int | None = None,
        against: str = "realised",
        target: Any = None,
        checkpoint: int | None = None,
        margin: Number = 0,
        max_slack: Number | None = None,
    ) -> None:
        super().__init__(
            default, alpha, reward_range, reserve, places, against, target, checkpoint, margin,
            max_slack,
        )  # fmt: skip

    def _checked_alpha(self, alpha: Number) -> Decimal:
        share = exact(alpha, "alpha")
        if not 0 <= share < 1:
            raise InvalidInput(
                f"alpha = {shown(alpha)} must lie within [0, 1); 0.05 gives up at most 5 % of "
                "the default's reward"
            )
        return share


def checked_alpha(alpha: Number) -> Decimal:
    """The fraction one is willing to lose, if it is one of (0, 1): for what the paper proves."""
    return fraction(alpha, "alpha", "0.05 gives up at most 5 % of the default's reward", Decimal)


def checked_default(default: Any, reward_range: tuple[Decimal, Decimal]) -> Decimal:
    """A constant default's known reward, if it is one the paper proves things of: > 0, in range."""
    value = exact(default, "default")
    if value <= 0:
        raise InvalidInput(
            f"default = {shown(default)} must be > 0; shift the rewards so that the default earns"
        )
    checked_within(value, default, "reward_range", reward_range)
    return value
