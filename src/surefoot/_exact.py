"""The border: numbers from outside become exact integers of one unit here, and nowhere else.

A float means its shortest decimal (its repr): 0.7 is seven tenths, not the binary fraction next
to it. Behind this module the books see integers only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any, TypeVar

from surefoot._redact import redacted
from surefoot.errors import InvalidInput

INT64_MAX = 2**63 - 1
PLAYS = 10**9
"""The number of plays for which every sum of the books must fit an int64."""

# Beyond this many digits a Decimal's integer form is a memory attack, not an amount.
_MAX_EXPONENT = 1000
EXACT = Context(prec=3 * _MAX_EXPONENT)
"""Holds every amount; the user's own decimal context may round, even a minus sign."""
# Below this bound the decimal k * 10**-places has at most 15 significant digits, so it is the
# only one of that length that reads back as its float: it is the float's shortest decimal.
_FIFTEEN_DIGITS = 1e15
_SCALES = [10.0**places for places in range(16)]

N = TypeVar("N", float, Decimal, Fraction)


def exact(value: Any, what: str) -> Decimal:
    """Return the exact decimal a number stands for; a float stands for its shortest repr.

    ``what`` names the value in the error. Accepts int, bool, float, Decimal and numpy scalars (a
    float32 stands for its own shortest decimal, not its float64's); minus zero is zero. Raises
    InvalidInput for anything else, for NaN and infinities, and beyond 10**±1000.

    >>> exact(0.1, "reward")
    Decimal('0.1')
    >>> exact("0.1", "reward")
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: reward must be a number, got '0.1' (str); pass a float or Decimal
    """
    number = _decimal(value)
    if number is None:
        one = getattr(value, "ndim", 0) and getattr(value, "size", 0) == 1
        one = one and hasattr(value, "item") and not _gaps(value)
        raise InvalidInput(
            f"{what} must be a number, got {shown(value)} ({type(value).__name__}); "
            f"pass {'its .item()' if one else 'a float or Decimal'}"
        )
    if not number.is_finite():
        raise InvalidInput(f"{what} must be finite, got {shown(value)}; give a finite number")
    if not number:
        return Decimal(0)
    if number.adjusted() > _MAX_EXPONENT or int(number.as_tuple().exponent) < -_MAX_EXPONENT:
        raise InvalidInput(f"{what} = {shown(value)} is beyond 10**±{_MAX_EXPONENT}; rescale it")
    return number


def fraction(value: Any, what: str, hint: str, kind: Callable[[Decimal], N]) -> N:
    """A number strictly between 0 and 1, as ``kind`` has it; ``hint`` ends the error.

    >>> fraction(0.1, "alpha", "0.05 is usual", Fraction)
    Fraction(1, 10)
    """
    number = kind(exact(value, what))
    if not 0 < number < 1:
        raise InvalidInput(f"{what} = {shown(value)} must lie strictly between 0 and 1; {hint}")
    return number


def exact_range(
    given: Any, what: str = "reward_range", measure: str = "reward"
) -> tuple[Decimal, Decimal]:
    """The exact bounds of a reward; InvalidInput unless they are a pair r_min < r_max.

    ``what`` names the pair in the error, ``measure`` what lies in it: of a cost c_min < c_max.

    >>> exact_range((0, 0.5))
    (Decimal('0'), Decimal('0.5'))
    """
    by_position(given, what)
    least, most = f"{measure[0]}_min", f"{measure[0]}_max"
    try:
        low, high = given
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{what} = {shown(given)} must be a pair ({least}, {most}), e.g. (0, 1)"
        ) from None
    bounds = exact(low, least), exact(high, most)
    if not bounds[0] < bounds[1]:
        raise InvalidInput(f"{what} = ({shown(low)}, {shown(high)}) must have {least} < {most}")
    return bounds


def negated(value: Any, what: str) -> Any:
    """Minus a number from outside, exactly; errors as in ``exact``.

    A float stays one, as the books read it fastest; minus zero is zero.

    >>> negated(0.02, "cost"), negated(Decimal("1e-40"), "cost")
    (-0.02, Decimal('-1E-40'))
    """
    if type(value) is float and -math.inf < value < math.inf:
        return 0.0 - value
    number = exact(value, what)
    return number.copy_negate() if number else number


def _decimal(value: Any) -> Decimal | None:
    if isinstance(value, float):
        return Decimal(float.__repr__(value))
    if isinstance(value, Decimal):
        return value
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind is not None:
        # Datetimes and timedeltas are integers to numpy; not to the books.
        if getattr(value, "ndim", 1) or kind not in ("b", "i", "u", "f") or _gaps(value):
            return None  # numpy's missing value would read as a number
        return Decimal(str(value)) if kind == "f" else Decimal(int(value))
    return Decimal(int(value)) if isinstance(value, Integral) else None


def _gaps(value: Any) -> bool:
    """Whether it is an array of numpy with a missing value."""
    mask = getattr(value, "mask", False)
    return mask is not False and not callable(mask)


def by_position(value: Any, what: str) -> Any:
    """The value, unless its labels would be lost: everything but a table is taken by position.

    Refused are dicts, and what has ``to_numpy`` or ``to_pandas``, as the tables and columns of
    pandas, polars, pyarrow and xarray have.

    >>> by_position({"UA": 0.8}, "means")
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: means is a dict, whose labels would be lost: it is taken by
    position; bring it in order and pass list(means.values())
    """
    if isinstance(value, Mapping):
        raise _labelled(value, what, f"list({what}.values())")
    return unlabelled(value, what)


