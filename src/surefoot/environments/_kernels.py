"""One reward text, two drivers: the same draws live, in plain Python and compiled.

A reward is a pure function of (key, turn, arm): agents of one study share their noise, a run can
be entered at any turn, and nothing is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from surefoot._jit import table

DRAWS: dict[type, Callable[..., Any]] = table()
PULLS: dict[type, Callable[..., Any]] = {}
WRAPPERS: set[type] = set()
"""Environments that pay what the one inside pays."""


def register(record: type, draw_kernel: Callable[..., Any], pull: Callable[..., Any]) -> None:
    """Make the draw of an environment's parameter record known to both drivers.

    ``pull``: the method that the draw stands for.
    """
    DRAWS[record], PULLS[record] = draw_kernel, pull


def draws_for(environment: Any) -> bool:
    """Whether the kernel of its record draws what the environment's own ``pull`` would pay."""
    while type(environment) in WRAPPERS:  # which only say when a reward comes
        environment = environment.env
    pull, record = environment.pull, type(environment.record)
    return (
        record in PULLS
        and getattr(pull, "__func__", None) is PULLS[record]
        and getattr(pull.__self__, "record", None) is environment.record
    )


def records_of(record: Any) -> list[type]:
    """The class of a parameter record, and of those within it; an environment may have none.

    >>> records_of(None)
    [<class 'NoneType'>]
    """
    fields = record if isinstance(record, tuple) else ()
    within = [kind for field in fields if isinstance(field, tuple) for kind in records_of(field)]
    return [type(record), *within]


def draw(environment: Any, key: Any, turn: int, arm: int) -> Any:
    """The reward of ``arm`` at the policy's ``turn``, in units of 10**-places."""
    return DRAWS[type(environment)](environment, key, turn, arm)
