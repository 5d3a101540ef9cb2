"""C2UCB: Qin, Chen, Zhu 2014; radius as in Du et al. 2021, GenCB-CCCB."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Context, Decimal, localcontext
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot._exact import exact, shown
from surefoot._jit import jittable
from surefoot._longest_path import longest_path
from surefoot._top_k import top_k
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.kernels.registry import Kernels, register
from surefoot.policies import _matching, _open, _ridge, _tight
from surefoot.policies._optimist import TOP, Optimist, reward_given
from surefoot.policies._tight import OwnBounds, fitting
from surefoot.policies.base import score_given
from surefoot.policies.linucb import arm_names, bounds_of, no_context
from surefoot.policies.options import Ridge, ridge_given
from surefoot.policies.sets import feature_rows, norms, within

SuperArm = tuple[int, ...]

# Sums of the numbers that ``exact`` lets in have fewer digits.
_SUMS = Context(prec=3000)


class C2UCBRecord(NamedTuple):
    """Parameters of C2UCB over K fixed base arms of d features; a super arm is any k of them, a
    matching, or a path."""

    features: npt.NDArray[np.float64]
    """K*d numbers, row by row."""
    d: int
    ridge: float
    noise: float
    growth: float
    """K L^2/lambda."""
    bias: float
    """sqrt(lambda)*S."""
    determinant: bool
    step: float
    """See ``_open``."""
    k: int
    """The base arms of a super arm; of a path, the most there are."""
    rows: int
    """Of the matching; 0 where super arms are none."""
    columns: int
    permitted: npt.NDArray[np.int64]
    """1 for each pair that may be matched."""
    source: int
    target: int
    order: npt.NDArray[np.int64]
    """The edges as ``longest_path`` takes them; empty where super arms are not paths."""
    tails: npt.NDArray[np.int64]
    heads: npt.NDArray[np.int64]


BOUNDS, MEMBERS, COSTS, PRICES, LINKS, OPENS, AHEAD = range(6, 13)
"""Behind the ridge's six lists: the base arms' bounds, the super arm, -1 behind its last base arm,
and room to match in or, but for the costs, to find a path in; the open plays, room for V^-1 with
them."""


def _init(policy: C2UCBRecord, n_arms: int) -> Any:
    d = policy.d
    first = *_ridge.fresh(d, policy.ridge), [0.0] * n_arms, [0] * policy.k, *room_in(policy)
    return *first, _open.none(d), [0.0] * (2 * d * d)


def room_in(policy: Any) -> tuple[list[Any], ...]:
    """Three lists to find a super arm in."""
    room: tuple[list[Any], ...] = _matching.room(
        policy.rows, policy.columns, policy.k if policy.rows else 0
    )
    if len(policy.order):
        nodes = 1 + int(max(policy.tails.max(), policy.heads.max()))
        room = [0.0], [0.0] * nodes, [0] * nodes
    return room


def _best(policy: C2UCBRecord, state: Any, m: int, key: Any, context: Any, allowed: Any) -> Any:
    bounds_of(policy, state, state[OPENS], state[AHEAD], m, context, state[BOUNDS])
    return 0, choose(
        policy, state[BOUNDS], state[MEMBERS], state[COSTS], state[PRICES], state[LINKS]
    )


@jittable
def choose(policy: Any, weights: Any, members: Any, costs: Any, prices: Any, links: Any) -> float:
    """Write the best super arm for the weights to ``members``; its value."""
    if policy.rows > 0:
        _matching.match(
            weights, policy.rows, policy.columns, policy.k, policy.permitted,
            costs, prices, links, members,
        )  # fmt: skip
    elif len(policy.order) > 0:
        longest_path(
            weights, policy.source, policy.target, policy.order, policy.tails, policy.heads,
            prices, links, members,
        )  # fmt: skip
    else:
        top_k(weights, policy.k, members)
    return total(weights, members)


def _update(policy: C2UCBRecord, state: Any, k: int, reward: float) -> None:
    _ridge.learn(state, policy.features, k, reward, policy.ridge)


def _opened(policy: C2UCBRecord, state: Any, k: int, by: int) -> None:
    _open.count(state[OPENS], policy.features, k, policy.d, policy.step, by)


def _width(policy: C2UCBRecord) -> int:
    return policy.k


def _member(policy: C2UCBRecord, state: Any, k: int, i: int) -> Any:
    return state[MEMBERS][i]


@jittable
def total(weights: Any, members: Any) -> float:
    """f = sum_{e in A} w_e."""
    value = 0.0
    for e in members:
        if e < 0:
            break
        value += weights[e]
    return value


def exact_sum(rewards: Iterable[Decimal]) -> Decimal:
    """The sum of exact numbers, to the last digit."""
    with localcontext(_SUMS):
        return sum(rewards, Decimal(0))


register(
    C2UCBRecord,
    Kernels(
        _init,
        _best,
        _update,
        width=_width,
        member=_member,
        opened=_opened,
        form="ridge of super arms",
    ),
)


class TightC2UCBRecord(C2UCBRecord):
    """The same of the tight form."""

    __slots__ = ()


COUNTS, SUMS, WAITING = range(13, 16)
"""Behind those lists: what is known of each base arm by itself, see ``_tight``."""


def _init_tight(policy: TightC2UCBRecord, n_arms: int) -> Any:
    return *_init(policy, n_arms), *_tight.fresh(n_arms)


def _best_tight(
    policy: TightC2UCBRecord, state: Any, m: int, key: Any, context: Any, allowed: Any
) -> Any:
    bounds_of(policy, state, state[OPENS], state[AHEAD], m, context, state[BOUNDS])
    _tight.lower(state[BOUNDS], state[COUNTS], state[SUMS], state[WAITING], m)
    return 0, choose(
        policy, state[BOUNDS], state[MEMBERS], state[COSTS], state[PRICES], state[LINKS]
    )


def _update_tight(policy: TightC2UCBRecord, state: Any, k: int, reward: float) -> None:
    _ridge.learn(state, policy.features, k, reward, policy.ridge)
    _tight.learn(state[COUNTS], state[SUMS], k, reward, 1)


def _opened_tight(policy: TightC2UCBRecord, state: Any, k: int, by: int) -> None:
    _open.count(state[OPENS], policy.features, k, policy.d, policy.step, by)
    _tight.wait(state[WAITING], k, by)


register(
    TightC2UCBRecord,
    Kernels(
        _init_tight, _best_tight, _update_tight, width=_width, member=_member, opened=_opened_tight
    ),
)


class C2UCB(Optimist):
    """Play the super arm that is best for the upper confidence bounds of its base arms.

        w_e = <x_e, theta_hat> + beta*||x_e||_{V^-1},   e = 1..K;   A_t = argmax_{A in X} f(A, w)
        beta = noise*sqrt(d ln(2 m^2 (1 + m K L^2/lambda))) + sqrt(lambda)*S
        V += sum_{e in A} x_e x_e',   b += sum_{e in A} r_e x_e

    Source: Du, Wang, Huang 2021, Algorithm GenCB-CCCB (supplement), for noise = 1; nothing is
    clipped. ``Ridge(radius="determinant")`` and ``tight`` as in ``LinUCB``, the latter for each
    base arm of the best super arm (6.8 widest gaps more). m counts this policy's own turns.

    ``base_arms``: the features, shape (K, d); a context of that shape replaces them at its play.
    ``oracle``: a callable from K weights to the base arms of the best super arm, as ``TopK(3)``;
    it breaks ties. ``f(super_arm, weights) -> float``: the value of a super arm, monotone and
    Lipschitz in the weights; None for the oracle's own attribute ``f``, and the sum if it has none.
    ``labels``: names of the base arms. ``ridge`` as in ``LinUCB``. Raises
    InvalidInput for what does not fit, and on a call for features that are not finite, of another
    shape or longer than L and for an oracle's answer that is no set of base arms; nothing is
    changed then.

    >>> import numpy as np
    >>> policy = C2UCB([[1, 0], [0, 1], [0.6, 0.8]], lambda w: np.argsort(-w, kind="stable")[:2])
    >>> policy.select(None, np.random.default_rng(0))
    (0, 1)
    >>> policy.update((0, 1), (0.0, 1.0), None)
    >>> policy.select(None, np.random.default_rng(0))
    (1, 2)

    Holds when: a base arm's mean reward is <x_e, theta*>, its noise is ``noise``-sub-Gaussian, and
    the oracle maximises f: regret O(d sqrt(T) ln(KT)). Does not hold when: the reward of each base
    arm played is not observed, or the oracle is only near the best.
    """

    numbered = False
    semi_bandit = True
    kernel_methods = ("best", "peek", "update", "value", "opened", "closed")
    """What the kernels stand for; who overrides one of these is run play by play."""

    def __init__(
        self,
        base_arms: Any,
        oracle: Callable[[Any], Iterable[int]],
        *,
        labels: Sequence[Any] | None = None,
        f: Callable[[SuperArm, Any], float] | None = None,
        ridge: Ridge | None = None,
        tight: bool = False,
        **old: Any,
    ) -> None:
        self.features = feature_rows(base_arms, "base_arms")
        self.n_arms, d = self.features.shape
        self.arms = arm_names(labels, self.n_arms)
        self.oracle = _oracle_given(oracle, self.n_arms)
        if f is not None and not callable(f):
            raise InvalidInput(f"f = {shown(f)} must be a function of (super_arm, weights)")
        self.f = getattr(oracle, "f", None) if f is None else f
        self._own_f = f
        options = ridge_given(ridge, old, "C2UCB", tight)
        own = OwnBounds(self.n_arms) if tight else None
        self.contextual = own is None
        super().__init__(d, float(norms(self.features).max()), options, self.n_arms, own)
        within(self.features, self.feature_bound, "base_arms")
        self._flat = self._flattened(self.features)
        self._any_k = _of(oracle, "top_k")

    @property
    def record(self) -> C2UCBRecord | None:
        """The engine's parameters; None unless f is the sum and the oracle one of its own.

        Those are the k largest, matchings that always have as many pairs, and paths without cycles.
        """
        found = structure(self.oracle)
        if self.f is not None or found is None:
            return None
        kind = C2UCBRecord if self._own is None else TightC2UCBRecord
        return kind(
            self.features.ravel(), self.d, self.ridge, self.noise, self.growth, self.bias,
            self.radius == "determinant", self.step, *found,
        )  # fmt: skip

    def check(self, context: Any) -> None:
        """Raise InvalidInput for a context that ``best`` would refuse."""
        self._rows(context)

    def _rows(self, context: Any) -> Any:
        """The features at a play, flat."""
        if context is None:
            return self._flat
        no_context(context, self._own)
        rows = feature_rows(context, "context", self.d, self.n_arms)
        within(rows, self.feature_bound, "context")
        return self._flattened(rows)

    def best(
        self, context: Any, rng: np.random.Generator, allowed: Sequence[int] | None = None
    ) -> tuple[SuperArm, float]:
        """Take a turn: the oracle's super arm for the upper confidence bounds, and its value."""
        if allowed is not None:
            raise InvalidInput(
                f"allowed = {shown(allowed)}: a super arm is not one of a list; let the oracle "
                "know what may be played"
            )
        chosen = self.peek(self.turns + 1, context)
        self.turns += 1
        self._last = chosen[0], context
        return chosen

    def peek(self, turn: int, context: Any = None) -> tuple[SuperArm, float]:
        """What ``best`` would return at a turn, without taking it."""
        rows = self._rows(context)
        fast = self.f is None and self._any_k and self._own is None
        if fast and self._compiled is not None:
            weights, out = np.empty(self.n_arms), np.empty(self.oracle.k, np.int64)
            if self._compiled[TOP](out, weights, rows, turn, self._seen()):
                arm = tuple(out.tolist())
                return arm, float(total(weights, arm))
        weights = self._scores(rows, turn)
        arm = self._super_arm(self.oracle(np.array(weights)), "the oracle's answer")
        if self.f is None:
            return arm, float(total(weights, arm))
        return score_given(self, (arm, self.f(arm, np.array(weights))))

    def _super_arm(self, given: Any, what: str) -> SuperArm:
        """Base arms as an ascending tuple; InvalidInput if they are not a super arm."""
        if not isinstance(given, Iterable) or isinstance(given, str | bytes | dict):
            raise InvalidInput(f"{what} is {shown(given)}; it must be a list of base arms")
        arm = list(given)
        for e in arm:
            whole = type(e) is int or (isinstance(e, int | np.integer) and not isinstance(e, bool))
            if not whole or not 0 <= e < self.n_arms:
                raise InvalidInput(
                    f"{what} holds {shown(e)}; a base arm is an int in 0..{self.n_arms - 1}"
                )
        if not arm or len(set(arm)) < len(arm):
            raise InvalidInput(
                f"{what} is {shown(arm)}; it must hold at least one base arm, each once"
            )
        return tuple(sorted(map(int, arm)))

    def update(self, arm: Any, reward: Any, context: Any) -> None:
        """Learn one reward of each base arm of a super arm, in its order."""
        flat, members = self._rows(context), self._members(arm)
        for e, number in zip(members, self._rewards(members, reward, "reward"), strict=True):
            self._learn(flat, e, number)

    def correct(self, arm: Any, old: Any, new: Any, context: Any) -> None:
        """Replace the learned rewards ``old`` of one super arm by ``new``; up to rounding."""
        flat, members = self._rows(context), self._members(arm)
        before, after = (
            self._rewards(members, each, what) for each, what in ((old, "old"), (new, "new"))
        )
        for e, was, now in zip(members, before, after, strict=True):
            self._correct(flat, e, was, now)

    def _observed(self, arm: Any, context: Any) -> tuple[Any, Sequence[int]]:
        return self._rows(context), self._members(arm)

    def _members(self, arm: Any) -> SuperArm:
        """The base arms of a super arm that was played."""
        members = self._super_arm(arm, "arm")
        if list(members) != list(arm):
            raise InvalidInput(f"arm = {shown(arm)} must name its base arms in ascending order")
        return members

    def _rewards(self, members: SuperArm, given: Any, what: str) -> list[float]:
        """One reward of each base arm, in its order."""
        if not isinstance(given, Sequence | np.ndarray) or len(given) != len(members):
            raise InvalidInput(
                f"{what} = {shown(given)} must hold one reward for each of {members}"
            )
        rewards = [
            reward_given(r, f"the reward of base arm {e}")
            for e, r in zip(members, given, strict=True)
        ]
        if self._own is not None:
            for e, r in zip(members, rewards, strict=True):
                fitting(r, f"the reward of base arm {e}")
        return rewards

    def value(self, base_rewards: Sequence[Any], super_arm: SuperArm | None = None) -> Any:
        """The reward of a super arm from those of its base arms: f applied to them.

        The sum is exact. Any other f takes ``super_arm`` and weights that are the rewards at its
        base arms and 0 elsewhere; without ``super_arm``, the arms 0..n-1 and the n rewards.
        """
        rewards = [exact(reward, "base reward") for reward in base_rewards]
        if self.f is None:
            return exact_sum(rewards)
        arm, size = tuple(range(len(rewards))), len(rewards)
        if super_arm is not None:
            arm, size = self._super_arm(super_arm, "super_arm"), self.n_arms
            if len(arm) != len(rewards):
                raise InvalidInput(f"got {len(rewards)} base rewards for the super arm {arm}")
        weights = np.zeros(size)
        weights[list(arm)] = [float(reward) for reward in rewards]
        return exact(self.f(arm, weights), "f(super_arm, base rewards)")

    def config(self) -> JsonObject:
        """Settings, JSON-able but for ``oracle``; InvalidInput if an f was given."""
        if self._own_f is not None:
            raise InvalidInput(f"f = {shown(self._own_f)} is a function, which cannot be saved")
        return {
            "base_arms": self.features.tolist(),
            "oracle": self.oracle,
            "labels": list(self.arms),
            **self.settings(),
        }

    def __repr__(self) -> str:
        settings = ", ".join(f"{key}={value!r}" for key, value in self.settings().items())
        what = f"<{self.n_arms} base arms of {self.d} features>"
        return f"{type(self).__name__}({what}, {self.oracle!r}, {settings})"


