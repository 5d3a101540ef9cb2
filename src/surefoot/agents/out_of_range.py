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
    floor: Any = books.floor
    record = books.plays.get(number)
    costs = getattr(floor, "costs", False)
    kind = "cost" if costs else "reward"
    said = f"{books.measure} {books.as_told(reward) if costs else shown(reward)}"
    beyond, short = ("above", "below") if costs else ("below", "above")
    if books.learns and not record.explores:
        low, high = floor.told_range
        warnings.warn(
            f"{said} of the default at play {number} is outside ({low}, {high}): in what is "
            "learned of the default it counts as the nearer end, and the promise has no known "
            f"probability any more; a new agent needs {type(floor).__name__}(..., "
            f"{floor.ends}=(low, high))",
            RewardOutOfRange,
            stacklevel=level,
        )
        return
    if not record.explores or record.state is State.FELL_BACK:
        end = "lower" if costs else "upper"
        warnings.warn(
            f"{said} of the default at play {number} is outside the interval "
            f"that it was declared to lie in: {beyond} it, it may break the "
            f"{'ceiling' if costs else 'floor'}, {short} it "
            f"counts as the {end} end; declare a wider one",
            RewardOutOfRange,
            stacklevel=level,
        )
        return
    low, high = floor.told_range if costs else floor.reward_range
    worst, best = (high, low) if costs else (low, high)
    names = ("c_max", "c_min") if costs else ("r_min", "r_max")
    if outcome is Outcome.CAPPED:
        meaning = f"is {short} {names[1]} = {best}: it counts as that until acknowledge(play)"
    elif books.promise_void:
        meaning = f"is outside ({low}, {high}): it is booked, and nothing is promised any more"
    else:
        meaning = (
            f"is {beyond} {names[0]} = {worst}: it is booked as it is, and may break the "
            f"{'ceiling' if costs else 'floor'}"
        )
    warnings.warn(
        f"{said} of play {number} {meaning}; {kind}s on another scale need "
        f"{type(floor).__name__}(..., {kind}_range=(low, high))",
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
