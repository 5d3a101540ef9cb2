"""The runs of a backtest: what is asked of a log, and the worlds that are played to answer it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, Final

import numpy as np

from surefoot._exact import exact, shown
from surefoot._types import JsonObject, Number, Seed
from surefoot.environments import ReplayLog
from surefoot.errors import InvalidInput
from surefoot.floors.reward import checked_alpha
from surefoot.simulation import Result
from surefoot.simulation.checks import positive
from surefoot.simulation.compiled import Engine
from surefoot.simulation.runner import choose, compile_ahead, cores, form, in_threads, warm
from surefoot.study.files import uninterrupted
from surefoot.study.logs import self_funding
from surefoot.study.logs.copies import Default
from surefoot.study.logs.rows import Rows, propensities
from surefoot.study.logs.subject import Subject
from surefoot.study.logs.worlds import AGENTS, GUARDED, JOINED, LOG, UNGUARDED, Found, Worlds
from surefoot.study.runs import MAX_ARMS, POLICIES, Simulation, Step, explorable

GIVEN: Final = "given"
"""A reward range that the user vouches for."""
WORTH: Final = 0.01
"""A gain below this share of always the default is not worth having, unless said otherwise."""


class BacktestRuns(Simulation):
    """Three agents over one policy, on a log, on shuffled and on redrawn copies of it.

    - ``GUARDED``: GenCB, the default competing; a default play is credited at the upper end of the
      default's logged mean.
    - ``UNGUARDED``: the same policy over the same arms, on the same noise, without a guard.
    - ``JOINED``: the same policy unguarded, the default one more of its arms, paying its own logged
      rewards: what one would deploy if there were no guard.

    A play draws one of its arm's logged rewards, with replacement. ``alpha``: None takes the
    subject's; ``alphas``: others to see the guarded agent under. ``horizon``: plays a run; None
    takes one for each row of the log. ``worth``: the least gain over the horizon worth having;
    None takes 1 % of always the default. ``reward_range``: sure bounds of a reward; None takes
    [0, 1] if all rewards lie in it, else the log's own least and greatest.
    Raises InvalidInput where log and settings do not fit.

    >>> log = {"arm": ["a", "b"] * 50, "reward": [0, 1] * 25 + [1, 1] * 25}
    >>> runs = BacktestRuns(Subject(log, "a", "Try", "A log."), alpha=0.1, runs=2)
    >>> runs.horizon, runs.mean, runs.value, runs.environment.arms
    (100, 0.5, Decimal('0.634897'), ('b',))

    Holds when: as ``ReplayLog``; the guarantee as ``GenCB``. Does not hold when: one reads it as a
    causal claim: the log shows what each arm paid where it was used, not what it would have paid
    elsewhere.
    """

    chart = "replay"
    tables = ("summary.json", "runs.parquet", "worlds.parquet")

    def __init__(
        self,
        subject: Subject,
        alpha: Number | None = None,
        policy: str = "klucb",
        runs: int = 100,
        horizon: int | None = None,
        seed: Seed = 0,
        reward_range: tuple[Number, Number] | None = None,
        alphas: Sequence[Number] = (),
        worth: Number | None = None,
    ) -> None:
        super().__init__(policy, runs)
        self.subject = subject
        named = None if subject.known is not None else subject.default
        log = ReplayLog(subject.frame, named, reward_range=reward_range)
        self.environment = log
        _check_arms(log)
        self.range_is, bounds = bounds_of(log, reward_range)
        given = np.asarray(subject.frame["propensity"]) if subject.has_propensities else None
        self.rows = Rows(
            log.codes, log.amounts, log.unit,
            None if given is None else propensities(given, len(log.codes)),
            has_default=named is not None,
        )  # fmt: skip
        self.alphas = [checked_alpha(subject.alpha if alpha is None else alpha)]
        self.alphas += [checked_alpha(other) for other in alphas]
        default = Default(exact(bounds[1], "r_max"), subject.known)
        _check_default(subject, self.rows, default)
        self.horizon = self.rows.count if horizon is None else positive(horizon, "horizon")
        self.worlds = Worlds(
            log, subject.default, self.rows, default, self.alphas, bounds, POLICIES[policy][1],
            self.horizon, runs, seed,
        )  # fmt: skip
        self.floor, self.seed = self.worlds.floor, self.worlds.seed
        self.plans = self.worlds.plans
        explorable(self.floor)
        least = WORTH * self.always if worth is None else float(exact(worth, "worth"))
        if least < 0:
            raise InvalidInput(f"worth = {shown(worth)} must be >= 0: the least gain worth having")
        self.worth = least
        self.found: dict[int, Found] = {}

    @property
    def mean(self) -> float:
        """What the default pays: its mean in the log, or what it is known to pay."""
        return self.worlds.logged.mean

    @property
    def value(self) -> Decimal:
        """What a default play is credited at."""
        return self.worlds.value

    @property
    def always(self) -> float:
        """What always playing the default is worth over the horizon, at its logged mean."""
        return self.mean * self.horizon

    @property
    def least(self) -> Decimal:
        """The floor of one play, (1-alpha) times the default's credited value, in exact units."""
        return self.floor.unit.decimal(self.floor.terms().floor)

    @property
    def first_exploration(self) -> int:
        """The first play at which the guarded agent may explore, however lucky it is.

        As many deposits come before it as one exploration can lose.
        """
        terms = self.floor.terms()
        return self_funding.first_play(terms.hold, terms.deposit)

    @property
    def shown(self) -> str:
        """The default's label, cut where it would not fit a chart."""
        label = " ".join(str(self.subject.default).split())
        return label if len(label) <= 12 else label[:11] + "…"

    @property
    def labels(self) -> list[Any]:
        """The arms' labels by number, the default's the last."""
        return [*self.environment.arms, self.subject.default]

    @property
    def default_rows(self) -> int:
        """How many rows of the log are the default's."""
        return int(self.rows.sizes[-1]) if self.rows.has_default else 0

    def steps(self, workers: int | None = None, engine: str = "compiled") -> Iterator[Step]:
        """Play all worlds, telling where one stands.

        ``workers``: threads, by default one a core; what comes out does not depend on it.
        """
        count = None if workers is None else positive(workers, "workers")
        total = sum(self.worlds.counts)
        yield Step("starting", 0, total)
        loops, plans = choose(engine), self.plans.values()
        if not all(warm(plan, loops) for plan in plans):
            yield Step("compiling", 0, total)
            for plan in plans:
                compile_ahead(plan, loops)
        yield Step("running", 0, total)
        found: dict[int, Found] = {}
        play = partial(_numbered, self.worlds, loops)
        jobs = (partial(play, number) for number in range(total))
        for number, one in in_threads(jobs, count or cores()):
            with uninterrupted():
                found[number] = one
            yield Step("running", len(found), total)
        self.found = dict(sorted(found.items()))
        traces = {run: self.found[run].traces for run in self.worlds.numbers(LOG)}
        drove = form(loops)
        self.results = {name: Result(plan, traces, drove) for name, plan in self.plans.items()}

    def of_kind(self, kind: int) -> list[Found]:
        """What the worlds of one kind left, in their order."""
        return [self.found[number] for number in self.worlds.numbers(kind)]

    def settings(self) -> JsonObject:
        """What decides the numbers, as ``summary.json`` holds it; known before the runs are."""
        (low, high), subject = self.floor.reward_range, self.subject
        log = {"title": subject.title, "source": subject.source, "rows": self.rows.count}
        logged = {"arm": subject.default, "rows": self.default_rows, "mean": self.mean}
        return {
            "log": {**log, "propensities": subject.has_propensities},
            "default": {**logged, "value": float(self.value)},
            "alpha": float(self.floor.alpha),
            "alphas": [float(alpha) for alpha in self.alphas[1:]],
            "floor": float(self.least),
            "reward_range": {"low": float(low), "high": float(high), "is": self.range_is},
            "policy": self.policy,
            "default_competes": True,
            "horizon": self.horizon,
            "worth": self.worth,
            "runs": self.runs,
            "seed": self.seed,
        }


