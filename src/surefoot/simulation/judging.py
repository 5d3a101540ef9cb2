"""What the environment knows and the agent does not: the regret, and the slack at the true mean."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from surefoot._exact import INT64_MAX
from surefoot.agents import Play
from surefoot.agents.agent import Agent
from surefoot.simulation.checks import drifts, finite
from surefoot.simulation.guards import Guard, Guards, mean_of_default, several
from surefoot.simulation.loop import DEFAULT, OF_BELOW, OF_LEAST, OF_SLACK, SUMS, Ints, lose
from surefoot.simulation.stops import Rows


class Judge:
    """The sums that the regrets of one agent are made of.

    ``top``: mu_*, unless the arms drift; ``default``: the default's mean.
    """

    def __init__(self, agent: Agent, environment: Any, top: float, default: float) -> None:
        self._agent, self._environment, self._top = agent, environment, top
        self._drifts = drifts(environment)
        self._default = default
        self.losses = [0.0] * (SUMS + self._drifts)

    def see(self, play: Play, t: int) -> None:
        """Add play t."""
        environment, top = self._environment, self._top
        moment = (t,) if self._drifts else ()
        if self._drifts:
            best = finite(environment.best_at(t), f"best_at({t}) of the environment")
            top = max(best, self._default)
        if play.is_default:
            if self._drifts:
                self.losses[DEFAULT] += top - self._default
            return
        action: Any = self._agent.actions.action(play.index, play.arm)
        what = ", ".join(map(str, (action, *moment)))
        mean = finite(environment.value(action, *moment), f"value({what}) of the environment")
        arms = action if isinstance(action, tuple) else (action,)
        lose(self.losses, top, mean, float(sum(environment.variances[arm] for arm in arms)))


class TrueSlack:
    """The account of a floor with a learned default, at the mean that the default really has.

        slack = reserve + sum settled (r - f) - sum open h + sum defaults e,   f = mu0 - e

    Worked out from the floor's settings alone, apart from its books. ``mean``: mu0, exact, in
    rewards or in costs as the floor has it.

    >>> from surefoot import RewardFloor
    >>> TrueSlack(RewardFloor(0.5, 0.1), Fraction(1, 3)).asked  # 0.9/3, in units
    300000000.0
    """

    def __init__(self, floor: Any, mean: Fraction) -> None:
        self._floor = floor
        unit = 10**floor.places if floor.places >= 0 else Fraction(1, 10**-floor.places)
        worth = -mean if floor.costs else mean
        given_up = Fraction(floor.alpha) * abs(worth) + Fraction(floor.margin)
        low, self._high = map(floor.unit.floor, floor.reward_range)
        amounts = worth * unit - given_up * unit, given_up * unit
        self._over = math.lcm(*(amount.denominator for amount in amounts))
        self._asked, self._deposit = (int(amount * self._over) for amount in amounts)
        self._hold = max(0, self._asked - low * self._over)
        self.sums = [floor.unit.floor(floor.reserve) * self._over]
        """The slack in parts of a unit, in a list so that it is kept as rows are."""

    def decided(self, play: Play) -> None:
        """A play was decided, and if it is the default, reported."""
        self.sums[0] += self._deposit if play.is_default else -self._hold

    def settled(self, told: Any) -> None:
        """An exploration was reported."""
        floor = self._floor
        reward = min(floor.unit.read(floor.to_books(told), "reward"), self._high)
        self.sums[0] += reward * self._over - self._asked + self._hold

    @property
    def slack(self) -> int:
        """In units of the books, rounded down."""
        found: int = self.sums[0] // self._over
        return found

    @property
    def asked(self) -> float:
        """f of a play, in units."""
        return self._asked / self._over


class Accounts:
    """The slacks of one agent's floors as plays go by."""

    def decided(self, play: Play) -> None:
        """A play was decided, and if it is the default, reported."""

    def told(self, report: Mapping[str, Any]) -> None:
        """Something of an exploration was reported."""

    def look(self) -> tuple[int, bool]:
        """What ``Trace.books`` has for the slack after a play; whether one is below zero."""
        raise NotImplementedError

    def write(self, floors: Ints, spot: int) -> None:
        """Write what is known of each of several floors to a row of a trace."""

    def forfeited(self) -> list[int]:
        """Of each floor what ``look`` lacks of what came in."""
        raise NotImplementedError

    def rows(self) -> Rows:
        """What the plays to come depend on."""
        raise NotImplementedError


