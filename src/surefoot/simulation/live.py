"""The live driver: any agent, play by play, as a user would run it."""

from __future__ import annotations

import copy

import numpy as np

from surefoot.agents._agent import Agent
from surefoot.environments import Environment
from surefoot.simulation.trace import (
    ARM,
    BELOW,
    DEFAULTS,
    LEAST,
    NEXT,
    SLACK,
    Floats,
    Ints,
    T,
    Trace,
    blank,
)  # fmt: skip


def drive(
    agent: Agent, environment: Environment, gaps: Floats, key: int,
    stream: np.random.SeedSequence, checkpoints: Ints,
) -> Trace:  # fmt: skip
    """One run of a copy of ``agent``: select, pull, update; the default is reported at once.

    Slow, and open to every policy; the noise is the engine's, so an agent the engine can run
    makes the same plays here.
    """
    agent = copy.deepcopy(agent)
    agent._rng = np.random.default_rng(stream)
    trace = blank(len(checkpoints))
    account, least, below, spot, regret = agent._books.account, 2**63 - 1, 0, 0, 0.0
    for t in range(1, int(checkpoints[-1]) + 1):
        play = agent.select()
        if play.is_default:
            agent.update(play)
        else:
            agent.update(play, environment.pull(key, play.turn, play.index))
            regret += gaps[play.index]
        slack = account.available
        least = min(least, slack)
        below += slack < 0
        if t == checkpoints[spot]:
            row = trace.books[spot]
            row[T], row[DEFAULTS], row[SLACK] = t, agent._books.default_plays, slack
            row[LEAST], row[BELOW], row[NEXT], row[ARM] = least, below, spot, play.index
            trace.losses[spot] = regret
            spot += 1
    return trace
