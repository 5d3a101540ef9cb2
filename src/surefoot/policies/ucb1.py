"""UCB1 for K arms: Auer, Cesa-Bianchi, Fischer 2002; index as in Du et al. 2021, GenCB-CMAB."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from surefoot._jit import jittable
from surefoot.kernels.policy import IndexPolicy
from surefoot.kernels.registry import (
    LARGEST,
    NANO,
    IndexKernels,
    LineKernels,
    add_units,
    count_and_sum,
    count_open,
    register,
)
from surefoot.policies._forgetting import forgetful, refuse_to_forget, signed_as
from surefoot.policies.discounted import DiscountedUCB1
from surefoot.policies.sets import positive
from surefoot.policies.sliding import SlidingUCB1


class UCB1Record(NamedTuple):
    """Parameters of UCB1; ``c`` is the 2 in sqrt(2 ln m / N)."""

    c: float = 2.0
    unit: float = NANO
    """Into how many the range of rewards is divided for the sums, see ``kernels.unit_of``."""


@jittable
def _scale(policy: UCB1Record, m: int) -> Any:
    return policy.c * math.log(m)


def _index(policy: UCB1Record, state: Any, k: int, s: float, best: float) -> Any:
    n = state[0][k]  # as in plays_and_mean, whose call takes longer than all of this
    plays = n + state[2][k]
    if plays == 0:
        return math.inf
    mean = float(state[1][k]) / policy.unit / n if n > 0 else 0.5
    return mean + math.sqrt(s / plays)


def _rise(policy: UCB1Record, m: int) -> Any:
    s = math.sqrt(_scale(policy, m))
    return s, policy.c / (2.0 * m * s), 1.0 + s


def _line(policy: UCB1Record, state: Any, k: int) -> Any:
    plays = state[0][k]
    return float(state[1][k]) / policy.unit / plays, 1.0 / math.sqrt(plays)


def _read(policy: UCB1Record, state: Any, k: int) -> Any:
    return state[0][k], state[1][k]


def _gain(policy: UCB1Record, known: Any, n: int, total: int) -> Any:
    return known[0] + n, known[1] + total


def _square(policy: UCB1Record, known: Any, nano: int) -> Any:
    return known


def _above(policy: UCB1Record, known: Any, n: int, total: int, level: float) -> Any:
    return float(known[1] + total) > level * policy.unit * (known[0] + n)


def _write(policy: UCB1Record, state: Any, k: int, known: Any) -> None:
    state[0][k], state[1][k] = known


register(
    UCB1Record,
    IndexKernels(count_and_sum, _scale, _index, add_units, opened=count_open),
    LineKernels(_rise, _line, _read, _gain, _square, _above, _write),
)


class UCB1(IndexPolicy):
    """Play the arm with the largest upper confidence bound.

        index_i = S_i/N_i + sqrt(2 ln m / N_i),   N_i = 0 first, ties to the lowest arm

    Source: Du, Wang, Huang 2021, Algorithm GenCB-CMAB (supplement), the argmax line; Auer et al.
    2002 take the plays made so far, m-1, in the logarithm. m counts this policy's own turns, not
    calendar time: the floor may have interposed default plays.

    ``n_arms`` or ``arms``: the regular arms, the default not counted. ``c``: the constant under
    the root, 2 in both papers. ``discount`` or ``window``, for rewards that drift: in place of this
    policy a ``DiscountedUCB1`` or a ``SlidingUCB1``. Raises InvalidInput for an empty arm list or
    c <= 0.

    >>> import numpy as np
    >>> policy, rng = UCB1(arms=["UA", "AA"]), np.random.default_rng(0)
    >>> policy.select(None, rng)
    0
    >>> policy.update(0, 1.0, None)
    >>> policy.select(None, rng)  # an unplayed arm comes first
    1

    Holds when: rewards lie in [0, 1] (the agent scales them) and are independent over time:
    regret O(sum_i ln T / Delta_i), where they come at once. Open plays count in N_i, with the mean
    of the rewards that came (1/2 before the first), so that a burst of plays is spread over the
    arms (ours); for that form no bound is proved. Does not hold when: rewards drift, see
    ``discount`` and ``window``. At click rates of a percent the radius is far too wide, see
    ``KLUCB``.
    """

    def __init__(
        self,
        n_arms: int | None = None,
        arms: Sequence[Any] | None = None,
        c: float = 2.0,
        *,
        discount: float | None = None,
        window: int | None = None,
    ) -> None:
        refuse_to_forget(self, discount, window)
        constant = positive(c, "c", LARGEST, "; the papers use 2")
        super().__init__(UCB1Record(constant), n_arms, arms)

    @signed_as(__init__)
    def __new__(cls, *args: Any, **options: Any) -> Any:
        """Another class where an option says that rewards are forgotten."""
        if cls is not UCB1:
            return super().__new__(cls)
        found = forgetful(args, options, DiscountedUCB1, SlidingUCB1)
        return super().__new__(cls) if found is None else found
