"""BudgetFirst: the naive comparator of Wu, Shariff, Lattimore, Szepesvari 2016."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from surefoot._exact import exact
from surefoot._labels import arm_labels
from surefoot._types import Number, Seed
from surefoot.agents.play import Play, Reason
from surefoot.comparators.base import Comparator, failure, needed
from surefoot.comparators.conucb import record_of
from surefoot.floors import Terms
from surefoot.kernels.policy import IndexPolicy


class BudgetFirst(Comparator):
    """Save up for the whole regret first, then play UCB without a guard.

        R_max = sqrt(2 n K psi(n)),   play the default t0 = ceil(R_max / (alpha*mu0)) times, then
        argmax theta_i, theta_i = mean_i + sqrt(2 psi(N_i)/N_i), theta_0 = mu0 for ever

    Source: Wu et al. 2016, as in the author's public C++, where K above is the number of regular
    arms and psi the "libbandit" form of ``ConUCB``, which counts the default too. t0 is the first
    t with mu0*t - R_max >= (1-alpha)*mu0*t, and at most n. Choices of ours: psi is cut at 0; a
    tie with the default is the default; R_max is scaled by the width of another reward range.

    ``horizon``: n, which must be known. ``delta``: the failure probability; None is 1/n, as the
    author ran it, and at most 1/2.

    >>> agent = BudgetFirst(n_arms=4, default=0.5, alpha=0.1, horizon=10_000)
    >>> agent.savings
    10000
    >>> BudgetFirst(n_arms=4, default=0.5, alpha=0.1, horizon=100_000, delta=0.01).savings
    69836

    Holds when: regret at n stays below R_max, as it does with high probability: then the floor on
    means holds up to n. Does not hold when: the horizon is exceeded; one asks it of received
    reward: the account is measured here, not kept.
    """

    default_competes = True

    def __init__(
        self,
        n_arms: int | None = None,
        default: Number | None = None,
        alpha: Number = 0.05,
        horizon: int | None = None,
        delta: float | None = None,
        *,
        arms: Sequence[Any] | None = None,
        reward_range: tuple[Number, Number] = (0, 1),
        seed: Seed = None,
    ) -> None:
        self.horizon = needed(horizon)
        self.delta = failure(min(0.5, 1 / self.horizon) if delta is None else delta)
        self.settings = {"horizon": self.horizon, "delta": self.delta}
        count = len(arm_labels(n_arms, arms))
        record = record_of(count, self.delta, "libbandit", "libbandit")
        self.bounds = IndexPolicy(record, n_arms, arms)
        super().__init__(self.bounds, default, alpha, reward_range, seed)
        psi = max(0.0, record.constant + record.slope * math.log(math.log(1.0 + self.horizon)))
        low, high = self.floor.reward_range
        regret = Fraction(math.sqrt(2.0 * self.horizon * count * psi)) * Fraction(high - low)
        spared = Fraction(self.floor.alpha) * Fraction(exact(default, "default"))
        self.savings = min(self.horizon, max(1, math.ceil(regret / spared)))
        """t0: how many default plays come first."""

    def _decide(self, context: Any, allowed: Sequence[int] | None, terms: Terms) -> Play:
        if (shut := self._shut(terms)) is not None:
            return self._play_default(terms, shut)
        return self._decide_unproved(context, allowed, terms)

    def _shut(self, terms: Terms) -> Reason | None:
        saved = self.books.explorations + self.books.default_plays
        return Reason.SAVING_UP if saved < self.savings else None
