"""How numbers are written: in a sentence, in a column, along an axis, and on a label."""

from __future__ import annotations

import math
from collections.abc import Iterable

from surefoot._drawing.numbers import MINUS, Array, brief, counted, plain

__all__ = [
    "Array", "amount", "brief", "counted", "full", "percent", "plain", "scale", "tick",
]  # fmt: skip

_PREFIXES = "kMGTPE"


def amount(value: float, beside: float | None = None, *, signed: bool = False) -> str:
    """A number as people read it; ``beside``: the one of those it stands with that sets the scale.

    What is less than one of its thousands, or would be all zeros, is written on its own.

    >>> amount(1234.5), amount(0.01234), amount(0, beside=37_233)
    ('1,234', '0.0123', '0')
    >>> amount(-1140, beside=37_233, signed=True), amount(-140, beside=37_233)
    ('\N{MINUS SIGN}1.1k', '\N{MINUS SIGN}140')
    """
    if value == 0:
        return "0"
    decade = _decade(value if beside is None else beside)
    sign = MINUS if value < 0 else "+" if signed else ""
    if not -6 <= decade < 3 * (len(_PREFIXES) + 1):
        return f"{sign}{abs(value):.2e}"
    thousands = _thousands(decade)
    digits = max(0, 2 - decade + 3 * thousands)
    text = f"{abs(value) / 1000**thousands:,.{digits}f}"
    tiny = abs(value) < 1000**thousands if thousands else not text.strip("0.,")
    if beside is not None and tiny:
        return amount(value, signed=signed)
    return f"{sign}{text}{_prefix(thousands)}"


def scale(sizes: Iterable[float]) -> float:
    """What a column of amounts is written beside: the least that is not zero, or near the largest.

    >>> scale([0, -230, 71.5]), scale([0, -2306, 71.5])
    (71.5, 230.6)
    """
    positive = [abs(size) for size in sizes if size]
    return max(min(positive), max(positive) / 10) if positive else 0.0


def full(value: float, beside: float | None = None, figures: int = 4) -> str:
    """A number in full, thousands apart; in a column all have the decimals of the one ``beside``.

    What would be all zeros with these decimals has its own.

    >>> full(46404.2), full(0.744702), full(31403.12, figures=6), full(-15.0), full(0.0)
    ('46,404', '0.7447', '31,403.1', '\N{MINUS SIGN}15', '0')
    >>> full(14.0, beside=14.0), full(2.77, beside=14.0), full(0.0012, beside=14.0)
    ('14.00', '2.77', '0.0012')
    """
    if value == 0:
        return "0"
    decade = _decade(value if beside is None else beside)
    sign = MINUS if value < 0 else ""
    if not -6 <= decade < 15:
        return f"{sign}{abs(value):.{figures - 1}e}"
    text = f"{abs(value):,.{max(0, figures - 1 - decade)}f}"
    if beside is not None and not text.strip("0.,"):
        return full(value, figures=figures)
    if beside is None and "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{sign}{text}"


def tick(value: float, reach: float) -> str:
    """A place on an axis whose furthest place is ``reach``, on the scale of the amounts there.

    >>> tick(50_000_000, 2.5e8), tick(5_000, 9_000), tick(-20_000, 25_000), tick(0, 2.5e8)
    ('50M', '5,000', '\N{MINUS SIGN}20k', '0')
    """
    decade = _decade(reach)
    if value == 0 or decade >= 3 * (len(_PREFIXES) + 1):
        return f"{value:.3g}".replace("-", MINUS)
    thousands = _thousands(decade)
    text = f"{value / 1000**thousands:,.10g}{_prefix(thousands)}"
    return text.replace("-", MINUS)


def percent(share: float) -> str:
    """A share in percent; only all is called 100 %.

    >>> percent(0.0234), percent(0.99987), percent(1)
    ('2.34 %', '>99.9 %', '100 %')
    """
    text = f"{100 * share:.3g}"
    return ">99.9 %" if share < 1 and text == "100" else f"{text} %"


def _decade(size: float) -> int:
    return math.floor(math.log10(abs(size))) if size else 2


def _thousands(decade: int) -> int:
    """How many thousands a prefix stands for; numbers below 10,000 have none."""
    return decade // 3 if decade >= 4 else 0


def _prefix(thousands: int) -> str:
    return _PREFIXES[thousands - 1] if thousands else ""
