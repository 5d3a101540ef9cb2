"""One agent in many worlds that differ in nothing but what the arms pay.

A ``Plan`` knows one environment. Where hundreds of them are only other numbers in the same record,
as the redrawn copies of a log are, one compiled loop serves all, and nothing is built for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from surefoot._exact import INT64_MAX
from surefoot.floors import Terms
from surefoot.kernels import registry
from surefoot.simulation.compiled import Engine
from surefoot.simulation.fast import chunks
from surefoot.simulation.loop import DEFAULTS, GATES, SUMS, Floats, Ints, T, Trace, blank
from surefoot.simulation.plan import Plan
from surefoot.simulation.stages import BasePath, blank_block
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


class Seat:
    """An agent's place at any world of a plan's kind.

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
        rows = driver.init(self.path.policy, self.n_arms)
        registry.KERNELS[self.path.kind].seed(self.path.policy, rows, own)
        state = tuple(engine.array(row) for row in rows)
        truth = (engine.array(world.means.tolist()), engine.array([0.0] * self.n_arms))
        size = -(-horizon // -(-horizon // BLOCK))
        top = float(world.means.max())
        block = blank_block(size, chunks.blank(size, truth, top, single=True), engine)
        books = [_Books(terms, checkpoints, self.n_arms, engine) for terms in floors]
        noise, draws = engine.word(key), engine.word(own)
        first = 1
        while any(one.books[T] < horizon for one in books):
            if stopped():
                raise Stopped
            driver.walk(
                self.path.policy, state, world.record, noise, draws, first, self.path.scale,
                world.rival, truth, block,
            )  # fmt: skip
            engine.survey(block, False, False)
            arms = np.asarray(block.arms)
            explored = arms[arms >= 0]
            for one in books:
                one.take(self.gate, top, block, explored, engine)
            first += size
        return [Played(one.plays, one.trace) for one in books]


class _Books:
    """The books of one floor along the turns of a policy."""

    def __init__(self, terms: Terms, checkpoints: Ints, n_arms: int, engine: Engine) -> None:
        self.terms = (terms.value, terms.floor, terms.hold, terms.deposit)
        self.books = engine.array([0, 0, 0, INT64_MAX, 0, 0])
        self.losses = engine.array([0.0] * SUMS)
        self.checkpoints = checkpoints
        self.trace = blank(len(checkpoints))
        self.plays = np.zeros(n_arms, np.int64)

    def take(self, gate: int, top: float, block: Any, explored: Ints, engine: Engine) -> None:
        """Take the turns of one block, and count the arms of those that were played."""
        engine.interleave(
            gate, self.terms, block, top, self.books, self.losses, self.checkpoints, self.trace
        )
        regular = int(self.books[T] - self.books[DEFAULTS]) - int(self.plays.sum())
        self.plays += np.bincount(explored[:regular], minlength=len(self.plays))
