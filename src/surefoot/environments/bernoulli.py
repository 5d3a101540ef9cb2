"""Bernoulli arms: rewards 0 or 1, as in every experiment of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot._exact import exact, shown
from surefoot.environments._kernels import draw, register
from surefoot.environments._table import listed
from surefoot.errors import InvalidInput
from surefoot.kernels.noise import noise


class BernoulliRecord(NamedTuple):
    """Parameters of the draw: a reward is 1 iff 53 random bits are below the arm's threshold."""

    thresholds: Any
    """ceil(mean * 2**53), so that a mean of 1 always pays and one of 0 never does."""


def _draw(environment: Any, key: Any, turn: int, arm: int) -> Any:
    return 1 if noise(key, turn, arm) >> 11 < environment.thresholds[arm] else 0


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
    reward_range: tuple[Any, Any] = (0, 1)

    def __init__(self, means: Sequence[float] | npt.NDArray[np.float64]) -> None:
        self.means = _checked(means)
        self.variances = self.means * (1 - self.means)
        for numbers in (self.means, self.variances):
            numbers.flags.writeable = False  # the thresholds are made of them
        self.best = float(self.means.max())
        self.n_arms = len(self.means)
        self.record = BernoulliRecord(np.ceil(self.means * 2.0**53).astype(np.uint64))

    def pull(self, key: int, turn: int, arm: int) -> float:
        """The reward of ``arm`` at the policy's ``turn`` in the run of ``key``."""
        return float(draw(self.record, key, turn, arm))

    def value(self, action: Any) -> float:
        """The true mean of an arm."""
        return float(self.means[action])

    def __repr__(self) -> str:
        return f"BernoulliArms({self.means.tolist()})"


register(BernoulliRecord, _draw, BernoulliArms.pull)


def _checked(means: Any) -> npt.NDArray[np.float64]:
    given = listed(means, "means", "list: one mean for each arm", "one mean for each arm")
    numbers = []
    for arm, mean in enumerate(given):
        if np.ma.is_masked(mean):
            raise InvalidInput(f"means[{arm}] is masked; give every arm its mean")
        number = exact(mean, f"means[{arm}]")
        if not 0 <= number <= 1:
            raise InvalidInput(f"means[{arm}] = {shown(mean)} must lie in [0, 1]")
        numbers.append(float(number))
    return np.array(numbers)
