"""GenCB over UCB1, play by play from Du, Wang, Huang 2021, Algorithm 1 and GenCB-CMAB."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

DEFAULT = -1


def decisions(
    n_arms: int,
    mu0: Any,
    alpha: Any,
    reward: Callable[[int, int], int],
    horizon: int,
    default_competes: bool = False,
) -> list[int]:
    """The decision of each play 1..horizon: an arm 0..n_arms-1, or -1 for the default.

    ``reward(turn, arm)`` is 0 or 1; ``turn`` is the policy's own clock m, from 1: the paper's m
    after its increment. A float mu0 or alpha means its shortest decimal. Every play is reported
    before the next decision. With ``default_competes`` a turn that the default wins counts in m
    and draws nothing.

    >>> decisions(2, 0.5, 0.5, lambda turn, arm: arm, 6)
    [-1, 0, -1, 1, 1, 1]
    """
    value, lost = Fraction(str(mu0)), Fraction(str(alpha))
    received = Fraction(0)
    m = default_plays = 0
    N, S = [0] * n_arms, [0] * n_arms
    played = []
    for t in range(1, horizon + 1):
        if not received + default_plays * value >= (1 - lost) * value * t:
            default_plays += 1
            played.append(DEFAULT)
            continue
        m += 1
        arm, index = best(N, S, m)
        if default_competes and not index > float(value):
            default_plays += 1
            played.append(DEFAULT)
            continue
        r = reward(m, arm)
        received += r
        N[arm] += 1
        S[arm] += r
        played.append(arm)
    return played


def best(N: list[int], S: list[int], m: int) -> tuple[int, float]:
    """The lowest arm of the largest index S/N + sqrt(2 ln m / N), unplayed ones first."""
    indices = [
        S[i] / N[i] + math.sqrt(2 * math.log(m) / N[i]) if N[i] else math.inf for i in range(len(N))
    ]
    return indices.index(max(indices)), max(indices)
