"""Beta arms: continuous rewards in [0, 1]."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from scipy import special

from surefoot._exact import exact, shown
from surefoot.environments._table import TableArms, listed, on_lattice, ranks, table, unit_of
from surefoot.errors import InvalidInput


class BetaArms(TableArms):
    """Independent rewards of (nearly) the law Beta(a_k, b_k).

    What is drawn (ours): one of the law's 4096 quantiles at (i + 1/2)/4096, each equally likely,
    rounded to a multiple of 10**-places: an exact amount, in which the last bits of a float do
    not show.
    ``means`` and ``variances`` are exactly those of what is drawn, near a/(a+b) and
    ab/((a+b)^2 (a+b+1)). ``a``, ``b``: one number above 0 for each arm. Raises InvalidInput for
    another number, or lists of two lengths.

    >>> env = BetaArms([2], [2])
    >>> env.pull(key=7, turn=1, arm=0), env.means.tolist()
    (0.165519, [0.5])

    Holds when: six decimals of a reward are enough. Does not hold when: the far tails matter: no
    draw lies beyond the quantiles of 1/8192 and 1 - 1/8192.
    """

    reward_range = (0, 1)

    def __init__(self, a: Any, b: Any, places: int = 6) -> None:
        shapes = [
            [_positive(number, f"{what}[{arm}]") for arm, number in enumerate(listed(given, what))]
            for given, what in ((a, "a"), (b, "b"))
        ]
        if len(shapes[0]) != len(shapes[1]):
            raise InvalidInput(
                f"a is of {len(shapes[0])} arms, b of {len(shapes[1])}; give one of each for each"
            )
        low, high = Decimal(0), Decimal(1)
        unit = unit_of(low, high, places)
        laws = (special.betaincinv(one, other, ranks()) for one, other in zip(*shapes, strict=True))
        self._hold(table([on_lattice(law, unit, low, high) for law in laws]), unit)


def _positive(number: Any, what: str) -> float:
    value = float(exact(number, what))
    if isinstance(number, bool) or not 1e-3 <= value <= 1e9:
        raise InvalidInput(f"{what} = {shown(number)} must lie in [0.001, 1e9]")
    return value
