"""C3UCB, known and unknown default: Zhang, Li, Liu, Zhang 2019."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from surefoot._exact import shown
from surefoot._jit import jittable
from surefoot._top_k import top_k
from surefoot._types import JsonObject, Number, Seed
from surefoot.agents.actions import Action
from surefoot.comparators.base import UnknownDefault, needed
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
from surefoot.oracles import TopK, as_oracle
from surefoot.policies import _ridge
from surefoot.policies.c2ucb import exact_sum, total
from surefoot.policies.options import Ridge, ridge_given
from surefoot.policies.sets import feature_rows


class C3UCBRecord(NamedTuple):
    """Parameters of C3UCB: the features, the fields of ``Ellipsoid``, and k of the k largest."""

    features: Any
    d: int
    ridge: float
    noise: float
    bias: float
    growth: float
    level: float
    determinant: bool
    k: int


LOWS, PLAYED, MEMBERS = range(10, 13)
"""Behind the lists of ``fresh``: the base arms' lower bounds and plays, and the super arm."""


def _init(policy: C3UCBRecord, n_arms: int) -> Any:
    rest = ([0.0] * n_arms, [0] * n_arms, [0] * policy.k)
    return fresh(policy, n_arms) + rest


def _best(
    policy: C3UCBRecord,
    state: Any,
    m: int,
    key: object = None,
    context: object = None,
    allowed: object = None,
) -> tuple[int, float]:
    draw_up(policy, state, m)
    top_k(state[SCORES], policy.k, state[MEMBERS])
    return 0, total(state[SCORES], state[MEMBERS])


@jittable
def draw_up(policy: C3UCBRecord, state: Any, m: int) -> None:
    """The base arms' bounds at turn m, cut to [0, 1]."""
    radius = beta(policy, state, m)
    state[NOW][0] = radius
    for e in range(len(state[SCORES])):
        centre = _ridge.mean(state, policy.features, e)
        width = radius * _ridge.norm(state, policy.features, e)
        state[SCORES][e] = min(1.0, centre + width)
        state[LOWS][e] = max(0.0, centre - width)


def _update(policy: C3UCBRecord, state: Any, k: int, reward: float) -> None:
    _ridge.learn(state, policy.features, k, reward, policy.ridge)
    add_row(state[SUM], policy.features, k)
    state[PLAYED][k] += 1


def _pledge(policy: C3UCBRecord, state: Any, k: int) -> Any:
    lows, plays, tried = state[LOWS], state[PLAYED], state[TRIED]
    for i in range(len(tried)):
        tried[i] = state[SUM][i]
    apart = 0.0
    for e in range(len(lows)):
        apart += plays[e] * lows[e]
    for e in state[MEMBERS]:
        apart += lows[e]
        add_row(tried, policy.features, e)
    return max(apart, lower(state, tried, 0, state[NOW][0]))


def _width(policy: C3UCBRecord) -> int:
    return policy.k


def _member(policy: C3UCBRecord, state: Any, k: int, i: int) -> Any:
    return state[MEMBERS][i]


KERNELS = Kernels(
    _init, _best, _update, _pledge, _width, _member, form="ridge bounds of super arms"
)
register(C3UCBRecord, KERNELS)


class C3UCB(ByEllipsoid):
    """Play the optimist's super arm if lower bounds prove the floor on means; else the default.

        U_e = min(1, <x_e, theta_hat> + beta*||x_e||),  L_e likewise, max(0, .. - ..)
        B = argmax_A sum_{e in A} U_e;   the default if mu0 is not below its value
        play B  iff  N0*mu0 + max(sum_e n_e*L_e, <z, theta_hat> - beta*||z||) >= (1-alpha)*mu0*t

    n_e counts the plays of base arm e and z sums their features, B included; the bounds are drawn
    up anew at each play. Norms are those of V^-1, beta as in ``CLUCB``.

    Source: Zhang et al. 2019, recalled, not read in the original; the check of clipped lower
    bounds and beta's "determinant" form (the default here) as in public experiment code that
    seems to be that of a sibling paper. The joint bound on z, taken where it is better, is ours, as
    are: ties with the default are the default; the sum is rounded down to the books' unit; a
    pending play counts at r_min.

    ``base_arms``: features, shape (K, d), which do not change. ``oracle``: from weights to the
    best super arm, as ``TopK(k)``. ``labels``: names of the base arms. The other options as in
    ``CLUCB``. ``reward_range``: of a super arm; None: (0, most base arms of one).

    >>> from surefoot.oracles import TopK
    >>> agent = C3UCB([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]], TopK(2), default=1, alpha=0.5)
    >>> agent.update(agent.select())
    <Outcome.BOOKED: 'booked'>
    >>> play = agent.select()
    >>> play.arm
    (0, 1)
    >>> agent.update(play, base_rewards=[1, 0])
    <Outcome.BOOKED: 'booked'>

    Holds when: rewards of base arms lie in [0, 1] with means <theta*, x_e>, ||theta*|| within its
    bound, and a super arm's reward is their sum: with probability 1 - delta the sum of the played
    super arms' means keeps the floor. Does not hold when: features change from play to play; one
    asks it of received reward: the account is measured here, not kept.
    """

    gate: ClassVar[str] = "pledge"
    default_competes = True
    rows = "base_arms"

    def __init__(
        self,
        base_arms: Any,
        oracle: Any,
        default: Number | None = None,
        alpha: Number = 0.05,
        delta: float = 0.001,
        *,
        labels: Sequence[Any] | None = None,
        ridge: Ridge | None = None,
        reward_range: tuple[Number, Number] | None = None,
        seed: Seed = None,
        **old: Any,
    ) -> None:
        features = feature_rows(base_arms, "base_arms")
        self.bounds, self.settings = combinatorial(
            features, oracle, labels, delta, ridge_given(ridge, old, "C3UCB")
        )
        most = self.bounds.oracle.size[1]
        paid = (0, most) if reward_range is None else reward_range
        super().__init__(self.bounds, default, alpha, paid, seed)


