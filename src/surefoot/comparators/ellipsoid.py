"""The confidence ellipsoid that CLUCB, CLUCB2 and C3UCB share, and the policy that carries it.

    ||theta* - theta_hat||_V <= beta   with probability 1 - delta, at all plays at once
    <theta*, u> >= <theta_hat, u> - beta*||u||_{V^-1}   for any u, a sum of features too

Source: Abbasi-Yadkori, Pal, Szepesvari 2011, Theorem 2, in its two forms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, ClassVar, NamedTuple

import numpy as np

from surefoot._jit import jittable
from surefoot._types import JsonObject, Number
from surefoot.agents.actions import Action
from surefoot.comparators.base import Comparator, failure
from surefoot.floors import Floor
from surefoot.kernels.policy import Stateful
from surefoot.kernels.registry import Kernels
from surefoot.policies import _ridge
from surefoot.policies.linucb import arm_names
from surefoot.policies.options import Ridge, flat, norm_of
from surefoot.policies.sets import Features, feature_rows, norms, within

SCORES, NOW, SUM, TRIED = range(6, 10)
"""Behind the ridge's six lists: the arms' upper bounds, the radius and the number of plays seen,
the sum z of their features, and room for a vector."""


def fresh(policy: Any, n_arms: int) -> tuple[list[float], ...]:
    """The state before the first play; ``policy`` is a record with the fields of ``Ellipsoid``."""
    rest = ([0.0] * n_arms, [0.0, 0.0], [0.0] * policy.d, [0.0] * policy.d)
    return _ridge.fresh(policy.d, policy.ridge) + rest


class Ellipsoid(NamedTuple):
    """Settings of an ellipsoid, checked."""

    d: int
    ridge: float
    """The ridge lambda."""
    noise: float
    bias: float
    """sqrt(lambda) times the bound of ||theta*||."""
    growth: float
    """The most one turn adds to the trace of V, over lambda."""
    level: float
    """ln(1/delta)."""
    determinant: bool


@jittable
def beta(policy: Any, ridge: Any, m: int) -> float:
    """The radius at turn m; ``policy`` is a record with the fields of ``Ellipsoid``."""
    if policy.determinant:
        spread = max(ridge[_ridge.LOGDET][0], 0.0) + 2.0 * policy.level
    else:
        spread = len(ridge[_ridge.THETA]) * (math.log1p(m * policy.growth) + policy.level)
    return float(policy.noise * math.sqrt(spread) + policy.bias)


@jittable
def lower(ridge: Any, features: Any, row: int, radius: float) -> float:
    """A lower bound on <theta*, x>, x a row of ``features``."""
    return _ridge.mean(ridge, features, row) - radius * _ridge.norm(ridge, features, row)


@jittable
def add_row(total: Any, features: Any, row: int) -> None:
    """Add a row of ``features`` to the vector ``total``."""
    d = len(total)
    for i in range(d):
        total[i] += features[row * d + i]


def ellipsoid(
    features: Features, delta: Number, what: str, options: Ridge, usual: str, rows: int = 1
) -> Given:
    """The settings that follow from a user's options; ``rows``: the most features of a turn.

    ``usual``: the radius where the options name none.
    """
    chance = failure(delta)
    filled = options.filled(float(norms(features).max()), usual)
    bound, penalty = filled.feature_bound, filled.penalty
    assert bound is not None
    assert penalty is not None
    within(features, bound, what)
    growth, bias = norm_of(filled, rows)
    settings = Ellipsoid(
        features.shape[1], penalty, filled.noise, bias, growth, -math.log(chance),
        filled.radius == "determinant",
    )  # fmt: skip
    return Given(settings, bound, {"delta": chance, **flat(filled)})


class Given(NamedTuple):
    """The result of ``ellipsoid``."""

    settings: Ellipsoid
    bound: float
    """D."""
    config: JsonObject


class ByEllipsoid(Comparator):
    """A comparator whose proofs come from the ellipsoid of a ``Linear`` policy."""

    bounds: Any
    rows: ClassVar[str] = "arms"
    """The argument of the class that the features come from."""

    def config(self) -> JsonObject:
        """Settings, but for those of the floor."""
        return {self.rows: self.bounds.features, "labels": list(self.labels), **self.settings}

    def _proved(self, action: Action, context: Any) -> int:
        return self._units(self.bounds.pledge(action, context))

    def _units(self, proved: float) -> int:
        """A proved sum of means in units; a play whose reward is still out counts at r_min."""
        waiting: int = self.books.explorations - self.bounds.learnt
        return math.floor(proved * units_of_one(self.floor)) + self.books.low * waiting


def units_of_one(floor: Floor) -> float:
    """How many units of the books a reward of 1 is."""
    numerator, denominator = floor.unit.ratio(Decimal(1))
    return numerator / denominator


class Linear(Stateful):
    """The policy of a linear comparator: features, a state of flat lists, and kernels on them.

    The agent asks it what it would play and what can be proved; it takes no turns of its own.
    """

    _saved_as = "lists"
    _misfit = "is of other features"
    _fixed = NOW
    unit_rewards = False
    kernel_methods: ClassVar[tuple[str, ...]] = ("peek", "pledge", "best", "update")
    """The methods that the kernels replace; a subclass that overrides one runs play by play."""
    kept: ClassVar[tuple[str, ...]] = ()
    """Attributes of a subclass that belong to its state."""

    def __init__(
        self,
        features: Features,
        labels: Sequence[Any] | None,
        record: Any,
        kernels: Kernels,
        bound: float,
    ) -> None:
        count = len(features)
        self.arms = arm_names(labels, count)
        self.n_arms: int | None = count
        self.features = features
        self.bound = bound
        self.record = record._replace(features=features.ravel())
        """For the engine."""
        # The same numbers as a list: Python reads those faster, one at a time.
        self.plain = record._replace(features=features.ravel().tolist())
        self.kernels = kernels
        self._begin(0, self._start())

    def _start(self) -> Any:
        return self.kernels.init(self.plain, self.n_arms)

    @property
    def lists(self) -> Any:
        """The state: flat lists, named by the numbers ``SCORES`` and so on."""
        return self._state

    def check(self, context: Any) -> None:
        """Refuse a context that is not None and no features of the arms."""
        if context is not None:
            rows = feature_rows(context, "context", self.features.shape[1], self.n_arms)
            within(rows, self.bound, "context")

    def record_with(self, context: Any) -> Any:
        """The record with the features of one play: its context, or those that never change."""
        if context is None:
            return self.plain
        rows = np.asarray(context, dtype=np.float64)
        return self.plain._replace(features=rows.ravel().tolist())

    def peek(
        self, turn: int, allowed: Sequence[int] | None = None, context: Any = None
    ) -> tuple[Any, float]:
        """The optimist's choice at a turn and its score; the turn is not taken."""
        action, score = self.kernels.best(self.record_with(context), self.lists, turn)
        if allowed is not None:
            scores = [self.lists[SCORES][arm] for arm in allowed]
            place = _ridge.first_best(scores)
            return allowed[place], scores[place]
        return action, score

    def pledge(self, action: Any, context: Any = None) -> float:
        """A lower bound on the mean reward of all plays learnt from and one of ``action``."""
        return float(self.kernels.pledge(self.record_with(context), self.lists, action))

    @property
    def learnt(self) -> int:
        """How many explorations' rewards it has seen."""
        return int(self.lists[NOW][1])

    def best(
        self, context: Any, rng: np.random.Generator, allowed: Sequence[int] | None = None
    ) -> Any:
        """Take a turn: the optimist's choice and its score."""
        self.turns += 1
        return self.kernels.best(self.record_with(context), self.lists, self.turns)

    def update(self, arm: Any, reward: Any, context: Any) -> None:
        """Learn one reward of one arm."""
        self.kernels.update(self.record_with(context), self.lists, arm, reward)

    def state(self) -> JsonObject:
        """JSON-able state."""
        return super().state() | {name.lstrip("_"): getattr(self, name) for name in self.kept}

    def restore(self, state: JsonObject) -> None:
        """The inverse of ``state``."""
        super().restore(state)
        for name in self.kept:
            setattr(self, name, state[name.lstrip("_")])

    def __repr__(self) -> str:
        settings = self.record._asdict()
        del settings["features"]
        shape = self.features.shape
        rest = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        return f"{type(self).__name__}(arms of shape {shape}, {rest})"
