"""Gaussian arms: normal rewards, clipped to a range that the promise can rest on."""

from __future__ import annotations

from typing import Any

from scipy import special

from surefoot._exact import exact, exact_range, shown
from surefoot._types import Number
from surefoot.environments._table import TableArms, listed, on_lattice, ranks, table, unit_of
from surefoot.errors import InvalidInput


class GaussianArms(TableArms):
    """Independent rewards of (nearly) the law N(mean_k, sd_k^2), clipped to ``reward_range``.

    What is drawn (ours): one of the law's 4096 quantiles at (i + 1/2)/4096, each equally likely,
    clipped to the range and rounded to a multiple of 10**-places within it. ``means`` and
    ``variances`` are exactly those of what is drawn: of the clipped law, not of the given one.
    ``means``: one number for each arm; ``sd``: one above 0 for all arms, or one for each;
    ``reward_range``: (r_min, r_max). Raises InvalidInput for anything else.

    >>> env = GaussianArms([0.5, 0.9], sd=0.1, reward_range=(0, 1))
    >>> env.means.round(3).tolist(), env.pull(key=7, turn=1, arm=0)
    ([0.5, 0.892], 0.354706)

    Holds when: rewards beyond the range are paid as its ends. Does not hold when: the far tails
    matter: no draw lies further than 3.7 sd from the given mean.
    """

    def __init__(
        self, means: Any, sd: Any, reward_range: tuple[Number, Number], places: int = 6
    ) -> None:
        given_means = enumerate(listed(means, "means"))
        centres = [float(exact(mean, f"means[{arm}]")) for arm, mean in given_means]
        each = hasattr(sd, "__len__") and not isinstance(sd, str)
        given = listed(sd, "sd") if each else [sd] * len(centres)
        if len(given) != len(centres):
            raise InvalidInput(
                f"sd is of {len(given)} arms, means of {len(centres)}; one for all will do"
            )
        spreads = [_positive(one, f"sd[{arm}]" if each else "sd") for arm, one in enumerate(given)]
        self.reward_range = low, high = exact_range(reward_range)
        unit, steps = unit_of(low, high, places), special.ndtri(ranks())
        laws = (mean + spread * steps for mean, spread in zip(centres, spreads, strict=True))
        self._hold(table([on_lattice(law, unit, low, high) for law in laws]), unit)


def _positive(number: Any, what: str) -> float:
    value = float(exact(number, what))
    if isinstance(number, bool) or not 0 < value < 1e300:
        raise InvalidInput(f"{what} = {shown(number)} must be above 0, and below 1e300")
    return value
