"""LinTS: Agrawal, Goyal 2013, not inflated; of super arms CombLinTS: Wen, Kveton, Ashkan 2015."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot._exact import shown
from surefoot._jit import jittable
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.kernels import warm
from surefoot.kernels.noise import key_from, wrap
from surefoot.kernels.registry import Kernels, register
from surefoot.kernels.warm import LIVE, Live, listed
from surefoot.policies import _factored, _open, _ridge
from surefoot.policies._optimist import SIGNATURES, Optimist, fit_top, live_count
from surefoot.policies.c2ucb import C2UCB, SuperArm, choose, room_in, structure
from surefoot.policies.linucb import LinUCB
from surefoot.policies.options import Ridge
from surefoot.policies.sets import Ball, Polytope, positive


class LinTSRecord(NamedTuple):
    """Parameters of LinTS over K fixed rows of d features."""

    features: npt.NDArray[np.float64]
    """K*d numbers, row by row."""
    d: int
    ridge: float
    scale: float
    step: float
    """See ``_open``."""


class CombLinTSRecord(NamedTuple):
    """Parameters of LinTS over K fixed base arms of d features; the last nine as in C2UCB's."""

    features: npt.NDArray[np.float64]
    d: int
    ridge: float
    scale: float
    step: float
    k: int
    rows: int
    columns: int
    permitted: npt.NDArray[np.int64]
    source: int
    target: int
    order: npt.NDArray[np.int64]
    tails: npt.NDArray[np.int64]
    heads: npt.NDArray[np.int64]


FACTOR, U, THETA, VALUES, OPENS, AHEAD, U_AHEAD, MEMBERS, COSTS, PRICES, LINKS = range(11)
"""The lists of a state: the two of ``_factored``, the sample, the arms' values in it, the open
plays, room for those two with them; then, of super arms, the one chosen, -1 behind its last base
arm, and room to find it in."""


def _init(policy: Any, n_arms: int) -> Any:
    d = policy.d
    first = *_factored.fresh(d, policy.ridge), [0.0] * d, [0.0] * n_arms
    return *first, _open.none(d), [0.0] * (d * d), [0.0] * d


def _init_super_arms(policy: CombLinTSRecord, n_arms: int) -> Any:
    return *_init(policy, n_arms), [0] * policy.k, *room_in(policy)


@jittable
def _sample(policy: Any, state: Any, m: int, key: Any, context: Any) -> None:
    """Write each row's value in the sample of turn m to the state."""
    factor, u, opens = state[FACTOR], state[U], state[OPENS]
    if opens[policy.d * policy.d] > 0:
        after, u_after = state[AHEAD], state[U_AHEAD]
        _factored.ahead(factor, u, opens, policy.step, policy.ridge, after, u_after)
        factor, u = after, u_after
    _factored.draw(factor, u, policy.scale, m, key, state[THETA])
    features = policy.features if context is None else context
    _factored.values(features, state[THETA], state[VALUES])


def _best(policy: LinTSRecord, state: Any, m: int, key: Any, context: Any, allowed: Any) -> Any:
    _sample(policy, state, m, key, context)
    k = _ridge.first_among(state[VALUES], allowed)
    return k, state[VALUES][k]


def _best_super_arm(
    policy: CombLinTSRecord, state: Any, m: int, key: Any, context: Any, allowed: Any
) -> Any:
    _sample(policy, state, m, key, context)
    return 0, choose(
        policy, state[VALUES], state[MEMBERS], state[COSTS], state[PRICES], state[LINKS]
    )


def _update(policy: Any, state: Any, k: int, reward: float) -> None:
    _factored.learn(state[FACTOR], state[U], state[THETA], policy.features, k, reward)


def _opened(policy: Any, state: Any, k: int, by: int) -> None:
    _open.count(state[OPENS], policy.features, k, policy.d, policy.step, by)


def _width(policy: CombLinTSRecord) -> int:
    return policy.k


