"""Interval defaults: a default that pays at random, surely within l..u, and counts as what it paid.

Two promises can be made of it, with ``lost/whole`` = alpha and the floor f of a play:

- against "realised", the default's own draws: f = (1-alpha)*u, since an exploration may stand in
  for a draw of u. A default play of reward x asks (1-alpha)*x and earns x: it posts alpha*x, and
  alpha*l while x is not known.
- against "fixed", a level g: f = (1-alpha)*g for every play. A default play posts x - f, and l - f
  while x is not known: never a loss only if l >= f.

Source: Du, Wang, Huang 2021, footnote 1, which only says that the right-hand side changes; both
readings are ours. What x does when it breaks its interval is ours too: below l it counts as it is,
above u as u, for good. Both err on the safe side, and both are breaches: below l more was spent
than was there, above u an exploration may have stood in for more than it was asked.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from surefoot._exact import Unit, exact, one_of, shown
from surefoot.errors import InvalidInput
from surefoot.floors.events import Terms

AGAINST = ("realised", "fixed")

Interval = tuple[Decimal, Decimal]
"""l and u."""


def is_interval(default: Any) -> bool:
    """Whether a default is meant as an interval."""
    return isinstance(default, tuple | list)


def checked_interval(default: Any, reward_range: Interval) -> Interval:
    """The exact ends of an interval default, if 0 <= l <= u within the range.

    >>> checked_interval((0.5, 1), (Decimal(-1), Decimal(1)))
    (Decimal('0.5'), Decimal('1'))
    """
    if len(default) != 2:
        raise InvalidInput(f"default = {shown(default)} must be one number, or a pair (l, u)")
    low, high = exact(default[0], "default l"), exact(default[1], "default u")
    r_min, r_max = reward_range
    if not (0 <= low <= high and r_min <= low and high <= r_max):
        raise InvalidInput(
            f"default = {shown(default)} must have 0 <= l <= u within reward_range "
            f"({r_min}, {r_max}); shift the rewards, or correct the interval"
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
    level = exact(target, "target")
    if level <= 0:
        raise InvalidInput(f"target = {shown(target)} must be > 0; without it u is the level")
    return level


def terms_realised(
    unit: Unit, share: tuple[int, int], default: Interval, floor: int, hold: int
) -> Terms:
    """What a play is worth against the default's own draws; ``share`` is alpha as a fraction."""
    low, high = map(unit.floor, default)
    lost, whole = share
    return Terms(low, floor, hold, lost * low // whole, high, lost, whole)


def terms_fixed(unit: Unit, default: Interval, level: Decimal, floor: int, hold: int) -> Terms:
    """What a play is worth against a level, whose (1-alpha)-th part is ``floor`` units."""
    low, high = map(unit.floor, default)
    if low < floor:
        raise InvalidInput(
            f"default = ({default[0]}, {default[1]}) against a fixed level needs l >= (1-alpha)*g: "
            f"l = {unit.decimal(low)} < {unit.decimal(floor)} with g = {level}, so even the "
            "default could break the promise; take a lower target, or against='realised'"
        )
    return Terms(low, floor, hold, low - floor, high, 1, 1)