class SuperArms(Linear):
    """The policy of C3UCB: super arms of an oracle, learnt base arm by base arm."""

    numbered = False
    semi_bandit = True
    kernel_methods = ("peek", "pledge", "best", "update", "value")
    kept: ClassVar[tuple[str, ...]] = ("_learnt",)

    def __init__(self, features: Any, labels: Any, record: Any, bound: float, oracle: Any) -> None:
        super().__init__(features, labels, record, KERNELS, bound)
        self.oracle = oracle
        self._learnt = 0
        if not record.k:
            self.record = None  # the engine knows the k largest and no other oracle

    def check(self, context: Any) -> None:
        """Refuse a context: the bounds of past plays are drawn up from features that stay."""
        if context is not None:
            raise InvalidInput(f"context = {shown(context)}: C3UCB takes none, its features stay")

    def peek(self, turn: int, allowed: Any = None, context: Any = None) -> tuple[Any, float]:
        """The best super arm for the upper bounds, and the sum of its upper bounds."""
        state = self.lists
        if self.plain.k:
            _, score = self.kernels.best(self.plain, state, turn)
        else:
            draw_up(self.plain, state, turn)
            state[MEMBERS][:] = self.oracle(np.array(state[SCORES]))
            score = total(state[SCORES], state[MEMBERS])
        return tuple(state[MEMBERS]), score

    def pledge(self, action: Any, context: Any = None) -> float:
        """A lower bound on the mean reward of all plays learnt from and one of ``action``."""
        self.lists[MEMBERS][:] = action
        return super().pledge(0)

    @property
    def learnt(self) -> int:
        """How many explorations' rewards it has seen."""
        return self._learnt

    def update(self, arm: Any, reward: Any, context: Any) -> None:
        """Learn one reward of each base arm."""
        for e, paid in zip(arm, reward, strict=True):
            super().update(e, paid, None)
        self._learnt += 1

    def value(self, base_rewards: Sequence[Any]) -> Any:
        """The reward of a super arm: the exact sum of those of its base arms."""
        return exact_sum(base_rewards)


def combinatorial(
    features: Any, oracle: Any, labels: Any, delta: Number, options: Ridge, kind: Any = SuperArms
) -> tuple[Any, JsonObject]:
    """The policy of C3UCB and its settings, from what a user gave."""
    checked = as_oracle(oracle, n_base=getattr(oracle, "n_base", None) or len(features))
    if checked.n_base not in (None, len(features)) or checked.size[1] > len(features):
        raise InvalidInput(
            f"oracle = {shown(oracle)} does not fit base_arms: {len(features)} base arms"
        )
    given = ellipsoid(features, delta, "base_arms", options, "determinant", checked.size[1])
    if getattr(checked, "f", None) is not None:
        raise InvalidInput(f"oracle = {shown(oracle)} has an f; C3UCB bounds the sum only")
    k = checked.k if type(checked) is TopK else 0  # another oracle's k may be anything
    record = C3UCBRecord(features, *given.settings, k)
    policy = kind(features, labels, record, given.bound, checked)
    return policy, {"oracle": checked, **given.config}


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
        alpha: Number = 0.05,
        delta: float = 0.001,
        horizon: int | None = None,
        *,
        labels: Sequence[Any] | None = None,
        ridge: Ridge | None = None,
        default_range: tuple[Number, Number] | None = None,
        reward_range: tuple[Number, Number] | None = None,
        seed: Seed = None,
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

    def _default_paid(self, reward: Number | None) -> None:
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