def _member(policy: CombLinTSRecord, state: Any, k: int, i: int) -> Any:
    return state[MEMBERS][i]


register(LinTSRecord, Kernels(_init, _best, _update, opened=_opened))
register(
    CombLinTSRecord,
    Kernels(
        _init_super_arms, _best_super_arm, _update, width=_width, member=_member, opened=_opened
    ),
)

SETTINGS = 6
"""Compiled wrappers are handed one array: d, lambda, the step of ``_open``, the scale, the two
halves of the key, the lists up to ``THETA``."""


@jittable
def _parted(whole: Any) -> Any:
    """Those lists, as views of the array."""
    d = int(whole[0])
    u = SETTINGS + d * d
    return whole[SETTINGS:u], whole[u : u + d], whole[u + d :]


@jittable
def _live_scores(values: Any, features: Any, m: int, whole: Any) -> None:
    factor, u, theta = _parted(whole)
    key = wrap((int(whole[4]) << 32) | int(whole[5]))
    _factored.draw(factor, u, whole[3], m, key, theta)
    _factored.values(features, theta, values)


def _live_choose(values: Any, features: Any, m: int, whole: Any) -> tuple[int, float]:
    _live_scores(values, features, m, whole)
    chosen = _ridge.first_best(values)
    return chosen, values[chosen]


def _live_top(out: Any, values: Any, features: Any, m: int, whole: Any) -> bool:
    _live_scores(values, features, m, whole)
    return fit_top(out, values)


def _live_learn(row: int, reward: float, features: Any, whole: Any) -> None:
    factor, u, room = _parted(whole)
    _factored.learn(factor, u, room, features, row, reward)


def _live_ahead(opens: Any, whole: Any, out: Any) -> None:
    """Make ``out`` the array, but for what open plays change."""
    for i in range(SETTINGS):
        out[i] = whole[i]
    factor, u, _ = _parted(whole)
    after, u_after, _ = _parted(out)
    _factored.ahead(factor, u, opens, whole[2], whole[1], after, u_after)


