"""The live driver of every index policy: a clock, a state, and the kernels called one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot.policies import _kernels
from surefoot.policies.base import arm_labels


class IndexPolicy:
    """An arm's index is computed from what is known of it; the first largest one is played.

    Subclasses set ``record``, the parameter record whose kernels do the work.
    """

    unit_rewards = True

    def __init__(self, record: Any, n_arms: int | None, arms: Sequence[Any] | None) -> None:
        self.arms = arm_labels(n_arms, arms)
        self.n_arms = len(self.arms)
        self.turns = 0
        """m: how often this policy has been asked; default plays it never saw do not count."""
        self.record = record
        self._state: tuple[list[Any], ...] = _kernels.init(record, self.n_arms)

    def best(
        self, context: Any, rng: np.random.Generator, allowed: Sequence[int] | None = None
    ) -> tuple[int, float]:
        """Take a turn: the first arm of the largest index, and that index."""
        self.turns += 1
        return self.peek(self.turns, allowed)

    def peek(self, turn: int, allowed: Sequence[int] | None = None) -> tuple[int, float]:
        """What ``best`` would return at a turn, without taking it."""
        arms = range(self.n_arms) if allowed is None else allowed
        arm, score = _kernels.argmax(self.record, self._state, turn, arms)
        return int(arm), float(score)

    def select(self, context: Any, rng: np.random.Generator) -> int:
        """Take a turn: the first arm of the largest index."""
        return self.best(context, rng)[0]

    def update(self, arm: int, reward: float, context: Any) -> None:
        """Learn one reward in [0, 1] of one arm."""
        _kernels.update(self.record, self._state, arm, reward)

    def pledge(self, arm: int) -> float:
        """A lower bound on the mean reward of all turns so far and one more of ``arm``."""
        return float(_kernels.pledge(self.record, self._state, arm))

    def state(self) -> dict[str, Any]:
        """JSON-able state."""
        return {"turns": self.turns, "arms": [list(row) for row in self._state]}

    def restore(self, state: dict[str, Any]) -> None:
        """The inverse of ``state``."""
        rows = tuple(list(row) for row in state["arms"])
        if [len(row) for row in rows] != [self.n_arms] * len(self._state):
            raise ValueError(f"the saved state is not of {self.n_arms} arms")
        self.turns, self._state = int(state["turns"]), rows

    def config(self) -> dict[str, Any]:
        """JSON-able settings: the labels and the parameter record."""
        return {"arms": list(self.arms), **self.record._asdict()}

    def __repr__(self) -> str:
        settings = ", ".join(f"{key}={value!r}" for key, value in self.record._asdict().items())
        return f"{type(self).__name__}(n_arms={self.n_arms}, {settings})"
