"""Bernoulli arms: rewards 0 or 1, as in every experiment of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot.environments._kernels import draw, noise, register
from surefoot.environments.base import gaps
from surefoot.errors import InvalidInput


class BernoulliRecord(NamedTuple):
    """Parameters of the draw: a reward is 1 iff 53 random bits are below the arm's threshold."""

    thresholds: Any


def _draw(environment: Any, key: Any, turn: int, arm: int) -> Any:
    return 1 if noise(key, turn, arm) >> 11 < environment.thresholds[arm] else 0


register(BernoulliRecord, _draw)


class BernoulliArms:
    """Independent Bernoulli rewards with the given means.

    Source: Du, Wang, Huang 2021, Experiments. ``means``: one number in [0, 1] for each regular
    arm; drawn exactly to within 2**-53. Raises InvalidInput for an empty list or another number.

    >>> env = BernoulliArms([0.8, 0.2])
    >>> sum(env.pull(key=7, turn=m, arm=0) for m in range(1, 1001))
    798.0

    Holds when: a key is used for one run. Does not hold when: one expects two arms of one turn to
    be dependent: their draws are independent.
    """

    places = 0
    reward_range = (0, 1)

    def __init__(self, means: Sequence[float] | npt.NDArray[np.float64]) -> None:
        try:
            self.means = np.array(means, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(f"means = {means!r} must be numbers in [0, 1]") from None
        if self.means.ndim != 1 or not len(self.means):
            raise InvalidInput(f"means has shape {self.means.shape}; give one mean for each arm")
        for arm, mean in enumerate(self.means):
            if not 0 <= mean <= 1:
                raise InvalidInput(f"means[{arm}] = {mean} must lie in [0, 1]")
        self.n_arms = len(self.means)
        thresholds = [int(np.ceil(mean * 2.0**53)) for mean in self.means]
        self.record = BernoulliRecord(np.array(thresholds, dtype=np.uint64))

    def pull(self, key: int, turn: int, arm: int) -> float:
        """The reward of ``arm`` at the policy's ``turn`` in the run of ``key``."""
        return float(draw(self.record, key, turn, arm))

    def gaps(self, default: float) -> npt.NDArray[np.float64]:
        """Pseudo-regret of one play of each arm, the default last."""
        return gaps(self.means, default)

    def __repr__(self) -> str:
        return f"BernoulliArms({self.means.tolist()})"
