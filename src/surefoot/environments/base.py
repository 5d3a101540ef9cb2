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
    ``means``, ``variances``: the true ones of each arm. ``best``: the true mean of the best regular
    action. ``record``: the parameters of its draw kernel, which gives the same rewards in units of
    10**-places; None if there is none: the simulator then pulls, play by play.

    Optional: ``arrival(key, play)``, the play (``play`` itself or a later one) after which the
    reward of ``play`` is known; and ``drifts = True`` of one whose arms change: its ``pull`` and
    ``value`` take the play's number as a last argument, and ``best_at(play)`` is the true mean of
    the best regular action then. ``Delayed`` and ``Drifting`` have them. ``context(play)`` is what
    an agent's ``select`` is given at a play, unless its policy takes no context; and
    ``in_run(key)``, which a run asks once, returns what stands for the environment in it: ``value``
    and ``context`` may then depend on the key. ``ContextualArms`` has both.

    For agents of several floors: ``pull_measures(key, turn, arm)``, every measure of a play by
    name (with the play's number behind where arms drift), and ``ranges``, name -> (low, high). What
    the default pays, for those that learn it: ``pull_default(key, play)``, by name as well, and
    ``default_means``, the true mean of each; ``default_value`` is the default's true mean of the
    objective, which ``pull`` pays. ``MeasuredArms`` has all of them.
    """

    n_arms: int
    places: int
    reward_range: tuple[Any, Any]
    means: npt.NDArray[np.float64]
    variances: npt.NDArray[np.float64]
    best: float
    record: Any

    def pull(self, key: int, turn: int, arm: int) -> float:
        """The reward of ``arm`` at the policy's ``turn`` in the run of ``key``."""
        ...

    def value(self, action: Any) -> float:
        """The true mean reward of an action: an arm's number, or a tuple of base arms."""
        ...


def bounds(environment: Any, measure: str | None = None) -> tuple[Decimal, Decimal]:
    """The environment's ``reward_range`` in exact decimals; InvalidInput if it is not a range.

    ``measure``: the range of one of its measures by name, in ``ranges``, instead.
    """
    what, given = "reward_range", environment.reward_range
    if measure is not None:
        what, given = f"ranges[{measure!r}]", environment.ranges[measure]
    try:
        low, high = given
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{what} = {shown(given)} of the environment must be a pair (r_min, r_max), e.g. (0, 1)"
        ) from None
    ends = exact(low, "r_min of the environment"), exact(high, "r_max of the environment")
    if not ends[0] <= ends[1]:
        raise InvalidInput(
            f"{what} = ({shown(low)}, {shown(high)}) of the environment must have r_min <= r_max"
        )
    return ends
