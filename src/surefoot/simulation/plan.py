"""A plan: agents, environment, horizon and seed, ready to be run one run at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from surefoot._exact import PLAYS, shown
from surefoot._types import Seed
from surefoot.agents.agent import Agent
from surefoot.agents.draws import own_key
from surefoot.agents.policy_checks import seeded
from surefoot.environments import Environment
from surefoot.errors import InvalidInput
from surefoot.kernels.noise import key_from
from surefoot.simulation.checks import (
    check_agent,
    check_environment,
    drifts,
    goes_by_play,
    has_kernels,
    positive,
    timed,
)
from surefoot.simulation.compiled import Engine
from surefoot.simulation.guards import Guards, default_mean, floors_of, in_costs
from surefoot.simulation.loop import SUMS, Ints, Scale, Trace, blank
from surefoot.simulation.stages import AloneByPlay, BasePath, SharedPath
from surefoot.simulation.stepwise import Driven
from surefoot.simulation.stops import Keeper, Part, carry_through


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
        self.agents, self.environment = dict(agents), in_costs(environment, agents.values())
        self.guards: dict[str, Guards] = {
            name: check_agent(name, agent, self.environment) for name, agent in agents.items()
        }
        """agent -> the measures of its floors."""
        self.defaults = {
            name: default_mean(f"agent {shown(name)}", agent, self.guards[name], self.environment)
            for name, agent in agents.items()
        }
        """agent -> what the default is worth to the regret; -inf without a floor."""
        self.horizon = positive(horizon, "horizon")
        if self.horizon > PLAYS:
            raise InvalidInput(
                f"horizon = {shown(horizon)} is above {PLAYS}, up to which the sums of the books "
                "are known to fit 64 bits; take a shorter one"
            )
        self.checkpoints = _checkpoints(checkpoints, self.horizon)
        self.entropy = seeded(seed).entropy
        best = float(self.environment.best)
        self.tops = {name: max(best, default) for name, default in self.defaults.items()}
        """agent -> mu_*: the best regular action, or the default where that is better (ours)."""
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
            elif not (timed(self.environment) or agent.earned is not None or agent.holdout):
                path = self._base_path(agent)
                paths.setdefault(path.key(), (path, []))[1].append(name)
            elif goes_by_play(agent, self.environment):
                self.by_play[name] = self._base_path(agent)
            else:
                self.stepwise.append(name)
        self.paths = list(paths.values())

    def several(self, name: str) -> bool:
        """Whether an agent keeps several floors."""
        return floors_of(self.agents[name]) > 0

    def default_gap(self, name: str) -> float:
        """Pseudo-regret of one default play."""
        if not self.agents[name].measured:
            return 0.0
        return self.tops[name] - self.defaults[name]

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

    def holdout_key(self, run: int) -> int:
        """The key of what is held out: that of an agent that is given this run's stream."""
        return own_key(np.random.default_rng(self._stream(run, 1)))

    def own_key(self, run: int) -> int:
        """The key of a policy's own draws: the first of the stream that it has play by play."""
        return key_from(np.random.default_rng(self._stream(run, 1)))

    def run(
        self,
        run: int,
        engine: Engine,
        stopped: Callable[[], bool] = lambda: False,
        keeper: Keeper | None = None,
    ) -> dict[str, Trace]:
        """One run of every agent; the same whichever form of the engine is given.

        ``stopped`` is asked every few thousand turns; once it says yes, Stopped is raised.
        ``keeper``: what the run goes on from, bit for bit, and who keeps its state meanwhile.
        """
        shape = len(self.checkpoints), SUMS + drifts(self.environment)
        parts = list(self._parts(run, engine))
        traces = carry_through(
            parts, lambda name: blank(*shape, floors_of(self.agents[name])), stopped, keeper
        )
        return {name: traces[name] for name in self.agents}

    def _parts(self, run: int, engine: Engine) -> Iterator[Part]:
        for path, names in self.paths:
            yield Part(names, partial(SharedPath, self, path, names, run, engine))
        for name, path in self.by_play.items():
            yield Part([name], partial(AloneByPlay, self, path, name, run, engine))
        for name in self.stepwise:
            # One stream for all: agents of one policy share its luck, as they share the noise.
            yield Part([name], partial(
                Driven, name, self.agents[name], self.environment, self.tops[name],
                self.key(run), self._stream(run, 1), self.checkpoints,
            ))  # fmt: skip


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
