"""Thompson sampling for K arms: Thompson 1933; for rewards in [0, 1] after Agrawal, Goyal 2012."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from surefoot._jit import jittable
from surefoot.kernels import (
    NANO,
    KernelPolicy,
    Kernels,
    add_units,
    beta_quantile,
    count_and_sum,
    register,
    uniform,
)

_ERROR = 1e-6
"""By how much P(theta <= x) of a computed quantile x may miss its u. It is 1e-10, but an x near 1
has 53 bits: with 10**9 plays its last one is worth 1e-7."""


class ThompsonRecord(NamedTuple):
    """Parameters of Thompson sampling."""

    unit: float = NANO
    """Into how many the range of rewards is divided for the sums, see ``kernels.unit_of``."""


@jittable
def _won(policy: ThompsonRecord, state: Any, k: int, key: Any) -> float:
    """The successes of arm k: its sum rounded down or, with the chance of what is left over, up."""
    unit = int(policy.unit)
    whole = state[1][k] // unit
    left = state[1][k] - whole * unit
    if left > 0 and uniform(key, 0, k) * policy.unit < left:  # no turn has the number 0
        whole += 1
    return float(whole)


@jittable
def sample(policy: ThompsonRecord, state: Any, k: int, m: int, key: Any) -> float:
    """theta_k at turn m."""
    won = _won(policy, state, k, key)
    return beta_quantile(uniform(key, m, k), 1.0 + won, 1.0 + state[0][k] - won)


@jittable
def _surely_below(v: float, n: float, won: float, x: float) -> bool:
    """Whether Hoeffding's bound rules out that arm; no logarithm is needed.

    P(theta > x) = P(Bin(n, x) <= won) <= exp(-y), and 1/exp(y) <= 1/(1 + y + y^2/2 + y^3/6).
    """
    gap = x * n - won
    if gap <= 0.0:
        return False
    y = 2.0 * gap * gap / n
    return (v - _ERROR) * (1.0 + y * (1.0 + y * (0.5 + y / 6.0))) > 1.0 + _ERROR


@jittable
def _below(v: float, n: float, won: float, x: float) -> bool:
    """The same by Chernoff's bound, exp(-n kl(won/n, x))."""
    if won >= x * n or v <= 2.0 * _ERROR:
        return False
    y = (n - won) * math.log((n - won) / (n * (1.0 - x)))
    if won > 0.0:
        y += won * math.log(won / (n * x))
    return math.log(v - _ERROR) > _ERROR - y


def _best(
    policy: ThompsonRecord, state: Any, m: int, key: Any, context: Any, allowed: Any
) -> tuple[int, float]:
    """The first arm of the largest sample; few samples are computed.

    Arm k has u_k = uniform(key, m, k), and its sample is theta_k = x with P(theta <= x) = u_k. Say
    that top is the largest one so far. Were theta_k >= top as computed, then P(theta > top) would
    be at least 1 - u_k less the error of the computed quantile: so an arm with a bound on
    P(theta > top) below that is left out, and the choice and its score are those of all quantiles.
    The first sample is that of the arm with the most plays: it is seldom far below the largest.
    """
    plays, sums = state[0], state[1]
    chosen = -1
    most = -1
    for k in allowed:
        if plays[k] > most:
            chosen = k
            most = plays[k]
    leader = chosen
    top = sample(policy, state, chosen, m, key)
    each = 1.0 / policy.unit
    for k in allowed:
        if k == leader:
            continue
        v = 1.0 - uniform(key, m, k)
        n = plays[k] + 1.0
        if top < 1.0:
            # The successes are below the sum and one more; the rest is for rounding.
            if _surely_below(v, n, sums[k] * each + (1.0 + _ERROR), top):
                continue
            if _below(v, n, _won(policy, state, k, key), top):
                continue
        theta = sample(policy, state, k, m, key)
        if theta > top or (theta == top and k < chosen):
            chosen = k
            top = theta
    return chosen, top


register(ThompsonRecord, Kernels(count_and_sum, _best, add_units))


class Thompson(KernelPolicy):
    """Draw each arm's mean from its Beta posterior and play the largest draw.

        theta_i ~ Beta(1 + S_i, 1 + N_i - S_i),   the largest plays, ties to the lowest arm

    Source: Thompson 1933; for rewards in [0, 1] the Bernoulli trial of Agrawal, Goyal 2012: each
    reward r counts as a success with probability r. Ours is how the trials are drawn: one uniform
    number an arm decides all of them, S_i being the exact sum of its rewards rounded down, or up
    where the number is below what is left over. So S_i is within one of the sum, does not depend on
    the order of rewards, and ``correct`` is exact; of rewards 0 and 1 it is the sum itself. theta_i
    is the quantile of a uniform number for (key, turn, arm), so that live, plain and compiled draws
    are the same to the last bit; only those that may be the largest are computed. m, the turn,
    counts this policy's own turns.

    ``n_arms`` or ``arms``: the regular arms, the default not counted. The key comes from the seed
    of the agent, see ``surefoot.kernels.KernelPolicy``. Raises InvalidInput for an empty arm list.

    >>> import numpy as np
    >>> policy, rng = Thompson(arms=["UA", "AA"]), np.random.default_rng(0)
    >>> for _ in range(20):
    ...     policy.update(0, 1.0, None), policy.update(1, 0.0, None)
    (None, None)
    ...
    >>> policy.select(None, rng)
    0

    Holds when: rewards are 0 or 1 and independent over time: regret is asymptotically optimal,
    sum_i Delta_i ln T / kl(mu_i, mu_*) (Kaufmann, Korda, Munos 2012; Agrawal, Goyal 2013). For
    other rewards in [0, 1] those proofs take independent trials; ours are not, though their sum is
    closer to that of the rewards, and no proof is claimed. Does not hold when: rewards drift. With
    late rewards it goes on drawing, so that it suffers less from them than ``UCB1`` does.
    """

    draws: ClassVar[bool] = True

    def __init__(self, n_arms: int | None = None, arms: Sequence[Any] | None = None) -> None:
        super().__init__(ThompsonRecord(), n_arms, arms)
