"""A plan: agents, environment, horizon and seed, ready to be run one run at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from surefoot._exact import INT64_MAX, PLAYS, shown
from surefoot._types import Seed
from surefoot.agents.agent import Agent
from surefoot.agents.funding import empty_tally
from surefoot.agents.policy_checks import seeded
from surefoot.environments import Environment
from surefoot.environments._timing import AT_ONCE
from surefoot.errors import InvalidInput
from surefoot.kernels import registry
from surefoot.kernels.noise import key_from
from surefoot.kernels.warm import uncompilable
from surefoot.simulation import stepwise, waiting
from surefoot.simulation.calendar import calendar
from surefoot.simulation.checks import (
    check_agent,
    check_environment,
    default_mean,
    drifts,
    goes_by_play,
    has_kernels,
    positive,
    timed,
)
from surefoot.simulation.compiled import Engine
from surefoot.simulation.fast import chunks
from surefoot.simulation.loop import GATES, SUMS, Block, Ints, Scale, T, Trace, blank

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


class Plan:
    """Who runs where, for how long, from which seed; a run depends on nothing but its number.

    ``horizon``: at most 10**9, for which the books' sums are known to fit an int64. Raises
    InvalidInput where an agent does not fit the environment.
    """

    def __init__(
        self,
        agents: Mapping[str, Agent],
        environment: Environment,
        horizon: int,
        seed: Seed = None,
        checkpoints: Any = None,
    ) -> None:
        if not isinstance(agents, Mapping) or not agents:
            raise InvalidInput(
                f"agents = {shown(agents)} must be a non-empty dict: {{'GenCB': agent}}"
            )
        check_environment(environment)
        for name, agent in agents.items():
            check_agent(name, agent, environment)
        self.agents, self.environment = dict(agents), environment
        self.horizon = positive(horizon, "horizon")
        if self.horizon > PLAYS:
            raise InvalidInput(
                f"horizon = {shown(horizon)} is above {PLAYS}, up to which the sums of the books "
                "are known to fit 64 bits; take a shorter one"
            )
        self.checkpoints = _checkpoints(checkpoints, self.horizon)
        self.entropy = seeded(seed).entropy
        self.tops = {name: self._top(agent) for name, agent in self.agents.items()}
        self.paths: list[tuple[BasePath, list[str]]] = []
        self.by_play: dict[str, BasePath] = {}
        """Who shares no path: its turns depend on the time or its slack, in the engine's loops."""
        self.stepwise: list[str] = []
        self._share()

    def _share(self) -> None:
        """Find who shares a base path, and who is driven play by play."""
        paths: dict[tuple[Any, ...], tuple[BasePath, list[str]]] = {}
        for name, agent in self.agents.items():
            if not has_kernels(agent, self.environment):
                self.stepwise.append(name)
            elif not timed(self.environment) and agent.earned is None:
                path = self._base_path(agent)
                paths.setdefault(path.key(), (path, []))[1].append(name)
            elif goes_by_play(agent, self.environment):
                self.by_play[name] = self._base_path(agent)
            else:
                self.stepwise.append(name)
        self.paths = list(paths.values())

    def _top(self, agent: Agent) -> float:
        """mu_*: the best regular action, or the default where that is better (ours)."""
        return max(float(self.environment.best), default_mean(agent))

    def default_gap(self, name: str) -> float:
        """Pseudo-regret of one default play."""
        if not self.agents[name].measured:
            return 0.0
        return self.tops[name] - float(self.agents[name].floor.default)

    def _base_path(self, agent: Agent) -> BasePath:
        books, terms = agent.floor.open(), agent.floor.terms()
        finer = agent.floor.places - self.environment.places
        one = 10**agent.floor.places
        seen = (books.low, books.high - books.low) if agent.unit_rewards else (0, one)
        scale = Scale(10 ** max(finer, 0), 10 ** max(-finer, 0), *seen)
        rival = agent.default_score(terms) if agent.default_competes else float("-inf")
        record = agent.policy.record  # type: ignore[attr-defined]  # an IndexPolicy
        draws = bool(getattr(agent.policy, "draws", False))
        return BasePath(record, type(record), scale, rival, draws)

    def _stream(self, run: int, number: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.entropy, spawn_key=(run, number))

    def key(self, run: int) -> int:
        """The noise key of a run, shared by all agents."""
        return int(self._stream(run, 0).generate_state(1, np.uint64)[0])

    def own_key(self, run: int) -> int:
        """The key of a policy's own draws: the first of the stream that it has play by play."""
        return key_from(np.random.default_rng(self._stream(run, 1)))

    def run(
        self, run: int, engine: Engine, stopped: Callable[[], bool] = lambda: False
    ) -> dict[str, Trace]:
        """One run of every agent; the same whichever form of the engine is given.

        ``stopped`` is asked every few thousand turns; once it says yes, Stopped is raised.
        """
        traces: dict[str, Trace] = {}
        for path, names in self.paths:
            traces.update(self._run_path(path, names, run, engine, stopped))
        for name, path in self.by_play.items():
            traces[name] = self._run_by_play(path, name, run, engine, stopped)
        for name in self.stepwise:
            # One stream for all: agents of one policy share its luck, as they share the noise.
            traces[name] = stepwise.drive(
                self.agents[name], self.environment, self.tops[name], self.key(run),
                self._stream(run, 1), self.checkpoints, stopped,
            )  # fmt: skip
        return {name: traces[name] for name in self.agents}

    def _run_path(
        self,
        path: BasePath,
        names: list[str],
        run: int,
        engine: Engine,
        stopped: Callable[[], bool],
    ) -> dict[str, Trace]:
        environment = self.environment
        driver = engine.driver(path.kind)
        key, own, state = self._start(path, run, engine, driver.init)
        truth = self._truth(engine)
        # Equal blocks: the last one then walks only a few turns beyond the horizon.
        size = -(-self.horizon // -(-self.horizon // BLOCK))
        best = float(environment.best)
        single = registry.KERNELS[path.kind].member is registry.itself
        block = blank_block(size, chunks.blank(size, truth, best, single), engine)
        calendars = {
            name: calendar(self.agents[name], self.tops[name], self.checkpoints, engine)
            for name in names
        }
        moments = any(self.agents[name].floor.rho is not None for name in names)
        pledged = any(self.agents[name].gate == "pledge" for name in names)
        first = 1
        while any(one.books[T] < self.horizon for one in calendars.values()):
            if stopped():
                raise stepwise.Stopped
            with _naming(path.kind):
                driver.walk(
                    path.policy, state, environment.record, key, own, first, path.scale, path.rival,
                    truth, block,
                )  # fmt: skip
            engine.survey(block, pledged, moments)
            for one in calendars.values():
                one.take(block)
            first += size
        return {name: one.trace() for name, one in calendars.items()}

    def _start(
        self, path: BasePath, run: int, engine: Engine, init: Callable[..., Any]
    ) -> tuple[Any, Any, tuple[Any, ...]]:
        """The key of the noise, that of the policy's own draws, and the policy's first state."""
        own = self.own_key(run) if path.draws else 0
        rows = init(path.policy, self.environment.n_arms)
        registry.KERNELS[path.kind].seed(path.policy, rows, own)
        state = tuple(engine.array(row) for row in rows)
        return engine.word(self.key(run)), engine.word(own), state

    def _truth(self, engine: Engine) -> tuple[Any, Any]:
        """The true means and variances of the (base) arms."""
        means, variances = self.environment.means, self.environment.variances
        return engine.array(means.tolist()), engine.array(variances.tolist())

    def _run_by_play(
        self, path: BasePath, name: str, run: int, engine: Engine, stopped: Callable[[], bool]
    ) -> Trace:
        """One run of an agent whose turns depend on the time or its slack."""
        agent, environment = self.agents[name], self.environment
        terms, timing = agent.floor.terms(), getattr(environment, "timing", AT_ONCE)
        seat = waiting.Seat(
            GATES[agent.gate], int(agent.earned is not None),
            int(agent.counts_open),
            (terms.value, terms.floor, terms.hold, terms.deposit), path.scale, path.rival,
            default_mean(agent),
        )  # fmt: skip
        world = waiting.World(timing, *self._truth(engine), float(environment.best))
        key, own, state = self._start(path, run, engine, registry.init)
        ring = min(timing.high, self.horizon) + 1
        out = waiting.queue(ring, int(registry.width(path.policy)), engine.array)
        tally = tuple(map(engine.array, empty_tally(environment.n_arms)))
        books = engine.array([0, 0, agent.floor.open().account.reserve, INT64_MAX, 0, 0, 0])
        losses = engine.array([0.0] * (SUMS + drifts(environment)))
        trace = blank(len(self.checkpoints), len(losses))
        while books[T] < self.horizon:
            if stopped():
                raise stepwise.Stopped
            with _naming(path.kind):
                engine.go(
                    seat, world, path.policy, state, environment.record, key, own, out, tally,
                    books, losses, self.checkpoints, trace, int(books[T]) + BLOCK,
                )  # fmt: skip
        return trace


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


def blank_block(turns: int, sums: chunks.Chunks, engine: Engine) -> Block:
    """A block before any turn."""
    arms, rewards, pledges = (engine.zeros(turns, int) for _ in range(3))
    means, variances = (engine.zeros(turns, float) for _ in range(2))
    return Block(arms, rewards, pledges, means, variances, sums)


def grid(horizon: int, first: int = 0) -> Ints:
    """Checkpoints dense early, where the exploring is: each of the first plays, then thinning.

    >>> grid(10_000, first=200)[[0, 199, 200, 201, -1]].tolist()
    [1, 200, 209, 225, 10000]
    """
    each = np.arange(1, min(first, horizon) + 1)
    even = np.linspace(1, horizon, 241)
    early = np.geomspace(1, horizon, 120)
    return np.unique(np.rint(np.concatenate([each, even, early])).astype(np.int64))


def _checkpoints(wanted: Any, horizon: int) -> Ints:
    """The plays after which the books are noted; the horizon is always the last."""
    if isinstance(wanted, str) and wanted == "all":
        return np.arange(1, horizon + 1, dtype=np.int64)
    if wanted is None:
        return grid(horizon)
    listed = isinstance(wanted, Sequence | np.ndarray) and not isinstance(wanted, str | bytes)
    if not listed or getattr(wanted, "ndim", 1) != 1:
        raise InvalidInput(f"checkpoints = {shown(wanted)} must be None, 'all' or a list of plays")
    points = {positive(point, "checkpoints: a play") for point in wanted}
    if points and max(points) > horizon:
        raise InvalidInput(f"checkpoints: play {shown(max(points))} is after the horizon {horizon}")
    return np.array(sorted(points | {horizon}), dtype=np.int64)
