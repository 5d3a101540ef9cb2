"""How a number is written on a label, in full and in brief."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]
"""Counts or amounts, of many runs or plays."""
MINUS = "\N{MINUS SIGN}"


def plain(value: float) -> str:
    """A reward in full, with a real minus sign.

    >>> plain(-1378.305), plain(0.0)
    ('\N{MINUS SIGN}1,378.305', '0')
    """
    return f"{value:,.10g}".replace("-", MINUS)


def brief(value: float) -> str:
    """A reward to three digits, or whole: for a label.

    >>> brief(-1378.305), brief(0.0123456)
    ('\N{MINUS SIGN}1,378', '0.0123')
    """
    return plain(round(value) if abs(value) >= 100 else float(f"{value:.3g}"))


def counted(number: int, what: str) -> str:
    """A number and its noun.

    >>> counted(1, "run"), counted(50, "run")
    ('1 run', '50 runs')
    """
    return f"{number:,} {what}" + ("" if number == 1 else "s")