def _oracle_given(oracle: Any, n_base: int) -> Any:
    if not callable(oracle) or isinstance(oracle, type):
        raise InvalidInput(f"oracle = {shown(oracle)} must be a callable, e.g. TopK(3)")
    needs, k = getattr(oracle, "n_base", None), getattr(oracle, "k", None)
    if needs not in (None, n_base) or (isinstance(k, int) and k > n_base):
        raise InvalidInput(f"oracle = {shown(oracle)} does not fit {n_base} base arms")
    return oracle


def _of(oracle: Any, module: str) -> bool:
    """Whether an oracle is one of ours, by its module's name: oracles are not imported here."""
    return type(oracle).__module__ == f"surefoot.oracles.{module}"


def structure(oracle: Any) -> tuple[Any, ...] | None:
    """The fields of the record from k on; None if the engine does not know the oracle."""
    none = np.zeros(0, dtype=np.int64)
    if _of(oracle, "top_k"):
        return oracle.k, 0, 0, none, 0, 0, none, none, none
    if _of(oracle, "matching") and oracle.assignment is not None:
        rows, columns, pairs, permitted = oracle.assignment
        return pairs, rows, columns, np.array(permitted, np.int64), 0, 0, none, none, none
    if _of(oracle, "shortest_path") and oracle.network is not None:
        source, target, most, *edges = oracle.network
        return most, 0, 0, none, source, target, *(np.array(one, np.int64) for one in edges)
    return None