class OneAccount(Accounts):
    """That of an agent of one floor."""

    def __init__(self, agent: Agent, guards: Guards, environment: Any) -> None:
        self._agent = agent
        (guard,) = guards.values()
        self._true = true_slack(guard, environment)
        self._name = "cost" if guard.costs else "reward"

    def decided(self, play: Play) -> None:
        """A play was decided, and if it is the default, reported."""
        if self._true is not None:
            self._true.decided(play)

    def told(self, report: Mapping[str, Any]) -> None:
        """An exploration was reported."""
        if self._true is not None:
            self._true.settled(report[self._name])

    def look(self) -> tuple[int, bool]:
        """The slack after a play, and whether it is below zero."""
        slack = self._agent.books.account.available if self._true is None else self._true.slack
        return slack, slack < 0

    def forfeited(self) -> list[int]:
        """What the slack lacks of what came in; nothing of one at the true mean."""
        return [_forfeited(self._agent.books, self._true)]

    def rows(self) -> Rows:
        """What the plays to come depend on."""
        return {} if self._true is None else {"true": self._true.sums}


class SeveralAccounts(Accounts):
    """Those of an agent of several floors, and the objective that explorations brought."""

    def __init__(self, agent: Agent, guards: Guards, environment: Any) -> None:
        self._agent, self._names = agent, list(guards)  # a restored agent has other books
        self._read = agent.floor.read
        self._true = [true_slack(guard, environment) for guard in guards.values()]
        self._measures = [guard.measure for guard in guards.values()]
        self._received = [0]
        self._noted = [0, INT64_MAX, 0] * len(guards)
        """Of each floor: its slack, the least so far, and the plays with it below zero."""

    def decided(self, play: Play) -> None:
        """A play was decided, and if it is the default, reported."""
        for true in self._true:
            if true is not None:
                true.decided(play)

    def told(self, report: Mapping[str, Any]) -> None:
        """The objective of an exploration, or some of its measures, were reported."""
        if "reward" in report:
            self._received[0] += self._read(report["reward"], "reward")
        told = {None: report.get("reward"), **report.get("measures", {})}
        for true, measure in zip(self._true, self._measures, strict=True):
            if true is not None and told.get(measure) is not None:
                true.settled(told[measure])

    def look(self) -> tuple[int, bool]:
        """The objective so far; whether a slack is below zero."""
        noted, short = self._noted, False
        books: Any = self._agent.books
        for i, (name, true) in enumerate(zip(self._names, self._true, strict=True)):
            slack = books.guards[name].account.available if true is None else true.slack
            at = 3 * i
            noted[at + OF_SLACK] = slack
            noted[at + OF_LEAST] = min(noted[at + OF_LEAST], slack)
            noted[at + OF_BELOW] += slack < 0
            short |= slack < 0
        return self._received[0], short

    def write(self, floors: Ints, spot: int) -> None:
        """Write what is known of each floor to a row of a trace."""
        floors[spot] = np.reshape(self._noted, (-1, 3))

    def forfeited(self) -> list[int]:
        """Of each floor what its slack lacks of what came in."""
        books: Any = self._agent.books
        pairs = zip(self._names, self._true, strict=True)
        return [_forfeited(books.guards[name], true) for name, true in pairs]

    def rows(self) -> Rows:
        """What the plays to come depend on."""
        true = {f"true.{i}": one.sums for i, one in enumerate(self._true) if one is not None}
        return {"received": self._received, "floors": self._noted, **true}


def _forfeited(books: Any, true: TrueSlack | None) -> int:
    return 0 if true is not None else int(books.forfeited)


def forfeits(guard: Guard) -> bool:
    """Whether a floor keeps no more than so much slack."""
    return getattr(guard.floor, "max_slack", None) is not None


def accounts(agent: Agent, guards: Guards, environment: Any) -> Accounts:
    """The slacks to be noted of an agent."""
    kind = SeveralAccounts if several(agent) else OneAccount
    return kind(agent, guards, environment)


def true_slack(guard: Guard, environment: Any) -> TrueSlack | None:
    """The account at the true mean, of a floor that learns it."""
    mean = mean_of_default(guard, environment) if guard.learns else None
    return None if mean is None else TrueSlack(guard.floor, mean)


def asked_of(guard: Guard, environment: Any) -> float:
    """f of a play of the constant default, in units; of a learned one at its true mean."""
    true = true_slack(guard, environment)
    return float(guard.floor.asked) if true is None else true.asked
