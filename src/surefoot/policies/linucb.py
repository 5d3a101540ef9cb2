"""LinUCB: Abbasi-Yadkori, Pal, Szepesvari 2011 (OFUL); radius as in Du et al. 2021, GenCB-CLB."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot._exact import shown
from surefoot._jit import jittable
from surefoot._labels import arm_labels
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.kernels.registry import Kernels, register
from surefoot.kernels.warm import listed
from surefoot.policies import _open, _ridge, _tight
from surefoot.policies._optimist import Optimist, reward_given
from surefoot.policies._tight import OwnBounds, fitting
from surefoot.policies.options import Ridge, ridge_given
from surefoot.policies.sets import Ball, Polytope, feature_rows, no_rows, norms, point_given, within

SETS: dict[str, type[Ball] | type[Polytope]] = {"Ball": Ball, "Polytope": Polytope}


class LinUCBRecord(NamedTuple):
    """Parameters of LinUCB over K fixed rows of d features."""

    features: npt.NDArray[np.float64]
    """K*d numbers, row by row."""
    d: int
    ridge: float
    noise: float
    growth: float
    """L^2/lambda."""
    bias: float
    """sqrt(lambda)*S."""
    determinant: bool
    step: float
    """See ``_open``."""


VALUES, OPENS, AHEAD = range(6, 9)
"""Behind the ridge's six lists: the arms' scores, the open plays, room for V^-1 with them."""


def _init(policy: LinUCBRecord, n_arms: int) -> Any:
    d = policy.d
    first = *_ridge.fresh(d, policy.ridge), [0.0] * n_arms
    return *first, _open.none(d), [0.0] * (2 * d * d)


def _best(policy: LinUCBRecord, state: Any, m: int, key: Any, context: Any, allowed: Any) -> Any:
    values = state[VALUES]
    bounds_of(policy, state, state[OPENS], state[AHEAD], m, context, values)
    k = _ridge.first_among(values, allowed)
    return k, values[k]


@jittable
def bounds_of(
    policy: Any, state: Any, opens: Any, room: Any, m: int, context: Any, out: Any
) -> None:
    """The upper confidence bound of each row at turn m."""
    beta = _ridge.radius(state, m, policy.noise, policy.growth, policy.bias, policy.determinant)
    inverse, d = state[_ridge.INVERSE], policy.d
    if opens[d * d] > 0:
        inverse = room
        _ridge.ahead(state[_ridge.GRAM], opens, d, policy.step, policy.ridge, inverse)
    features = policy.features if context is None else context
    _ridge.scores((inverse, state[_ridge.THETA]), features, beta, out)


def _update(policy: LinUCBRecord, state: Any, k: int, reward: float) -> None:
    _ridge.learn(state, policy.features, k, reward, policy.ridge)


def _opened(policy: LinUCBRecord, state: Any, k: int, by: int) -> None:
    _open.count(state[OPENS], policy.features, k, policy.d, policy.step, by)


register(LinUCBRecord, Kernels(_init, _best, _update, opened=_opened, form="ridge"))


class TightLinUCBRecord(LinUCBRecord):
    """The same of the tight form."""

    __slots__ = ()


COUNTS, SUMS, WAITING = range(9, 12)
"""Behind those lists: what is known of each arm by itself, see ``_tight``."""


def _init_tight(policy: TightLinUCBRecord, n_arms: int) -> Any:
    return *_init(policy, n_arms), *_tight.fresh(n_arms)


def _best_tight(
    policy: TightLinUCBRecord, state: Any, m: int, key: Any, context: Any, allowed: Any
) -> Any:
    values = state[VALUES]
    bounds_of(policy, state, state[OPENS], state[AHEAD], m, context, values)
    _tight.lower_best(values, state[COUNTS], state[SUMS], state[WAITING], m, allowed)
    k = _ridge.first_among(values, allowed)
    return k, values[k]


def _update_tight(policy: TightLinUCBRecord, state: Any, k: int, reward: float) -> None:
    _ridge.learn(state, policy.features, k, reward, policy.ridge)
    _tight.learn(state[COUNTS], state[SUMS], k, reward, 1)


def _opened_tight(policy: TightLinUCBRecord, state: Any, k: int, by: int) -> None:
    _open.count(state[OPENS], policy.features, k, policy.d, policy.step, by)
    _tight.wait(state[WAITING], k, by)


register(TightLinUCBRecord, Kernels(_init_tight, _best_tight, _update_tight, opened=_opened_tight))


class LinUCB(Optimist):
    """Play the action with the largest upper confidence bound of a linear model.

        x_t = argmax_x <x, theta_hat> + beta*||x||_{V^-1},   V = lambda*I + sum x x'
        beta = noise*sqrt(d ln(2 m^2 (1 + m L^2/lambda))) + sqrt(lambda)*S

    Source: Du, Wang, Huang 2021, Algorithm GenCB-CLB (supplement), the argmax line, for noise = 1;
    1/2 is enough for rewards in [0, 1]. ``Ridge(radius="determinant")`` takes
    noise*sqrt(ln det(V/lambda^d) + 2 ln(2 m^2)) in its place, Theorem 2 of Abbasi-Yadkori, Pal,
    Szepesvari 2011 at the same level 1/(2 m^2). m counts this policy's own turns. Ties, up to
    1e-9*max(1, |max|), go to the lowest row (ours). Plays that wait for their reward (``opened``,
    ``closed``) count in the V of the bounds, and in neither theta_hat nor beta (ours, after
    Desautels, Krause, Burdick 2014, who widen beta for their proof; nothing is proved without).

    ``arms``: the features, shape (K, d), or a ``Ball`` or ``Polytope``, whose points are the
    actions; or ``dim=d``: the rows, any number of them, come with each play as its context, and
    an arm is a row's number. A context of shape (K, d) replaces the features of ``arms`` at that
    play. ``labels``: names of the K arms. ``ridge``: a ``Ridge`` with S, L, noise, lambda and the
    radius; L is required with ``dim``. ``tight``: for rewards in [0, 1] and fixed features, no
    bound is above KL-UCB's of the arm's own rewards at level ln(2 m^2), and ``ridge`` is
    Ridge(noise=1/2, radius="determinant") unless given; the regret bound grows by less than 6.8
    widest gaps (ours, see ``policies/_tight.py``). Raises InvalidInput for what does not fit, and
    on a call for features that are not finite, of another shape or longer than L; nothing is
    changed then.

    >>> import numpy as np
    >>> policy, rng = LinUCB([[1, 0], [0, 1]], labels=["red", "blue"]), np.random.default_rng(0)
    >>> policy.select(None, rng)
    0
    >>> policy.update(0, 0.0, None)
    >>> policy.select(None, rng)
    1

    Holds when: the mean reward is <x, theta*>, the noise is ``noise``-sub-Gaussian, and rewards
    come at once: regret O(d sqrt(T) ln T). Does not hold when: the mean is not linear, or rewards
    drift.
    """

    semi_bandit = False
    kernel_methods = ("best", "peek", "update", "opened", "closed")
    """What the kernels stand for; who overrides one of these is run play by play."""

    def __init__(
        self,
        arms: Any = None,
        *,
        dim: int | None = None,
        labels: Sequence[Any] | None = None,
        ridge: Ridge | None = None,
        tight: bool = False,
        **old: Any,
    ) -> None:
        options = ridge_given(ridge, old, "LinUCB", tight)
        self.set = _set_given(arms)
        if tight and (self.set is not None or dim is not None):
            raise InvalidInput(
                "tight=True needs the features of fixed arms; leave it out, or give arms"
            )
        self.features = None
        if (arms is None) == (dim is None):
            raise InvalidInput(
                f"got arms = {shown(arms)} and dim = {shown(dim)}; give exactly one: the features "
                "of fixed arms or a set, or the number of features of each play's context"
            )
        if dim is not None:
            if isinstance(dim, bool) or not isinstance(dim, int | np.integer) or dim < 1:
                raise InvalidInput(f"dim = {shown(dim)} must be an int >= 1")
            if options.feature_bound is None:
                raise InvalidInput(
                    "dim = ... needs ridge=Ridge(feature_bound=...): the largest norm of a row"
                )
            d, widest = int(dim), 0.0
        elif self.set is not None:
            d, widest = self.set.d, self.set.bound
        else:
            self.features = feature_rows(arms, "arms")
            d, widest = self.features.shape[1], float(norms(self.features).max())
        own = OwnBounds(len(self.features)) if tight and self.features is not None else None
        self.contextual = own is None
        super().__init__(d, widest, options, own=own)
        if widest > self.feature_bound * (1 + 1e-9):
            raise InvalidInput(
                f"feature_bound = {shown(options.feature_bound)} is below the largest norm of "
                f"arms, {widest:.6g}"
            )
        self.numbered = self.set is None
        if self.features is None and labels is not None:
            raise InvalidInput(
                "labels name the rows of arms = (K, d), and this set has none; leave labels out"
            )
        self.n_arms = None if self.features is None else len(self.features)
        self.arms = None if self.n_arms is None else arm_names(labels, self.n_arms)
        self._flat = [] if self.features is None else self._flattened(self.features)

    @property
    def record(self) -> LinUCBRecord | None:
        """The engine's parameters; None unless the features are fixed."""
        if self.features is None:
            return None
        kind = LinUCBRecord if self._own is None else TightLinUCBRecord
        return kind(
            self.features.ravel(), self.d, self.ridge, self.noise, self.growth, self.bias,
            self.radius == "determinant", self.step,
        )  # fmt: skip

    def check(self, context: Any) -> None:
        """Raise InvalidInput for a context that ``best`` would refuse; one without rows is none."""
        if self.features is None and self.set is None and no_rows(context, self.d):
            return
        self._rows(context)

    def _rows(self, context: Any) -> Any:
        """The features at a play, flat."""
        if context is None and self.features is not None:
            return self._flat
        if self.set is not None:
            if context is not None:
                raise InvalidInput(
                    f"context = {shown(context)}: a {type(self.set).__name__} takes none"
                )
            return []
        no_context(context, self._own)
        rows = feature_rows(context, "context", self.d, self.n_arms)
        within(rows, self.feature_bound, "context")
        return self._flattened(rows)

    def best(
        self, context: Any, rng: np.random.Generator, allowed: Sequence[int] | None = None
    ) -> tuple[Any, float]:
        """Take a turn: the action of the largest upper confidence bound, and that bound."""
        chosen = self.peek(self.turns + 1, context, allowed)
        self.turns += 1
        self._last = chosen[0], context
        return chosen

    def peek(
        self, turn: int, context: Any = None, allowed: Sequence[int] | None = None
    ) -> tuple[Any, float]:
        """What ``best`` would return at a turn, without taking it."""
        if context is None and allowed is None and self.features is not None:
            return self._foremost(self._flat, turn)
        flat = self._rows(context)
        if self.set is not None:
            if allowed is not None:
                raise InvalidInput(
                    f"allowed = {shown(allowed)}: the points of a {type(self.set).__name__} have "
                    "no numbers; give a smaller set"
                )
            return self._optimum(self.set, turn)
        count = len(flat) // self.d
        if allowed is None and count:
            return self._foremost(flat, turn)
        rows = sorted(range(count) if allowed is None else allowed)
        if not rows or not 0 <= rows[0] <= rows[-1] < count:
            raise InvalidInput(f"allowed = {shown(allowed)} must be some of 0..{count - 1}")
        if self._own is not None:
            values = self._scores(flat, turn)
            chosen = _ridge.first_among(values, rows)
            return chosen, float(values[chosen])
        some = np.array(flat).reshape(count, self.d)[[*map(operator.index, rows)]]
        chosen, score = self._foremost(self._flattened(some), turn)
        return int(rows[chosen]), score

    def _optimum(self, actions: Ball | Polytope, turn: int) -> tuple[Any, float]:
        """The point of the largest upper confidence bound at a turn, and that bound."""
        inverse = listed(self._lists_seen()[_ridge.INVERSE])
        return actions.optimum(self.theta_hat, inverse, self.beta(turn))

    def update(self, arm: Any, reward: float, context: Any) -> None:
        """Learn one reward of one action; ``context`` is the one it was chosen with."""
        number = reward_given(reward)
        if self._own is not None:
            fitting(number, "reward")
        self._learn(*self._row(arm, context), number)

    def correct(self, arm: Any, old: float, new: float, context: Any) -> None:
        """Replace one learned reward ``old`` of an action by ``new``; up to rounding."""
        before, after = reward_given(old, "old"), reward_given(new, "new")
        if self._own is not None:
            fitting(after, "new")
        self._correct(*self._row(arm, context), before, after)

    def _observed(self, arm: Any, context: Any) -> tuple[Any, Sequence[int]]:
        flat, row = self._row(arm, context)
        return flat, [row]

    def _row(self, arm: Any, context: Any) -> tuple[Any, int]:
        """Rows of features, flat, and the number of the one that is an action's."""
        if self.set is not None:
            self._rows(context)
            point = np.array([point_given(arm, self.d)])
            within(point, self.feature_bound, "action")
            return self._flattened(point), 0
        flat, row = self._rows(context), arm
        count = len(flat) // self.d
        if type(arm) is not int:
            if isinstance(arm, bool) or not isinstance(arm, int | np.integer):
                raise InvalidInput(f"arm = {shown(arm)} must be an int in 0..{count - 1}")
            row = int(arm)
        if not 0 <= row < count:
            raise InvalidInput(f"arm = {shown(arm)} must be in 0..{count - 1}")
        return flat, row

    def config(self) -> JsonObject:
        """JSON-able settings; ``arms`` of a set is its class name and its settings."""
        arms: Any = None
        if self.set is not None:
            arms = {type(self.set).__name__: self.set.config()}
        elif self.features is not None:
            arms = self.features.tolist()
        dim = self.d if arms is None else None
        labels = None if self.arms is None else list(self.arms)
        return {"arms": arms, "dim": dim, "labels": labels, **self.settings()}

    def __repr__(self) -> str:
        what = f"dim={self.d}" if self.set is None else repr(self.set)
        if self.n_arms is not None:
            what = f"<{self.n_arms} arms of {self.d} features>"
        settings = ", ".join(f"{key}={value!r}" for key, value in self.settings().items())
        return f"{type(self).__name__}({what}, {settings})"


def _set_given(arms: Any) -> Ball | Polytope | None:
    """The set, if ``arms`` is one or the config of one."""
    if isinstance(arms, Ball | Polytope):
        return arms
    if isinstance(arms, dict) and len(arms) == 1 and next(iter(arms)) in SETS:
        ((kind, settings),) = arms.items()
        return SETS[kind](**settings)
    return None


def no_context(context: Any, own: OwnBounds | None) -> None:
    """InvalidInput for a context in the tight form."""
    if own is not None:
        raise InvalidInput(
            f"context = {shown(context)}: with tight=True each arm has a bound of its own, for the "
            "features it has always; leave the context out, or tight"
        )


def arm_names(labels: Sequence[Any] | None, count: int) -> tuple[Any, ...]:
    """The labels of ``count`` arms: their numbers unless given."""
    named = arm_labels(count, None) if labels is None else arm_labels(None, labels)
    if len(named) != count:
        raise InvalidInput(f"got {len(named)} labels for {count} arms; give one for each")
    return named
