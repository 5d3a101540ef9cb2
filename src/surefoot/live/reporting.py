"""Report what plays brought: what a caller says, and what it books."""

from __future__ import annotations

from typing import Any, NamedTuple

from surefoot.floors import Outcome
from surefoot.live.fold import Fold
from surefoot.live.given import Given
from surefoot.live.reports import Line, Told, lines, needs_base, super_arm, worth_of


class Telling(NamedTuple):
    """A report as its caller makes it; ``how``: one of ``events.REPORTS``."""

    how: str
    said: Told = Told(None, None)
    base_rewards: Any = None

    def told(self, fold: Fold, row: Any, given: Given) -> Told:
        """What it says of the reward; InvalidInput where base rewards are missing, or none."""
        actions = fold.agent.actions
        if self.base_rewards is not None:
            return super_arm(actions, row, given, self.said.reward, self.base_rewards)
        if self.how == "settle":
            needs_base(actions, row, given)
        return self.said


class Retelling(NamedTuple):
    """A report that was taken before, from its text."""

    how: str
    text: Any

    def told(self, fold: Fold, _: Any, given: Given) -> Told:
        """What it said of the reward."""
        if self.text is None:
            return Told(None, None)
        return Told(worth_of(fold.agent.actions, given)(self.text), self.text)


class Booked(NamedTuple):
    """What a report did to one play: the entries it takes, and the text it is known by."""

    outcome: Outcome
    lines: list[Line]
    given: Given
    text: Any


def book(fold: Fold, row: Any, given: Given, telling: Telling | Retelling) -> Booked:
    """Book a report of the play that a row stands for; changes nothing but the result."""
    told = telling.told(fold, row, given)
    window = fold.settings.reward_window is not None
    worth = worth_of(fold.agent.actions, given)
    outcome, entered = lines(fold.books.floor, row, given, worth, telling.how, told, window)
    return Booked(outcome, entered, given, told.text)
