"""CLUCB whose default is not known: after Kazerouni et al. 2017, their CLUCB2."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from surefoot.agents.actions import Action
from surefoot.comparators.base import UnknownDefault
from surefoot.comparators.clucb import KERNELS, CLUCBRecord
from surefoot.comparators.ellipsoid import NOW, SUM, TRIED, ByEllipsoid, Linear, ellipsoid, lower
from surefoot.floors import Terms
from surefoot.policies import _ridge
from surefoot.policies.options import Ridge, ridge_given
from surefoot.policies.sets import feature_rows


class CLUCBUnknown(ByEllipsoid, UnknownDefault):
    """CLUCB with a default of known features and unknown mean; its plays teach, too.

        w = sum_{i in S} (x_i - (1-alpha) b) + alpha*sum_{i not in S} b + x_{a'} - (1-alpha) b
        play a'  iff  <theta_hat, w> - beta*||w||_{V^-1} >= 0

    S holds the plays that explored, b is the feature vector of the default, and a' the optimist's
    arm as in ``CLUCB``. V and theta_hat come from all plays.

    Source: the problem and its structure are Kazerouni et al. 2017, recalled, not read in the
    original. The test is ours: one bound on the whole contrast w, drawn up anew at each play; a
    manuscript of 2026 has the same, without a reserve. It is implied by any test that bounds the
    parts by the same ellipsoid, so it is never stricter. A pending play counts at r_min.

    ``default_features``: b, d numbers. ``default_range``: (l, u), within which the default surely
    pays, None for ``reward_range``: for the account alone, which measures against the default's own
    draws. A default play is reported with its reward. The other options as in ``CLUCB``.

    >>> agent = CLUCBUnknown([[1.0, 0.0], [0.0, 1.0]], default_features=[0.5, 0.5], alpha=0.5)
    >>> play = agent.select()
    >>> play.is_default
    True
    >>> agent.update(play, reward=1)
    <Outcome.BOOKED: 'booked'>

    Holds when: as ``CLUCB``, the default's mean being <theta*, b>. Does not hold when: rewards are
    not linear in the features; one asks it of received reward: the account is measured here.
    """

    def __init__(
        self,
        arms: Any,
        default_features: Any,
        alpha: Any = 0.05,
        delta: float = 0.001,
        *,
        labels: Sequence[Any] | None = None,
        ridge: Ridge | None = None,
        default_range: tuple[Any, Any] | None = None,
        reward_range: tuple[Any, Any] = (0, 1),
        seed: Any = None,
        **old: Any,
    ) -> None:
        features = feature_rows(arms, "arms")
        row = feature_rows([default_features], "default_features", features.shape[1], 1)
        given = ellipsoid(
            feature_rows([*features.tolist(), *row.tolist()], "arms"), delta,
            "arms and default_features", ridge_given(ridge, old, "CLUCBUnknown"), "paper",
        )  # fmt: skip
        self._default_row = row.ravel().tolist()
        self.settings = {"default_features": self._default_row, **given.config}
        record = CLUCBRecord(features, *given.settings, -math.inf)
        self.bounds = Linear(features, labels, record, KERNELS, given.bound)
        super().__init__(self.bounds, default_range, alpha, reward_range, seed)

    def _default_paid(self, reward: Any) -> None:
        lam = self.bounds.plain.ridge
        _ridge.learn(self.bounds.lists, self._default_row, 0, self.policy_reward(reward), lam)

    def _peek(self, context: Any, allowed: Sequence[int] | None) -> tuple[int, float]:
        seen = self.turns + self.books.default_plays
        action, score = self.bounds.peek(seen + 1, allowed, context)
        return action, score

    def _margin(self, action: Action, terms: Terms, context: Any) -> int:
        state = self.bounds.lists
        features, contrast = self.bounds.record_with(context).features, state[TRIED]
        times = self._coefficient()
        assert isinstance(action, int)
        start = action * len(contrast)
        for i, b in enumerate(self._default_row):
            contrast[i] = state[SUM][i] + features[start + i] + times * b
        proved = lower(state, contrast, 0, state[NOW][0])
        return self._units(proved)
