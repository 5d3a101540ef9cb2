"""One agent in many worlds that differ in nothing but what the arms pay.

A ``Plan`` knows one environment. Where hundreds of them are only other numbers in the same record,
as the redrawn copies of a log are, one compiled loop serves all, and nothing is built for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from surefoot.floors import Terms
from surefoot.simulation.calendar import SumCalendar
from surefoot.simulation.compiled import Engine
from surefoot.simulation.fast import chunks
from surefoot.simulation.loop import DEFAULTS, GATES, Floats, Ints, T, Trace
from surefoot.simulation.plan import Plan
from surefoot.simulation.stages import BasePath, blank_block, block_size, seeded
from surefoot.simulation.stops import Stopped

BLOCK = 8_192
"""Turns held at a time: a worker's blocks stay in its cache, and few turns are walked in vain."""


class World(NamedTuple):
    """What a run is played against."""

    record: Any
    """Of the environment: of the class, and with as many arms, as the plan's."""
    means: Floats
    """The true mean of each arm."""
    rival: float
    """The default's value on the scale of the policy's scores; -inf where it does not compete."""


class Played(NamedTuple):
    """One run of one floor."""

    plays: Ints
    """Of each arm; the rest of the horizon were default plays."""
    trace: Trace


class WorldRunner:
    """Runs one agent in any world of a plan's kind.

    ``plan``: its environment says how many arms there are and of what unit a reward is. ``name``:
    the agent, whose turns depend on its policy and the world alone.
    """

    def __init__(self, plan: Plan, name: str) -> None:
        self.path: BasePath = next(path for path, names in plan.paths if name in names)
        self.agent = plan.agents[name]
        self.n_arms = plan.environment.n_arms
        self.gate = GATES[self.agent.gate]

    def run(
        self,
        world: World,
        floors: Sequence[Terms],
        checkpoints: Ints,
        key: int,
        engine: Engine,
        stopped: Callable[[], bool] = lambda: False,
    ) -> list[Played]:
        """One run under each floor, all on the same turns of the policy.

        ``key``: of the noise. The last checkpoint is the horizon. Raises Stopped once
        ``stopped`` says so, which is asked for each block.
        """
        driver, horizon = engine.driver(self.path.kind), int(checkpoints[-1])
        own = key if self.path.draws else 0
        state = seeded(self.path, driver, self.n_arms, own, engine)
        truth = (engine.array(world.means.tolist()), engine.array([0.0] * self.n_arms))
        size = block_size(horizon, BLOCK)
        top = float(world.means.max())
        block = blank_block(size, chunks.blank(size, truth, top, single=True), engine)
        calendars = [SumCalendar(self.gate, terms, 0, top, checkpoints, engine) for terms in floors]
        plays = [np.zeros(self.n_arms, np.int64) for _ in floors]
        noise, draws = engine.word(key), engine.word(own)
        first = 1
        while any(one.books[T] < horizon for one in calendars):
            if stopped():
                raise Stopped
            driver.walk(
                self.path.policy, state, world.record, noise, draws, first, self.path.scale,
                world.rival, truth, block,
            )  # fmt: skip
            engine.survey(block, False, False)
            arms = np.asarray(block.arms)
            explored = arms[arms >= 0]
            for one, counts in zip(calendars, plays, strict=True):
                one.take(block)
                regular = int(one.books[T] - one.books[DEFAULTS]) - int(counts.sum())
                counts += np.bincount(explored[:regular], minlength=self.n_arms)
            first += size
        return [Played(counts, one.trace()) for one, counts in zip(calendars, plays, strict=True)]
