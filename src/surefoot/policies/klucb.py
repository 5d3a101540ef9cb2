"""KL-UCB for K arms: Garivier and Cappe 2011."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from surefoot._exact import exact, shown
from surefoot._jit import jittable
from surefoot.errors import InvalidInput
from surefoot.kernels.policy import IndexPolicy
from surefoot.kernels.registry import (
    NANO,
    IndexKernels,
    add_units,
    count_and_sum,
    count_open,
    plays_and_mean,
    register,
)

_STEPS = 50
"""More than Newton ever takes here: about a dozen where it starts worst."""


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
    if level <= 0.0 or p >= 1.0:
        return p
    # kl(p, .) grows above p, so one look at ``best`` tells whether this arm can beat it; the
    # margin keeps rounding on the safe side.
    if p < best < 1.0 and bernoulli_kl(p, best) > level * (1.0 + 1e-9) + 1e-12:
        return p
    return kl_upper(p, level)


@jittable
def kl_upper(p: float, level: float) -> float:
    """max{q : kl(p, q) <= level}."""
    if level <= 0.0 or p >= 1.0:
        return p
    # kl(p, .) is convex: from a q that is too large every Newton step lands above the root. Such
    # a q follows from kl(p, q) >= 2 (q-p)^2, and from kl(p, q) without its term p ln(1/q).
    share = p * math.log(p) if p > 0.0 else 0.0
    q = 1.0 - (1.0 - p) * math.exp((share - level) / (1.0 - p))
    q = min(q, p + math.sqrt(0.5 * level))
    for _ in range(_STEPS):
        if not p < q < 1.0:
            break
        step = (bernoulli_kl(p, q) - level) * q * (1.0 - q) / (q - p)
        if not 1e-13 < step < 1.0:
            break
        q -= step
    return q


@jittable
def bernoulli_kl(p: float, q: float) -> float:
    """Kullback-Leibler divergence of two Bernoulli means p <= q, p < 1; 0 ln 0 = 0."""
    lost = (q - p) / (1.0 - p)
    if lost >= 1.0:
        return math.inf
    total = -(1.0 - p) * math.log1p(-lost)
    if p > 0.0:
        total -= p * math.log1p((q - p) / p)
    return total


register(KLUCBRecord, IndexKernels(count_and_sum, _scale, _index, add_units, opened=count_open))


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
