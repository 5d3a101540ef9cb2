"""Counter-based randomness: pure functions of a key and counters, alike in every driver.

Nothing is stored, so a run can be entered at any turn, and agents that share a key share their
draws. An environment's rewards and a policy's own draws have keys of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot._jit import jittable
from surefoot.errors import InvalidInput

_MASK = 0xFFFFFFFFFFFFFFFF


def key_from(rng: np.random.Generator) -> int:
    """A key of 64 bits, the next draw of a generator."""
    return int(rng.integers(2**64, dtype=np.uint64))


class NoKey:
    """In place of a key, for a policy that does not declare that it draws: it cannot be used."""

    def __add__(self, other: Any) -> Any:
        raise InvalidInput(
            "the policy draws at random (noise or uniform of its key) and has no key of its own; "
            "say `draws = True` in its class"
        )

    __radd__ = __xor__ = __rxor__ = __and__ = __mod__ = __int__ = __index__ = __add__


NO_KEY = NoKey()


def wrap(number: Any) -> Any:
    """Keep 64 bits; compiled code has no others, and is taught so by ``warm.teach``."""
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


@jittable
def uniform(key: Any, turn: int, arm: int) -> float:
    """A number in (0, 1) for (key, turn, arm): an odd multiple of 2**-53, and so is 1 less it."""
    return (float(noise(key, turn, arm) >> 12) + 0.5) * 2.0**-52
