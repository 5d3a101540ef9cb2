"""One agent in many worlds that differ in nothing but what the arms pay.

A ``Plan`` knows one environment. Where hundreds of them are only other numbers in the same record,
as the redrawn copies of a log are, one compiled loop serves all, and nothing is built for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Any, NamedTuple

import numpy as np

from surefoot.floors import Terms
from surefoot.simulation.calendar import SumCalendar
from surefoot.simulation.compiled import Engine
from surefoot.simulation.fast import chunks
from surefoot.simulation.loop import DEFAULTS, GATES, UNGUARDED, Block, Floats, Ints, T, Trace
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
        free: Sequence[Terms] = (),
    ) -> list[Played]:
        """One run under each floor, all on the same turns of the policy.

        ``key``: of the noise. The last checkpoint is the horizon. ``free``: floors that the policy
        without a guard, and without a rival, is held against: a run for each, behind the others.
        Its turns are the same until the default first wins one; only then are they walked anew.
        Raises Stopped once ``stopped`` says so, which is asked for each block.
        """
        top = float(world.means.max())

        def opened(gate: int, several: Sequence[Terms]) -> list[_Run]:
            return [
                _Run(SumCalendar(gate, terms, 0, top, checkpoints, engine), self.n_arms)
                for terms in several
            ]

        def blocks(rival: float) -> Iterator[Block]:
            own = world._replace(rival=rival)
            return self._blocks(own, int(checkpoints[-1]), key, engine, stopped)

        guarded, unguarded = opened(self.gate, floors), opened(UNGUARDED, free)
        if not _carry(blocks(world.rival), guarded, unguarded) and free:
            unguarded = opened(UNGUARDED, free)
            _carry(blocks(-inf), unguarded)
        return [Played(one.plays, one.calendar.trace()) for one in (*guarded, *unguarded)]

    def _blocks(
        self, world: World, horizon: int, key: int, engine: Engine, stopped: Callable[[], bool]
    ) -> Iterator[Block]:
        """The policy's turns, block by block and without end; the next overwrites the last."""
        driver = engine.driver(self.path.kind)
        own = key if self.path.draws else 0
        state = seeded(self.path, driver, self.n_arms, own, engine)
        truth = (engine.array(world.means.tolist()), engine.array([0.0] * self.n_arms))
        size = block_size(horizon, BLOCK)
        top = float(world.means.max())
        block = blank_block(size, chunks.blank(size, truth, top, single=True), engine)
        noise, draws = engine.word(key), engine.word(own)
        first = 1
        while True:
            if stopped():
                raise Stopped
            driver.walk(
                self.path.policy, state, world.record, noise, draws, first, self.path.scale,
                world.rival, truth, block,
            )  # fmt: skip
            engine.survey(block, False, False)
            yield block
            first += size


class _Run:
    """The calendar of one floor, and what was played of each arm so far."""

    def __init__(self, calendar: SumCalendar, n_arms: int) -> None:
        self.calendar, self.plays = calendar, np.zeros(n_arms, np.int64)

    @property
    def ended(self) -> bool:
        return bool(self.calendar.books[T] >= self.calendar.checkpoints[-1])

    def take(self, block: Block, explored: Ints) -> None:
        """Take the turns of a block; ``explored``: the arms of those that the default lost."""
        books = self.calendar.books
        self.calendar.take(block)
        regular = int(books[T] - books[DEFAULTS]) - int(self.plays.sum())
        self.plays += np.bincount(explored[:regular], minlength=len(self.plays))


def _carry(blocks: Iterator[Block], runs: list[_Run], alike: Sequence[_Run] = ()) -> bool:
    """Carry runs to the horizon, those ``alike`` too unless the default wins a turn.

    Whether it won none.
    """
    alone = True
    while any(not one.ended for one in (*runs, *alike)):
        block = next(blocks)
        explored = arms = np.asarray(block.arms)
        if arms.min() < 0:
            explored, alike, alone = arms[arms >= 0], (), False
        for one in (*runs, *alike):
            one.take(block, explored)
    return alone
