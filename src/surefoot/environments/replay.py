"""A log as an environment: each arm's own logged rewards, drawn again with replacement."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot._exact import Unit, exact, finest_places
from surefoot.environments._kernels import draw, noise, register
from surefoot.environments.base import gaps
from surefoot.errors import InvalidInput


class ReplayRecord(NamedTuple):
    """Parameters of the draw: all arms' rewards in one array, and where each arm's begin."""

    rewards: Any
    starts: Any
    sizes: Any


def _draw(environment: Any, key: Any, turn: int, arm: int) -> Any:
    # 32 bits times a size below 2**32 stays within 64: a draw off uniform by at most 2**-32.
    spot = (noise(key, turn, arm) >> 32) * environment.sizes[arm] >> 32
    return environment.rewards[environment.starts[arm] + spot]


register(ReplayRecord, _draw)


class ReplayLog:
    """Bootstrap environment of a log: pull an arm, get one of its logged rewards at random.

    ``frame``: any dataframe with an ``arm`` and a ``reward`` column (polars, pandas, or a dict of
    two lists); ``default``: a label left out of the arms (its mean is ``default_mean``). Rewards
    are rounded to the nearest unit of 10**-9, or a coarser one if their range needs it. Arms are
    numbered in the order of their labels.

    >>> env = ReplayLog({"arm": ["a", "b", "b"], "reward": [1, 0.5, 0.5]}, default="a")
    >>> env.arms, env.pull(key=1, turn=1, arm=0), env.default_mean
    (('b',), 0.5, Decimal('1.000000000'))

    Holds when: each arm's logged rewards are a fair sample of what it pays, over time too. Does
    not hold when: the log's own policy chose arms by what they would pay (no causal claim), or
    rewards drift.
    """

    def __init__(
        self, frame: Any, default: Any = None, arm: str = "arm", reward: str = "reward"
    ) -> None:
        labels, rewards = list(_column(frame, arm)), list(_column(frame, reward))
        if not labels:
            raise InvalidInput("the log is empty; give at least one row for each arm")
        if len(labels) != len(rewards):
            raise InvalidInput(f"the log has {len(labels)} arms but {len(rewards)} rewards")
        by_arm: dict[Any, list[Decimal]] = {}
        for row, (label, value) in enumerate(zip(labels, rewards, strict=True)):
            if label is None or value is None:
                raise InvalidInput(f"row {row} of the log lacks its arm or its reward; drop it")
            by_arm.setdefault(label, []).append(exact(value, f"reward in row {row} of the log"))
        if default is not None and default not in by_arm:
            shown = ", ".join(sorted(repr(label) for label in by_arm)[:8])
            raise InvalidInput(f"default = {default!r} is no arm of the log, which has {shown}")
        low, high = min(map(min, by_arm.values())), max(map(max, by_arm.values()))
        self.places = finest_places(max(abs(low), abs(high), high - low, Decimal(1)), Decimal(0))
        self.unit = Unit(self.places)
        self.reward_range = (low, high)
        self.default_mean = None if default is None else self._mean(by_arm.pop(default))
        if not by_arm:
            raise InvalidInput(f"the log has no arm besides the default {default!r}")
        self.arms = tuple(sorted(by_arm))
        self.n_arms = len(self.arms)
        units = [[self._nearest(value) for value in by_arm[label]] for label in self.arms]
        sizes = np.array([len(values) for values in units], dtype=np.uint64)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.uint64)
        flat = np.array([value for values in units for value in values], dtype=np.int64)
        self.record = ReplayRecord(flat, starts, sizes)
        scale = 10.0**self.places
        self.means = np.array([sum(values) / len(values) / scale for values in units])

    def _nearest(self, value: Decimal) -> int:
        return self.unit.floor(value + Decimal(5).scaleb(-self.places - 1))

    def _mean(self, values: list[Decimal]) -> Decimal:
        total = sum(self._nearest(value) for value in values)
        return self.unit.decimal(round(total / len(values)))

    def pull(self, key: int, turn: int, arm: int) -> float:
        """The reward of ``arm`` at the policy's ``turn`` in the run of ``key``."""
        return float(self.unit.decimal(int(draw(self.record, key, turn, arm))))

    def gaps(self, default: float) -> npt.NDArray[np.float64]:
        """Pseudo-regret of one play of each arm, the default last."""
        return gaps(self.means, default)

    def __repr__(self) -> str:
        return f"ReplayLog({self.n_arms} arms, {len(self.record.rewards)} rewards)"


def _column(frame: Any, name: str) -> Any:
    try:
        return frame[name]
    except Exception:  # noqa: BLE001  (each frame library has its own error for this)
        columns = list(getattr(frame, "columns", None) or frame)
        raise InvalidInput(
            f"the log has no column {name!r}; its columns are {', '.join(map(repr, columns))}"
        ) from None
