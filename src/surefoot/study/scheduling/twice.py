"""Whether a user's own code plays a run alike each time, tried before a study rests on it."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.simulation.runner import choose
from surefoot.study.panel import Panel
from surefoot.study.runs import Traces, joint_plan, shortened

PLAYS = (100, 1000)
"""The first plays of a run are played twice: few, then more where that was quick."""
QUICK = 0.5
"""Seconds that may have passed before more are tried."""


def play_twice(panels: Sequence[Panel]) -> None:
    """Raise InvalidInput, naming an agent, where the first plays of run 0 come out two ways.

    Holds when: the difference shows in one process in at most 1,000 plays. Does not hold when: it
    shows later, or on another machine only.
    """
    began = perf_counter()
    for plays in PLAYS:
        short = shortened(panels, plays)
        first, again = (joint_plan(short).run(0, choose("compiled")) for _ in range(2))
        _alike(first, again)
        if plays >= panels[0].horizon or perf_counter() - began > QUICK:
            return


def _alike(first: Traces, again: Traces) -> None:
    for name, trace in first.items():
        same = (trace.books == again[name].books).all(axis=1)
        if not same.all():
            play = trace.books[int(np.argmin(same)), 0]
            raise InvalidInput(
                f"{name} came out another way when the same plays were made again, by play {play}: "
                "the rng that select is given must be all that a policy draws from; it and the "
                "environment may read no clock, and keep nothing outside themselves"
            )
