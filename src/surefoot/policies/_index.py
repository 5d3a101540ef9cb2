"""The live driver of every index policy: a clock, a state, and the kernels called one at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any, Self

import numpy as np

from surefoot._exact import PLAYS
from surefoot.policies import _compiled, _kernels
from surefoot.policies._compiled import SHIFT
from surefoot.policies._kernels import MARGIN
from surefoot.policies.base import arm_labels

_FITS = (2**63 - 1) // PLAYS
"""Units whose sum over the plays of the books fits the 64 bits of compiled code."""
BEST, UPDATE, PLEDGE = range(3)
"""The compiled wrappers of an index policy."""


class IndexPolicy:
    """An arm's index is computed from what is known of it; the first largest one is played.

    Subclasses set ``record``, the parameter record whose kernels do the work. Few indices are
    computed anew at each turn: an index only grows with the turn, so its value some turns ahead
    is a ceiling until then, and an arm whose ceiling lies below what another arm has now is
    passed over. Once ``surefoot.warmup`` was called, what is made or restored does so in compiled
    code. Either way the decision is that of ``_kernels.argmax`` over all arms, ties included.
    """

    unit_rewards = True
    contextual = False
    kernel_methods = ("best", "peek", "update", "pledge", "unit_rewards")
    """What the kernels stand for; who overrides one of these is run play by play."""

    def __init__(self, record: Any, n_arms: int | None, arms: Sequence[Any] | None) -> None:
        self.arms = arm_labels(n_arms, arms)
        self.n_arms = len(self.arms)
        self.turns = 0
        """m: how often this policy has been asked; default plays it never saw do not count."""
        self.record = record
        self._width = 0
        """How many units the range of rewards spans in an agent's books, once there are such."""
        self._kernels = _kernels.INDEX_KERNELS[type(record)]
        self._begin(0, self._kernels.init(record, self.n_arms))

    def _begin(self, turns: int, state: tuple[list[Any], ...]) -> None:
        compiled = _compiled.ready(type(self.record))
        fits = self._width <= _FITS
        rows = _compiled.arrays(state) if compiled is not None and fits else None
        self.turns, self._state = turns, state if rows is None else rows
        self._compiled = None if rows is None else compiled
        if self._compiled is None:
            self._look_ahead(max(turns, 1))
        else:
            self._ceilings = np.full(self.n_arms + 1, -math.inf)
            self._parts = (*self.record, *self._state, self._ceilings)

    def count_in(self, width: int) -> None:
        """Sum rewards up in the units of an agent's books, ``width`` of which span their range.

        Then equal sums tie. What was learned in other units, by a file older than this for one, is
        converted to the nearest.
        """
        self._width = width
        record = self.record
        if not hasattr(record, "unit") or record.unit == (unit := _kernels.unit_of(width)):
            return
        rows = self._rescaled(self._lists(), unit)
        self.record = record._replace(unit=unit)
        self._begin(self.turns, rows)

    def _rescaled(self, rows: Any, unit: float) -> Any:
        """The state with its sums in other units."""
        plays, sums, *rest = rows
        before, after = int(self.record.unit), int(unit)
        return plays, [rounded(total * after, before) for total in sums], *rest

    def _look_ahead(self, turn: int) -> None:
        """Draw up every arm's ceiling, good for the turns up to this one."""
        self._reach = self._kernels.scale(self.record, turn)
        self._ceilings = np.array([self._ceiling(arm) for arm in range(self.n_arms)])

    def best(
        self, context: Any, rng: np.random.Generator, allowed: Sequence[int] | None = None
    ) -> tuple[int, float]:
        """Take a turn: the first arm of the largest index, and that index."""
        self.turns += 1
        return self.peek(self.turns, allowed)

    def peek(
        self, turn: int, allowed: Sequence[int] | None = None, context: Any = None
    ) -> tuple[int, float]:
        """What ``best`` would return at a turn, without taking it."""
        compiled = self._compiled
        if compiled is not None:
            if allowed is None:
                return compiled.calls[BEST](turn, *self._parts)  # type: ignore[no-any-return]
            return _kernels.argmax(self.record, self._lists(), turn, allowed)
        if allowed is None:
            scale = self._kernels.scale(self.record, turn)
            if scale > self._reach:
                self._look_ahead(turn + 1 + (turn >> SHIFT))
            leader = int(self._ceilings.argmax())
            score = self._kernels.index(self.record, self._state, leader, scale, -math.inf)
            allowed = (self._ceilings >= score).nonzero()[0].tolist()
            if len(allowed) == 1:
                return leader, score
        return _kernels.argmax(self.record, self._state, turn, allowed)

    def _ceiling(self, arm: int) -> float:
        index = self._kernels.index(self.record, self._state, arm, self._reach, -math.inf)
        return float(index) + MARGIN

    def select(self, context: Any, rng: np.random.Generator) -> int:
        """Take a turn: the first arm of the largest index."""
        return self.best(context, rng)[0]

    def update(self, arm: int, reward: float, context: Any) -> None:
        """Learn one reward in [0, 1] of one arm."""
        compiled = self._compiled
        if compiled is None:
            self._kernels.update(self.record, self._state, arm, reward)
            self._ceilings[arm] = self._ceiling(arm)
        elif 0 <= arm < self.n_arms and 0.0 <= reward <= 1.0:
            # What is no number of the kind is an error here: compiled code would convert it.
            compiled.calls[UPDATE](index(arm), reward + 0.0, *self._parts)
        else:  # compiled code asks no questions
            state = self._lists()
            self._kernels.update(self.record, state, arm, reward)
            self._begin(self.turns, state)

    def correct(self, arm: int, old: float, new: float, context: Any) -> None:
        """One reward of an arm was not ``old``, as it was told, but ``new``; to the last unit."""
        state = self._lists()
        self._kernels.take(self.record, state, arm, old)
        self._kernels.update(self.record, state, arm, new)
        self._begin(self.turns, state)

    def pledge(self, arm: int) -> float:
        """A lower bound on the mean reward of all turns so far and one more of ``arm``."""
        compiled = self._compiled
        if compiled is not None and len(compiled.calls) > PLEDGE and 0 <= arm < self.n_arms:
            return float(compiled.calls[PLEDGE](index(arm), *self._parts))
        return float(self._kernels.pledge(self.record, self._state, arm))

    def _lists(self) -> tuple[list[Any], ...]:
        """The state as plain lists: copies."""
        return tuple(map(_compiled.listed, self._state))

    @property
    def fresh(self) -> bool:
        """Whether it has taken no turn and no reward yet."""
        start = self._kernels.init(self.record, self.n_arms)
        return not self.turns and [*self._lists()] == [*map(list, start)]

    def state(self) -> dict[str, Any]:
        """JSON-able state."""
        unit = getattr(self.record, "unit", _kernels.NANO)
        finer = {} if unit == _kernels.NANO else {"unit": int(unit)}
        return {"turns": self.turns, "arms": [*self._lists()], **finer}

    def restore(self, state: dict[str, Any]) -> None:
        """The inverse of ``state``."""
        rows = tuple(list(row) for row in state["arms"])
        if [len(row) for row in rows] != [self.n_arms] * len(self._state):
            raise ValueError(f"the saved state is not of {self.n_arms} arms")
        if hasattr(self.record, "unit"):  # that of the state; billionths in files older than units
            self.record = self.record._replace(unit=float(state.get("unit", _kernels.NANO)))
        self._begin(int(state["turns"]), rows)
        if self._width:
            self.count_in(self._width)

    def config(self) -> dict[str, Any]:
        """JSON-able settings: the labels and the parameter record."""
        return {"arms": list(self.arms), **self._settings()}

    def _settings(self) -> dict[str, Any]:
        """The parameters that are the user's."""
        return {key: x for key, x in self.record._asdict().items() if key != "unit"}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """The inverse of ``config``."""
        return cls(**config)

    def __repr__(self) -> str:
        settings = ", ".join(f"{key}={value!r}" for key, value in self._settings().items())
        return f"{type(self).__name__}(n_arms={self.n_arms}, {settings})"


def rounded(number: int, over: int) -> int:
    """The quotient of two ints to the nearest int."""
    return (2 * number + over) // (2 * over)
