"""A plan: agents, environment, horizon and seed, ready to be run one run at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from surefoot._exact import INT64_MAX, PLAYS, shown
from surefoot.agents._agent import Agent, seeded
from surefoot.environments import Environment
from surefoot.environments._kernels import draws_for
from surefoot.environments.base import bounds
from surefoot.errors import InvalidInput
from surefoot.floors import MeanVarianceFloor, RewardFloor
from surefoot.policies import _kernels
from surefoot.policies._index import IndexPolicy
from surefoot.simulation import live
from surefoot.simulation.compiled import Engine
from surefoot.simulation.path import GATES, Block, Scale
from surefoot.simulation.trace import Floats, Ints, T, Trace, blank

BLOCK = 8192
"""Turns of the base path held at a time; memory does not grow with the horizon."""


class Walk(NamedTuple):
    """What a base path depends on: agents that agree in it share one."""

    policy: Any
    kind: type
    """The class of ``policy``: records of two classes may be equal as tuples."""
    scale: Scale
    rival: float


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
        seed: Any = None,
        checkpoints: Any = None,
    ) -> None:
        if not isinstance(agents, Mapping) or not agents:
            raise InvalidInput(
                f"agents = {shown(agents)} must be a non-empty dict: {{'GenCB': agent}}"
            )
        _check_environment(environment)
        for name, agent in agents.items():
            _check_agent(name, agent, environment)
        self.agents, self.environment = dict(agents), environment
        self.horizon = positive(horizon, "horizon")
        if self.horizon > PLAYS:
            raise InvalidInput(
                f"horizon = {shown(horizon)} is above {PLAYS}, up to which the sums of the books "
                "are known to fit 64 bits; take a shorter one"
            )
        self.checkpoints = _checkpoints(checkpoints, self.horizon)
        self.entropy = seeded(seed).entropy
        self.gaps = {name: self._gaps(agent) for name, agent in self.agents.items()}
        self.paths: dict[Walk, list[str]] = {}
        self.stepwise: list[str] = []
        for name, agent in self.agents.items():
            if _has_kernels(agent, environment):
                self.paths.setdefault(self._walk(agent), []).append(name)
            else:
                self.stepwise.append(name)

    def _gaps(self, agent: Agent) -> Floats:
        default: Any = agent.floor.default
        if not agent.measured:  # no floor was given, so there is no default
            default = self.environment.means.min()
        gaps = self.environment.gaps(float(default))
        return _finite(
            gaps, self.environment.n_arms + 1, "gaps()", "one for each arm and the default"
        )

    def _walk(self, agent: Agent) -> Walk:
        books, terms = agent.floor.open(), agent.floor.terms()
        finer = agent.floor.places - self.environment.places
        scale = Scale(10 ** max(finer, 0), 10 ** max(-finer, 0), books.low, books.high - books.low)
        rival = agent._rival(terms) if agent.default_competes else float("-inf")
        record = agent.policy.record  # type: ignore[attr-defined]  # an IndexPolicy
        return Walk(record, type(record), scale, rival)

    def _stream(self, run: int, number: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self.entropy, spawn_key=(run, number))

    def key(self, run: int) -> int:
        """The noise key of a run, shared by all agents."""
        return int(self._stream(run, 0).generate_state(1, np.uint64)[0])

    def run(
        self, run: int, engine: Engine, stopped: Callable[[], bool] = lambda: False
    ) -> dict[str, Trace]:
        """One run of every agent; the same whichever form of the engine is given.

        ``stopped`` is asked every few thousand turns; once it says yes, Stopped is raised.
        """
        traces: dict[str, Trace] = {}
        for walk, names in self.paths.items():
            traces.update(self._run_walk(walk, names, self.key(run), engine, stopped))
        for name in self.stepwise:
            # One stream for all: agents of one policy then share its luck, as they share the noise.
            traces[name] = live.drive(
                self.agents[name], self.environment, self.gaps[name], self.key(run),
                self._stream(run, 1), self.checkpoints, stopped,
            )  # fmt: skip
        return {name: traces[name] for name in self.agents}

    def _run_walk(
        self, walk: Walk, names: list[str], key: int, engine: Engine, stopped: Callable[[], bool]
    ) -> dict[str, Trace]:
        n_arms = self.environment.n_arms
        state = tuple(engine.array(row) for row in _kernels.init(walk.policy, n_arms))
        blocks = -(-self.horizon // BLOCK)
        size = -(-self.horizon // blocks)  # equal blocks: none takes many turns past the horizon
        block = Block(*(engine.array([0] * size) for _ in Block._fields))
        calendars = {name: _Calendar(self, name, engine) for name in names}
        first = 1
        while any(calendar.books[T] < self.horizon for calendar in calendars.values()):
            if stopped():
                raise live.Stopped
            engine.base_path(
                walk.policy, state, n_arms, self.environment.record, engine.word(key), first,
                walk.scale, walk.rival, block,
            )  # fmt: skip
            for calendar in calendars.values():
                calendar.live(block)
            first += size
        return {name: calendar.trace for name, calendar in calendars.items()}


class _Calendar:
    """One agent's side of a run: its gate, its terms and the books so far."""

    def __init__(self, plan: Plan, name: str, engine: Engine) -> None:
        agent = plan.agents[name]
        reserve = agent.floor.open().account.reserve
        self.interleave = engine.interleave
        self.gate, self.terms = GATES[agent.gate], agent.floor.terms()
        self.gaps = engine.array(plan.gaps[name].tolist())
        self.books = engine.array([0, 0, reserve, INT64_MAX, 0, 0])
        self.loss = engine.array([0.0])
        self.checkpoints = plan.checkpoints
        self.trace = blank(len(plan.checkpoints))

    def live(self, block: Block) -> None:
        self.interleave(
            self.gate, self.terms, block, self.gaps, self.books, self.loss, self.checkpoints,
            self.trace,
        )  # fmt: skip


