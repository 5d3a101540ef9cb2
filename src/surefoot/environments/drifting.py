"""Drifting: Bernoulli arms whose means change with the play's number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from surefoot._exact import PLAYS, shown
from surefoot.environments._kernels import register
from surefoot.environments._timing import DRIFTS, Drift, Frozen, best_at, draw_at, mean_at
from surefoot.environments.bernoulli import BernoulliArms
from surefoot.errors import InvalidInput
from surefoot.kernels.noise import noise


class DriftingRecord(NamedTuple):
    """Parameters of the draw: from which play on which means hold."""

    starts: Any
    """The first play of each row of means, ascending from 1."""
    means: Any
    """The rows, one behind the other."""
    n_arms: int
    smooth: int
    """1: the means go in a line from row to row."""


def _mean(environment: Any, means: object, arm: int, play: int) -> Any:
    starts, n_arms = environment.starts, environment.n_arms
    j, end = 0, len(starts)
    while end - j > 1:  # the row that holds is among j, ..., end - 1
        middle = (j + end) // 2
        if starts[middle] > play:
            end = middle
        else:
            j = middle
    mean = environment.means[j * n_arms + arm]
    if environment.smooth == 1 and j + 1 < len(starts):
        share = (play - starts[j]) / (starts[j + 1] - starts[j])
        mean += (environment.means[(j + 1) * n_arms + arm] - mean) * share
    return mean


def _draw_at(environment: Any, key: Any, turn: int, arm: int, play: int) -> Any:
    # 53 bits are a float without rounding, and so is a mean times a power of two.
    level = mean_at(environment, environment.means, arm, play) * 9007199254740992.0
    return 1 if float(noise(key, turn, arm) >> 11) < level else 0


def _draw(environment: Any, key: Any, turn: int, arm: int) -> Any:
    return _draw_at(environment, key, turn, arm, 1)


class Drifting(Frozen):
    """Bernoulli arms whose means change with the play's number t, the default's plays counted in.

        mean_k(t) = the row of ``changes`` whose play is the last not after t

    Source: ours; abruptly changing arms are those of Garivier and Moulines 2011. ``env``: a
    ``BernoulliArms``, whose means hold from play 1. ``changes``: a dict from a play >= 2 to the
    means from that play on. ``smooth``: in place of jumps the means go in a line from each row to
    the next, and stay at the last. A reward is that of the means at the play it was decided, drawn
    from the noise of the policy's turn: until the first jump it is the reward of ``env``. Regret is
    against the best arm of each play, or the default where that is better. ``means``,
    ``variances`` and ``best`` are those of play 1. Raises InvalidInput for anything else.

    >>> env = Drifting(BernoulliArms([0.8, 0.2]), {101: [0.2, 0.6]})
    >>> env.value(0, play=100), env.value(0, play=101), env.best_at(101)
    (0.8, 0.2, 0.6)
    >>> Drifting(BernoulliArms([0.8, 0.2]), {101: [0.2, 0.6]}, smooth=True).value(0, play=51)
    0.5

    Holds when: the arms change whatever is played. Does not hold when: playing an arm wears it
    out, or the default's worth changes: its known value is one for all plays.
    """

    places = 0
    drifts = True
    env: BernoulliArms
    changes: dict[int, Any]
    smooth: bool
    n_arms: int
    best: float
    reward_range: tuple[Any, Any]
    means: Any
    variances: Any
    record: DriftingRecord

    def __init__(self, env: Any, changes: Mapping[int, Any], smooth: bool = False) -> None:
        if type(env) is not BernoulliArms:
            raise InvalidInput(
                f"env = {shown(env)} must be BernoulliArms, whose means drift; delays and batches "
                "go around: Delayed(Drifting(...), 100)"
            )
        if not isinstance(smooth, bool):
            raise InvalidInput(f"smooth = {shown(smooth)} must be True or False")
        listed = _checked(changes, env.n_arms)
        starts = np.array([1, *listed], np.int64)
        rows = np.concatenate([env.means, *listed.values()])
        for numbers in (starts, rows):
            numbers.flags.writeable = False
        vars(self).update(
            env=env, changes=listed, smooth=smooth, n_arms=env.n_arms, best=env.best,
            reward_range=env.reward_range, means=env.means, variances=env.variances,
            record=DriftingRecord(starts, rows, env.n_arms, int(smooth)),
        )  # fmt: skip

    def pull(self, key: int, turn: int, arm: int, play: int = 1) -> float:
        """The reward of ``arm`` at ``play``, from the noise of the policy's ``turn``."""
        return float(draw_at(self.record, key, turn, arm, play))

    def value(self, action: Any, play: int = 1) -> float:
        """The true mean of an arm at a play."""
        return float(mean_at(self.record, self.means, action, play))

    def best_at(self, play: int) -> float:
        """The mean of the best arm at a play."""
        return float(best_at(self.record, self.means, self.best, play))

    def __repr__(self) -> str:
        changes = {play: means.tolist() for play, means in self.changes.items()}
        return f"Drifting({self.env!r}, {changes}{', smooth=True' if self.smooth else ''})"


register(DriftingRecord, _draw, Drifting.pull)
DRIFTS[DriftingRecord] = Drift(_draw_at, _mean)


def _checked(changes: Any, n_arms: int) -> dict[int, Any]:
    """The rows of means by their plays, in order."""
    if not isinstance(changes, Mapping) or not changes:
        raise InvalidInput(
            f"changes = {shown(changes)} must be a dict from a play to the means from then on, "
            "e.g. {1001: [0.2, 0.8]}"
        )
    rows = {}
    for play, means in changes.items():
        fits = isinstance(play, int | np.integer) and not isinstance(play, bool)
        if not fits or not 2 <= play <= PLAYS:
            raise InvalidInput(f"changes: play {shown(play)} must be an int from 2 to {PLAYS}")
        try:
            row = BernoulliArms(means).means
        except InvalidInput as error:
            raise InvalidInput(f"changes[{play}]: {error}") from None
        if len(row) != n_arms:
            raise InvalidInput(
                f"changes[{play}] has {len(row)} means, the environment {n_arms} arms; give as many"
            )
        rows[int(play)] = row
    return dict(sorted(rows.items()))
