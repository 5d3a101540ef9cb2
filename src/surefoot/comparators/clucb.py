"""CLUCB, known and unknown default: Kazerouni, Ghavamzadeh, Abbasi-Yadkori, Van Roy 2017."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from surefoot._exact import exact_range, shown
from surefoot._types import Number, Seed
from surefoot.agents.actions import Action
from surefoot.comparators.base import UnknownDefault
from surefoot.comparators.ellipsoid import (
    NOW,
    SCORES,
    SUM,
    TRIED,
    ByEllipsoid,
    Linear,
    add_row,
    beta,
    ellipsoid,
    fresh,
    lower,
)  # fmt: skip
from surefoot.errors import InvalidInput
from surefoot.floors import Terms
from surefoot.kernels.registry import Kernels, register
from surefoot.policies import _ridge
from surefoot.policies.options import Ridge, ridge_given
from surefoot.policies.sets import feature_rows


class CLUCBRecord(NamedTuple):
    """Parameters of CLUCB: the features, the fields of ``Ellipsoid``, and the clip."""

    features: Any
    d: int
    ridge: float
    noise: float
    bias: float
    growth: float
    level: float
    determinant: bool
    least: float
    """What each play's mean is at least; -inf where the bound is not clipped."""


def _best(
    policy: CLUCBRecord,
    state: Any,
    m: int,
    key: object = None,
    context: object = None,
    allowed: object = None,
) -> tuple[int, float]:
    state[NOW][0] = beta(policy, state, m)
    _ridge.scores(state, policy.features, state[NOW][0], state[SCORES])
    chosen = _ridge.first_best(state[SCORES])
    return chosen, state[SCORES][chosen]


def _update(policy: CLUCBRecord, state: Any, k: int, reward: float) -> None:
    _ridge.learn(state, policy.features, k, reward, policy.ridge)
    add_row(state[SUM], policy.features, k)
    state[NOW][1] += 1.0


def _pledge(policy: CLUCBRecord, state: Any, k: int) -> Any:
    total, tried = state[SUM], state[TRIED]
    for i in range(len(total)):
        tried[i] = total[i]
    add_row(tried, policy.features, k)
    bound = lower(state, tried, 0, state[NOW][0])
    return max(bound, policy.least * (state[NOW][1] + 1.0))


KERNELS = Kernels(fresh, _best, _update, _pledge, form="ridge bounds")
register(CLUCBRecord, KERNELS)


class CLUCB(ByEllipsoid):
    """Play the optimist's arm if no theta of the ellipsoid breaks the floor; else the default.

        a' = argmax <x, theta_hat> + beta*||x||_{V^-1},   u = z + x_{a'},  z = sum of played x
        play a'  iff  <theta_hat, u> - beta*||u||_{V^-1} + N0*mu0 >= (1-alpha)*mu0*t

    Source: Kazerouni et al. 2017, CLUCB with known baseline rewards; recalled, not read in the
    original. One bound on the sum of features, anew at each play with the newest ellipsoid; the
    default's plays do not change it. With m the turn (m - 1 rewards seen), ``radius``

    - "paper":       beta = sigma*sqrt(d ln((1 + m D^2/lambda)/delta)) + sqrt(lambda)*B; that the
      count is one larger than the rewards seen is from memory, and safe
    - "determinant": beta = sigma*sqrt(ln det(V/lambda^d) + 2 ln(1/delta)) + sqrt(lambda)*B, never
      larger by more than that one (Abbasi-Yadkori et al. 2011, as a public third-party code has it)

    ``arms``: features, shape (K, d); ``select(context=X_t)`` of that shape replaces them at one
    play. ``ridge``: a ``Ridge`` with B (``theta_bound``), D (``feature_bound``), sigma (``noise``),
    lambda and the radius, "paper" if it names none. ``clip``: means are at
    least r_min, so the bound is too; recalled as an option of the paper. Choices of ours: ties
    go to the lowest arm within 1e-9; the bound is rounded down to the books' unit; a pending play
    counts at r_min.

    >>> agent = CLUCB([[1.0, 0.0], [0.0, 1.0]], default=0.5, alpha=0.5, delta=0.01)
    >>> agent.update(agent.select())
    <Outcome.BOOKED: 'booked'>
    >>> agent.select().reason
    <Reason.SLACK_OK: 'SLACK_OK'>

    Holds when: means are <theta*, x> with ||theta*|| <= B, ||x|| <= D and sigma-subgaussian noise:
    with probability 1 - delta the sum of the played arms' means keeps the floor. Does not hold
    when: rewards are not linear in x; one asks it of received reward: the account is measured
    here, not kept.
    """

    gate: ClassVar[str] = "pledge"

    def __init__(
        self,
        arms: Any,
        default: Number | None = None,
        alpha: Number = 0.05,
        delta: float = 0.001,
        *,
        labels: Sequence[Any] | None = None,
        ridge: Ridge | None = None,
        clip: bool = True,
        reward_range: tuple[Number, Number] = (0, 1),
        seed: Seed = None,
        **old: Any,
    ) -> None:
        features = feature_rows(arms, "arms")
        options = ridge_given(ridge, old, "CLUCB")
        given = ellipsoid(features, delta, "arms", options, "paper")
        if not isinstance(clip, bool):
            raise InvalidInput(f"clip = {shown(clip)} must be True or False")
        least = float(exact_range(reward_range)[0]) if clip else -math.inf
        self.settings = {**given.config, "clip": clip}
        record = CLUCBRecord(features, *given.settings, least)
        self.bounds = Linear(features, labels, record, KERNELS, given.bound)
        super().__init__(self.bounds, default, alpha, reward_range, seed)


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
        alpha: Number = 0.05,
        delta: float = 0.001,
        *,
        labels: Sequence[Any] | None = None,
        ridge: Ridge | None = None,
        default_range: tuple[Number, Number] | None = None,
        reward_range: tuple[Number, Number] = (0, 1),
        seed: Seed = None,
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

    def _default_paid(self, reward: Number | None) -> None:
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
