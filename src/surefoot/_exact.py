"""The border: numbers from outside become exact integers of one unit here, and nowhere else.

A float means its shortest decimal (its repr): 0.7 is seven tenths, not the binary fraction next
to it. Behind this module the books see integers only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

from surefoot.errors import InvalidInput

INT64_MAX = 2**63 - 1
PLAYS = 10**9
"""The number of plays for which every sum of the books must fit an int64."""

# Beyond this many digits a Decimal's integer form is a memory attack, not an amount.
_MAX_EXPONENT = 1000
# Below this bound the decimal k * 10**-places has at most 15 significant digits, so it is the
# only one of that length that reads back as its float: it is the float's shortest decimal.
_FIFTEEN_DIGITS = 10**15


def exact(value: Any, what: str) -> Decimal:
    """Return the exact decimal a number stands for; a float stands for its shortest repr.

    ``what`` names the value in the error. Accepts int, bool, float, Decimal and numpy scalars.
    Raises InvalidInput for anything else, and for NaN and infinities.

    >>> exact(0.1, "reward")
    Decimal('0.1')
    >>> exact("0.1", "reward")
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: reward must be a number, got '0.1' (str); pass a float or Decimal
    """
    if type(value) is float:
        number = Decimal(repr(value))
    elif isinstance(value, Decimal):
        number = value
    elif isinstance(value, Integral):
        number = Decimal(int(value))
    elif isinstance(value, Real) and hasattr(value, "dtype"):
        number = Decimal(str(value))  # a float32 means its own shortest decimal, not its float64's
    elif isinstance(value, float):
        number = Decimal(float.__repr__(value))
    elif hasattr(value, "dtype") and getattr(value, "ndim", None) == 0:
        return exact(value.item(), what)
    else:
        raise InvalidInput(
            f"{what} must be a number, got {_shown(value)} ({type(value).__name__}); "
            "pass a float or Decimal"
        )
    if not number.is_finite():
        raise InvalidInput(
            f"{what} must be finite, got {value}; report a number the books can hold"
        )
    exponent = number.as_tuple().exponent
    if number and (number.adjusted() > _MAX_EXPONENT or int(exponent) < -_MAX_EXPONENT):
        raise InvalidInput(f"{what} = {_shown(value)} is beyond 10**±{_MAX_EXPONENT}; rescale it")
    return number


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of the books, 10**-places; converts decimals to integers of it and back.

    >>> unit = Unit(9)
    >>> unit.floor(Decimal("0.7")), unit.ceil(Decimal("1e-10")), unit.decimal(700_000_000)
    (700000000, 1, Decimal('0.700000000'))
    """

    places: int

    def floor(self, value: Decimal) -> int:
        """Round toward minus infinity: what is credited must not overstate."""
        numerator, denominator = value.as_integer_ratio()
        scale: int = 10 ** abs(self.places)
        if self.places >= 0:
            return numerator * scale // denominator
        return numerator // (denominator * scale)

    def ceil(self, value: Decimal) -> int:
        """Round toward plus infinity: what is required must not understate."""
        return -self.floor(-value)

    def holds(self, value: Decimal) -> bool:
        """Whether the value is on the lattice, so that no rounding happens."""
        return self.floor(value) == self.ceil(value)

    def decimal(self, amount: int) -> Decimal:
        """The amount as an exact Decimal, independent of the decimal context's precision."""
        return Decimal(f"{amount}e{-self.places}")

    def read(self, value: Any, what: str) -> int:
        """Read a number from outside, rounded down to the unit; errors as in ``exact``."""
        if type(value) is float and 0 <= self.places <= 15 and math.isfinite(value):
            scale = 10.0**self.places
            scaled = value * scale
            if -_FIFTEEN_DIGITS < scaled < _FIFTEEN_DIGITS:
                amount = round(scaled)
                if amount / scale == value:
                    return amount
        return self.floor(exact(value, what))


def finest_places(bound: Decimal, reserve: Decimal) -> int:
    """The finest unit, at most nine places, in which 10**9 plays fit an int64.

    ``bound`` is the most that one play can move a sum of the books by.

    >>> finest_places(Decimal(1), Decimal(0)), finest_places(Decimal(10), Decimal(0))
    (9, 8)
    """
    places = 9
    while not fits(bound, reserve, places):
        places -= 1
    return places


def fits(bound: Decimal, reserve: Decimal, places: int) -> bool:
    """Whether 10**9 plays of at most ``bound`` each, and the reserve, fit an int64 of units."""
    unit = Unit(places)
    return unit.ceil(reserve) + PLAYS * unit.ceil(bound) <= INT64_MAX
