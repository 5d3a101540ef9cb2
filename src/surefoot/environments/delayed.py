"""Delayed: rewards that come some plays after their decision."""

from __future__ import annotations

import math
from typing import Any

from surefoot._exact import exact, shown
from surefoot.environments._kernels import WRAPPERS
from surefoot.environments._timing import (
    CONSTANT,
    GEOMETRIC,
    LONGEST,
    RANGE,
    Timing,
    Wrapper,
    whole,
)
from surefoot.errors import InvalidInput

_SMALLEST = 2.0**-53
"""No uniform draw is smaller, so no geometric delay is longer than the one of this."""


class Delayed(Wrapper):
    """An environment whose rewards are known ``delay`` plays after their decision.

        arrival of play t = t + delay_t:   it is known to the decision of play t + delay_t + 1

    Source: ours; delays that do not depend on the reward are those of Joulani, Gyorgy, Szepesvari
    2013. ``env``: any environment. ``delay``: plays, an int >= 0; or a pair (low, high), each int
    of that range equally likely. ``mean``, in its place: the mean >= 0 of a geometric delay, which
    ends at each play with probability 1/(1 + mean). A delay is drawn by (key, play), so every agent
    of a run meets the same ones at the same plays; 0 is no delay. Raises InvalidInput for another
    number, for delays that may be above 10**6 plays, and for an environment that has delays.

    In ``simulate`` an exploration keeps its hold until its reward arrives, and in the books it
    counts at worst meanwhile. Default plays are reported at once. What is still out at the horizon
    stays open.

    >>> from surefoot import BernoulliArms
    >>> env = Delayed(BernoulliArms([0.8, 0.2]), 3)
    >>> env.arrival(key=7, play=10), env.pull(key=7, turn=1, arm=0), env.best
    (13, 1.0, 0.8)
    >>> [Delayed(env.env, mean=3).arrival(7, play) - play for play in range(1, 9)]
    [2, 6, 2, 2, 7, 4, 4, 6]

    Holds when: how long a reward takes does not depend on the reward. Does not hold when: only
    successes are reported, or late ones are worth less.
    """

    def __init__(self, env: Any, delay: Any = None, *, mean: Any = None) -> None:
        if (delay is None) == (mean is None):
            raise InvalidInput(
                f"delay = {shown(delay)}, mean = {shown(mean)}: give one of the two, "
                "e.g. Delayed(env, 100)"
            )
        super().__init__(env, _geometric(mean) if delay is None else _timing(delay))

    @property
    def longest(self) -> int:
        """No delay is longer, in plays."""
        return self.timing.high

    def __repr__(self) -> str:
        kind, low, high, rate = self.timing
        if kind == GEOMETRIC:
            return f"Delayed({self.env!r}, mean={-1 / math.expm1(rate) - 1:.12g})"
        return f"Delayed({self.env!r}, {low if kind == CONSTANT else (low, high)})"


WRAPPERS.add(Delayed)


def _timing(delay: Any) -> Timing:
    if not isinstance(delay, tuple | list):
        plays = whole(delay, "delay", 0)
        return Timing(CONSTANT, plays, plays, 0.0)
    if len(delay) != 2:
        raise InvalidInput(f"delay = {shown(delay)} must be an int or a pair (low, high)")
    low, high = (whole(end, f"delay[{i}]", 0) for i, end in enumerate(delay))
    if low > high:
        raise InvalidInput(f"delay = {shown(delay)} must have low <= high")
    return Timing(RANGE, low, high, 0.0)


def _geometric(mean: Any) -> Timing:
    plays = float(exact(mean, "mean"))
    if isinstance(mean, bool) or plays < 0:
        raise InvalidInput(f"mean = {shown(mean)} of the delays must be a number >= 0")
    if plays == 0:
        return Timing(CONSTANT, 0, 0, 0.0)
    rate = -math.log1p(1 / plays)  # the logarithm of mean/(1 + mean), of the smallest mean too
    longest = math.inf if rate == 0 else math.log(_SMALLEST) / rate
    if longest > LONGEST:
        raise InvalidInput(
            f"mean = {shown(mean)}: such delays may be above {LONGEST} plays; give a smaller one, "
            "at most 27000"
        )
    return Timing(GEOMETRIC, 0, math.floor(longest), rate)
