"""Discounted UCB and Thompson sampling: Garivier, Moulines 2011; Raj, Kalyani 2017."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from surefoot._exact import fraction
from surefoot._jit import jittable
from surefoot.kernels import (
    KernelPolicy,
    Kernels,
    count_open,
    noise,
    normal_quantile,
    register,
    uniform,
)
from surefoot.kernels.registry import LARGEST
from surefoot.policies.sets import positive

_FORGOTTEN = 1e-250
"""Below it a discounted count nears the end of the floats, where a mean is no longer right."""


class DiscountedUCB1Record(NamedTuple):
    """Parameters of D-UCB; ``c`` is the 4 xi under the root."""

    c: float = 2.0
    discount: float = 0.99


class DiscountedThompsonRecord(NamedTuple):
    """Parameters of discounted Thompson sampling."""

    discount: float = 0.99


def _init(policy: object, n_arms: int) -> tuple[list[float], list[float], list[int]]:
    return [0.0] * n_arms, [0.0] * n_arms, [0] * n_arms


def _init_pair(policy: object, n_arms: int) -> tuple[list[float], list[float]]:
    return [0.0] * n_arms, [0.0] * n_arms


@jittable
def _fade(policy: Any, state: Any) -> None:
    """One more reward was told: all that were told before weigh less."""
    for k in range(len(state[0])):
        state[0][k] *= policy.discount
        state[1][k] *= policy.discount


def _learn(policy: DiscountedUCB1Record, state: Any, k: int, reward: float) -> None:
    _fade(policy, state)
    state[0][k] += 1.0
    state[1][k] += reward


def _highest(
    policy: DiscountedUCB1Record, state: Any, m: int, key: Any, context: Any, allowed: Any
) -> tuple[int, float]:
    told = 0.0
    for k in range(len(state[0])):
        told += state[0][k] + state[2][k]
    level = policy.c * math.log(max(told, 1.0))
    chosen = -1
    top = -math.inf
    for k in allowed:
        n = state[0][k]
        y = math.inf
        if n > _FORGOTTEN:
            y = state[1][k] / n + math.sqrt(level / (n + state[2][k]))
        elif state[2][k] > 0:
            y = 0.5 + math.sqrt(level / state[2][k])
        if chosen < 0 or y > top:
            chosen = k
            top = y
    return chosen, top


def _count(policy: DiscountedThompsonRecord, state: Any, k: int, reward: float) -> None:
    _fade(policy, state)
    state[0][k] += reward
    state[1][k] += 1.0 - reward


@jittable
def _gamma(key: Any, first: int, a: float) -> float:
    """A draw of the Gamma law of shape a >= 1: Marsaglia, Tsang 2000, by numbers of its own."""
    d = a - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    j = 0
    while True:
        j += 1
        x = normal_quantile(uniform(key, j, first))
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        if math.log(uniform(key, j, first + 1)) < 0.5 * x * x + d - d * v + d * math.log(v):
            return d * v


@jittable
def sample(policy: DiscountedThompsonRecord, state: Any, k: int, m: int, key: Any) -> float:
    """theta_k at turn m: with whole parameters or not, a Beta is a share of two Gammas."""
    own = noise(key, m, k)
    won = _gamma(own, 0, 1.0 + state[0][k])
    return won / (won + _gamma(own, 2, 1.0 + state[1][k]))


def _largest(
    policy: DiscountedThompsonRecord, state: Any, m: int, key: Any, context: Any, allowed: Any
) -> tuple[int, float]:
    chosen = -1
    top = -math.inf
    for k in allowed:
        theta = sample(policy, state, k, m, key)
        if theta > top:
            chosen = k
            top = theta
    return chosen, top


register(DiscountedUCB1Record, Kernels(_init, _highest, _learn, opened=count_open))
register(DiscountedThompsonRecord, Kernels(_init_pair, _largest, _count))


class DiscountedUCB1(KernelPolicy):
    """UCB1 that forgets: with every reward, older ones weigh ``discount`` less.

        index_i = S_i/N_i + sqrt(c ln n / N_i),   n = sum_j N_j,   N_i = 0 first, ties to the lowest
        N_i = sum over the rewards of arm i of discount^(rewards since),   S_i likewise

    ``UCB1(..., discount=0.999)`` makes one. Source: D-UCB, Garivier, Moulines 2011, where
    2B sqrt(xi ln n / N_i) with B = 1 is c = 4 xi; their theorem takes xi > 1/2, so c > 2. A turn
    without a reward, of a late one or a default play, forgets nothing: ours, and the same as
    theirs where every turn brings its reward at once. Open plays count in N_i as in ``UCB1``, each
    as 1. N_i and S_i are floats: arms that were told the same rewards at other times do not tie,
    and the mean of an arm that has one reward alone is that reward up to rounding.

    ``discount`` in (0, 1): 1/(1 - discount) is about how many rewards are remembered. ``n_arms``,
    ``arms`` and ``c`` as in ``UCB1``. Raises InvalidInput for others.

    >>> policy = DiscountedUCB1(2, discount=0.5)
    >>> for arm, reward in ((0, 1.0), (1, 1.0), (0, 0.0)):
    ...     policy.update(arm, reward, None)
    >>> policy.state()["arms"]
    [[1.25, 0.5], [0.25, 0.5], [0, 0]]

    Holds when: rewards lie in [0, 1] (the agent scales them) and are independent, with means that
    change B times in T turns, both known: with c > 2 and discount = 1 - sqrt(B/T)/4 regret is
    O(sqrt(B T) ln T) (Theorem 1 there and what follows). Does not hold when: nothing changes:
    regret then grows with T, not with ln T. There is no ``correct``: how much a reward of before
    weighs is not kept, so a live agent teaches it no missing ones.
    """

    correct: Any = None  # not a method: ``has`` then says no

    def __init__(
        self,
        n_arms: int | None = None,
        arms: Sequence[Any] | None = None,
        c: float = 2.0,
        discount: float = 0.99,
    ) -> None:
        constant = positive(c, "c", LARGEST)
        super().__init__(DiscountedUCB1Record(constant, checked_discount(discount)), n_arms, arms)


class DiscountedThompson(KernelPolicy):
    """Thompson sampling that forgets: with every reward, older ones weigh ``discount`` less.

        theta_i ~ Beta(1 + S_i, 1 + F_i),   the largest plays
        S_i = sum over the rewards r of arm i of r discount^(rewards told since),   F_i of 1 - r

    ``Thompson(..., discount=0.999)`` makes one. Source: dTS, Raj, Kalyani 2017 (arXiv 1707.09727),
    whose rewards are 0 or 1. Ours: a reward between them counts as so much of a success, without a
    trial; a turn without a reward forgets nothing; and where the randomness comes from. theta_i is
    the share of two Gamma draws (Marsaglia, Tsang 2000), by numbers for (key, turn, arm), so live,
    plain and compiled draws are the same to the last bit.

    ``discount`` in (0, 1): 1/(1 - discount) is about how many rewards are remembered. ``n_arms`` or
    ``arms`` as in ``Thompson``. Raises InvalidInput for others.

    >>> policy = DiscountedThompson(2, discount=0.5)
    >>> for arm, reward in ((0, 1.0), (1, 1.0), (0, 0.0)):
    ...     policy.update(arm, reward, None)
    >>> policy.state()["arms"]
    [[0.25, 0.5], [1.0, 0.0]]

    Holds when: rewards lie in [0, 1] (the agent scales them). No bound on its regret is published
    (for Gaussian posteriors there is one: Qi, Wang, Zhu 2023, arXiv 2305.10718). Does not hold
    when: nothing changes: regret then grows with T. There is no ``correct``, as in
    ``DiscountedUCB1``.
    """

    draws: ClassVar[bool] = True
    correct: Any = None

    def __init__(
        self,
        n_arms: int | None = None,
        arms: Sequence[Any] | None = None,
        discount: float = 0.99,
    ) -> None:
        super().__init__(DiscountedThompsonRecord(checked_discount(discount)), n_arms, arms)


def checked_discount(discount: Any) -> float:
    """As a float; InvalidInput unless it lies strictly between 0 and 1."""
    hint = "near 1 it forgets slowly, and without one nothing is forgotten"
    return fraction(discount, "discount", hint, float)