def unlabelled(value: Any, what: str) -> Any:
    """The value, unless it is a table or a column with labels, see ``by_position``."""
    if hasattr(value, "to_numpy"):
        raise _labelled(value, what, f"{what}.to_numpy()")
    if hasattr(value, "to_pandas"):
        raise _labelled(value, what, f"{what}.to_pandas().to_numpy()")
    return value


def _labelled(value: Any, what: str, remedy: str) -> InvalidInput:
    return InvalidInput(
        f"{what} is a {type(value).__name__}, whose labels would be lost: it is taken by position; "
        f"bring it in order and pass {remedy}"
    )


def shown(value: object) -> str:
    """A value as an error message shows it: a short line, whatever it is, without a password."""
    try:
        text = repr(redacted(value)) if type(value) is str else redacted(repr(value))
    except ValueError:  # Python writes no int of more than 4300 digits
        text = f"<{type(value).__name__} of too many digits>"
    except RecursionError:
        text = f"<{type(value).__name__} of too many levels>"
    text = " ".join(map(str.strip, text.split("\n")))  # arrays and frames write several
    return text if len(text) <= 60 else text[:57] + "..."


def first_few(names: Sequence[Any], how: Callable[[Any], str] = repr) -> str:
    """The first eight of some names, as an error message lists what there is.

    >>> first_few(["a", "b"]), first_few(range(99), str)
    ("'a', 'b'", '0, 1, 2, 3, 4, 5, 6, 7, ...')
    """
    return ", ".join(map(how, names[:8])) + (", ..." if len(names) > 8 else "")


def one_of(value: Any, what: str, choices: Iterable[str]) -> str:
    """A named option; InvalidInput unless it is one of the choices."""
    names = tuple(choices)
    if not isinstance(value, str) or value not in names:
        raise InvalidInput(f"{what} = {shown(value)} must be one of {', '.join(map(repr, names))}")
    return value


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit of the books, 10**-places; converts decimals to integers of it and back.

    >>> unit = Unit(9)
    >>> unit.floor(Decimal("0.7")), unit.ceil(Decimal("1e-10")), unit.decimal(700_000_000)
    (700000000, 1, Decimal('0.700000000'))
    """

    places: int

    def ratio(self, value: Decimal) -> tuple[int, int]:
        """The value in units, as an exact fraction."""
        numerator, denominator = value.as_integer_ratio()
        scale: int = 10 ** abs(self.places)
        if self.places >= 0:
            return numerator * scale, denominator
        return numerator, denominator * scale

    def floor(self, value: Decimal) -> int:
        """Round toward minus infinity: what is credited must not overstate."""
        numerator, denominator = self.ratio(value)
        return numerator // denominator

    def ceil(self, value: Decimal) -> int:
        """Round toward plus infinity: what is required must not understate."""
        numerator, denominator = self.ratio(value)
        return -(-numerator // denominator)

    def decimal(self, amount: int) -> Decimal:
        """The amount as an exact Decimal, independent of the decimal context's precision."""
        return Decimal(f"{amount}e{-self.places}")

    def read(self, value: Any, what: str) -> int:
        """Read a number from outside, rounded down to the unit; errors as in ``exact``."""
        units = self.quick(value)
        return self.floor(exact(value, what)) if units is None else units

    def quick(self, value: Any) -> int | None:
        """What ``read`` returns, for most floats and ints; None where it takes longer to tell."""
        places = self.places
        if type(value) is float and 0 <= places <= 15:
            scale = _SCALES[places]
            scaled = value * scale  # a NaN or an infinity is not within the bounds
            if -_FIFTEEN_DIGITS < scaled < _FIFTEEN_DIGITS:  # a float: an int compares slowly
                amount = round(scaled)
                if amount / scale == value:
                    return amount
        elif type(value) is int and places >= 0 and abs(value) < _FIFTEEN_DIGITS:
            units: int = value * 10**places
            return units
        return None


def reach(low: Decimal, high: Decimal) -> Decimal:
    """The most that one play with a reward in low..high can move a sum of the books by.

    >>> reach(Decimal(-1), Decimal("1.5"))
    Decimal('2.5')
    """
    return max(low.copy_abs(), high.copy_abs(), EXACT.subtract(high, low))


def weighed(pairs: Iterable[tuple[Decimal, Decimal]]) -> Decimal:
    """The exact sum of weights times values, in whatever decimal context.

    >>> weighed([(Decimal(1), Decimal("0.9")), (Decimal(-20), Decimal("0.012"))])
    Decimal('0.660')
    """
    total = Decimal(0)
    for weight, value in pairs:
        total = EXACT.add(total, EXACT.multiply(weight, value))
    return total


def finest_places(bound: Decimal, reserve: Decimal) -> int:
    """The finest unit, at most nine places, in which 10**9 plays fit an int64.

    ``bound`` is the most that one play can move a sum of the books by, see ``reach``.

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


def short(amount: Decimal) -> str:
    """An exact amount without trailing zeros.

    >>> short(Decimal("0.700000000")), short(Decimal("0E-9"))
    ('0.7', '0')
    """
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def share(units: int, low: int, high: int) -> float:
    """Where an amount lies in a range, within [0, 1]; beyond it, at its nearer end.

    >>> share(3, 1, 5), share(9, 1, 5)
    (0.5, 1.0)
    """
    if not low <= units <= high:
        units = low if units < low else high
    return (units - low) / (high - low)
