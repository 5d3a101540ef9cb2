"""Several floors on the measures of each play: one account each, and what a play as a whole allows.

A report is tried on every account it names; one that contradicts any of them changes none.
"""

import copy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from naive.account import Contradiction, rational
from naive.general import GeneralAccount

WEIGHT = ("breach", "capped", "booked_late", "booked", "repeated", "ignored")
"""The weightiest first."""


@dataclass
class WholePlay:
    explores: bool
    state: str = "made"
    """made, void or fell_back: what became of the play, whatever became of its measures."""
    objective: Fraction | None = None


class SeveralAccounts:
    """``accounts``: by name; the one named "reward", if any, guards the objective."""

    def __init__(self, accounts: dict[str, GeneralAccount]) -> None:
        self.accounts = accounts
        self.plays: list[WholePlay] = []

    def allows(self, defaults: dict[str, Any]) -> bool:
        return all(a.available() >= a.terms(defaults.get(n)).h for n, a in self.accounts.items())

    def decide(self, explores: bool, defaults: dict[str, Any]) -> int:
        for name, account in self.accounts.items():
            account.decide(explores, defaults.get(name))
        self.plays.append(WholePlay(explores))
        return len(self.plays) - 1

    def states(self, number: int) -> list[str]:
        """Of the measures that a floor guards."""
        return [account.plays[number].state for account in self.accounts.values()]

    def told(self, number: int) -> bool:
        """Whether any measure, or the objective, was told."""
        told = {"settled", "capped"} & {*self.states(number)}
        return bool(told) or self.plays[number].objective is not None

    def is_open(self, number: int) -> bool:
        """Whether a measure, or an objective that no floor guards, is still to come.

        Of a default play the objective may never be told: that it was played closes it.
        """
        play = self.plays[number]
        waits = play.explores and "reward" not in self.accounts and play.objective is None
        return waits or "open" in self.states(number)

    def settle(self, number: int, measures: dict[str, Any], reward: Any = None) -> dict[str, str]:
        """A report; ``reward``: the objective's. Of a default play it may name nothing."""
        measures = dict(measures)
        if reward is not None and "reward" in self.accounts:
            measures["reward"], reward = reward, None
        if not self.plays[number].explores:
            measures = {name: measures.get(name) for name in self.accounts}
        kept = {name: copy.copy(self.accounts[name].plays[number]) for name in measures}
        counts = {name: (a.mismatches, a.breached) for name, a in self.accounts.items()}
        outcomes = {}
        try:
            if reward is not None:
                outcomes["reward"] = self.objective_told(number, rational(reward))
            for name, value in measures.items():
                outcomes[name] = self.accounts[name].settle(number, value)
        except Contradiction:
            for name, play in kept.items():
                self.accounts[name].plays[number] = play
                self.accounts[name].mismatches, self.accounts[name].breached = counts[name]
            raise
        if reward is not None:
            self.plays[number].objective = rational(reward)
        return outcomes

    def objective_told(self, number: int, reward: Fraction) -> str:
        play = self.plays[number]
        if play.state != "made" or play.objective not in {None, reward}:
            raise Contradiction
        return "booked" if play.objective is None else "repeated"

    def expire(self, number: int, names: Any = None) -> dict[str, str]:
        names = self.accounts if names is None else names
        return {name: self.accounts[name].expire(number) for name in names}

    def void(self, number: int) -> str:
        play = self.plays[number]
        if play.state == "void":
            return "repeated"
        if play.explores and "expired" in self.states(number):
            raise Contradiction
        if self.told(number) and play.state == "made":
            if self.is_open(number):
                raise Contradiction
            return "ignored"
        outcomes = {account.void(number) for account in self.accounts.values()}
        if outcomes == {"booked"}:
            play.state = "void"
        return weightiest(outcomes)

    def fall_back(self, number: int) -> str:
        play = self.plays[number]
        if not play.explores:
            return weightiest(self.settle(number, {}).values())
        if play.state == "made" and (self.told(number) or not self.all_open(number)):
            raise Contradiction
        outcomes = {account.fall_back(number) for account in self.accounts.values()}
        play.state = "fell_back"
        return weightiest(outcomes)

    def all_open(self, number: int) -> bool:
        return {*self.states(number)} == {"open"}

    def acknowledge(self, number: int, name: str) -> str:
        return self.accounts[name].acknowledge(number)


def weightiest(outcomes: Any) -> str:
    return min(outcomes, key=WEIGHT.index)
