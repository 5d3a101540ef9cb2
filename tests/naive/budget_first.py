"""BudgetFirst from Wu et al. 2016: savings by search, then every bound anew from the history."""

import math
from collections.abc import Sequence
from typing import Any

from naive.conucb import DEFAULT, Settings, bounds, psi


def savings(n_arms: int, mu0: float, alpha: float, n: int, delta: float) -> int:
    """The first t at which the worst regret is paid for, at most n.

    >>> savings(1, 0.5, 0.5, 3, 0.1)
    3
    """
    regret = math.sqrt(2 * n * n_arms * max(0, psi("libbandit", n_arms, delta, n)))
    for t in range(1, n):
        if max(0, mu0 * t - regret) >= (1 - alpha) * mu0 * t:
            return t
    return n


def decide(
    n_arms: int, mu0: float, first: int, delta: float, history: Sequence[tuple[int, Any]]
) -> int:
    """The arm after a history of (arm or -1, reward); the default first, then the largest bound."""
    if len(history) < first:
        return DEFAULT
    settings = Settings(n_arms, mu0, 0.5, delta, "libbandit", "libbandit")
    past = [[r for played, r in history if played == arm] for arm in range(n_arms)]
    theta = [mu0, *(bounds(settings, rewards)[0] for rewards in past)]
    return theta.index(max(theta)) - 1