def positive(number: Any, what: str) -> int:
    """A whole number of at least one.

    >>> positive(0, "runs")
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: runs = 0 must be an int >= 1
    """
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
        raise InvalidInput(f"{what} = {shown(number)} must be an int >= 1")
    return int(number)


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


def _has_kernels(agent: Agent, environment: Environment) -> bool:
    """Whether the engine's text is what this agent does; else it is driven play by play.

    It must keep the account of a reward floor, not one of moments. A subclass may do something
    else: of an agent, unless it names its gate again; of an index policy, where it (or the policy
    itself) overrides a method the kernels stand for; of an environment, where it overrides
    ``pull``. And the step between the two units has to be one of the engine's numbers.
    """
    kind = type(agent.policy)
    return (
        "gate" in vars(type(agent))
        and isinstance(agent.floor, RewardFloor)
        and issubclass(kind, IndexPolicy)
        and all(getattr(kind, name) is getattr(IndexPolicy, name) for name in _KERNEL_METHODS)
        and vars(agent.policy).keys().isdisjoint(_KERNEL_METHODS)
        and draws_for(environment)
        and 10 ** abs(agent.floor.places - environment.places) <= INT64_MAX
    )


_KERNEL_METHODS = ("best", "peek", "update", "pledge", "unit_rewards")


def _check_environment(environment: Any) -> None:
    if not isinstance(environment, Environment):
        raise InvalidInput(
            f"environment = {shown(environment)} does not follow "
            "surefoot.environments.Environment; give one of its kind, e.g. "
            "BernoulliArms([0.8, 0.2])"
        )
    positive(environment.n_arms, "n_arms of the environment")
    bounds(environment)
    _finite(environment.means, environment.n_arms, "means", "one for each arm")


def _finite(numbers: Any, count: int, what: str, meaning: str) -> Floats:
    """What an environment says of its arms, if it is an array of ``count`` finite numbers."""
    if (
        not isinstance(numbers, np.ndarray)
        or numbers.shape != (count,)
        or numbers.dtype.kind not in "biuf"
        or not np.isfinite(numbers).all()
    ):
        raise InvalidInput(
            f"{what} = {shown(numbers)} of the environment must be a numpy array of {count} "
            f"finite numbers: {meaning}"
        )
    return numbers


def _check_agent(name: Any, agent: Any, environment: Environment) -> None:
    if not isinstance(name, str):
        raise InvalidInput(f"agent name {shown(name)} must be a string, e.g. 'GenCB'")
    if not isinstance(agent, Agent):
        raise InvalidInput(
            f"agents[{shown(name)}] = {shown(agent)} is no agent; wrap a policy: Plain(policy) or "
            "GenCB(policy, floor)"
        )
    floor, who = agent.floor, f"agent {shown(name)}"
    if floor.default is None:
        raise InvalidInput(
            f"{who} has a floor without a constant default; simulate needs one: "
            "RewardFloor(default=...)"
        )
    if not floor.fits_int64:
        raise InvalidInput(
            f"{who} keeps books of {floor.places} places, in which {PLAYS} plays may "
            "leave 64 bits; give its floor fewer places, or none"
        )
    if len(agent.arms) != environment.n_arms:
        raise InvalidInput(
            f"{who} has {len(agent.arms)} arms, the environment {environment.n_arms}; "
            "the default is not counted in either"
        )
    if agent.account.plays or agent.turns or agent.paused:
        raise InvalidInput(
            f"{who} has already played or is paused; simulate starts from fresh agents"
        )
    if _has_learned(agent.policy):
        raise InvalidInput(
            f"the {type(agent.policy).__name__} of {who} has already taken turns or rewards; "
            "simulate starts from fresh policies"
        )
    if isinstance(floor, MeanVarianceFloor) and floor.places < environment.places:
        raise InvalidInput(
            f"{who} keeps mean-variance books of {floor.places} places and the "
            f"environment pays in {environment.places}; give its floor as many"
        )
    low, high = floor.reward_range
    least, most = bounds(environment)
    if not low <= least <= most <= high:
        raise InvalidInput(
            f"the environment pays ({least}, {most}), outside the reward_range ({low}, {high}) of "
            f"{who}; give it a floor with a wider one"
        )


def _has_learned(policy: Any) -> bool:
    """Whether an index policy has taken turns or rewards, which the engine would leave out."""
    if not isinstance(policy, IndexPolicy):
        return False
    fresh = _kernels.init(policy.record, policy.n_arms)
    return bool(policy.turns) or [*map(list, policy._state)] != [*map(list, fresh)]
