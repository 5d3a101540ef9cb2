"""The stages of a run that the engine's loops drive: a shared base path, or one agent by play."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from surefoot._exact import INT64_MAX
from surefoot.agents.funding import empty_tally
from surefoot.environments._timing import AT_ONCE
from surefoot.errors import InvalidInput
from surefoot.kernels import registry
from surefoot.kernels.warm import uncompilable
from surefoot.simulation import stops, waiting
from surefoot.simulation.calendar import Calendar, calendar
from surefoot.simulation.checks import drifts
from surefoot.simulation.compiled import Driver, Engine
from surefoot.simulation.fast import chunks
from surefoot.simulation.loop import GATES, SUMS, Block, Scale, T, Trace, blank
from surefoot.simulation.several import SeveralCalendar
from surefoot.simulation.stops import Rows, State, under

if TYPE_CHECKING:
    from surefoot.simulation.plan import Plan

BLOCK = 32_768
"""Turns of the base path held at a time, so that memory does not grow with the horizon."""


class BasePath(NamedTuple):
    """The policy's turns, by all that they depend on: agents that agree in it share them."""

    policy: Any
    kind: type
    """The class of ``policy``: records of two classes may be equal as tuples."""
    scale: Scale
    rival: float
    draws: bool
    """Whether it draws at random; kernels of one that does not say so are given the key 0, as in
    its own turns."""

    def key(self) -> tuple[Any, ...]:
        """What can be compared and hashed; arrays by their bytes."""
        fields = (x.tobytes() if isinstance(x, np.ndarray) else x for x in self.policy)
        return (*fields, *self[1:])


class _Compiled:
    """What both stages are made of: the policy's state, the keys of a run, and the truth.

    A subclass says in ``_rows`` what it reads and writes besides.
    """

    def __init__(
        self, plan: Plan, path: BasePath, run: int, engine: Engine, driver: Driver
    ) -> None:
        self._path, self._engine, self._environment = path, engine, plan.environment
        self._horizon = plan.horizon
        own = plan.own_key(run) if path.draws else 0
        self._policy = seeded(path, driver, plan.environment.n_arms, own, engine)
        self._key, self._own = engine.word(plan.key(run)), engine.word(own)
        means, variances = plan.environment.means, plan.environment.variances
        self._truth = engine.array(means.tolist()), engine.array(variances.tolist())

    def _rows(self) -> Rows:
        raise NotImplementedError

    def _all_rows(self) -> Rows:
        return {f"policy.{i}": row for i, row in enumerate(self._policy)} | self._rows()

    def state(self) -> State:
        """A copy of all that the next blocks depend on."""
        return stops.copied(self._all_rows())

    def restore(self, state: State) -> None:
        """The inverse of ``state``."""
        stops.fill(self._all_rows(), state)


class SharedPath(_Compiled):
    """A base path, and the calendars of the agents that share it."""

    def __init__(
        self, plan: Plan, path: BasePath, names: Sequence[str], run: int, engine: Engine
    ) -> None:
        self._driver = engine.driver(path.kind)
        super().__init__(plan, path, run, engine, self._driver)
        size = block_size(self._horizon, BLOCK)
        best = float(plan.environment.best)
        single = registry.KERNELS[path.kind].member is registry.itself
        self._block = blank_block(size, chunks.blank(size, self._truth, best, single), engine)
        agents = {name: plan.agents[name] for name in names}
        self._calendars: dict[str, Calendar] = {
            name: SeveralCalendar(plan, name, run, engine, self._truth, size)
            if plan.several(name)
            else calendar(agent, plan.tops[name], plan.checkpoints, engine)
            for name, agent in agents.items()
        }
        self._moments = any(agent.floor.rho is not None for agent in agents.values())
        self._pledged = any(agent.gate == "pledge" for agent in agents.values())
        self._turns = np.array([0, size])
        """How many the policy has taken, and how many it takes at a time."""

    @property
    def ended(self) -> bool:
        """Whether every agent has reached the horizon."""
        return all(one.books[T] >= self._horizon for one in self._calendars.values())

    def step(self) -> None:
        """Take the next block of turns."""
        path, block = self._path, self._block
        with _naming(path.kind):
            self._driver.walk(
                path.policy, self._policy, self._environment.record, self._key, self._own,
                int(self._turns[0]) + 1, path.scale, path.rival, self._truth, block,
            )  # fmt: skip
        self._engine.survey(block, self._pledged, self._moments)
        for one in self._calendars.values():
            one.take(block)
        self._turns[0] += self._turns[1]

    def _rows(self) -> Rows:
        # ``survey`` goes on from the sums behind the last chunk of the block before.
        rows = {"turns": self._turns, "before": self._block.chunks.before[-1]}
        for i, one in enumerate(self._calendars.values()):
            rows |= under(f"calendar.{i}.", one.rows())
        return rows

    def traces(self) -> dict[str, Trace]:
        """What was noted, by agent."""
        return {name: one.trace() for name, one in self._calendars.items()}


