"""The live driver: any agent, play by play, as a user would run it."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np

from surefoot._exact import INT64_MAX, exact, shown
from surefoot.agents._agent import Agent
from surefoot.environments import Environment
from surefoot.environments.base import bounds
from surefoot.errors import InvalidInput
from surefoot.simulation.trace import Floats, Ints, Trace, blank


class Stopped(Exception):
    """A run was given up between two turns because its caller has stopped."""


def drive(
    agent: Agent, environment: Environment, gaps: Floats, key: int,
    stream: np.random.SeedSequence, checkpoints: Ints, stopped: Callable[[], bool],
) -> Trace:  # fmt: skip
    """One run of a copy of ``agent``: select, pull, update; the default is reported at once.

    Slow, and open to every policy; the noise is the engine's, so an agent the engine can run
    makes the same plays here. ``stream`` feeds the policy's own randomness. Raises InvalidInput
    for a policy that cannot be copied and for a reward outside the environment's range.
    """
    agent = _copied(agent)
    low, high = bounds(environment)
    agent._rng = np.random.default_rng(stream)
    books, trace = agent._books, blank(len(checkpoints))
    least, below, spot, regret = INT64_MAX, 0, 0, 0.0
    for t in range(1, int(checkpoints[-1]) + 1):
        if stopped():
            raise Stopped
        play = agent.select()
        if play.is_default:
            agent.update(play)
        else:
            reward = environment.pull(key, play.turn, play.index)
            if not low <= exact(reward, f"the environment's pull of arm {play.index}") <= high:
                raise InvalidInput(
                    f"the environment paid {shown(reward)} for arm {play.index} at turn "
                    f"{play.turn}, outside its reward_range ({low}, {high}); widen it"
                )
            agent.update(play, reward)
            regret += gaps[play.index]
        slack = books.account.available
        least = min(least, slack)
        below += slack < 0
        if t == checkpoints[spot]:
            trace.books[spot] = t, books.default_plays, slack, least, below, spot, play.index
            trace.losses[spot] = regret
            spot += 1
    return trace


def _copied(agent: Agent) -> Agent:
    try:
        return copy.deepcopy(agent)
    except Exception as error:  # a copy runs the user's own code
        raise InvalidInput(
            f"{type(agent.policy).__name__} cannot be copied ({error}), but every run plays its "
            "own copy; give the policy a __deepcopy__, or keep out of it what cannot be copied"
        ) from error
