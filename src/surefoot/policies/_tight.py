"""The tight form of LinUCB and C2UCB: no bound above the one that an arm's own rewards give.

    min( <x_k, theta_hat> + beta*||x_k||,  max{q : N_k kl(S_k/N_k, q) <= ln(2 m^2)} )

Ours; the second is KL-UCB's bound (Garivier, Cappe 2011) of rewards in [0, 1]. What is proved of
the first alone stays so, but for a constant. Where it covers all means, an arm played at turn m is
at most 2 beta ||x|| below the best, as before, if only the bound of the best arm is not below
its mean. By Theorem 10 there that fails at turn m with probability at most

    e ceil(ln(2 m^2) ln m)/(2 m^2),   which sums to less than 6.8 over all m:

so regret grows by less than 6.8 of the widest gap; for super arms by as much for each base arm of
the best one. N counts open plays, with the mean kept: that part is not covered.

``told``: three lists of ints, an entry an arm: its rewards N, their sum in billionths, its open
plays.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot._exact import shown
from surefoot._jit import jittable
from surefoot.errors import InvalidInput
from surefoot.kernels import warm
from surefoot.kernels.registry import NANO
from surefoot.kernels.warm import LIVE, Live
from surefoot.policies._bernoulli import kl_excludes, kl_upper
from surefoot.policies._ridge import TIE


def fresh(n_arms: int) -> tuple[list[int], list[int], list[int]]:
    """Nothing is told yet."""
    return [0] * n_arms, [0] * n_arms, [0] * n_arms


@jittable
def learn(counts: Any, sums: Any, k: int, reward: float, by: int) -> None:
    """One reward of arm k more (by = 1), or less (by = -1)."""
    counts[k] += by
    sums[k] += by * math.floor(reward * NANO + 0.5)


@jittable
def wait(waiting: Any, k: int, by: int) -> None:
    """One open play of arm k more, or less."""
    waiting[k] = max(0, waiting[k] + by)


@jittable
def _mean(counts: Any, sums: Any, k: int) -> float:
    mean = sums[k] / NANO / counts[k]
    return float(min(max(mean, 0.0), 1.0))


@jittable
def lower(values: Any, counts: Any, sums: Any, waiting: Any, m: int) -> None:
    """Lower each arm's value to its own bound at turn m."""
    level = math.log(2.0 * m * m)
    for k in range(len(values)):
        _lower_one(values, counts, sums, waiting, k, level, -math.inf)


@jittable
def lower_best(values: Any, counts: Any, sums: Any, waiting: Any, m: int, allowed: Any) -> None:
    """The same where it may matter: of an arm that is surely not the best, any value below it."""
    level = math.log(2.0 * m * m)
    leader = -1
    for k in allowed:
        if leader < 0 or counts[k] > counts[leader]:
            leader = k
    _lower_one(values, counts, sums, waiting, leader, level, -math.inf)
    top = values[leader]
    for k in allowed:
        bar = top - 2.0 * TIE * max(1.0, abs(top))
        if k != leader and values[k] >= bar:
            _lower_one(values, counts, sums, waiting, k, level, bar)
            top = max(top, values[k])


@jittable
def _lower_one(
    values: Any, counts: Any, sums: Any, waiting: Any, k: int, level: float, bar: float
) -> None:
    if counts[k] > 0:
        p = _mean(counts, sums, k)
        own = level / (counts[k] + waiting[k])
        if kl_excludes(p, own, bar):
            values[k] = -math.inf
        else:
            values[k] = min(values[k], kl_upper(p, own))


class OwnBounds:
    """What a live policy of the tight form knows of each arm by itself."""

    def __init__(self, n_arms: int) -> None:
        self._compiled = warm.ready(OwnBounds)
        self.restore(fresh(n_arms))

    def learn(self, k: int, reward: float, by: int = 1) -> None:
        """As ``learn`` above."""
        learn(self.told[0], self.told[1], k, reward, by)

    def wait(self, k: int, by: int) -> None:
        """As ``wait`` above."""
        wait(self.told[2], k, by)

    def lower(self, values: Any, m: int) -> None:
        """As ``lower`` above."""
        if self._compiled is None:
            counts, sums, waiting = self.told
            lower(values, counts, sums, waiting, m)
        else:
            self._compiled[0](values, *self.told, m)

    def state(self) -> list[list[int]]:
        """The three lists."""
        return [[int(number) for number in row] for row in self.told]

    def fitting(self, told: Any) -> tuple[list[int], ...]:
        """The three lists of a saved state; ValueError for those of other arms."""
        rows = tuple([*map(int, row)] for row in told)
        n_arms = len(self.told[0])
        if [*map(len, rows)] != [n_arms] * 3:  # compiled code would read behind their ends
            raise ValueError(f"the saved state is not of {n_arms} arms")
        return rows

    def restore(self, rows: tuple[list[int], ...]) -> None:
        """Go on from three lists."""
        arrays = tuple(np.array(row, np.int64) for row in rows)
        self.told: Any = rows if self._compiled is None else arrays


def fitting(reward: float, what: str) -> float:
    """The same; InvalidInput for a reward of which there is no such bound."""
    if not 0.0 <= reward <= 1.0:
        raise InvalidInput(
            f"{what} = {shown(reward)} is outside [0, 1], where tight=True holds; rescale the "
            "rewards, or leave it out"
        )
    return reward


LIVE[OwnBounds] = Live(
    "LinUCB and C2UCB, tight",
    (lower,),
    ("void(float64[::1], int64[::1], int64[::1], int64[::1], int64)",),
)
