"""What linear policies share: a ridge regression, a clock, a confidence radius, settings."""

from __future__ import annotations

import itertools
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from surefoot._exact import exact, shown
from surefoot._jit import jittable
from surefoot._top_k import top_k
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.kernels import warm
from surefoot.kernels.policy import Stateful
from surefoot.kernels.warm import LIVE, Live
from surefoot.policies import _ridge
from surefoot.policies.options import Ridge, flat, norm_of, unflat
from surefoot.policies.sets import MOST

CHOOSE, SCORE, TOP, LEARN = range(4)
"""The compiled wrappers of a linear policy."""
SETTINGS = 6
"""They are handed one array, since each argument takes its time to cross: d, lambda, noise, growth,
bias, whether the radius is that of the determinant, and then the lists of the ridge."""


@jittable
def _parted(whole: Any) -> Any:
    """The lists of the ridge in the array that compiled code is handed, as views of it."""
    d = int(whole[0])
    theta = SETTINGS + d * d
    moment = theta + d + 2 * d * d
    return (
        whole[SETTINGS:theta], whole[theta : theta + d], whole[theta + d : moment],
        whole[moment : moment + 2 * d], whole[moment + 2 * d : moment + 2 * d + 2],
        whole[moment + 2 * d + 2 :],
    )  # fmt: skip


@jittable
def _live_scores(values: Any, features: Any, m: int, whole: Any) -> None:
    ridge = _parted(whole)
    beta = _ridge.radius(ridge, m, whole[2], whole[3], whole[4], whole[5] > 0.0)
    _ridge.scores(ridge, features, beta, values)


def _live_choose(values: Any, features: Any, m: int, whole: Any) -> tuple[int, float]:
    _live_scores(values, features, m, whole)
    chosen = _ridge.first_best(values)
    return chosen, values[chosen]


def _live_top(out: Any, values: Any, features: Any, m: int, whole: Any) -> bool:
    """Whether all scores are fit for an oracle; if so, the k best of them are in ``out``."""
    _live_scores(values, features, m, whole)
    for value in values:
        if not abs(value) <= MOST:
            return False
    top_k(values, len(out), out)
    return True


def _live_learn(row: int, reward: float, features: Any, whole: Any) -> None:
    _ridge.learn(_parted(whole), features, row, reward, whole[1])


_TURN = "float64[::1], float64[::1], int64, float64[::1]"
SIGNATURES = (
    f"Tuple((int64, float64))({_TURN})",
    f"void({_TURN})",
    f"boolean(int64[::1], {_TURN})",
    "void(int64, float64, float64[::1], float64[::1])",
)
"""Of the wrappers."""


