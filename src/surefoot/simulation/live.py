"""The live driver: any agent, play by play, as a user would run it."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np

from surefoot._exact import INT64_MAX
from surefoot.agents._agent import Agent
from surefoot.environments import Environment
from surefoot.simulation.trace import Floats, Ints, Trace, blank


class Stopped(Exception):
    """A run was given up between two turns because its caller has stopped."""


def drive(
    agent: Agent, environment: Environment, gaps: Floats, key: int,
    stream: np.random.SeedSequence, checkpoints: Ints, stopped: Callable[[], bool],
) -> Trace:  # fmt: skip
    """One run of a copy of ``agent``: select, pull, update; the default is reported at once.

    Slow, and open to every policy; the noise is the engine's, so an agent the engine can run
    makes the same plays here. ``stream`` feeds the policy's own randomness.
    """
    agent = copy.deepcopy(agent)
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
            agent.update(play, environment.pull(key, play.turn, play.index))
            regret += gaps[play.index]
        slack = books.account.available
        least = min(least, slack)
        below += slack < 0
        if t == checkpoints[spot]:
            trace.books[spot] = t, books.default_plays, slack, least, below, spot, play.index
            trace.losses[spot] = regret
            spot += 1
    return trace
