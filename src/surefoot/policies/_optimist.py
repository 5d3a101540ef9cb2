"""What linear policies share: a ridge regression, a clock, a confidence radius, settings."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
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
from surefoot.policies import _open, _ridge
from surefoot.policies._tight import OwnBounds
from surefoot.policies.options import Ridge, flat, norm_of, unflat
from surefoot.policies.sets import MOST

WIDEST = 4096
"""The most features there may be: V and its inverse then take some 400 MB."""
CHOOSE, SCORE, TOP, LEARN, COUNT, AHEAD = range(6)
"""The compiled wrappers of a linear policy."""
SETTINGS = 7
"""They are handed one array, since each argument takes its time to cross: d, lambda, the step of
``_open``, noise, growth, bias, whether the radius is that of the determinant, and then the lists of
the ridge."""


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
    beta = _ridge.radius(ridge, m, whole[3], whole[4], whole[5], whole[6] > 0.0)
    _ridge.scores(ridge, features, beta, values)


@jittable
def fit_top(out: Any, values: Any) -> bool:
    """Whether all scores are fit for an oracle; if so, the k best of them are in ``out``."""
    for value in values:
        if not abs(value) <= MOST:
            return False
    top_k(values, len(out), out)
    return True


def _live_choose(values: Any, features: Any, m: int, whole: Any) -> tuple[int, float]:
    _live_scores(values, features, m, whole)
    chosen = _ridge.first_best(values)
    return chosen, values[chosen]


def _live_top(out: Any, values: Any, features: Any, m: int, whole: Any) -> bool:
    _live_scores(values, features, m, whole)
    return fit_top(out, values)


def _live_learn(row: int, reward: float, features: Any, whole: Any) -> None:
    _ridge.learn(_parted(whole), features, row, reward, whole[1])


def live_count(row: int, by: int, features: Any, opens: Any, whole: Any) -> None:
    """For all linear policies: their arrays begin with d, lambda and the step."""
    _open.count(opens, features, row, int(whole[0]), whole[2], by)


def _live_ahead(opens: Any, whole: Any, out: Any) -> None:
    """Make ``out`` the array, but for V^-1 and V, which are those with the open plays."""
    for i in range(len(whole)):
        out[i] = whole[i]
    d = int(whole[0])
    inverse, gram = _parted(out)[_ridge.INVERSE], _parted(out)[_ridge.GRAM]
    _ridge.ahead(_parted(whole)[_ridge.GRAM], opens, d, whole[2], whole[1], gram)
    for i in range(d * d):
        inverse[i] = gram[i]


_TURN = "float64[::1], float64[::1], int64, float64[::1]"
SIGNATURES = (
    f"Tuple((int64, float64))({_TURN})",
    f"void({_TURN})",
    f"boolean(int64[::1], {_TURN})",
    "void(int64, float64, float64[::1], float64[::1])",
    "void(int64, int64, float64[::1], int64[::1], float64[::1])",
    "void(int64[::1], float64[::1], float64[::1])",
)
"""Of the wrappers."""


class Optimist(Stateful):
    """A linear policy over d features, the longest of norm ``widest``.

    ``growth``: how many observations a turn may bring, for the radius. ``own``: the arms' own
    bounds, in the tight form.
    """

    _saved_as = "ridge"
    _misfit = "is not of dimension d = {0.d}"
    usual = "paper"
    """The radius of a policy whose options name none."""

    def __init__(
        self,
        d: int,
        widest: float,
        options: Ridge,
        growth: int = 1,
        own: OwnBounds | None = None,
    ) -> None:
        if d > WIDEST:
            raise InvalidInput(
                f"{shown(d)} features are more than {WIDEST:,}: a ridge regression keeps d*d "
                "numbers; give fewer, e.g. the first principal components"
            )
        self.d, self._own = d, own
        self.options = filled = options.filled(widest, self.usual)
        assert filled.feature_bound is not None
        assert filled.penalty is not None
        self.theta_bound, self.feature_bound = filled.theta_bound, filled.feature_bound
        self.noise, self.ridge, self.radius = filled.noise, filled.penalty, str(filled.radius)
        self.growth, self.bias = norm_of(filled, growth)
        self.step = _open.step_of(self.feature_bound)
        self._last: tuple[Any, Any] = None, None
        """The action chosen last, and its context."""
        self._due: list[tuple[Any, Any]] = []
        """Plays that were opened since the last decision: most are closed before the next."""
        self._compiled = self._wrappers()
        self._begin(0, self._start())
        self._recount(_open.none(d))

    def _wrappers(self) -> warm.Compiled | None:
        """Of the kernels that score and learn here."""
        return warm.ready(Optimist)

    def _start(self) -> tuple[list[float], ...]:
        return _ridge.fresh(self.d, self.ridge)

    def _begin(self, turns: int, state: tuple[list[Any], ...]) -> None:
        self.turns, self._ahead = turns, None
        if self._compiled is None:
            self._state = state
            return
        self._parts = (np.array([*self._numbers(), *itertools.chain(*state)]),)
        self._room = np.empty(0)

    def _numbers(self) -> tuple[float, ...]:
        """What stands before the lists in the array that compiled code is handed."""
        determinant = float(self.radius == "determinant")
        first = float(self.d), self.ridge, self.step
        return *first, self.noise, self.growth, self.bias, determinant

    @property
    def _ridge(self) -> tuple[Any, ...]:
        # Views made anew each time: those of a copy would be arrays of their own.
        return self._state if self._compiled is None else self._unpacked(*self._parts)

    def _lists(self) -> tuple[list[Any], ...]:
        return tuple(map(warm.listed, self._ridge))

    def _flattened(self, features: npt.NDArray[np.float64]) -> Any:
        """Rows of features, one behind the other, as the kernels of this process take them."""
        flat = features.ravel()
        return flat.tolist() if self._compiled is None else flat

    def _scores(self, features: Any, turn: int) -> Any:
        """Each row's score at a turn: its upper confidence bound."""
        count = len(features) // self.d
        values: Any = [0.0] * count
        if self._compiled is None:
            self._score(features, turn, values)
        else:
            values = np.empty(count)
            self._compiled[SCORE](values, features, turn, self._seen())
        if self._own is not None:
            self._own.lower(values, turn)
        return values

    def _score(self, features: Any, turn: int, out: list[float]) -> None:
        """Write each row's score at a turn to ``out``, in plain Python."""
        _ridge.scores(self._seen(), features, self.beta(turn), out)

    def _foremost(self, features: Any, turn: int) -> tuple[int, float]:
        """The first row of the largest score at a turn, and that score."""
        if self._compiled is None or self._own is not None:
            values = self._scores(features, turn)
            chosen = _ridge.first_best(values)
            return chosen, float(values[chosen])
        count = len(features) // self.d
        if len(self._room) != count:
            self._room = np.empty(count)  # for the scores of the plays to come as well
        whole = self._seen() if self._due or self._open else self._parts[0]
        return self._compiled[CHOOSE](self._room, features, turn, whole)  # type: ignore[no-any-return]

    def _learn(self, features: Any, row: int, reward: float) -> None:
        """One observation; ``row`` is one of the rows, and the reward is not NaN."""
        self._ahead = None
        if self._compiled is None:
            _ridge.learn(self._ridge, features, row, reward, self.ridge)
        else:
            self._compiled[LEARN](row, reward, features, *self._parts)
        if self._own is not None:
            self._own.learn(row, reward)

    def _correct(self, features: Any, row: int, old: float, new: float) -> None:
        """An observation of before had another reward."""
        self._ahead = None
        _ridge.correct(self._ridge, features, row, old, new)
        if self._own is not None:
            self._own.learn(row, old, -1)
            self._own.learn(row, new)

    def opened(self, arm: Any, context: Any) -> None:
        """Hear that a play of an action was given out, whose reward is still to come."""
        if context is not self._last[1] or arm != self._last[0]:
            self._observed(arm, context)  # an error if it is none
        self._due.append((arm, context))

    def closed(self, arm: Any, context: Any) -> None:
        """Hear that such a play waits no longer: its reward came, or will not come."""
        due = self._due
        if due and due[-1][1] is context and due[-1][0] == arm:
            due.pop()
        else:
            self._count_due()  # it may be one of those
            self._count(arm, context, -1)

    def _observed(self, arm: Any, context: Any) -> tuple[Any, Sequence[int]]:
        """Rows of features, flat, and which of them a play of an action observes."""
        raise NotImplementedError

    def _count(self, arm: Any, context: Any, by: int) -> None:
        """An open play more, or less."""
        flat, rows = self._observed(arm, context)
        for row in rows:
            if self._compiled is None:
                _open.count(self._opens, flat, row, self.d, self.step, by)
            else:
                self._compiled[COUNT](row, by, flat, self._opens, *self._parts)
            if self._own is not None:
                self._own.wait(row, by)
        self._open, self._ahead = int(self._opens[-1]), None

    def _count_due(self) -> None:
        """Count the plays that are still open."""
        while self._due:
            self._count(*self._due.pop(), 1)

    def _recount(self, opens: list[int]) -> None:
        """Go on from these open plays."""
        self._due.clear()
        self._opens: Any = opens if self._compiled is None else np.array(opens, np.int64)
        self._open, self._ahead = opens[-1], None

    def _seen(self) -> Any:
        """What scores are computed from, the open plays counted: lists, or the compiled array."""
        self._count_due()
        if self._open and self._ahead is None:
            self._ahead = self._look_ahead()
        if self._compiled is None:
            return self._ahead if self._open else self._ridge
        return self._ahead if self._open else self._parts[0]

    def _lists_seen(self) -> tuple[Any, ...]:
        """The same as lists in either case."""
        seen = self._seen()
        return seen if self._compiled is None else self._unpacked(seen)

    def _unpacked(self, whole: Any) -> tuple[Any, ...]:
        """The lists in the array that compiled code is handed, as views of it."""
        parts: tuple[Any, ...] = _parted(whole)
        return parts

    def _look_ahead(self) -> Any:
        """The same with V^-1 of the open plays."""
        if self._compiled is not None:
            whole = np.empty(len(self._parts[0]))
            self._compiled[AHEAD](self._opens, *self._parts, whole)
            return whole
        inverse = [0.0] * (2 * self.d * self.d)
        gram = self._ridge[_ridge.GRAM]
        _ridge.ahead(gram, self._opens, self.d, self.step, self.ridge, inverse)
        return inverse[: self.d * self.d], *self._ridge[_ridge.THETA :]

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

    @property
    def fresh(self) -> bool:
        """Whether it has taken no turn and no reward yet."""
        return super().fresh and not (self._due or self._open)

    def state(self) -> JsonObject:
        """JSON-able state; ``open`` is there while plays are, ``told`` in the tight form."""
        self._count_due()
        opens = warm.listed(self._opens)
        more = {} if self._own is None else {"told": self._own.state()}
        return super().state() | ({"open": opens} if opens[-1] else {}) | more

    def restore(self, state: JsonObject) -> None:
        """The inverse of ``state``."""
        none = _open.none(self.d)
        opens = [*map(int, state.get("open", none))]
        if len(opens) != len(none):
            raise ValueError(f"the saved state {self._misfit.format(self)}")
        told = () if self._own is None else self._own.fitting(state["told"])
        super().restore(state)
        self._recount(opens)
        if self._own is not None:
            self._own.restore(told)

    def settings(self) -> JsonObject:
        """The options, as a saved file has them."""
        return flat(self.options) | ({} if self._own is None else {"tight": True})

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
    "LinUCB and C2UCB",
    (_live_choose, _live_scores, _live_top, _live_learn, live_count, _live_ahead),
    SIGNATURES,
)
