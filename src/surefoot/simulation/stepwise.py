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
from surefoot.simulation.checks import finite
from surefoot.simulation.loop import SUMS, Ints, Trace, blank, lose


class Stopped(Exception):
    """A run was given up between two turns because its caller has stopped."""


def drive(
    agent: Agent, environment: Environment, top: float, key: int,
    stream: np.random.SeedSequence, checkpoints: Ints, stopped: Callable[[], bool],
) -> Trace:  # fmt: skip
    """One run of a copy of ``agent``: select, pull, update; the default is reported at once.

    Slow, and open to every policy; the noise is the engine's, so an agent the engine can run
    makes the same plays here. ``top``: mu_*, the regret is against it. ``stream`` feeds the
    policy's own randomness. Raises InvalidInput for a policy that cannot be copied and for a
    reward outside the environment's range.
    """
    agent, paid_range = _copied(agent), bounds(environment)
    agent.rng = np.random.default_rng(stream)
    books, trace = agent.books, blank(len(checkpoints))
    least, below, spot, losses = INT64_MAX, 0, 0, [0.0] * SUMS
    for t in range(1, int(checkpoints[-1]) + 1):
        if stopped():
            raise Stopped
        play = agent.select()
        if play.is_default:
            agent.update(play)
        else:
            agent.update(play, **_paid(agent, play, environment, key, paid_range))
            _lose(losses, top, environment, agent.actions.action(play.index, play.arm))
        slack = books.account.available
        least = min(least, slack)
        below += slack < 0
        if t == checkpoints[spot]:
            trace.books[spot] = t, books.default_plays, slack, least, below, spot, play.index
            trace.losses[spot] = losses
            spot += 1
    return trace


def _paid(
    agent: Agent, play: Play, environment: Environment, key: int, paid_range: tuple[Any, Any]
) -> dict[str, Any]:
    """What the environment pays for a play, as ``update`` takes it."""
    low, high = paid_range
    action: Any = agent.actions.action(play.index, play.arm)
    if agent.actions.semi_bandit:
        parts = tuple(environment.pull(key, play.turn, arm) for arm in action)
        exact_parts = tuple(exact(part, f"the environment's pull for {action}") for part in parts)
        reward = agent.actions.super_arm_reward(exact_parts)
        report: dict[str, Any] = {"base_rewards": parts}
    else:
        reward = environment.pull(key, play.turn, action)
        report = {"reward": reward}
    if not low <= exact(reward, f"the environment's pull of arm {action}") <= high:
        raise InvalidInput(
            f"the environment paid {shown(reward)} for arm {action} at turn {play.turn}, outside "
            f"its reward_range ({low}, {high}); widen it"
        )
    return report


def _lose(losses: list[float], top: float, environment: Environment, action: Any) -> None:
    """Add one regular play to the sums that the regrets are made of."""
    mean = finite(environment.value(action), f"value({action}) of the environment")
    arms = action if isinstance(action, tuple) else (action,)
    lose(losses, top, mean, float(sum(environment.variances[arm] for arm in arms)))


def _copied(agent: Agent) -> Agent:
    try:
        return copy.deepcopy(agent)
    except Exception as error:  # a copy runs the user's own code
        raise InvalidInput(
            f"{type(agent.policy).__name__} cannot be copied ({error}), but every run plays its "
            "own copy; give the policy a __deepcopy__, or keep out of it what cannot be copied"
        ) from error
