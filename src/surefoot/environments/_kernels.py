"""One reward text, two drivers: the same draws live, in plain Python and compiled.

A reward is a pure function of (key, turn, arm): agents of one study share their noise, a run can
be entered at any turn, and nothing is stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from surefoot._jit import jittable, table

DRAWS: dict[type, Callable[..., Any]] = table()
PULLS: dict[type, Callable[..., Any]] = {}

_MASK = 0xFFFFFFFFFFFFFFFF


def register(record: type, draw_kernel: Callable[..., Any], pull: Callable[..., Any]) -> None:
    """Make the draw of an environment's parameter record known to both drivers.

    ``pull``: the method that the draw stands for.
    """
    DRAWS[record], PULLS[record] = draw_kernel, pull


def draws_for(environment: Any) -> bool:
    """Whether the kernel of its record draws what the environment's own ``pull`` would pay."""
    pull, record = environment.pull, type(environment.record)
    return (
        record in PULLS
        and getattr(pull, "__func__", None) is PULLS[record]
        and getattr(pull.__self__, "record", None) is environment.record
    )


def draw(environment: Any, key: Any, turn: int, arm: int) -> Any:
    """The reward of ``arm`` at the policy's ``turn``, in units of 10**-places."""
    return DRAWS[type(environment)](environment, key, turn, arm)


def wrap(number: Any) -> Any:
    """Keep 64 bits; compiled code has no others, and is taught so by the engine."""
    return number & _MASK


@jittable
def noise(key: Any, turn: int, arm: int) -> Any:
    """64 random bits for (key, turn, arm).

    The counter is spread by odd constants and finished with the splitmix64 mixer (Steele, Lea,
    Flood 2014) twice, once before the arm enters, so that neighbouring turns and arms share no
    pattern.
    """
    z = wrap(key + wrap(wrap(turn) * 0x9E3779B97F4A7C15))
    z = wrap((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9)
    z = wrap((z ^ (z >> 27)) * 0x94D049BB133111EB)
    z = wrap((z ^ (z >> 31)) + wrap(wrap(arm + 1) * 0xD1342543DE82EF95))
    z = wrap((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9)
    z = wrap((z ^ (z >> 27)) * 0x94D049BB133111EB)
    return z ^ (z >> 31)
