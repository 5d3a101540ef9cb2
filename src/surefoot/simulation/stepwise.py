"""Any agent, play by play, as a user would run it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from surefoot._exact import INT64_MAX, exact, shown
from surefoot.agents import Play
from surefoot.agents.agent import Agent
from surefoot.environments import Environment
from surefoot.environments.base import bounds
from surefoot.errors import InvalidInput
from surefoot.simulation.checks import default_mean, drifts, finite, has_contexts
from surefoot.simulation.loop import DEFAULT, SUMS, Ints, Trace, blank, lose


class Stopped(Exception):
    """A run was given up between two turns because its caller has stopped."""


def drive(
    agent: Agent, environment: Environment, top: float, key: int,
    stream: np.random.SeedSequence, checkpoints: Ints, stopped: Callable[[], bool],
) -> Trace:  # fmt: skip
    """One run of a copy of ``agent``: select, pull, update; the default is reported at once.

    Slow, and open to every policy; the noise is the engine's, so an agent the engine can run
    makes the same plays here. Where an environment says when rewards arrive, those of one play
    are reported behind it in the order of their decisions, and what is not due by the horizon
    stays open. An environment with contexts tells each play's to the policies that take any.
    ``top``: mu_*, the regret is against it, unless the arms drift. ``stream`` feeds
    the policy's own randomness. Raises InvalidInput for a policy that cannot be copied and for a
    reward outside the environment's range.
    """
    agent, paid_range = _copied(agent), bounds(environment)
    agent.rng = np.random.default_rng(stream)
    truth: Any = environment
    if hasattr(environment, "in_run"):
        truth = environment.in_run(key)
    told = truth.context if has_contexts(environment) and agent.contextual else _nothing
    judge = _Judge(agent, truth, top)
    books, trace = agent.books, blank(len(checkpoints), len(judge.losses))
    least, below, spot = INT64_MAX, 0, 0
    waiting: dict[int, list[tuple[Play, int]]] = {}
    for t in range(1, int(checkpoints[-1]) + 1):
        if stopped():
            raise Stopped
        play = agent.select(told(t))
        judge.see(play, t)
        if play.is_default:
            agent.update(play)
        else:
            waiting.setdefault(_due(environment, key, t), []).append((play, t))
        for one, decided in waiting.pop(t, ()):
            agent.update(one, **_paid(agent, one, truth, key, decided, paid_range))
        slack = books.account.available
        least = min(least, slack)
        below += slack < 0
        if t == checkpoints[spot]:
            trace.books[spot] = t, books.default_plays, slack, least, below, spot, play.index
            trace.losses[spot] = judge.losses
            spot += 1
    return trace._replace(faults=agent.faults)


def _nothing(play: int) -> None:
    """What a policy without contexts is given at a play."""


def _due(environment: Any, key: int, t: int) -> int:
    """After which play the reward of play t is known."""
    if not hasattr(environment, "arrival"):
        return t
    due = environment.arrival(key, t)
    if isinstance(due, bool) or not isinstance(due, int | np.integer) or due < t:
        raise InvalidInput(
            f"arrival({key}, {t}) of the environment is {shown(due)}; it must be the number of "
            f"play {t} or of a later one"
        )
    return int(due)


def _paid(
    agent: Agent, play: Play, environment: Environment, key: int, t: int,
    paid_range: tuple[Any, Any],
) -> dict[str, Any]:  # fmt: skip
    """What the environment pays for play t, as ``update`` takes it."""
    low, high = paid_range
    moment = (t,) if drifts(environment) else ()
    action: Any = agent.actions.action(play.index, play.arm)
    if agent.actions.semi_bandit:
        parts = tuple(environment.pull(key, play.turn, arm, *moment) for arm in action)
        exact_parts = tuple(exact(part, f"the environment's pull for {action}") for part in parts)
        reward = agent.actions.super_arm_reward(exact_parts)
        report: dict[str, Any] = {"base_rewards": parts}
    else:
        reward = environment.pull(key, play.turn, action, *moment)
        report = {"reward": reward}
    if not low <= exact(reward, f"the environment's pull of arm {action}") <= high:
        raise InvalidInput(
            f"the environment paid {shown(reward)} for arm {action} at turn {play.turn}, outside "
            f"its reward_range ({low}, {high}); widen it"
        )
    return report


class _Judge:
    """The sums that the regrets of one agent are made of."""

    def __init__(self, agent: Agent, environment: Any, top: float) -> None:
        self._agent, self._environment, self._top = agent, environment, top
        self._drifts = drifts(environment)
        self._default = default_mean(agent)
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


def _copied(agent: Agent) -> Agent:
    try:
        return copy.deepcopy(agent)
    except Exception as error:  # a copy runs the user's own code
        raise InvalidInput(
            f"{type(agent.policy).__name__} cannot be copied ({error}), but every run plays its "
            "own copy; give the policy a __deepcopy__, or keep out of it what cannot be copied"
        ) from error
