"""When a reward arrives, and what a play of a drifting arm pays: texts of both drivers.

An environment with a method ``arrival(key, play)`` says after which play the reward of a play is
known. One with ``drifts = True`` pays by the play's number too: its ``pull``, ``value`` and
``best_at`` take that as their last argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from surefoot._exact import shown
from surefoot._jit import jittable, table
from surefoot.environments._kernels import draw
from surefoot.errors import InvalidInput
from surefoot.kernels.noise import uniform

CONSTANT, RANGE, GEOMETRIC, BATCH = range(4)
LONGEST = 10**6
"""Of delays and batches: the engine keeps a place for each play that may be open."""
_NO_ARM = -1
"""Delays are drawn by (key, play) where rewards are by (key, turn, arm): no arm has this number."""


class Timing(NamedTuple):
    """When rewards arrive; numbers alone, so that one compiled text serves every kind."""

    kind: int
    low: int
    """The delay, the least delay, or the size of a batch."""
    high: int
    """No delay is longer."""
    rate: float
    """ln(1-p) of a geometric delay, which ends at each play with probability p."""


AT_ONCE = Timing(CONSTANT, 0, 0, 0.0)


@jittable
def arrival(timing: Timing, key: Any, play: int) -> int:
    """The play after which the reward of ``play`` is known; ``play`` itself: at once."""
    if timing.kind == BATCH:
        return play + (timing.low - play % timing.low) % timing.low
    if timing.kind == CONSTANT:
        return play + timing.low
    u = uniform(key, play, _NO_ARM)
    if timing.kind == RANGE:
        return play + timing.low + math.floor(u * (timing.high - timing.low + 1))
    return play + math.floor(math.log(u) / timing.rate)


class Drift(NamedTuple):
    """The text of an environment whose arms change with the play's number.

    ``draw(environment, key, turn, arm, play)``, in units · ``mean(environment, means, arm,
    play)``, ``means`` being those of play 1.
    """

    draw: Callable[..., Any]
    mean: Callable[..., Any]


DRIFTS: dict[type, Drift] = table()


def draw_at(environment: Any, key: Any, turn: int, arm: int, play: int) -> Any:
    """As ``draw``, by the play's number too where the arms drift."""
    drift = DRIFTS.get(type(environment))
    if drift is None:
        return draw(environment, key, turn, arm)
    return drift.draw(environment, key, turn, arm, play)


def mean_at(environment: Any, means: Any, arm: int, play: int) -> Any:
    """The true mean of an arm at a play; ``means``: those of arms that stay as they are."""
    drift = DRIFTS.get(type(environment))
    return means[arm] if drift is None else drift.mean(environment, means, arm, play)


def best_at(environment: Any, means: Any, best: float, play: int) -> float:
    """The mean of the best action at a play; ``best``: that of arms that stay as they are."""
    drift = DRIFTS.get(type(environment))
    if drift is None:
        return best
    return foremost(environment, means, play)


@jittable
def foremost(environment: Any, means: Any, play: int) -> float:
    """The largest mean of all arms at a play."""
    top = mean_at(environment, means, 0, play)
    for arm in range(1, len(means)):
        top = max(top, mean_at(environment, means, arm, play))
    return float(top)


class Frozen:
    """What cannot be changed once it is made."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed; make a new one")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)


class Wrapper(Frozen):
    """An environment that is another one, except for when its rewards arrive.

    What is not said here is asked of ``env``.
    """

    env: Any
    timing: Timing

    def __init__(self, env: Any, timing: Timing) -> None:
        if isinstance(env, type) or not hasattr(env, "pull") or not hasattr(env, "value"):
            raise InvalidInput(
                f"env = {shown(env)} must be an environment, e.g. BernoulliArms([0.8, 0.2])"
            )
        if hasattr(env, "arrival"):
            raise InvalidInput(
                f"env = {shown(env)} says itself when rewards arrive; wrap the environment inside"
            )
        vars(self).update(env=env, timing=timing)

    def arrival(self, key: int, play: int) -> int:
        """The play after which the reward of ``play`` is known, in the run of ``key``."""
        return arrival(self.timing, key, play)

    def pull(self, key: int, turn: int, arm: int, *play: int) -> float:
        """The reward of ``arm`` at the policy's ``turn``; of drifting arms at ``play``."""
        return float(self.env.pull(key, turn, arm, *play))

    def value(self, action: Any, *play: int) -> float:
        """The true mean of an action; of drifting arms at ``play``."""
        return float(self.env.value(action, *play))

    @property
    def n_arms(self) -> int:
        """As of ``env``."""
        return int(self.env.n_arms)

    @property
    def places(self) -> int:
        """As of ``env``."""
        return int(self.env.places)

    @property
    def reward_range(self) -> tuple[Any, Any]:
        """As of ``env``."""
        low, high = self.env.reward_range
        return low, high

    @property
    def means(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """As of ``env``."""
        means: np.ndarray[Any, np.dtype[np.float64]] = self.env.means
        return means

    @property
    def variances(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """As of ``env``."""
        variances: np.ndarray[Any, np.dtype[np.float64]] = self.env.variances
        return variances

    @property
    def best(self) -> float:
        """As of ``env``."""
        return float(self.env.best)

    @property
    def record(self) -> Any:
        """As of ``env``."""
        return self.env.record

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "env" not in vars(self):  # while it is copied or unpickled
            raise AttributeError(name)
        return getattr(self.env, name)


def whole(number: Any, what: str, least: int) -> int:
    """A whole number of plays from ``least`` to LONGEST."""
    fits = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not fits or not least <= number <= LONGEST:
        raise InvalidInput(
            f"{what} = {shown(number)} must be an int from {least} to {LONGEST} plays"
        )
    return int(number)
