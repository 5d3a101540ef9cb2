"""AdaUCB for K arms: Lattimore 2018, in an anytime form for rewards in [0, 1]."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from surefoot._jit import jittable
from surefoot.kernels.policy import IndexPolicy
from surefoot.kernels.registry import (
    NANO,
    CurveKernels,
    IndexKernels,
    add_units,
    count_and_sum,
    count_open,
    plays_and_mean,
    register,
)
from surefoot.policies._bernoulli import kl_excludes, kl_rise, kl_tangent, kl_upper


class AdaUCBRecord(NamedTuple):
    """Parameters of AdaUCB."""

    unit: float = NANO
    """Into how many the range of rewards is divided for the sums, see ``kernels.unit_of``."""


def _scale(policy: AdaUCBRecord, m: int) -> Any:
    return math.log(m)


@jittable
def crowd(state: Any, k: int) -> float:
    """H_k, which arms of equal counts have in common to the last bit: summed in the arms' order."""
    told, waiting = state[0], state[2]
    own = float(told[k] + waiting[k])
    total = 0.0
    for j in range(len(told)):
        n = told[j] + waiting[j]
        total += own if n >= own else math.sqrt(own * n)
    return total


def _index(policy: AdaUCBRecord, state: Any, k: int, s: float, best: float) -> Any:
    plays, p = plays_and_mean(policy, state, k)
    if plays == 0:
        return math.inf
    # H_k is at least N_k, which takes no sum over the arms and often tells enough.
    level = (s - math.log(plays)) / plays
    if level <= 0.0 or p >= 1.0 or kl_excludes(p, level, best):
        return p
    level = (s - math.log(crowd(state, k))) / plays
    if level <= 0.0 or kl_excludes(p, level, best):
        return p
    return kl_upper(p, level)


def _slope(policy: AdaUCBRecord, m: int) -> Any:
    return 1.0 / m


def _rises(policy: AdaUCBRecord, state: Any, k: int, level: float) -> Any:
    plays, p = plays_and_mean(policy, state, k)
    rise = kl_rise(p, plays, level)
    return math.log(crowd(state, k)) + rise if rise > 0.0 else rise


def _tangent(policy: AdaUCBRecord, state: Any, k: int, s: float, level: float) -> Any:
    plays, p = plays_and_mean(policy, state, k)
    least = math.log(crowd(state, k))
    q, x, w = kl_tangent(p, plays, max(0.0, s - least) / plays, level)
    return p, q, x + least, w


register(
    AdaUCBRecord,
    IndexKernels(count_and_sum, _scale, _index, add_units, opened=count_open, coupled=True),
    curves=CurveKernels(_slope, _rises, _tangent),
)


class AdaUCB(IndexPolicy):
    """Play the arm with the largest bound, whose confidence level adapts to all arms' plays.

        index_i = max{ q : N_i * kl(S_i/N_i, q) <= max(0, ln(m / H_i)) },   N_i = 0 first
        H_i = sum over all arms j of min(N_i, sqrt(N_i N_j))

    Source: Lattimore 2018, "Refining the Confidence Level for Optimistic Bandit Strategies", JMLR
    19(20), for Gaussian noise of variance 1 and a known horizon n in place of m. This form is ours:
    the divergence of ``KLUCB`` in place of the Gaussian radius; m, this policy's own turns, so that
    no horizon has to be known; and max(0, ln x) in place of his ln((x + e) sqrt(ln(x + e))), which
    is never below 1. Ties go to the lowest arm. Open plays count in N_i, with the mean of the
    rewards that came (1/2 before the first). H_i sums over all arms, those that may not be played
    now, too.

    ``n_arms`` or ``arms``: the regular arms, the default not counted. Raises InvalidInput for an
    empty arm list.

    >>> import numpy as np
    >>> policy = AdaUCB(2)
    >>> policy.update(0, 1.0, None), policy.update(1, 0.0, None)
    (None, None)
    >>> policy.best(None, np.random.default_rng(0))
    (0, 1.0)

    Holds when: rewards lie in [0, 1] (the agent scales them) and are independent over time. There
    is no published guarantee for this form: Lattimore's are for the Gaussian one with a known
    horizon. Does not hold when: rewards drift. It explores far less than ``UCB1`` and ``KLUCB``, so
    a single run can be far worse than the mean of many.
    """

    def __init__(self, n_arms: int | None = None, arms: Sequence[Any] | None = None) -> None:
        super().__init__(AdaUCBRecord(), n_arms, arms)