class Optimist(Stateful):
    """A linear policy over d features, the longest of norm ``widest``.

    ``growth``: how many observations a turn may bring, for the radius.
    """

    _saved_as = "ridge"
    _misfit = "is not of dimension d = {0.d}"
    usual = "paper"
    """The radius of a policy whose options name none."""

    def __init__(self, d: int, widest: float, options: Ridge, growth: int = 1) -> None:
        self.d = d
        self.options = filled = options.filled(widest, self.usual)
        assert filled.feature_bound is not None
        assert filled.penalty is not None
        self.theta_bound, self.feature_bound = filled.theta_bound, filled.feature_bound
        self.noise, self.ridge, self.radius = filled.noise, filled.penalty, str(filled.radius)
        self.growth, self.bias = norm_of(filled, growth)
        self._compiled = self._wrappers()
        self._begin(0, self._start())

    def _wrappers(self) -> warm.Compiled | None:
        """Of the kernels that score and learn here."""
        return warm.ready(Optimist)

    def _start(self) -> tuple[list[float], ...]:
        return _ridge.fresh(self.d, self.ridge)

    def _begin(self, turns: int, state: tuple[list[Any], ...]) -> None:
        self.turns = turns
        if self._compiled is None:
            self._state = state
            return
        self._parts = (np.array([*self._numbers(), *itertools.chain(*state)]),)
        self._room = np.empty(0)

    def _numbers(self) -> tuple[float, ...]:
        """What stands before the lists in the array that compiled code is handed."""
        determinant = float(self.radius == "determinant")
        return float(self.d), self.ridge, self.noise, self.growth, self.bias, determinant

    @property
    def _ridge(self) -> tuple[Any, ...]:
        # Views made anew each time: those of a copy would be arrays of their own.
        return self._state if self._compiled is None else _parted(*self._parts)

    def _lists(self) -> tuple[list[Any], ...]:
        return tuple(map(warm.listed, self._ridge))

    def _flattened(self, features: npt.NDArray[np.float64]) -> Any:
        """Rows of features, one behind the other, as the kernels of this process take them."""
        flat = features.ravel()
        return flat.tolist() if self._compiled is None else flat

    def _scores(self, features: Any, turn: int) -> Any:
        """Each row's score at a turn: its upper confidence bound."""
        count = len(features) // self.d
        if self._compiled is None:
            values = [0.0] * count
            self._score(features, turn, values)
            return values
        scores = np.empty(count)
        self._compiled[SCORE](scores, features, turn, *self._parts)
        return scores

    def _score(self, features: Any, turn: int, out: list[float]) -> None:
        """Write each row's score at a turn to ``out``, in plain Python."""
        _ridge.scores(self._ridge, features, self.beta(turn), out)

    def _foremost(self, features: Any, turn: int) -> tuple[int, float]:
        """The first row of the largest score at a turn, and that score."""
        if self._compiled is None:
            values = self._scores(features, turn)
            chosen = _ridge.first_best(values)
            return chosen, values[chosen]
        count = len(features) // self.d
        if len(self._room) != count:
            self._room = np.empty(count)  # for the scores of the plays to come as well
        return self._compiled[CHOOSE](self._room, features, turn, *self._parts)  # type: ignore[no-any-return]

    def _learn(self, features: Any, row: int, reward: float) -> None:
        """One observation; ``row`` is one of the rows, and the reward is not NaN."""
        if self._compiled is None:
            _ridge.learn(self._ridge, features, row, reward, self.ridge)
        else:
            self._compiled[LEARN](row, reward, features, *self._parts)

    def _correct(self, features: Any, row: int, old: float, new: float) -> None:
        """An observation of before had another reward."""
        _ridge.correct(self._ridge, features, row, old, new)

    @property
    def theta_hat(self) -> tuple[float, ...]:
        """The ridge estimate of theta*, d numbers."""
        return tuple(warm.listed(self._ridge[_ridge.THETA]))

    def beta(self, turn: int) -> float:
        """The confidence radius at a turn."""
        return float(
            _ridge.radius(
                self._ridge, turn, self.noise, self.growth, self.bias, self.radius == "determinant"
            )
        )

    def _fitting(self, state: JsonObject) -> tuple[list[Any], ...]:
        return tuple([*map(float, row)] for row in super()._fitting(state))

    def settings(self) -> JsonObject:
        """The options, as a saved file has them."""
        return flat(self.options)

    @classmethod
    def from_config(cls, config: JsonObject) -> Self:
        """The inverse of ``config``."""
        return cls(**unflat(config))


def reward_given(reward: Any, what: str = "reward") -> float:
    """A reward as a float; InvalidInput for NaN, infinities and numbers beyond 1e50."""
    if type(reward) is float and abs(reward) <= MOST:  # false for a NaN
        return reward + 0.0  # minus zero is zero
    number = float(exact(reward, what))
    if not abs(number) <= MOST:
        raise InvalidInput(f"{what} = {shown(reward)} is beyond ±{MOST:g}; rescale the rewards")
    return number


LIVE[Optimist] = Live(
    "LinUCB and C2UCB", (_live_choose, _live_scores, _live_top, _live_learn), SIGNATURES
)
