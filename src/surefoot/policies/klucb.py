"""KL-UCB for K arms: Garivier and Cappe 2011."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from surefoot._exact import exact, shown
from surefoot.errors import InvalidInput
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
from surefoot.policies._bernoulli import kl_adds, kl_excludes, kl_rise, kl_tangent, kl_upper


class KLUCBRecord(NamedTuple):
    """Parameters of KL-UCB; ``c`` is the constant before ln ln m."""

    c: float = 0.0
    unit: float = NANO
    """Into how many the range of rewards is divided for the sums, see ``kernels.unit_of``."""


def _scale(policy: KLUCBRecord, m: int) -> Any:
    bound = math.log(m)
    if bound > 1.0:
        bound += policy.c * math.log(bound)
    return bound


def _index(policy: KLUCBRecord, state: Any, k: int, s: float, best: float) -> Any:
    plays, p = plays_and_mean(policy, state, k)
    if plays == 0:
        return math.inf
    level = s / plays
    if level <= 0.0 or p >= 1.0 or kl_excludes(p, level, best):
        return p
    return kl_upper(p, level)


def _slope(policy: KLUCBRecord, m: int) -> Any:
    return (1.0 + policy.c / max(1.0, math.log(m))) / m


def _rises(policy: KLUCBRecord, state: Any, k: int, level: float) -> Any:
    plays, p = plays_and_mean(policy, state, k)
    return kl_rise(p, plays, level)


def _tangent(policy: KLUCBRecord, state: Any, k: int, s: float, level: float) -> Any:
    plays, p = plays_and_mean(policy, state, k)
    q, x, w = kl_tangent(p, plays, s / plays, level)
    return p, q, x, w


def _adds(policy: KLUCBRecord, state: Any, k: int, level: float, reward: float) -> Any:
    _, p = plays_and_mean(policy, state, k)
    counted = math.floor(reward * policy.unit + 0.5) / policy.unit  # as by add_units
    return kl_adds(p, level, counted)


register(
    KLUCBRecord,
    IndexKernels(count_and_sum, _scale, _index, add_units, opened=count_open),
    curves=CurveKernels(_slope, _rises, _tangent, _adds),
)


class KLUCB(IndexPolicy):
    """Play the arm with the largest Kullback-Leibler upper confidence bound.

        index_i = max{ q : N_i * kl(S_i/N_i, q) <= ln m + c ln ln m },   N_i = 0 first

    Source: Garivier and Cappe 2011, Algorithm 1; c = 0 is what they recommend in practice, their
    theorem takes c = 3. Ours: ln ln m counts as 0 while m < e; the maximum is found by Newton's
    steps, to within 1e-12. Ties go to the lowest arm; m counts this policy's own turns. Open plays
    count in N_i, with the mean of the rewards that came (1/2 before the first).

    ``n_arms`` or ``arms``: the regular arms, the default not counted. Raises InvalidInput for an
    empty arm list or a negative c.

    >>> import numpy as np
    >>> policy = KLUCB(2)
    >>> policy.update(0, 1.0, None), policy.update(1, 0.0, None)
    (None, None)
    >>> policy.best(None, np.random.default_rng(0))
    (0, 1.0)

    Holds when: rewards lie in [0, 1] (the agent scales them) and are independent over time: with
    c = 3 regret is asymptotically optimal for Bernoulli arms, and for other rewards never worse
    than UCB1's bound. Does not hold when: rewards drift; for c = 0 no proof is claimed.
    """

    def __init__(
        self,
        n_arms: int | None = None,
        arms: Sequence[Any] | None = None,
        c: float = 0.0,
    ) -> None:
        constant = float(exact(c, "c"))
        if not 0 <= constant < math.inf:
            raise InvalidInput(
                f"c = {shown(c)} must be finite and >= 0; 0 in practice, 3 in theory"
            )
        super().__init__(KLUCBRecord(constant), n_arms, arms)
