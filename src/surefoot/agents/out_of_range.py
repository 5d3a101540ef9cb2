"""The warning that a reward outside the declared range brings."""

from __future__ import annotations

import warnings
from typing import Any

from surefoot._exact import exact, shown
from surefoot.errors import RewardOutOfRange
from surefoot.floors import Books, Outcome, State
from surefoot.floors.objective import Objective


def warn(books: Books, number: int, reward: Any, outcome: Outcome, level: int = 3) -> None:
    """Say what became of a reward outside the range; the caller of the agent's caller is named."""
    told = f"{books.measure} {shown(reward)}"
    floor = books.floor
    low, high = floor.reward_range
    record = books.plays.get(number)
    if not record.explores or record.state is State.FELL_BACK:
        warnings.warn(
            f"{told} of the default at play {number} is outside the interval "
            "that it was declared to lie in: below it, it may break the floor, above it "
            "counts as the upper end; declare a wider one",
            RewardOutOfRange,
            stacklevel=level,
        )
        return
    if outcome is Outcome.CAPPED:
        meaning = f"is above r_max = {high}: it counts as that until acknowledge(play)"
    elif books.promise_void:
        meaning = f"is outside ({low}, {high}): it is booked, and nothing is promised any more"
    else:
        meaning = f"is below r_min = {low}: it is booked as it is, and may break the floor"
    warnings.warn(
        f"{told} of play {number} {meaning}; rewards on another scale need "
        f"{type(floor).__name__}(..., reward_range=(low, high))",
        RewardOutOfRange,
        stacklevel=level,
    )


def cut(books: Books, number: int, reward: Any, level: int) -> Any:
    """An objective that no floor guards, within its range; a warning says where it was not."""
    floor = books.floor
    if not isinstance(floor, Objective) or not floor.bounded:
        return reward
    low, high = floor.reward_range
    told = exact(reward, "reward")
    if low <= told <= high:
        return reward
    kept = low if told < low else high
    warnings.warn(
        f"reward {shown(reward)} of play {number} is outside objective_range = ({low}, {high}): "
        f"the policy learns {kept}; give a wider range",
        RewardOutOfRange,
        stacklevel=level,
    )
    return kept