class AloneByPlay(_Compiled):
    """An agent whose turns depend on the time or its slack."""

    def __init__(self, plan: Plan, path: BasePath, name: str, run: int, engine: Engine) -> None:
        super().__init__(plan, path, run, engine, Driver(registry.init, engine.go))
        agent, environment, array = plan.agents[name], plan.environment, engine.array
        terms, timing = agent.floor.terms(), getattr(environment, "timing", AT_ONCE)
        self._name, self._checkpoints = name, plan.checkpoints
        self._seat = waiting.Seat(
            GATES[agent.gate], int(agent.earned is not None),
            int(agent.counts_open),
            (terms.value, terms.floor, terms.hold, terms.deposit), path.scale, path.rival,
            plan.defaults[name], agent.holdout, engine.word(plan.holdout_key(run)),
        )  # fmt: skip
        self._world = waiting.World(timing, *self._truth, float(environment.best))
        ring = min(timing.high, self._horizon) + 1
        self._out = waiting.queue(ring, int(registry.width(path.policy)), array)
        self._tally = tuple(map(array, empty_tally(environment.n_arms)))
        self._books = array([0, 0, agent.floor.open().account.reserve, INT64_MAX, 0, 0, 0])
        self._losses = array([0.0] * (SUMS + drifts(environment)))
        self._trace = blank(len(plan.checkpoints), len(self._losses))

    @property
    def ended(self) -> bool:
        """Whether the horizon is reached."""
        return bool(self._books[T] >= self._horizon)

    def step(self) -> None:
        """Make the next plays."""
        path = self._path
        with _naming(path.kind):
            self._engine.go(
                self._seat, self._world, path.policy, self._policy, self._environment.record,
                self._key, self._own, self._out, self._tally, self._books, self._losses,
                self._checkpoints, self._trace, int(self._books[T]) + BLOCK,
            )  # fmt: skip

    def _rows(self) -> Rows:
        tally = {str(i): row for i, row in enumerate(self._tally)}
        return {
            "books": self._books,
            "losses": self._losses,
            **under("out.", self._out._asdict()),
            **under("tally.", tally),
            **stops.trace_rows(self._trace),
        }

    def traces(self) -> dict[str, Trace]:
        """What was noted."""
        return {self._name: self._trace}


@contextmanager
def _naming(kind: type) -> Iterator[None]:
    """Say whose kernels numba refuses."""
    try:
        yield
    except Exception as error:  # numba may be missing, and has an error for each stage
        if not type(error).__module__.startswith("numba."):
            raise
        name = f"{kind.__module__}.{kind.__qualname__}"
        raise InvalidInput(
            f'{uncompilable(name)}; mend them, or simulate with engine="plain"'
        ) from error


def seeded(path: BasePath, driver: Driver, n_arms: int, own: int, engine: Engine) -> Any:
    """The state of a base path's policy before its first turn; ``own``: the key of its draws."""
    rows = driver.init(path.policy, n_arms)
    registry.KERNELS[path.kind].seed(path.policy, rows, own)
    return tuple(map(engine.array, rows))


def block_size(horizon: int, most: int) -> int:
    """Turns of a block, at most so many, where equal blocks walk few turns beyond the horizon.

    >>> block_size(100, 30), block_size(10, 30)
    (25, 10)
    """
    return -(-horizon // -(-horizon // most))


def blank_block(turns: int, sums: chunks.Chunks, engine: Engine) -> Block:
    """A block before any turn."""
    arms, rewards, pledges = (engine.zeros(turns, int) for _ in range(3))
    means, variances = (engine.zeros(turns, float) for _ in range(2))
    return Block(arms, rewards, pledges, means, variances, sums)
