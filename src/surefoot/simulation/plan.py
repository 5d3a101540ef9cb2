"""A plan: agents, environment, horizon and seed, ready to be run one run at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.agents._agent import Agent
from surefoot.environments import Environment
from surefoot.errors import InvalidInput
from surefoot.policies import _kernels
from surefoot.policies._index import IndexPolicy
from surefoot.simulation import live
from surefoot.simulation.compiled import PLAIN, Engine
from surefoot.simulation.path import GATES
from surefoot.simulation.trace import LEAST, SLACK, Floats, Ints, T, Trace, blank

BLOCK = 8192
"""Turns of the base path held at a time; memory does not grow with the horizon."""


class Plan:
    """Who runs where, for how long, from which seed; a run depends on nothing but its number.

    Raises InvalidInput where an agent does not fit the environment.
    """

    def __init__(
        self,
        agents: Mapping[str, Agent],
        environment: Environment,
        horizon: int,
        seed: Any = None,
        checkpoints: Any = None,
    ) -> None:
        if not agents:
            raise InvalidInput("agents is empty; give at least one, e.g. {'GenCB': agent}")
        self.agents, self.environment = dict(agents), environment
        self.horizon = positive(horizon, "horizon")
        self.checkpoints = _checkpoints(checkpoints, self.horizon)
        self.entropy = np.random.SeedSequence(seed).entropy
        self.gaps = {name: self._gaps(agent) for name, agent in agents.items()}
        for name, agent in self.agents.items():
            _check(name, agent, environment)
        self.paths: dict[tuple[Any, ...], list[str]] = {}
        self.stepwise: list[str] = []
        for name, agent in self.agents.items():
            path = self._path(agent)
            if path is None:
                self.stepwise.append(name)
            else:
                self.paths.setdefault(path, []).append(name)

    def _gaps(self, agent: Agent) -> Floats:
        default = agent.floor.default
        if default is None:
            raise InvalidInput("simulate needs a floor with a constant default")
        if not getattr(agent, "measured", True):
            return self.environment.gaps(float(self.environment.means.min()))
        return self.environment.gaps(float(default))

    def _path(self, agent: Agent) -> tuple[Any, ...] | None:
        """What an agent's base path depends on; None if it must be driven play by play."""
        policy, floor = agent.policy, agent.floor
        if not isinstance(policy, IndexPolicy) or type(policy).best is not IndexPolicy.best:
            return None
        if not floor.fits_int64 or self.environment.places > floor.places:
            return None
        books = floor.open()
        units = 10 ** (floor.places - self.environment.places)
        rival = float("-inf")
        if agent.gate == "pledge" or getattr(agent, "default_competes", False):
            rival = books.unit_default(floor.terms())
        return policy.record, units, books.low, books.high - books.low, rival

    def key(self, run: int) -> int:
        """The noise key of a run, shared by all agents."""
        return int(
            np.random.SeedSequence(self.entropy, spawn_key=(run, 0)).generate_state(1, np.uint64)[0]
        )

    def run(self, run: int, engine: Engine) -> dict[str, Trace]:
        """One run of every agent; the same whichever form of the engine is given."""
        traces = {}
        for path, names in self.paths.items():
            traces.update(self._run_path(path, names, self.key(run), engine))
        for number, name in enumerate(self.agents):
            if name in self.stepwise:
                stream = np.random.SeedSequence(self.entropy, spawn_key=(run, 1, number))
                traces[name] = live.drive(
                    self.agents[name], self.environment, self.gaps[name], self.key(run),
                    stream, self.checkpoints,
                )  # fmt: skip
        return {name: traces[name] for name in self.agents}

    def _run_path(
        self, path: tuple[Any, ...], names: list[str], key: int, engine: Engine
    ) -> dict[str, Trace]:
        record, units, low, width, rival = path
        state = _kernels.init(record, self.environment.n_arms)
        noise_key: Any = key
        if engine is not PLAIN:
            state = tuple(np.array(row) for row in state)
            noise_key = np.uint64(key)
        size = min(BLOCK, self.horizon)
        arms = np.empty(size, np.int64)
        rewards, pledges = np.empty(size, np.int64), np.empty(size, np.int64)
        calendars = {name: _Calendar(self, name) for name in names}
        first = 1
        while any(calendar.books[T] < self.horizon for calendar in calendars.values()):
            engine.base_path(
                record, state, self.environment.record, noise_key, first,
                (units, low, width), rival, arms, rewards, pledges,
            )  # fmt: skip
            for calendar in calendars.values():
                engine.interleave(*calendar.arguments(arms, rewards, pledges))
            first += size
        return {name: calendar.trace for name, calendar in calendars.items()}


class _Calendar:
    """One agent's side of a run: its gate, its terms and the books so far."""

    def __init__(self, plan: Plan, name: str) -> None:
        agent = plan.agents[name]
        books = agent.floor.open()
        self.gate, self.terms = GATES[agent.gate], tuple(agent.floor.terms())
        self.gaps, self.checkpoints = plan.gaps[name], plan.checkpoints
        self.books = np.zeros(6, np.int64)
        self.books[SLACK] = books.account.reserve
        self.books[LEAST] = np.iinfo(np.int64).max
        self.loss = np.zeros(1)
        self.trace = blank(len(plan.checkpoints))

    def arguments(self, arms: Ints, rewards: Ints, pledges: Ints) -> tuple[Any, ...]:
        return (
            self.gate, self.terms, arms, rewards, pledges, self.gaps, self.books, self.loss,
            self.checkpoints, self.trace.books, self.trace.losses,
        )  # fmt: skip


def positive(number: Any, what: str) -> int:
    """A whole number of at least one."""
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
        raise InvalidInput(f"{what} = {number!r} must be an int >= 1")
    return int(number)


def _checkpoints(wanted: Any, horizon: int) -> Ints:
    """The plays after which the books are noted; the horizon is always the last."""
    if isinstance(wanted, str) and wanted == "all":
        return np.arange(1, horizon + 1, dtype=np.int64)
    if wanted is None:
        even = np.linspace(1, horizon, 241)
        early = np.geomspace(1, horizon, 120)  # the exploring phase is where it matters
        points = np.unique(np.rint(np.concatenate([even, early])).astype(np.int64))
    elif isinstance(wanted, Sequence | np.ndarray) and not isinstance(wanted, str):
        points = np.unique(np.asarray(wanted, dtype=np.int64))
    else:
        raise InvalidInput(f"checkpoints = {wanted!r} must be None, 'all' or a list of plays")
    if not len(points) or points[0] < 1 or points[-1] > horizon:
        raise InvalidInput(f"checkpoints = {wanted!r} must lie in 1..{horizon}")
    return np.union1d(points, [horizon]).astype(np.int64)


def _check(name: str, agent: Any, environment: Environment) -> None:
    if not isinstance(agent, Agent):
        raise InvalidInput(
            f"agents[{name!r}] = {agent!r} is no agent; wrap a policy: Plain(policy) or "
            "GenCB(policy, floor)"
        )
    if len(agent.arms) != environment.n_arms:
        raise InvalidInput(
            f"agent {name!r} has {len(agent.arms)} arms, the environment {environment.n_arms}"
        )
    if agent.account.plays or agent.turns or agent.paused:
        raise InvalidInput(
            f"agent {name!r} has already played or is paused; simulate starts from fresh agents"
        )
    low, high = agent.floor.reward_range
    if not (low <= environment.reward_range[0] and environment.reward_range[1] <= high):
        raise InvalidInput(
            f"the environment pays {environment.reward_range}, outside the reward_range "
            f"({low}, {high}) of agent {name!r}; widen it"
        )
