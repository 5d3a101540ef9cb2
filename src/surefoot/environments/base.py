"""What an environment is: where rewards come from, and the only one that knows the regret."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from surefoot._exact import exact, shown
from surefoot.errors import InvalidInput


@runtime_checkable
class Environment(Protocol):
    """Rewards on a decimal lattice, each a pure function of (key, turn, arm).

    ``places``: every reward is an integer multiple of 10**-places, within ``reward_range``.
    ``means``: the true mean of each arm. ``record``: the parameters of its draw kernel, which
    gives the same rewards in units of 10**-places; None if there is none: the simulator then
    pulls, play by play.
    """

    n_arms: int
    places: int
    reward_range: tuple[Any, Any]
    means: npt.NDArray[np.float64]
    record: Any

    def pull(self, key: int, turn: int, arm: int) -> float:
        """The reward of ``arm`` at the policy's ``turn`` in the run of ``key``."""
        ...

    def gaps(self, default: float) -> npt.NDArray[np.float64]:
        """What each arm, and last the default, loses on average against the best of them."""
        ...


def bounds(environment: Environment) -> tuple[Decimal, Decimal]:
    """The environment's ``reward_range`` in exact decimals; InvalidInput if it is no range."""
    try:
        low, high = environment.reward_range
    except (TypeError, ValueError):
        raise InvalidInput(
            f"reward_range = {shown(environment.reward_range)} of the environment must be a pair "
            "(r_min, r_max), e.g. (0, 1)"
        ) from None
    ends = exact(low, "r_min of the environment"), exact(high, "r_max of the environment")
    if not ends[0] <= ends[1]:
        raise InvalidInput(
            f"reward_range = ({shown(low)}, {shown(high)}) of the environment must have "
            "r_min <= r_max"
        )
    return ends


def gaps(means: npt.NDArray[np.float64], default: float) -> npt.NDArray[np.float64]:
    """Pseudo-regret of one play of each arm, the default last.

    Delta_x = mu_* - mu_x with mu_* the best regular arm (Du, Wang, Huang 2021, eq. 1), or the
    default where that is better (ours: the paper assumes it is not).

    >>> gaps(np.array([0.75, 0.5]), 0.625).tolist(), gaps(np.array([0.5]), 0.75).tolist()
    ([0.0, 0.25, 0.125], [0.25, 0.0])
    """
    all_means = np.append(means, default)
    return np.asarray(all_means.max() - all_means, dtype=np.float64)
