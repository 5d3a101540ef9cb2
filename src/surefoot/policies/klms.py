"""KL-MS, Kullback-Leibler Maillard sampling for K arms: Qin, Jun, Zhang 2023."""

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
    count_and_sum,
    count_open,
    plays_and_mean,
    register,
    uniform,
)
from surefoot.policies._bernoulli import bernoulli_kl, kl_upper
from surefoot.policies._propensities import arms_asked

SCORE = -1
"""What the draw of a turn's score is numbered by, in the place of an arm."""
_GONE = 746.0
"""exp(-746) is 0 to a float."""


class KLMSRecord(NamedTuple):
    """Parameters of KL-MS."""

    unit: float = NANO
    """Into how many the range of rewards is divided for the sums, see ``kernels.unit_of``."""


@jittable
def _divergence(p: float, top: float) -> float:
    return 0.0 if p >= top else bernoulli_kl(p, top)


@jittable
def _weight(policy: KLMSRecord, state: Any, k: int, top: float) -> float:
    """exp(-N_k kl(mean_k, top)); a logarithm is computed only where that may be above 0."""
    n, p = plays_and_mean(policy, state, k)
    if 2.0 * n * (top - p) * (top - p) > _GONE:  # Pinsker: kl(p, q) >= 2 (p-q)^2
        return 0.0
    return math.exp(-n * _divergence(p, top))


@jittable
def _foremost(policy: KLMSRecord, state: Any, allowed: Any) -> tuple[int, float]:
    """The first unplayed arm, or -1; and the largest mean, if all are played."""
    top = 0.0
    for k in allowed:
        n, p = plays_and_mean(policy, state, k)
        if n == 0:
            return k, math.inf
        top = max(top, p)
    return -1, top


def _best(
    policy: KLMSRecord, state: Any, m: int, key: Any, context: Any, allowed: Any
) -> tuple[int, float]:
    """One pass: arm k takes the place of those before it with its share of their weights."""
    chosen, top = _foremost(policy, state, allowed)
    if chosen >= 0:
        return chosen, math.inf
    total = 0.0
    for k in allowed:
        weight = _weight(policy, state, k, top)
        total += weight
        if uniform(key, m, k) * total < weight:
            chosen = k
    n, p = plays_and_mean(policy, state, chosen)
    luck = -math.log(uniform(key, m, SCORE)) / n
    return chosen, kl_upper(p, _divergence(p, top) + luck)


register(KLMSRecord, Kernels(count_and_sum, _best, add_units, opened=count_open))


class KLMS(KernelPolicy):
    """Play each arm with a probability that falls with the evidence against it.

        p_i = w_i / sum_j w_j,   w_i = exp(-N_i kl(mean_i, largest mean)),   N_i = 0 first

    kl(p, q) is the divergence of two Bernoulli means. Source: KL-MS, Qin, Jun, Zhang 2023 (arXiv
    2304.14989), Algorithm 1. The probabilities are known in closed form: ``propensities``. Ours is
    where the randomness comes from: uniform numbers for (key, turn, arm), so live, plain and
    compiled plays are the same; and that open plays count in N_i, with the mean of the rewards that
    came (1/2 before the first).

    Where the default competes (ours), the score of the arm drawn is a q above the largest mean with

        N_i kl(mean_i, q) = N_i kl(mean_i, largest mean) + ln(1/u),   u uniform in (0, 1)

    so that a default worth mu0 above every mean leaves arm i the probability
    exp(-N_i kl(mean_i, mu0)) / sum_j w_j: at least 1/K of what KL-MS gives it among K arms and a
    default whose mean is known, at most twice that. A default below the largest mean is never
    played.

    ``n_arms`` or ``arms``: the regular arms, the default not counted. Raises InvalidInput for an
    empty arm list.

    >>> import numpy as np
    >>> policy = KLMS(2)
    >>> for reward in (1.0, 1.0, 0.0, 1.0):
    ...     policy.update(0, reward, None)
    >>> policy.update(1, 0.0, None)  # kl(0, 3/4) = ln 4
    >>> [round(p, 12) for p in policy.propensities()]
    [0.8, 0.2]

    Holds when: rewards lie in [0, 1] (the agent scales them) and are independent over time: regret
    is asymptotically optimal for rewards 0 and 1, and O(sqrt(mu(1-mu) K T ln K) + K ln T) for all,
    mu the best mean (Theorem 1 and what follows from it). For the competing default no bound is
    published. Does not hold when: rewards drift. As in the paper an arm has propensity 0 as long as
    another has paid 1 each time and it has not, so an off-policy estimate needs a floor under it.
    """

    draws: ClassVar[bool] = True

    def __init__(self, n_arms: int | None = None, arms: Sequence[Any] | None = None) -> None:
        super().__init__(KLMSRecord(), n_arms, arms)

    def propensities(
        self, context: Any = None, allowed: Sequence[int] | None = None
    ) -> list[float]:
        """The probability with which the next turn chooses each arm, exactly up to rounding."""
        arms = arms_asked(self.n_arms, allowed)
        state = self._lists()
        unplayed, top = _foremost(self.record, state, arms)
        if unplayed >= 0:
            return [float(arm == unplayed) for arm in range(self.n_arms)]
        weights = {arm: _weight(self.record, state, arm, top) for arm in arms}
        total = math.fsum(weights.values())
        return [weights.get(arm, 0.0) / total for arm in range(self.n_arms)]

    def chance(
        self,
        turn: int,
        arm: int,
        rival: float | None = None,
        allowed: Sequence[int] | None = None,
        score: float = math.inf,
    ) -> float:
        """The probability that this turn chooses the arm and scores it above ``rival``.

        ``arm`` -1: that the score is not above it, where the default wins. ``turn`` and ``score``:
        as other policies take them; the probabilities depend on neither.
        """
        arms = arms_asked(self.n_arms, allowed)
        record, state = self.record, self._lists()
        unplayed, top = _foremost(record, state, arms)
        if unplayed >= 0:
            return float(arm == unplayed)
        total = math.fsum(_weight(record, state, k, top) for k in arms)
        above = top if rival is None else max(top, rival)  # a lower rival never wins
        if arm >= 0:
            return _weight(record, state, arm, above) / total
        if above == top:
            return 0.0
        return max(0.0, 1.0 - math.fsum(_weight(record, state, k, above) for k in arms) / total)
