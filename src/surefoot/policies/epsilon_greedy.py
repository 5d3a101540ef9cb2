"""Epsilon-greedy for K arms; the decreasing schedule of Auer, Cesa-Bianchi, Fischer 2002."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from surefoot._exact import exact, shown
from surefoot._jit import jittable
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
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
from surefoot.kernels.registry import LARGEST
from surefoot.policies._propensities import arms_asked
from surefoot.policies.sets import positive

USUAL = 0.1
COIN, ARM = -1, 0
"""What the two draws of a turn are numbered by, in the place of an arm."""


class EpsilonGreedyRecord(NamedTuple):
    """Parameters of epsilon-greedy; a ``gap`` of 0: ``epsilon`` at every turn."""

    epsilon: float = USUAL
    gap: float = 0.0
    c: float = 5.0
    unit: float = NANO
    """Into how many the range of rewards is divided for the sums, see ``kernels.unit_of``."""


@jittable
def _share(policy: EpsilonGreedyRecord, n_arms: int, m: int) -> float:
    """The probability that turn m draws its arm."""
    if policy.gap == 0.0:
        return policy.epsilon
    return min(1.0, policy.c * n_arms / m / policy.gap / policy.gap)


@jittable
def _leader(policy: EpsilonGreedyRecord, state: Any, allowed: Any) -> tuple[int, float]:
    """The first arm of the largest mean, and that mean; unplayed arms come first."""
    chosen = -1
    top = -math.inf
    for k in allowed:
        plays, mean = plays_and_mean(policy, state, k)
        if plays == 0:
            mean = math.inf
        if chosen < 0 or mean > top:
            chosen = k
            top = mean
    return chosen, top


def _best(
    policy: EpsilonGreedyRecord, state: Any, m: int, key: Any, context: Any, allowed: Any
) -> tuple[int, float]:
    if not uniform(key, m, COIN) < _share(policy, len(state[0]), m):
        return _leader(policy, state, allowed)
    place = int(uniform(key, m, ARM) * len(allowed))
    for k in allowed:
        if place == 0:
            return k, math.inf
        place -= 1
    return -1, math.inf


register(EpsilonGreedyRecord, Kernels(count_and_sum, _best, add_units, opened=count_open))


class EpsilonGreedy(KernelPolicy):
    """Play an arm at random with probability epsilon, else the arm with the best mean.

        epsilon constant, or epsilon_m = min(1, c K / (d^2 m)) with ``gap`` = d

    A random arm is uniform among those allowed. Otherwise the first arm of the largest S_i/N_i is
    played, one with N_i = 0 before all others; with open plays and no reward yet it counts as 1/2.
    m counts this policy's own turns, K all its arms.

    Source: the schedule is that of epsilon_n-greedy, Auer, Cesa-Bianchi, Fischer 2002, Figure 3;
    its d is a lower bound on the gap between the best arm and every other. The constant epsilon is
    folklore. Ours is where the randomness comes from: two uniform numbers for (key, turn), so live,
    plain and compiled plays are the same.

    Where the default competes, it meets the best mean; a turn that draws its arm scores ``inf`` and
    is played. Were the drawn arm's mean its score, an arm that looks worse than the default would
    never be tried again.

    ``n_arms`` or ``arms``: the regular arms, the default not counted. ``epsilon``: in [0, 1]; None
    is 0.1, and 0 plays the best mean always. ``gap`` in (0, 1] takes the schedule instead, and
    ``c`` > 0 is its constant. Raises InvalidInput for other values, an empty arm list, and for both
    ``epsilon`` and ``gap``.

    >>> import numpy as np
    >>> policy, rng = EpsilonGreedy(arms=["UA", "AA"], epsilon=0.2), np.random.default_rng(0)
    >>> policy.update(0, 1.0, None), policy.update(1, 0.0, None)
    (None, None)
    >>> policy.select(None, rng)
    0
    >>> policy.propensities()
    [0.9, 0.1]

    Holds when: rewards lie in [0, 1] (the agent scales them) and are independent over time, and no
    other arm is closer to the best than ``gap``: with c > 5 d^2 and c > 2, as c = 5 with d < 1,
    regret is O(K ln T / d^2) (Theorem 3, whose other terms are o(1/m) then). A constant epsilon has
    no such guarantee: regret grows by at least epsilon times the mean gap every turn. Does not hold
    when: rewards drift, or the gap is smaller.
    """

    draws: ClassVar[bool] = True

    def __init__(
        self,
        n_arms: int | None = None,
        arms: Sequence[Any] | None = None,
        epsilon: float | None = None,
        gap: float | None = None,
        c: float = 5.0,
    ) -> None:
        if epsilon is not None and gap is not None:
            raise InvalidInput(
                f"epsilon = {shown(epsilon)} and gap = {shown(gap)}: give the probability, or the "
                "gap that its schedule follows from"
            )
        share = float(exact(USUAL if epsilon is None else epsilon, "epsilon"))
        if not 0 <= share <= 1:
            raise InvalidInput(
                f"epsilon = {shown(epsilon)} must lie in [0, 1]; it is a probability"
            )
        d = 0.0 if gap is None else float(exact(gap, "gap"))
        if gap is not None and not 0 < d <= 1:
            raise InvalidInput(
                f"gap = {shown(gap)} must lie in (0, 1]: how much less than the best every other "
                "arm pays, for rewards on [0, 1]"
            )
        constant = positive(c, "c", LARGEST, "; the theorem takes 5")
        super().__init__(EpsilonGreedyRecord(share, d, constant), n_arms, arms)

    def propensities(
        self, context: Any = None, allowed: Sequence[int] | None = None
    ) -> list[float]:
        """The probability with which the next turn chooses each arm, exactly."""
        arms = arms_asked(self.n_arms, allowed)
        state = self._lists()
        share = _share(self.record, self.n_arms, self.turns + 1)
        leader, _ = _leader(self.record, state, arms)
        found = [0.0] * self.n_arms
        for arm in arms:
            found[arm] = share / len(arms)
        found[leader] += 1.0 - share
        return found

    def chance(
        self,
        turn: int,
        arm: int,
        rival: float | None = None,
        allowed: Sequence[int] | None = None,
        score: float = math.inf,
    ) -> float:
        """The probability that this turn chooses the arm and scores it above ``rival``.

        ``arm`` -1: that the score is not above it, where the default wins. ``score``: what the turn
        came to, if it was taken; a finite one is that of the best mean, which saves its search.
        """
        share = _share(self.record, self.n_arms, turn)
        if score < math.inf and allowed is None:
            return 1.0 - share if arm < 0 else share / self.n_arms + (1.0 - share)
        arms = arms_asked(self.n_arms, allowed)
        leader, mean = _leader(self.record, self._lists(), arms)
        wins = rival is None or mean > rival
        if arm < 0:
            return 0.0 if wins else 1.0 - share
        return share / len(arms) + (1.0 - share if wins and arm == leader else 0.0)

    def _settings(self) -> JsonObject:
        record = self.record
        return {"gap": record.gap, "c": record.c} if record.gap else {"epsilon": record.epsilon}
