"""Open plays of a linear policy: the features of what was played and has no reward yet.

    E = sum x x' over the open plays,   V + E in the place of V,   theta_hat that of V alone

So they narrow the bounds as their rewards will, whatever those are, and move no estimate: in V each
counts as if it had paid its predicted mean (after Desautels, Krause, Burdick 2014, GP-BUCB). Their
proof multiplies the radius by a constant that grows with the number of open plays; here the radius
stays, so what is proved holds only while no play is open.

E is kept in whole numbers of ``step`` = 2**-40 L^2: ints, so that a play that is closed leaves
nothing behind, in whatever order. What an entry is rounded by is 2**-41 of L^2, and V has no
eigenvalue below lambda, at least L^2 unless told otherwise. ``opens``: d*d ints, E's lower triangle
row by row, and how many plays are open.
"""

from __future__ import annotations

import math
from typing import Any

from surefoot._jit import jittable


def step_of(bound: float) -> float:
    """``step`` for features of at most this norm; 0 where their products are no floats."""
    return float(bound * bound * 2.0**-40)


def none(d: int) -> list[int]:
    """No play is open."""
    return [0] * (d * d + 1)


@jittable
def count(opens: Any, features: Any, row: int, d: int, step: float, by: int) -> None:
    """One open play of a row more, or less, by = 1 or -1.

    A play given out before its policy heard of such things is closed without having been opened:
    with the last one all is forgotten.
    """
    left = opens[d * d] + by
    if left <= 0:
        for i in range(d * d + 1):
            opens[i] = 0
        return
    opens[d * d] = left
    if step > 0.0:
        for i in range(d):
            for j in range(i + 1):
                part = features[row * d + i] * features[row * d + j] / step
                opens[i * d + j] += by * math.floor(part + 0.5)