class Sampler(Optimist):
    """A linear policy that plays what is best for a sample of theta*: LinTS, whatever its actions.

    The actions are those of the class that stands behind it: ``LinUCB`` or ``C2UCB``.
    """

    draws: ClassVar[bool] = True
    scale: float
    key: int | None = None
    """What its draws are a function of, with the turn; None before the first."""

    def _wrappers(self) -> warm.Compiled | None:
        return warm.ready(Sampler)

    def _start(self) -> tuple[list[float], ...]:
        return _factored.fresh(self.d, self.ridge)

    def _numbers(self) -> tuple[float, ...]:
        high, low = divmod(self.key or 0, 2**32)
        return float(self.d), self.ridge, self.step, self.scale, float(high), float(low)

    def _begin(self, turns: int, state: tuple[list[Any], ...]) -> None:
        room = [0.0] * self.d
        super()._begin(turns, state if self._compiled is None else (*state, room))

    def _unpacked(self, whole: Any) -> tuple[Any, ...]:
        parts: tuple[Any, ...] = _parted(whole)[:THETA]
        return parts

    def _look_ahead(self) -> Any:
        if self._compiled is not None:
            return super()._look_ahead()
        factor, u = self._ridge
        after, u_after = [0.0] * len(factor), [0.0] * self.d
        _factored.ahead(factor, u, self._opens, self.step, self.ridge, after, u_after)
        return after, u_after

    def best(
        self, context: Any, rng: np.random.Generator, allowed: Sequence[int] | None = None
    ) -> tuple[Any, float]:
        """Take a turn: what is best for a sample of theta*, and its value there."""
        if self.key is None:
            # What cannot be used is refused before anything is drawn.
            super().best(context, rng, allowed)
            self.key = key_from(rng)
            self._begin(self.turns - 1, self._lists())
        chosen: tuple[Any, float] = super().best(context, rng, allowed)
        return chosen

    def sample(self, turn: int) -> tuple[float, ...]:
        """The sample of theta* at a turn, d numbers; with the key 0 before the first turn."""
        factor, u = map(listed, self._lists_seen())
        theta = [0.0] * self.d
        _factored.draw(factor, u, self.scale, turn, self.key or 0, theta)
        return tuple(theta)

    def _score(self, features: Any, turn: int, out: list[float]) -> None:
        _factored.values(features, self.sample(turn), out)

    def _optimum(self, actions: Ball | Polytope, turn: int) -> tuple[Any, float]:
        unit = [float(i == j) for i in range(self.d) for j in range(self.d)]
        chosen: tuple[Any, float] = actions.optimum(self.sample(turn), unit, 0.0)
        return chosen

    def _learn(self, features: Any, row: int, reward: float) -> None:
        if self._compiled is None:
            self._ahead = None
            factor, u = self._ridge
            _factored.learn(factor, u, [0.0] * self.d, features, row, reward)
        else:
            super()._learn(features, row, reward)

    def _correct(self, features: Any, row: int, old: float, new: float) -> None:
        self._ahead = None
        factor, u = self._ridge
        _factored.correct(factor, u, features, row, new - old)

    @property
    def theta_hat(self) -> tuple[float, ...]:
        """The ridge estimate of theta*, d numbers: the posterior's mean."""
        factor, theta = self._lists()
        _factored.solve(factor, theta)
        return tuple(theta)

    def renew(self) -> None:
        """Forget the key of its draws: the next turn takes another from its agent's generator."""
        self.key = None
        self._begin(self.turns, self._lists())

    @property
    def fresh(self) -> bool:
        """Whether it has taken no turn and no reward yet."""
        return self.key is None and super().fresh

    def state(self) -> JsonObject:
        """JSON-able state."""
        return super().state() | ({} if self.key is None else {"key": self.key})

    def restore(self, state: JsonObject) -> None:
        """The inverse of ``state``."""
        super().restore(state)
        self.key = state.get("key")
        self._begin(self.turns, self._lists())

    def settings(self) -> JsonObject:
        """The options, as a saved file has them."""
        return {"scale": self.scale, **super().settings()}


