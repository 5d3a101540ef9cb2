"""UnbalancedMOSS from its formula: every index anew from the history, the default's too."""

import math
from collections.abc import Sequence
from typing import Any


def decide(
    n_arms: int, mu0: float, alpha: float, n: int, history: Sequence[tuple[int, Any]]
) -> int:
    """The arm after a history of (arm or -1, reward in [0, 1]); -1 is the default.

    >>> decide(2, 0.5, 0.1, 100, []), decide(2, 0.5, 0.1, 100, [(-1, None)])
    (-1, 0)
    """
    total = n_arms + 1
    regular = math.sqrt(total * n) + total / (mu0 * alpha)
    budgets = [n * (total - 1) / regular] + [regular] * n_arms
    index = []
    for arm in range(-1, n_arms):
        rewards = [mu0 if arm < 0 else float(r) for played, r in history if played == arm]
        if not rewards:
            index.append(math.inf)
            continue
        T, B = len(rewards), budgets[arm + 1]
        bonus = math.sqrt(4 / T * math.log(max(1, n**2 / (B**2 * T))))
        index.append(math.fsum(rewards) / T + bonus)
    return index.index(max(index)) - 1
