"""The warning that a reward outside the declared range brings."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from surefoot._exact import exact, shown
from surefoot.errors import RewardOutOfRange
from surefoot.floors import Books, Outcome, State
from surefoot.floors.objective import Objective
from surefoot.floors.protocol import is_ceiling


class _Words(NamedTuple):
    """How a value outside its range is spoken of; ``worst`` and ``best`` name the range's ends."""

    measure: str
    beyond: str
    short: str
    promise: str
    end: str
    worst: str
    best: str


_REWARDS = _Words("reward", "below", "above", "floor", "upper", "r_min", "r_max")
_COSTS = _Words("cost", "above", "below", "ceiling", "lower", "c_max", "c_min")


def warn(books: Books, number: int, reward: Any, outcome: Outcome, level: int = 3) -> None:
    """Say what became of a reward outside the range; the caller of the agent's caller is named."""
    costs, record = is_ceiling(books.floor), books.plays.get(number)
    words = _COSTS if costs else _REWARDS
    told = f"{books.measure} {books.as_told(reward) if costs else shown(reward)}"
    if not record.explores or record.state is State.FELL_BACK:
        learns = books.learns and not record.explores
        said = (_of_learned if learns else _of_default)(books.floor, number, told, words)
    else:
        said = _of_exploration(books, number, told, words, outcome)
    warnings.warn(said, RewardOutOfRange, stacklevel=level)


def _of_learned(floor: Any, number: int, told: str, words: _Words) -> str:
    low, high = floor.told_range
    return (
        f"{told} of the default at play {number} is outside ({low}, {high}): in what is learned of "
        "the default it counts as the nearer end, and the promise has no known probability any "
        f"more; a new agent needs {type(floor).__name__}(..., {floor.ends}=(low, high))"
    )


def _of_default(floor: Any, number: int, told: str, words: _Words) -> str:
    return (
        f"{told} of the default at play {number} is outside the interval that it was declared to "
        f"lie in: {words.beyond} it, it may break the {words.promise}, {words.short} it counts as "
        f"the {words.end} end; declare a wider one"
    )


def _of_exploration(books: Books, number: int, told: str, words: _Words, outcome: Outcome) -> str:
    floor: Any = books.floor
    low, high = floor.told_range if words is _COSTS else floor.reward_range
    worst, best = (high, low) if words is _COSTS else (low, high)
    if outcome is Outcome.CAPPED:
        what = f"{words.short} {words.best} = {best}: it counts as that until acknowledge(play)"
    elif books.promise_void:
        what = f"outside ({low}, {high}): it is booked, and nothing is promised any more"
    else:
        what = (
            f"{words.beyond} {words.worst} = {worst}: it is booked as it is, and may break the "
            f"{words.promise}"
        )
    return (
        f"{told} of play {number} is {what}; {words.measure}s on another scale need "
        f"{type(floor).__name__}(..., {words.measure}_range=(low, high))"
    )


def cut(books: Books, number: int, reward: Any, first: bool, level: int) -> Any:
    """An objective that no floor guards, within its range; a warning says where it was not.

    ``first``: whether it was not told before: one warning is enough, and may be an error.
    """
    floor = books.floor
    if not isinstance(floor, Objective) or not floor.bounded:
        return reward
    low, high = floor.reward_range
    told = exact(reward, "reward")
    if low <= told <= high:
        return reward
    kept = low if told < low else high
    if first:
        warnings.warn(
            f"reward {shown(reward)} of play {number} is outside objective_range = ({low}, "
            f"{high}): the policy learns {kept}; give a wider range",
            RewardOutOfRange,
            stacklevel=level,
        )
    return kept