class LinTS(Sampler, LinUCB):
    """Play the action that is best for a sample of theta* from its posterior.

        theta ~ N(theta_hat, v^2 V^-1),   x_t = argmax_x <x, theta>,   V = lambda*I + sum x x'

    Source: Thompson sampling for linear payoffs, Agrawal, Goyal 2013, without their inflation of v
    by about sqrt(d ln T); for super arms CombLinTS, Wen, Kveton, Ashkan 2015. v = 1/2
    for rewards in [0, 1] and lambda = max(1, L^2) are ours. Ours is where the randomness comes
    from, too: coordinate i of R (theta - theta_hat), V = R'DR, is the normal quantile of a uniform
    number for (key, turn, i), so that live, plain and compiled draws are the same to the last bit.
    m, the turn, counts this policy's own turns. Ties, up to 1e-9*max(1, |max|), go to the lowest
    row. Plays that wait for their reward count in V, and not in theta_hat.

    ``arms``, ``dim``, ``labels``: as in ``LinUCB``, contexts and sets included. ``oracle``: then
    ``arms`` are the base arms, super arms are what the oracle finds for the weights <x_e, theta>,
    and ``f`` is their value, as in ``C2UCB``; the policy is a ``surefoot.policies.CombLinTS``, and
    every base arm's reward is learned. ``scale``: v; for rewards of another range half its width.
    ``ridge``: a ``Ridge``, whose ``feature_bound`` and ``penalty`` count here. The key comes from
    the seed of the agent. Raises InvalidInput for what does not fit, and as ``LinUCB`` on a call.

    >>> import numpy as np
    >>> policy, rng = LinTS([[1, 0], [0, 1]], labels=["red", "blue"]), np.random.default_rng(0)
    >>> for _ in range(50):
    ...     policy.update(0, 0.1, None), policy.update(1, 0.9, None)
    (None, None)
    ...
    >>> policy.select(None, rng)
    1
    >>> LinTS([[1, 0], [0, 1], [0.6, 0.8]], oracle=lambda w: np.argsort(-w)[:2])
    CombLinTS(<3 base arms of 2 features>, ...

    Holds when: theta* itself is drawn from N(0, v^2/lambda I), noise is normal of deviation v, and
    rewards come at once: its regret averaged over such theta* is O(d sqrt(T) ln T), up to the
    theta* of large norm, which the theorem leaves out (Russo, Van Roy 2014); for super arms of k
    base arms at most some k times that (Wen, Kveton, Ashkan 2015). Does not hold when: theta* is
    any other. No bound is known then, and there are problems where an uninflated posterior makes
    regret grow with T (Hamidi, Bayati 2020, arXiv 2006.06790); in our measurements it did not. The
    mean is not linear, or rewards drift: as in ``LinUCB``.
    """

    kernel_methods = LinUCB.kernel_methods

    def __new__(cls, arms: Any = None, *, oracle: Any = None, **options: Any) -> Any:
        """A CombLinTS where there is an oracle."""
        if oracle is None or cls is not LinTS:
            return super().__new__(cls)
        return CombLinTS(arms, oracle, **options)

    def __init__(
        self,
        arms: Any = None,
        *,
        oracle: Callable[[Any], Iterable[int]] | None = None,
        dim: int | None = None,
        labels: Sequence[Any] | None = None,
        f: Callable[[SuperArm, Any], float] | None = None,
        scale: float = 0.5,
        ridge: Ridge | None = None,
    ) -> None:
        if oracle is not None or f is not None:  # a class derived from this one was given an oracle
            raise InvalidInput(
                f"oracle = {shown(oracle)} and f = {shown(f)} are for super arms: give both to "
                "LinTS, or derive a class of them from surefoot.policies.CombLinTS"
            )
        self.scale = positive(scale, "scale")
        super().__init__(arms, dim=dim, labels=labels, ridge=_ridge_of(ridge))

    @property
    def record(self) -> Any:
        """The engine's parameters; None unless the features are fixed."""
        if self.features is None:
            return None
        return LinTSRecord(self.features.ravel(), self.d, self.ridge, self.scale, self.step)


class CombLinTS(Sampler, C2UCB):
    """``LinTS`` of super arms: the oracle's choice for the weights <x_e, theta>.

    >>> from surefoot.oracles import TopK
    >>> CombLinTS([[1, 0], [0, 1]], TopK(1)).scale
    0.5

    Holds when: as for ``LinTS``, and the oracle is exact. Does not hold when: as there.
    """

    kernel_methods = C2UCB.kernel_methods

    def __init__(
        self,
        base_arms: Any,
        oracle: Callable[[Any], Iterable[int]],
        *,
        labels: Sequence[Any] | None = None,
        f: Callable[[SuperArm, Any], float] | None = None,
        scale: float = 0.5,
        ridge: Ridge | None = None,
    ) -> None:
        self.scale = positive(scale, "scale")
        super().__init__(base_arms, oracle, labels=labels, f=f, ridge=_ridge_of(ridge))

    @property
    def record(self) -> Any:
        """The engine's parameters, for the oracles of which C2UCB has some, too."""
        found = structure(self.oracle)
        if self.f is not None or found is None:
            return None
        return CombLinTSRecord(
            self.features.ravel(), self.d, self.ridge, self.scale, self.step, *found
        )


def _ridge_of(given: Any) -> Ridge | None:
    if given is None or isinstance(given, Ridge):
        return given
    raise InvalidInput(f"ridge = {shown(given)} must be a Ridge, e.g. Ridge(feature_bound=2)")


LIVE[Sampler] = Live(
    "LinTS",
    (_live_choose, _live_scores, _live_top, _live_learn, live_count, _live_ahead),
    SIGNATURES,
)
