"""What a policy learns where no floor guards it: the objective of an agent of several floors.

Its plays go through the same table of events as those of a floor, at terms that ask nothing: no
hold, no deposit, no range that could be broken. So a value that is told twice, told otherwise, or
told of a void play is judged as a reward is. It does not expire by itself.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, ClassVar

from surefoot._exact import exact, exact_range, shown
from surefoot._types import JsonObject, Number
from surefoot.errors import InvalidInput
from surefoot.floors import events
from surefoot.floors.events import BOOKED, Move, Outcome, Record, Terms
from surefoot.floors.linear import LinearFloor
from surefoot.floors.plays import Plays, checked_keep
from surefoot.floors.reward_books import Account, RewardBooks


class Objective(LinearFloor):
    """What a policy learns, beside the measures that floors guard; it promises nothing.

    ``objective_range``: bounds of it; what is outside is cut. None: there are none.
    ``default_objective``: what the default brings of it; None: that is not known.

    >>> Objective((0, 1), 0.5).terms()
    Terms(value=500000000, floor=0, hold=0, deposit=0)
    """

    __slots__ = ("_terms", "bounded", "default")

    measure: ClassVar[str] = "reward"

    def __init__(self, objective_range: Any = None, default_objective: Number | None = None):
        self.bounded = objective_range is not None
        """Whether its range is known; else (0, 1) stands in its place, and nothing is cut."""
        given = exact_range(objective_range, "objective_range") if self.bounded else (0, 1)
        super().__init__(given)
        self.default = _checked(default_objective, self)
        self._terms = Terms(0 if self.default is None else self.unit.floor(self.default), 0, 0, 0)

    def terms(self, default: Any = None) -> Terms:
        """Those of every play: it asks nothing."""
        return self._terms

    def open(self, keep: int = 100_000) -> ObjectiveBooks:
        """Fresh books for one agent; ``keep``: closed plays remembered (see ``Plays``)."""
        return ObjectiveBooks(self, Account(), Plays(checked_keep(keep)))

    def config(self) -> JsonObject:
        """JSON-able settings; decimals as strings, as ``from_config`` reads them."""
        ends = [str(end) for end in self.reward_range] if self.bounded else None
        default = None if self.default is None else str(self.default)
        return {"objective_range": ends, "default_objective": default}


def _checked(default: Any, objective: Objective) -> Decimal | None:
    """What the default brings of the objective, if that can be."""
    if default is None:
        return None
    value, (low, high) = exact(default, "default_objective"), objective.reward_range
    if objective.bounded and not low <= value <= high:
        raise InvalidInput(
            f"default_objective = {shown(default)} lies outside objective_range ({low}, {high}); "
            "widen the range or correct what the default brings"
        )
    return value


DECIDED = tuple(events.decided(explores, Terms(0, 0, 0, 0)).counts for explores in (False, True))


class ObjectiveBooks(RewardBooks):
    """Which plays the objective was told of, and what it was."""

    floor: Objective

    def affords(self, terms: Terms) -> bool:
        """Always: nothing is held, and its account stays empty."""
        return True

    def decide(self, explores: bool, terms: Terms) -> int:
        """Count a decision; returns its play id."""
        self._count(DECIDED[explores])
        return self.plays.open(explores, terms)

    def post(self, move: Move) -> None:
        """Let what a report came to move the counts; its play is closed."""
        self._count(move.counts)

    @staticmethod
    def step(
        play: Record,
        report: str,
        reward: int | None = None,
        low: int = 0,
        high: int = 0,
        caps: bool = True,
    ) -> Move:
        """As ``events.step``; nothing is out of range, and a default's may be told later."""
        if reward is None:
            return events.step(play, report)
        move = events.step(play, report, reward, reward, reward)
        if move.outcome is Outcome.REPEATED and play.reward is None:
            return move._replace(outcome=BOOKED)
        return move
