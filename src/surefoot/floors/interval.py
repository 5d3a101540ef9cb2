"""Interval defaults: a default that pays at random, surely within l..u, and counts as what it paid.

Two promises can be made of it, with e(x) = alpha*|x| + margin and the floor f of a play:

- against "realised", the default's own draws: f = u - e(u), since an exploration may stand in for
  a draw of u, and x - e(x) rises with x (for alpha >= 1: up to 0). A default play of reward x asks
  x - e(x) and earns x: it posts e(x), and the least of e over l..u while x is not known.
- against "fixed", a level g: f = g - e(g) for every play. A default play posts x - f, and l - f
  while x is not known: never a loss only if l >= f.

Source: Du, Wang, Huang 2021, footnote 1, which only says that the right-hand side changes; both
readings are ours. What x does when it breaks its interval is ours too: below l it counts as it is,
above u as u, for good, and it posts no more than the nearer end would (below l >= 0, where e is a
line, less: the line goes on). Both err on the safe side,
and both are breaches: below l more was spent than was there, above u an exploration may have stood
in for more than it was asked. A draw is rounded down to the unit, but against "realised", where it
may be negative, towards 0: else |x| would be rounded up, and more be posted than was given up.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from surefoot._exact import exact, negated, one_of, shown
from surefoot.errors import InvalidInput
from surefoot.floors.events import Terms

if TYPE_CHECKING:
    from surefoot.floors.protocol import Floor

AGAINST = ("realised", "fixed")

Interval = tuple[Decimal, Decimal]
"""l and u."""


def is_interval(default: Any) -> bool:
    """Whether a default is meant as an interval."""
    return isinstance(default, tuple | list)


def checked_interval(default: Any, bounds: Interval, what: str = "reward_range") -> Interval:
    """The exact ends of an interval default, if l <= u within the bounds, which are of ``what``.

    >>> checked_interval((-0.5, 1), (Decimal(-1), Decimal(1)))
    (Decimal('-0.5'), Decimal('1'))
    """
    if len(default) != 2:
        raise InvalidInput(f"default = {shown(default)} must be one number, or a pair (l, u)")
    low, high = exact(default[0], "default l"), exact(default[1], "default u")
    if not bounds[0] <= low <= high <= bounds[1]:
        raise InvalidInput(
            f"default = {shown(default)} must have l <= u within {what} ({bounds[0]}, "
            f"{bounds[1]}); correct the interval, or widen the range"
        )
    return low, high


def checked_against(against: Any, target: Any) -> Decimal | None:
    """The target as a decimal, if ``against`` names a promise that uses a target."""
    one_of(against, "against", AGAINST)
    if target is None:
        return None
    if against != "fixed":
        raise InvalidInput(
            f"target = {shown(target)} is the level of a promise against='fixed'; "
            f"against={against!r} has none"
        )
    return exact(target, "target")


def least_given_up(ends: tuple[int, int], share: tuple[int, int, int]) -> int:
    """The least of e over an interval, rounded down: what any draw of it gives up, as it is read.

    ``ends``: in units. ``share``: lost, whole and extra of ``Terms``.

    >>> [least_given_up(ends, (1, 2, 6)) for ends in ((20, 40), (-20, 40), (-40, -20))]
    [13, 3, 13]
    """
    lost, whole, extra = share
    low, high = ends
    return (lost * max(low, -high, 0) + extra) // whole


def read_told(floor: Floor, terms: Terms | None, reward: Any, what: str) -> int:
    """What a play paid, in units; ``terms``: of one at which the default was played, else None.

    ``what`` names it in the error.

    >>> from surefoot.floors import RewardFloor
    >>> floor = RewardFloor(default=(-2, 0), alpha=0.5, reward_range=(-2, 1), places=0)
    >>> [read_told(floor, terms, -0.5, "reward") for terms in (None, floor.terms())]
    [-1, 0]
    """
    units = floor.read(reward, what)
    if units >= 0 or terms is None or terms.high is None or terms.fixed:
        return units
    if terms.value < 0:
        return -floor.read(negated(reward, what), what)
    return units
