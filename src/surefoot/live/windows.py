"""Reward windows: how long a reward may take before its play expires."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from surefoot._exact import exact, shown
from surefoot.errors import InvalidInput

_MICRO = 1_000_000
_LONGEST = 100 * 366 * 86_400
"""A century, in seconds: what is longer is a mistake in the unit."""


def microseconds(window: Any, name: str = "reward_window") -> int | None:
    """A length of time, in seconds or as a timedelta, in microseconds of the store's clock.

    >>> from datetime import timedelta
    >>> microseconds(0.5), microseconds(timedelta(hours=1)), microseconds(None)
    (500000, 3600000000, None)
    """
    if window is None:
        return None
    if isinstance(window, timedelta):
        seconds = exact(window.total_seconds(), name)
    else:
        seconds = exact(window, name)
    if isinstance(window, bool) or not 0 < seconds <= _LONGEST:
        raise InvalidInput(
            f"{name} = {shown(window)} must be seconds > 0, at most a century, a timedelta, "
            "or None: for ever"
        )
    return max(1, int(seconds * _MICRO))
