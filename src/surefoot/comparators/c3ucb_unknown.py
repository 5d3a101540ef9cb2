"""C3UCB whose default is not known: Zhang, Li, Liu, Zhang 2019."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from surefoot.agents.actions import Action
from surefoot.comparators.base import UnknownDefault, needed
from surefoot.comparators.c3ucb import SuperArms, combinatorial
from surefoot.comparators.ellipsoid import ByEllipsoid
from surefoot.floors import Terms
from surefoot.policies.options import Ridge, ridge_given
from surefoot.policies.sets import feature_rows


class C3UCBUnknown(ByEllipsoid, UnknownDefault):
    """C3UCB with an upper bound on the default's mean, from its own plays.

        mu0_U = mean_0 + (u - l)*sqrt(2 ln n / N_0), at most u
        play B  iff  N_0*mu0_U + what the lower bounds prove >= (1-alpha)*mu0_U*t

    B, its bounds and the other options are those of ``C3UCB``; the default is also played if B's
    upper bounds are not above mu0_U.

    Source: Zhang et al. 2019, recalled, not read in the original; the test as in public experiment
    code that seems to be that of a sibling paper, which looks at a default reward in every round:
    here N_0 counts the default's own plays. Choices of ours: the width u - l, the cut at u, and l
    in place of mu0_U where N_0 exceeds (1-alpha)*t.

    ``horizon``: n. ``default_range``: (l, u), within which the default surely pays, None for the
    reward range. A default play is reported with its reward.

    >>> from surefoot.oracles import TopK
    >>> agent = C3UCBUnknown([[1.0, 0.0], [0.0, 1.0]], TopK(1), alpha=0.5, horizon=1000)
    >>> agent.update(agent.select(), reward=0.5)
    <Outcome.BOOKED: 'booked'>

    Holds when: as ``C3UCB``, for up to n plays; the default's bound may fail with probability 1/n
    at most. Does not hold when: features change from play to play; one asks it of received reward:
    the account is measured here, not kept.
    """

    default_competes = True
    rows = "base_arms"

    def __init__(
        self,
        base_arms: Any,
        oracle: Any,
        alpha: Any = 0.05,
        delta: float = 0.001,
        horizon: int | None = None,
        *,
        labels: Sequence[Any] | None = None,
        ridge: Ridge | None = None,
        default_range: tuple[Any, Any] | None = None,
        reward_range: tuple[Any, Any] | None = None,
        seed: Any = None,
        **old: Any,
    ) -> None:
        self.horizon = needed(horizon)
        policy, config = combinatorial(
            feature_rows(base_arms, "base_arms"), oracle, labels, delta,
            ridge_given(ridge, old, "C3UCBUnknown"), _WithDefault,
        )  # fmt: skip
        self.bounds, self.settings = policy, {"horizon": self.horizon, **config}
        paid = (0, policy.oracle.size[1]) if reward_range is None else reward_range
        super().__init__(policy, default_range, alpha, paid, seed)
        low, high = paid if default_range is None else default_range
        self._paid = float(low), float(high)

    def _default_paid(self, reward: Any) -> None:
        plays, total = self.bounds.paid
        self.bounds.paid = [plays + 1.0, total + self.policy_reward(reward)]

    def default_score(self, terms: Terms) -> float:
        """mu0_U."""
        low, high = self._paid
        plays, total = self.bounds.paid
        if not plays:
            return high
        width = (high - low) * math.sqrt(2 * math.log(self.horizon) / plays)
        return float(min(high, total / plays + width))

    def _margin(self, action: Action, terms: Terms, context: Any) -> int:
        times = self._coefficient()
        default = self.default_score(terms) if times < 0 else self._paid[0]
        return self._units(self.bounds.pledge(action) + times * default)


class _WithDefault(SuperArms):
    """The policy of C3UCB, and how often the default paid what in sum."""

    paid = [0.0, 0.0]  # noqa: RUF012  (replaced, never changed in place)
    kept = ("_learnt", "paid")
