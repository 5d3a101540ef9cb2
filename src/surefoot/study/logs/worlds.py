"""A log's worlds, each played: the log, shuffled and redrawn copies of it, and halves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple

import numpy as np

from surefoot._types import Number, Seed
from surefoot.agents import GenCB, Plain
from surefoot.environments import ReplayLog
from surefoot.floors import Terms
from surefoot.simulation import Plan
from surefoot.simulation.compiled import Engine
from surefoot.simulation.loop import LEAST, Trace
from surefoot.simulation.worlds import Played, World, WorldRunner
from surefoot.study.logs.copies import Copy, Default, Gain, of_log, redrawn, shuffled
from surefoot.study.logs.rows import Floats, Rows
from surefoot.study.runs import share_of

GUARDED: Final = "guarded"
UNGUARDED: Final = "unguarded"
JOINED: Final = "unguarded, default among its arms"
AGENTS: Final = (GUARDED, UNGUARDED, JOINED)

LOG, SHUFFLED, REDRAWN, HALVED = range(4)
"""Kinds of worlds."""
COPIES: Final = 200
"""Shuffled copies of the log, and redrawn ones."""
SPLITS: Final = 10
PAIR: Final = 2
"""Runs that t is taken from, in the log and in each shuffled copy: as many on both sides, or p
would not be exact. One where there is but one run on the log."""


class Found(NamedTuple):
    """What one world left; each list has an entry for each alpha."""

    gains: list[Gain]
    plays: list[Floats]
    """Mean plays of each arm, guarded."""
    traces: dict[str, Trace]
    """Of the first alpha, by agent; of the log itself only."""
    dips: dict[str, int]
    """By unguarded agent, how far it ever was below the floor, in units; of redrawn logs only."""


class Worlds:
    """All that a backtest plays, by number; what one finds depends on seed, kind and place alone.

    ``log``: the arms besides the default, called ``label``; ``rows``: all of the log's. Under the
    first alpha all agents are run, under the others the guarded one, on the same turns of its
    policy. ``bounds``: of a reward. ``make``: the policy, given its arms.
    """

    def __init__(
        self,
        log: ReplayLog,
        label: Any,
        rows: Rows,
        default: Default,
        alphas: Sequence[Number],
        bounds: tuple[Number, Number],
        make: Callable[..., Any],
        horizon: int,
        runs: int,
        seed: Seed,
    ) -> None:
        self.rows, self.default, self.alphas, self.bounds = rows, default, alphas, bounds
        self.logged = of_log(rows, default)
        self.value = self.logged.credited
        self.floor = share_of(self.value, alphas[0], bounds)
        joined = log.with_default(default.known, label)
        if rows.weights is not None:
            log = log.drawing(self.logged.record())
            joined = joined.drawing(self.logged.record(joined=True))
        playing = {
            GUARDED: GenCB(make(arms=log.arms), self.floor, default_competes=True),
            UNGUARDED: Plain(make(arms=log.arms), self.floor),
        }
        paired = Plan(playing, log, horizon, seed)
        self.seed = paired.entropy
        alone = {JOINED: Plain(make(arms=joined.arms), self.floor)}
        self.plans = {GUARDED: paired, JOINED: Plan(alone, joined, horizon, self.seed)}
        self.runners = {name: WorldRunner(plan, name) for name, plan in self.plans.items()}
        self.counts = (runs, COPIES, COPIES, SPLITS if rows.sizes.min() > 1 else 0)
        """How many worlds of each kind."""
        self.pair = min(PAIR, runs)
        self._terms: dict[Decimal, list[Terms]] = {}

    def numbers(self, kind: int) -> range:
        """The numbers of the worlds of one kind."""
        first = sum(self.counts[:kind])
        return range(first, first + self.counts[kind])

    def run(self, run: int, engine: Engine, stopped: Callable[[], bool]) -> Found:
        """Play one world."""
        kind = next(kind for kind in range(4) if run in self.numbers(kind))
        play = (self._the_log, self._a_shuffled, self._a_redrawn, self._halves)[kind]
        spot = self.seed, kind, run - self.numbers(kind).start
        return play(_Table(self, spot, engine, stopped))

    def terms(self, value: Decimal) -> list[Terms]:
        """What a play is worth to the books under each alpha, the default credited at ``value``."""
        kept = self._terms.get(value)
        if kept is None:
            places = self.floor.places
            floors = [share_of(value, alpha, self.bounds, 0, places) for alpha in self.alphas]
            kept = self._terms[value] = [floor.terms() for floor in floors]
        return kept

    def _the_log(self, table: _Table) -> Found:
        checkpoints = self.plans[GUARDED].checkpoints
        *played, free = table.played(self.logged, 0, checkpoints, free=True)
        joined = table.joined(self.logged, 0, checkpoints)
        traces = {GUARDED: played[0].trace, UNGUARDED: free.trace, JOINED: joined.trace}
        return _found(self.logged, [[one.plays] for one in played], traces)

    def _a_shuffled(self, table: _Table) -> Found:
        copy = shuffled(self.rows, self.default, table.rng())
        pair = [table.played(copy, run) for run in range(self.pair)]
        return _found(copy, [[run.plays for run in each] for each in zip(*pair, strict=True)])

    def _a_redrawn(self, table: _Table) -> Found:
        copy = redrawn(self.rows, self.default, table.rng())
        *played, free = table.played(copy, 0, free=True)
        found = _found(copy, [[one.plays] for one in played])
        for name, one in ((UNGUARDED, free), (JOINED, table.joined(copy, 0))):
            found.dips[name] = max(0, -int(one.trace.books[-1, LEAST]))
        return found

    def _halves(self, table: _Table) -> Found:
        """Learn on a half, count at the means of the other, and the other way round."""
        halves = [of_log(rows, self.default) for rows in self.rows.halves(table.rng())]
        gains: list[list[Gain]] = [[] for _ in self.alphas]
        for run, (own, other) in enumerate(zip(halves, reversed(halves), strict=True)):
            for each, played in zip(gains, table.played(own, run), strict=True):
                each.append(other.gain(played.plays.astype(float)))
        means = [
            Gain(sum(one.value for one in each) / 2, sum(one.error**2 for one in each) ** 0.5 / 2)
            for each in gains
        ]
        return Found(means, [], {}, {})


class _Table:
    """Where one world is played: its randomness, and who waits for it."""

    def __init__(
        self,
        worlds: Worlds,
        spot: tuple[Any, int, int],
        engine: Engine,
        stopped: Callable[[], bool],
    ) -> None:
        self.worlds, self.engine, self.stopped = worlds, engine, stopped
        self.entropy, self.kind, self.place = spot
        self.end = worlds.plans[GUARDED].checkpoints[-1:]

    def _stream(self, number: int) -> np.random.SeedSequence:
        spot = self.kind, self.place, number
        return np.random.SeedSequence(self.entropy, spawn_key=spot)

    def rng(self) -> np.random.Generator:
        """What makes the copy."""
        return np.random.default_rng(self._stream(PAIR))

    def key(self, run: int) -> int:
        """The key of the noise of one of its runs."""
        return int(self._stream(run).generate_state(1, np.uint64)[0])

    def played(
        self, copy: Copy, run: int, checkpoints: Any = None, *, free: bool = False
    ) -> list[Played]:
        """A run of the guarded agent under each alpha; it never falls below the floor.

        ``free``: behind them one of the unguarded agent, on the same noise. A default that earns
        nothing, as in a redrawn copy it may, is played throughout.
        """
        value, runner = copy.credited, self.worlds.runners[GUARDED]
        floors = self.worlds.terms(value) if value > 0 else []
        rival = runner.agent.default_score(floors[0]) if floors else float("-inf")
        world = World(copy.record(), copy.paid(), rival)
        measured = self._measured(copy) if free else []
        found = runner.run(world, floors, *self._where(run, checkpoints), measured)
        if not floors:
            trace = Trace(np.zeros((1, 7), np.int64), np.zeros((1, 4)))
            idle = Played(np.zeros(runner.n_arms, np.int64), trace)
            found = [*(idle for _ in self.worlds.alphas), *found]
        guarded = found[: len(self.worlds.alphas)]
        assert all(one.trace.books[-1, LEAST] >= 0 for one in guarded), "below the floor, guarded"
        return found

    def joined(self, copy: Copy, run: int, checkpoints: Any = None) -> Played:
        """A run of the unguarded agent that has the default among its arms, on the same noise."""
        world = World(copy.record(joined=True), copy.paid(joined=True), float("-inf"))
        runner, floors = self.worlds.runners[JOINED], self._measured(copy)
        return runner.run(world, floors, *self._where(run, checkpoints))[0]

    def _measured(self, copy: Copy) -> list[Terms]:
        """What an unguarded agent is held against."""
        value = copy.credited
        return self.worlds.terms(value if value > 0 else self.worlds.value)[:1]

    def _where(self, run: int, checkpoints: Any) -> tuple[Any, int, Engine, Callable[[], bool]]:
        points = self.end if checkpoints is None else checkpoints
        return points, self.key(run), self.engine, self.stopped


def _found(copy: Copy, plays: list[list[Any]], traces: dict[str, Trace] | None = None) -> Found:
    """What the runs of one world bring in the mean; ``plays``: by alpha, of each run."""
    means = [np.mean(each, axis=0) for each in plays]
    return Found([copy.gain(mean) for mean in means], means, traces or {}, {})
