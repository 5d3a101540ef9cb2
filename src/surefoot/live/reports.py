"""What a report of a live play comes to: the entries that a ledger takes of it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

from surefoot._exact import exact, shown
from surefoot.agents.play import short, unpaid
from surefoot.errors import InvalidInput
from surefoot.floors import Outcome, RewardFloor
from surefoot.floors.events import (
    CAPPED,
    EXPIRE,
    FELL_BACK,
    LAPSE,
    OPEN,
    SETTLE,
    SETTLED,
    Event,
    Move,
    Record,
    step,
)
from surefoot.floors.plays import conflict
from surefoot.live.given import Given
from surefoot.live.store.moves import STATES

FLAGS = {"breaches": "breach", "capped": "capped", "mismatches": "mismatch"}
"""What an entry says of a reward that is not what was declared, by the counter it moves."""


class Told(NamedTuple):
    """A reward as reported: what is booked, and what the ledger keeps of it for the policy."""

    reward: Any
    text: Any

    @classmethod
    def of(cls, reward: Any, play: str) -> Told:
        """InvalidInput for what is no number."""
        if reward is None:
            return cls(None, None)
        number = exact(reward, f"reward of play {play}")
        return cls(number, short(number))


class Line(NamedTuple):
    """One entry to be appended."""

    kind: str
    d_posted: int
    d_held: int
    payload: dict[str, Any]


def lines(
    floor: RewardFloor, row: Any, given: Given, worth: Any, how: str, told: Told, window: bool
) -> tuple[Outcome, list[Line]]:
    """What a report of a play comes to, and its entries; PlayConflict if it contradicts its row.

    ``worth``: how a reward in the row becomes a number; ``how``: one of ``events.REPORTS``;
    ``window``: whether there is a reward window, in which default plays expire, too.
    """
    play = record_of(floor, row, given, worth)
    random = given.terms.high is not None
    reward, units = told.reward, None
    if how == SETTLE and play.explores and play.state is not FELL_BACK and reward is None:
        raise unpaid(row.id, given.arm)
    if not random and not play.explores and play.state is SETTLED and play.reward is None:
        reward = None  # of a known value, and told after its report: no entry could say it
    if how == SETTLE and (reward is not None or (play.explores and not random)):
        units = floor.read(reward, f"reward of play {row.id}")
    if how == EXPIRE and (window or row.deadline is not None):
        how = LAPSE
    entered: list[Line] = []
    if how == SETTLE and random and units is not None and not play.explores:
        first = step(play, how)  # that it was played is an entry of its own
        if first.event is not None:
            entered.append(_line(first, play, row, given, Told(None, None)))
            play = Record(False, play.terms, first.state, None)
    move = step(play, how, units, given.low, given.high)
    if move.outcome is None:
        raise conflict(row.id, play, how, reward)
    if move.event is not None:
        entered.append(_line(move, play, row, given, told))
    return move.outcome, entered


def record_of(floor: RewardFloor, row: Any, given: Given, worth: Any) -> Record:
    """A play as the books would remember it."""
    state = CAPPED if row.capped else STATES[row.role, row.state]
    units = None if row.told is None else floor.read(worth(row.told), "reward")
    return Record(row.role == "explore", given.terms, state, units)


def _line(move: Move, play: Record, row: Any, given: Given, told: Told) -> Line:
    assert move.event is not None
    payload: dict[str, Any] = {"asked": move.required} if move.required else {}
    payload |= {FLAGS[name]: True for name, _ in move.counts if name in FLAGS}
    if told.reward is not None:
        payload |= {"reward": move.reward, "told": told.text}
    if move.event is Event.ACKNOWLEDGED:
        payload["play"] = row.id
    if move.event is Event.LATE or (play.state is not OPEN and move.event in _FIRST):
        payload |= given.again()
    return Line(move.event.value, move.posted, move.held, payload)


_FIRST = (Event.CONFIRMED, Event.VOIDED)
"""The first report of a default play that expired, one of these, tells it again."""


def super_arm(actions: Any, row: Any, given: Given, reward: Any, base: Any) -> Told:
    """What a report of base rewards books and teaches; InvalidInput where there can be none."""
    if not (given.explores and actions.semi_bandit):
        raise InvalidInput(
            f"base_rewards of play {row.id}: it is no super arm; report reward alone"
        )
    parts = actions.base_rewards(row.id, given.arm, base)
    texts = [short(part) for part in parts]
    if reward is None:
        return Told(actions.super_arm_reward(parts, given.arm), texts)
    number = exact(reward, f"reward of play {row.id}")
    return Told(number, {"reward": short(number), "base": texts})


def worth_of(actions: Any, given: Given) -> Callable[[Any], Any]:
    """How a reward that the ledger tells becomes the number that was booked."""

    def worth(told: Any) -> Any:
        if isinstance(told, dict):
            return Decimal(told["reward"])
        if isinstance(told, list):
            return actions.super_arm_reward(tuple(map(Decimal, told)), given.arm)
        return Decimal(told)

    return worth


def needs_base(actions: Any, row: Any, given: Given) -> None:
    """InvalidInput for a super arm that is reported by its reward alone."""
    if given.explores and actions.semi_bandit and row.state in ("open", "expired"):
        raise InvalidInput(
            f"play {row.id} is the super arm {shown(given.arm)}: report base_rewards=, one for "
            "each of its base arms"
        )
