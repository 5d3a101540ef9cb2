"""Reports of live plays: what a caller says, what it books, and the entries that a ledger takes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

from surefoot._exact import exact, short, shown
from surefoot.agents import GenCB
from surefoot.agents.actions import Actions
from surefoot.agents.play import unpaid
from surefoot.errors import InvalidInput
from surefoot.floors import Outcome
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
from surefoot.live.configuration import Settings
from surefoot.live.play import OpenPlay
from surefoot.live.store.base import PlayRow
from surefoot.live.store.tx import STATES

FLAGS = {"breaches": "breach", "capped": "capped", "mismatches": "mismatch"}
"""What an entry says of a reward that is not what was declared, by the counter it moves."""


class Reported(NamedTuple):
    """A reward as reported: what is booked, and what the ledger keeps of it for the policy."""

    reward: Any
    text: Any

    @classmethod
    def of(cls, reward: Any, play: str) -> Reported:
        """InvalidInput for what is no number."""
        if reward is None:
            return NO_REWARD
        number = exact(reward, f"reward of play {play}")
        return cls(number, short(number))


NO_REWARD = Reported(None, None)
"""A report that says nothing of the reward."""


class Report(NamedTuple):
    """A report as its caller makes it, or as a journal has it."""

    how: str
    """One of ``events.REPORTS``."""
    reported: Reported = NO_REWARD
    base_rewards: Any = None
    taken: bool = False
    """Whether it was taken before: then the text of its reward is all there is."""

    @classmethod
    def from_text(cls, how: str, text: Any) -> Report:
        """A report that was taken before, from its text."""
        return cls(how, Reported(None, text), None, True)


class Line(NamedTuple):
    """One entry to be appended."""

    kind: str
    d_posted: int
    d_held: int
    payload: dict[str, Any]


class Booked(NamedTuple):
    """What a report did to one play: the entries it takes, and the text it is known by."""

    outcome: Outcome
    lines: list[Line]
    play: OpenPlay
    text: Any


def book(agent: GenCB, settings: Settings, row: PlayRow, play: OpenPlay, report: Report) -> Booked:
    """Book a report of the play that a row stands for; changes nothing but the result.

    PlayConflict if it contradicts the row; InvalidInput where a reward is missing, or base rewards.
    """
    actions, how, reported = agent.actions, report.how, report.reported
    floor: Any = agent.books.floor
    if report.taken or report.base_rewards is not None or actions.semi_bandit:
        reported = _reported(report, actions, row, play)
    record = Record(row.role == "explore", play.terms, STATES[row.role, row.state])
    if row.capped:
        record.state = CAPPED
    if row.told is not None:
        record.reward = floor.read(_worth(actions, play, row.told), "reward")
    random, reward, units = play.terms.high is not None, reported.reward, None
    if how == SETTLE and record.explores and record.state is not FELL_BACK and reward is None:
        raise unpaid(row.id, play.arm)
    if not random and not record.explores and record.state is SETTLED and record.reward is None:
        reward = None  # of a known value, and told after its report: no entry could say it
    if how == SETTLE and (reward is not None or (record.explores and not random)):
        exactly = type(reward) is Decimal  # as nearly always: then it was read before
        what = f"reward of play {row.id}"
        units = floor.unit.floor(reward) if exactly else floor.read(reward, what)
    if how == EXPIRE and (settings.reward_window is not None or row.deadline is not None):
        how = LAPSE
    lines: list[Line] = []
    if how == SETTLE and random and units is not None and not record.explores:
        first = step(record, how)  # that it was played is an entry of its own
        if first.event is not None:
            lines.append(_line(first, record, row, play, NO_REWARD))
            record = Record(False, record.terms, first.state, None)
    move = step(record, how, units, play.low, play.high)
    if move.outcome is None:
        raise conflict(row.id, record, how, reward)
    if move.event is not None:
        lines.append(_line(move, record, row, play, reported))
    return Booked(move.outcome, lines, play, reported.text)


def _line(move: Move, record: Record, row: PlayRow, play: OpenPlay, reported: Reported) -> Line:
    event = move.event
    assert event is not None
    payload: dict[str, Any] = {"asked": move.required} if move.required else {}
    for name, _ in move.counts:
        if name in FLAGS:
            payload[FLAGS[name]] = True
    if reported.reward is not None:
        payload["reward"], payload["told"] = move.reward, reported.text
    if event is Event.ACKNOWLEDGED:
        payload["play"] = row.id
    if event is Event.LATE or (record.state is not OPEN and event in _FIRST):
        payload |= play.again()
    return Line(str(event), move.posted, move.held, payload)


_FIRST = (Event.CONFIRMED, Event.VOIDED)
"""The first report of a default play that expired, one of these, tells it again."""


def _reported(report: Report, actions: Actions, row: PlayRow, play: OpenPlay) -> Reported:
    """What a report says of the reward; InvalidInput where base rewards are missing, or none."""
    if report.taken:
        text = report.reported.text
        return NO_REWARD if text is None else Reported(_worth(actions, play, text), text)
    reward, base = report.reported.reward, report.base_rewards
    super_arm = play.explores and actions.semi_bandit
    if base is None:
        if report.how == SETTLE and super_arm and row.state in ("open", "expired"):
            raise InvalidInput(
                f"play {row.id} is the super arm {shown(play.arm)}: report base_rewards=, one for "
                "each of its base arms"
            )
        return report.reported
    if not super_arm:
        raise InvalidInput(
            f"base_rewards of play {row.id}: it is no super arm; report reward alone"
        )
    parts = actions.base_rewards(row.id, play.arm, base)
    texts = [short(part) for part in parts]
    if reward is None:
        return Reported(actions.super_arm_reward(parts, play.arm), texts)
    number = exact(reward, f"reward of play {row.id}")
    return Reported(number, {"reward": short(number), "base": texts})


def _worth(actions: Actions, play: OpenPlay, reported: Any) -> Any:
    """The number that was booked of a reward as the ledger tells it."""
    if isinstance(reported, dict):
        return Decimal(reported["reward"])
    if isinstance(reported, list):
        return actions.super_arm_reward(tuple(map(Decimal, reported)), play.arm)
    return Decimal(reported)
