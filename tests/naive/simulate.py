"""One simulated run as Du, Wang, Huang 2021, Algorithm 1 tells it: fractions, play by play.

Ours on top, by the same induction: a worst reward other than 0, a reserve, a competing default.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

DEFAULT = -1


class Settings(NamedTuple):
    """One agent over UCB1; a float means its shortest decimal."""

    n_arms: int
    mu0: Any
    alpha: Any
    low: Any = 0
    high: Any = 1
    reserve: Any = 0
    guarded: bool = True
    competes: bool = False


class Row(NamedTuple):
    """After one play."""

    arm: int
    default_plays: int
    slack: Fraction
    least: Fraction
    violating: int


def run(settings: Settings, pull: Callable[[int, int], Any], horizon: int) -> list[Row]:
    """Play 1..horizon; ``pull(m, arm)`` is what the arm pays at the policy's m-th turn.

    >>> rows = run(Settings(2, 0.5, 0.5), lambda m, arm: arm, 6)
    >>> [row.arm for row in rows], rows[-1].slack
    ([-1, 0, -1, 1, 1, 1], Fraction(5, 2))
    """
    mu0, alpha, low, high, reserve = (Fraction(str(number)) for number in settings[1:6])
    received, m, defaults = Fraction(0), 0, 0
    plays, sums = [0] * settings.n_arms, [Fraction(0)] * settings.n_arms
    rows: list[Row] = []
    for t in range(1, horizon + 1):
        before = reserve + received + defaults * mu0
        arm = DEFAULT
        if not settings.guarded or before + min(low, (1 - alpha) * mu0) >= (1 - alpha) * mu0 * t:
            m += 1
            arm, index = best(plays, sums, m)
            if settings.competes and not index > float((mu0 - low) / (high - low)):
                arm = DEFAULT
        if arm == DEFAULT:
            defaults += 1
        else:
            reward = Fraction(str(pull(m, arm)))
            received += reward
            plays[arm] += 1
            sums[arm] += (reward - low) / (high - low)
        slack = reserve + received + defaults * mu0 - (1 - alpha) * mu0 * t
        last = rows[-1] if rows else Row(DEFAULT, 0, slack, slack, 0)
        violating = last.violating + (slack < 0)
        rows.append(Row(arm, defaults, slack, min(last.least, slack), violating))
    return rows


def best(plays: list[int], sums: list[Fraction], m: int) -> tuple[int, float]:
    """The lowest arm of the largest S/N + sqrt(2 ln m / N), an unplayed one first."""
    indices = [
        float(S) / N + math.sqrt(2 * math.log(m) / N) if N else math.inf
        for N, S in zip(plays, sums, strict=True)
    ]
    return indices.index(max(indices)), max(indices)


def default_plays_before(rewards: list[Any], mu0: Any, alpha: Any) -> list[int]:
    """N0(m): how many default plays come before turn m, in closed form, for rewards from 0.

        N0(m) = max over m' <= m of  ceil(((1-alpha)*mu0*m' - r_S(m'-1)) / (alpha*mu0)),  at least 0

    >>> default_plays_before([0, 0, 1], 0.5, 0.5)
    [1, 2, 3]
    """
    value, lost = Fraction(str(mu0)), Fraction(str(alpha))
    counts, received, needed = [], Fraction(0), 0
    for m, reward in enumerate(rewards, start=1):
        needed = max(needed, math.ceil(((1 - lost) * value * m - received) / (lost * value)))
        counts.append(needed)
        received += Fraction(str(reward))
    return counts