def _numbered(
    worlds: Worlds, engine: Engine, number: int, stopped: Callable[[], bool]
) -> tuple[int, Found]:
    return number, worlds.run(number, engine, stopped)


def _check_arms(log: ReplayLog) -> None:
    most = int(log.codes.max()) + 1
    if most > MAX_ARMS:
        raise InvalidInput(
            f"the log has {most:,} arms, a replay takes at most {MAX_ARMS:,}; "
            "is that column the arm?"
        )


def _check_default(subject: Subject, rows: Rows, default: Default) -> None:
    """A floor needs a default that earns."""
    if default.known is None:
        mean = rows.moments(rows.amounts).means[-1] * float(rows.unit.decimal(1))
        what = "pays", "a play in the log"
    else:
        mean, what = float(default.known), ("is known to pay", "a play")
    if mean <= 0:
        raise InvalidInput(
            f"the default {subject.default!r} {what[0]} {mean:g} {what[1]}; a "
            "floor needs a default that earns: shift the rewards"
        )


def bounds_of(log: ReplayLog, declared: Any) -> tuple[str, tuple[Any, Any]]:
    """The range the floor is to trust, and where it comes from."""
    if declared is not None:
        return GIVEN, declared
    low, high = log.reward_range
    if 0 <= low and high <= 1:
        return "none in the log does", (0, 1)
    if log.amounts.min() == log.amounts.max():  # in whole units, narrower than the log's range
        raise InvalidInput(
            f"all rewards of the log are about {low.normalize():f}; there is nothing to choose"
        )
    return "the log's own least and greatest reward", (low, high)


__all__ = ["AGENTS", "GUARDED", "JOINED", "UNGUARDED", "BacktestRuns", "bounds_of"]
