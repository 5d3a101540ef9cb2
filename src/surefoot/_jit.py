"""Kernel text that both drivers run: plain functions that numba will be able to call as well.

Nothing is compiled here and numba is not imported: the functions are listed, and the engine
(``surefoot.simulation.compiled``) makes them known to numba when it first needs to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., object])

HELPERS: list[Callable[..., object]] = []
"""What numba has not yet been told of; the engine empties it."""


TABLES: list[dict[type, Any]] = []
"""Where kernels are looked up: by the class of a parameter record, a kernel or a tuple of them."""


def table() -> dict[type, Any]:
    """Make a new table of kernels, one that compiled code is known to depend on.

    >>> kernels = table()
    >>> any(known is kernels for known in TABLES)
    True
    """
    TABLES.append({})
    return TABLES[-1]


def jittable(function: F) -> F:
    """Let compiled kernels call this function; in Python it stays what it is."""
    HELPERS.append(function)
    return function
