"""UnbalancedMOSS: a comparator of Wu et al. 2016, after Lattimore 2015."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from surefoot._exact import exact_range
from surefoot._jit import jittable
from surefoot._labels import arm_labels
from surefoot._types import Number, Seed
from surefoot.agents.play import Play
from surefoot.comparators.base import Comparator, needed
from surefoot.comparators.conucb import kept_index, no_scale
from surefoot.errors import InvalidInput
from surefoot.floors import Terms
from surefoot.floors.reward import checked_alpha, checked_default
from surefoot.kernels.policy import IndexPolicy
from surefoot.kernels.registry import (
    NANO,
    IndexKernels,
    add_units,
    register,
)


class MOSSRecord(NamedTuple):
    """Parameters of UnbalancedMOSS for the regular arms; ``level`` is (n/B_1)^2."""

    level: float
    unit: float = NANO
    """Into how many the range of rewards is divided for the sums, see ``kernels.unit_of``."""


@jittable
def _bonus(level: float, plays: int) -> float:
    """sqrt(4/T * ln max(1, n^2/(B^2 T))), with level = n^2/B^2."""
    return math.sqrt(4.0 / plays * math.log(max(1.0, level / plays)))


_OPEN = 3
"""Where open plays stand in the state."""


def _init(policy: MOSSRecord, n_arms: int) -> tuple[list[int], list[int], list[float], list[int]]:
    """Counts, exact sums, each arm's index, which its own plays alone change, and open plays."""
    return [0] * n_arms, [0] * n_arms, [math.inf] * n_arms, [0] * n_arms


@jittable
def _renew(policy: MOSSRecord, state: Any, k: int) -> None:
    """Write down an arm's index. Open plays count, with the mean kept, 1/2 before any reward."""
    told = state[0][k]
    plays = told + state[_OPEN][k]
    mean = float(state[1][k]) / policy.unit / told if told > 0 else 0.5
    state[2][k] = mean + _bonus(policy.level, plays) if plays > 0 else math.inf


def _update(policy: MOSSRecord, state: Any, k: int, reward: float) -> None:
    add_units(policy, state, k, reward)
    _renew(policy, state, k)


def _opened(policy: MOSSRecord, state: Any, k: int, by: int) -> None:
    state[_OPEN][k] = max(0, state[_OPEN][k] + by)
    _renew(policy, state, k)


register(MOSSRecord, IndexKernels(_init, no_scale, kept_index, _update, opened=_opened))


class UnbalancedMOSS(Comparator):
    """MOSS that is allowed less regret against the default than against the other arms.

        index_i = mean_i + sqrt(4/T_i * ln max(1, n^2 / (B_i^2 T_i))),   T_i = 0 first
        B_i = sqrt(K n) + K/(alpha*mu0),   B_0 = n (K-1)/B_i,   K counts the default

    Source: Lattimore 2015, "The Pareto Regret Frontier for Bandits", with the B of Wu et al. 2016,
    as in the author's public C++. Choices of ours: the default's mean is its known mu0, whatever
    its plays really pay; with another reward range alpha*mu0 is taken as a share of its width; a
    tie with the default is the default. Open plays of an arm count in T_i with its mean kept.

    ``horizon``: n, which must be known.

    >>> agent = UnbalancedMOSS(n_arms=4, default=0.5, alpha=0.1, horizon=10_000)
    >>> agent.select().is_default  # all are unplayed: the default comes first
    True
    >>> agent.select().arm
    0

    Holds when: regret against the default at the horizon is to be small, in expectation. Does not
    hold when: a floor is to hold at every play: nothing is promised on the way, and the account is
    measured here, not kept.
    """

    default_competes = True

    def __init__(
        self,
        n_arms: int | None = None,
        default: Number | None = None,
        alpha: Number = 0.05,
        horizon: int | None = None,
        *,
        arms: Sequence[Any] | None = None,
        reward_range: tuple[Number, Number] = (0, 1),
        seed: Seed = None,
    ) -> None:
        self.horizon = needed(horizon)
        self.settings = {"horizon": self.horizon}
        if default is None:
            raise InvalidInput(
                "default is missing; UnbalancedMOSS needs the default's known reward"
            )
        low, high = exact_range(reward_range)
        worth = checked_default(default, (low, high)) * checked_alpha(alpha)
        count = len(arm_labels(n_arms, arms)) + 1
        regret = math.sqrt(count * self.horizon) + count * float(high - low) / float(worth)
        self._default_level = (regret / (count - 1)) ** 2
        self.bounds = IndexPolicy(MOSSRecord((self.horizon / regret) ** 2), n_arms, arms)
        super().__init__(self.bounds, default, alpha, reward_range, seed)

    def default_score(self, terms: Terms) -> float:
        plays = self.books.default_plays
        return (
            super().default_score(terms) + _bonus(self._default_level, plays) if plays else math.inf
        )

    def _decide(self, context: Any, allowed: Sequence[int] | None, terms: Terms) -> Play:
        return self._decide_unproved(context, allowed, terms)
