"""The warning that a reward outside the declared range brings."""

from __future__ import annotations

import warnings
from typing import Any

from surefoot._exact import shown
from surefoot.errors import RewardOutOfRange
from surefoot.floors import Books, Outcome, State


def warn(books: Books, number: int, reward: Any, outcome: Outcome) -> None:
    """Say what became of a reward outside the range; the caller of the agent's caller is named."""
    floor = books.floor
    low, high = floor.reward_range
    record = books.plays.get(number)
    if not record.explores or record.state is State.FELL_BACK:
        warnings.warn(
            f"reward {shown(reward)} of the default at play {number} is outside the interval "
            "that it was declared to lie in: below it, it may break the floor, above it "
            "counts as the upper end; declare a wider one",
            RewardOutOfRange,
            stacklevel=3,
        )
        return
    if outcome is Outcome.CAPPED:
        meaning = f"is above r_max = {high}: it counts as that until acknowledge(play)"
    elif books.promise_void:
        meaning = f"is outside ({low}, {high}): it is booked, and nothing is promised any more"
    else:
        meaning = f"is below r_min = {low}: it is booked as it is, and may break the floor"
    warnings.warn(
        f"reward {shown(reward)} of play {number} {meaning}; rewards on another scale need "
        f"{type(floor).__name__}(..., reward_range=(low, high))",
        RewardOutOfRange,
        stacklevel=3,
    )
