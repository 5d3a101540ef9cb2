"""What an environment pays for the plays of one agent, as ``update`` takes it, and when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot._exact import exact, shown
from surefoot.agents.agent import Agent
from surefoot.environments.base import bounds
from surefoot.errors import InvalidInput
from surefoot.simulation.checks import drifts
from surefoot.simulation.guards import Guards, several

Report = dict[str, Any]
"""Arguments of ``update``."""


class Payments:
    """What one agent is told of its plays in one run.

    It is told the objective, and the measures that its floors guard, each when it is known: bit 0
    of a set of them is the objective, bit i the i-th measure. ``truth``: the environment as it is
    in the run.
    """

    def __init__(self, agent: Agent, guards: Guards, environment: Any, truth: Any, key: int):
        self._agent, self._environment, self._truth, self._key = agent, environment, truth, key
        self._several = bool(several(agent))
        self._moment = drifts(environment)
        self._names = [guard.measure for guard in guards.values() if guard.measure is not None]
        self._learned = [guard for guard in guards.values() if guard.learns]
        self._range = bounds(environment)
        self._ranges = {name: bounds(environment, name) for name in self._names}
        self.all = (1 << len(self._names) + 1) - 1
        if not self._several:
            self.all = 0b10 if self._names else 0b1
        self.at_once = not hasattr(environment, "arrival")
        """Whether all of a play is known behind it."""
        self._apart = self._several and hasattr(environment, "arrival_of")

    def due(self, t: int) -> dict[int, int]:
        """After which plays something of play t is known, and what."""
        if not self._apart:
            return {self._arrival(t): self.all}
        found = {self._arrival(t): 1}
        for bit, name in enumerate(self._names, 1):
            due = self._checked(self._environment.arrival_of(name, self._key, t), "arrival_of", t)
            found[due] = found.get(due, 0) | 1 << bit
        return found

    def _arrival(self, t: int) -> int:
        return self._checked(self._environment.arrival(self._key, t), "arrival", t)

    def _checked(self, due: Any, what: str, t: int) -> int:
        if isinstance(due, bool) or not isinstance(due, int | np.integer) or due < t:
            raise InvalidInput(
                f"{what}({self._key}, {t}) of the environment is {shown(due)}; it must be the "
                f"number of play {t} or of a later one"
            )
        return int(due)

    def paid(self, play: Any, t: int, what: int) -> Report:
        """What is known of play t; ``what``: a set. Of ``play`` turn, index and arm are used."""
        moment = (t,) if self._moment else ()
        if what == 1:
            return self._objective(play, moment)
        report = self._objective(play, moment) if what & 1 else {}
        names = [name for bit, name in enumerate(self._names, 1) if what >> bit & 1]
        if names:
            action = self._agent.actions.action(play.index, play.arm)
            measures = self._truth.pull_measures(self._key, play.turn, action, *moment)
            found = {name: self._measure(name, measures, action, play.turn) for name in names}
            report |= {"measures": found} if self._several else {"cost": found[names[0]]}
        return report

    def _objective(self, play: Any, moment: tuple[int, ...]) -> Report:
        agent, truth, key = self._agent, self._truth, self._key
        action: Any = agent.actions.action(play.index, play.arm)
        if agent.actions.semi_bandit:
            parts = tuple(truth.pull(key, play.turn, arm, *moment) for arm in action)
            what = f"the environment's pull for {action}"
            reward = agent.actions.super_arm_reward(tuple(exact(part, what) for part in parts))
            report: Report = {"base_rewards": parts}
        else:
            reward = truth.pull(key, play.turn, action, *moment)
            report = {"reward": reward}
        low, high = self._range
        if not low <= exact(reward, f"the environment's pull of arm {action}") <= high:
            raise InvalidInput(
                f"the environment paid {shown(reward)} for arm {action} at turn {play.turn}, "
                f"outside its reward_range ({low}, {high}); widen it"
            )
        return report

    def _measure(self, name: str, measures: Mapping[str, Any], action: Any, turn: int) -> Any:
        where = f"of arm {action} at turn {turn}"
        if name not in measures:
            raise InvalidInput(f"pull_measures {where} of the environment has no {name!r}")
        value = measures[name]
        low, high = self._ranges[name]
        if not low <= exact(value, f"{name} {where}") <= high:
            raise InvalidInput(
                f"{name} {where} is {shown(value)}, outside its range ({low}, {high}) in the "
                "environment; widen it"
            )
        return value

    def of_default(self, t: int) -> Report:
        """What the default paid at play t, as far as it is learned."""
        if not self._learned:
            return {}
        drawn = self._truth.pull_default(self._key, t)
        report: Report = {}
        measures = {guard.measure: drawn[guard.measure] for guard in self._learned if guard.measure}
        if any(guard.measure is None for guard in self._learned):
            report["reward"] = self._truth.weigh(drawn)
        if measures:
            report |= (
                {"measures": measures} if self._several else {"cost": next(iter(measures.values()))}
            )
        return report
