"""Thompson sampling for K arms: Thompson 1933; for rewards in [0, 1] after Agrawal, Goyal 2012."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from surefoot._exact import shown
from surefoot._jit import jittable
from surefoot.errors import InvalidInput
from surefoot.kernels import NANO, KernelPolicy, Kernels, beta_quantile, register, uniform
from surefoot.kernels.noise import wrap
from surefoot.policies._forgetting import forgetful, refuse_to_forget, signed_as

_ERROR = 1e-6
"""By how much P(theta <= x) of a computed quantile x may miss its u. It is 1e-10, but an x near 1
has 53 bits: with 10**9 plays its last one is worth 1e-7."""


class ThompsonRecord(NamedTuple):
    """Parameters of Thompson sampling."""

    unit: float = NANO
    """Into how many the range of rewards is divided for the trials, see ``kernels.unit_of``."""


WON, TRIED, KEY = range(1, 4)
"""Behind the arms' plays: their successes, their trials so far, and in the first place of the last
list half of the policy's key, which trials are drawn with."""


def fresh(policy: Any, n_arms: int) -> tuple[list[int], ...]:
    """The lists before the first reward."""
    return [0] * n_arms, [0] * n_arms, [0] * n_arms, [0] * n_arms


def keep_key(policy: Any, state: Any, key: int) -> None:
    """As the kernel ``seed``."""
    state[KEY][0] = key >> 1  # fits an int64, and shares no draw with the key of the samples


@jittable
def success(policy: Any, state: Any, k: int, reward: float) -> int:
    """1 or 0, by a trial if the reward is neither."""
    units = math.floor(reward * policy.unit + 0.5)
    if units >= policy.unit:
        return 1
    if units > 0:
        state[TRIED][k] += 1
        if uniform(wrap(state[KEY][0]), state[TRIED][k], k) < units / policy.unit:
            return 1
    return 0


def _update(policy: ThompsonRecord, state: Any, k: int, reward: float) -> None:
    state[0][k] += 1
    state[WON][k] += success(policy, state, k, reward)


def _take(policy: ThompsonRecord, state: Any, k: int, reward: float) -> None:
    units = math.floor(reward * policy.unit + 0.5)
    if 0 < units < policy.unit:
        raise InvalidInput(
            f"old = {shown(reward)} cannot be taken back: it counted as a success or not at "
            "random, and which is not kept; only 0 and 1 can be corrected"
        )
    state[0][k] -= 1
    state[WON][k] -= int(units > 0)


@jittable
def sample(policy: Any, state: Any, k: int, m: int, key: Any) -> float:
    """theta_k at turn m."""
    won = float(state[WON][k])
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


def largest(
    policy: Any, state: Any, m: int, key: Any, context: Any, allowed: Any
) -> tuple[int, float]:
    """The first arm of the largest sample; few samples are computed.

    Arm k has u_k = uniform(key, m, k), and its sample is theta_k = x with P(theta <= x) = u_k. Say
    that top is the largest one so far. Were theta_k >= top as computed, then P(theta > top) would
    be at least 1 - u_k less the error of the computed quantile: so an arm with a bound on
    P(theta > top) below that is left out, and the choice and its score are those of all quantiles.
    The first sample is that of the arm with the most plays: it is seldom far below the largest.
    """
    plays, won = state[0], state[WON]
    chosen = -1
    most = -1
    for k in allowed:
        if plays[k] > most:
            chosen = k
            most = plays[k]
    leader = chosen
    top = sample(policy, state, chosen, m, key)
    for k in allowed:
        if k == leader:
            continue
        v = 1.0 - uniform(key, m, k)
        n = plays[k] + 1.0
        if top < 1.0:
            if _surely_below(v, n, won[k] + _ERROR, top):  # a bit more, for rounding
                continue
            if _below(v, n, float(won[k]), top):
                continue
        theta = sample(policy, state, k, m, key)
        if theta > top or (theta == top and k < chosen):
            chosen = k
            top = theta
    return chosen, top


register(ThompsonRecord, Kernels(fresh, largest, _update, take=_take, seed=keep_key))


class Thompson(KernelPolicy):
    """Draw each arm's mean from its Beta posterior and play the largest draw.

        theta_i ~ Beta(1 + S_i, 1 + N_i - S_i),   the largest plays, ties to the lowest arm

    Source: Thompson 1933; for rewards in [0, 1] the Bernoulli trial of Agrawal, Goyal 2012: each
    reward r counts as a success with probability r, independently, and S_i is the number of
    successes. Ours is where the randomness comes from: theta_i is the quantile of a uniform number
    for (key, turn, arm), and the trial of a reward that is neither 0 nor 1 one for (key, number of
    the arm's trial, arm). So live, plain and compiled draws are the same to the last bit; only
    the samples that may be the largest are computed. m, the turn, counts this policy's own turns.

    ``correct`` of a reward told as 0 or 1, as the worst of a missing one is: to 0 or 1 it is exact,
    and to any other it makes a new trial, which has the law of one made at once. What a reward in
    between came to is not kept: to correct it is an InvalidInput.

    ``n_arms`` or ``arms``: the regular arms, the default not counted. The key comes from the seed
    of the agent, see ``surefoot.kernels.KernelPolicy``. ``discount`` or ``window``, for rewards
    that drift: in place of this policy a ``DiscountedThompson`` or a ``SlidingThompson``. Raises
    InvalidInput for an empty arm list.

    >>> import numpy as np
    >>> policy, rng = Thompson(arms=["UA", "AA"]), np.random.default_rng(0)
    >>> for _ in range(20):
    ...     policy.update(0, 1.0, None), policy.update(1, 0.0, None)
    (None, None)
    ...
    >>> policy.select(None, rng)
    0

    Holds when: rewards lie in [0, 1] (the agent scales them) and are independent over time: regret
    O(ln T). It is asymptotically optimal, sum_i Delta_i ln T / kl(mu_i, mu_*), for rewards 0 and 1
    (Kaufmann, Korda, Munos 2012; Agrawal, Goyal 2013). Does not hold when: rewards drift, see
    ``discount`` and ``window``. With late rewards it goes on drawing, so that it suffers less from
    them than ``UCB1`` does; those told before the first turn are tried without a key, alike in
    every run.
    """

    draws: ClassVar[bool] = True

    def __init__(
        self,
        n_arms: int | None = None,
        arms: Sequence[Any] | None = None,
        *,
        discount: float | None = None,
        window: int | None = None,
    ) -> None:
        refuse_to_forget(self, discount, window)
        super().__init__(ThompsonRecord(), n_arms, arms)

    @signed_as(__init__)
    def __new__(cls, *args: Any, **options: Any) -> Any:
        """Another class where an option says that rewards are forgotten."""
        from surefoot.policies.discounted import DiscountedThompson
        from surefoot.policies.sliding import SlidingThompson  # which is written with this module

        if cls is not Thompson:
            return super().__new__(cls)
        found = forgetful(args, options, DiscountedThompson, SlidingThompson)
        return super().__new__(cls) if found is None else found

    def _rescaled(self, rows: Any, unit: float) -> Any:
        return rows  # successes are counts
