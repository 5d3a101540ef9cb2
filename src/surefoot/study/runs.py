"""Runs: panels as one plan, a run as rows, and the one loop that does what is missing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from surefoot._exact import exact, fraction, shown
from surefoot._types import JsonObject, Number
from surefoot.errors import InvalidInput
from surefoot.floors import RewardFloor, Terms
from surefoot.policies import KLUCB, UCB1
from surefoot.simulation import Plan, Result
from surefoot.simulation.checks import positive
from surefoot.simulation.compiled import Engine
from surefoot.simulation.loop import Ints, Trace
from surefoot.simulation.plan import grid
from surefoot.simulation.runner import choose, compile_ahead, form, run_all, warm
from surefoot.study.files import FORMATS, uninterrupted
from surefoot.study.numbers import Array
from surefoot.study.panel import Panel

FIRST_PLAYS = 200
"""So many plays from the start are all noted: there a guarded agent's slack is smallest."""
MAX_ARMS = 1_000
"""A column with more labels than this is hardly the arm, and its backtest would not end."""
MAX_RUNS = 10_000
"""All runs of a backtest or an outlook are held in memory, about 70 kB each."""
POLICIES = {"klucb": ("KL-UCB", KLUCB), "ucb1": ("UCB1", UCB1)}

Traces: TypeAlias = dict[str, Trace]
Keep: TypeAlias = Callable[[str, int, Traces], object]
"""What becomes of a finished run: called with the name of its plan, its number and its traces."""


class Step(NamedTuple):
    """Where the work stands: what is done next, and how many runs are finished of how many."""

    doing: str
    """"starting", "compiling", "running" or, where no worker is there, "waiting"."""
    done: int
    total: int


def perform(
    plans: Mapping[str, Plan],
    wanted: Mapping[str, Sequence[int]],
    keep: Keep,
    workers: int | None = None,
    engine: str = "compiled",
    *,
    before: int = 0,
    counts: Mapping[str, int] | None = None,
) -> Iterator[Step]:
    """Do the wanted runs of some plans, and hand each to ``keep``; stop whenever you like.

    ``workers``: threads, by default one a core; what comes out does not depend on it. The
    steps count from ``before`` on, a run of a plan as many as ``counts`` says, by default one.
    """
    count = None if workers is None else positive(workers, "workers")
    due = [name for name in plans if wanted[name]]
    each = counts or dict.fromkeys(plans, 1)
    done, total = before, before + sum(each[name] * len(wanted[name]) for name in due)
    yield Step("starting", done, total)
    loops = choose(engine)
    yield from compiled([plans[name] for name in due], loops, done, total)
    for name in due:
        yield Step("running", done, total)
        for run, traces in run_all(plans[name], wanted[name], loops, count):
            with uninterrupted():
                keep(name, run, traces)
            done += each[name]
            yield Step("running", done, total)


def compiled(plans: Sequence[Plan], loops: Engine, done: int, total: int) -> Iterator[Step]:
    """Compile what some plans need and this machine lacks, in the thread that Ctrl-C strikes."""
    if not all(warm(plan, loops) for plan in plans):
        yield Step("compiling", done, total)
        for plan in plans:
            compile_ahead(plan, loops)


class Simulation:
    """Some plans, each run equally often and kept in memory: a backtest, or an outlook.

    A subclass sets ``plans`` and says what it writes; once ``steps`` has ended, ``results`` has a
    result for each plan. ``policy``: "klucb" or "ucb1". Raises InvalidInput for another one, and
    for more runs than memory holds.
    """

    chart: ClassVar[str]
    """The name of its chart, without an ending."""
    tables: ClassVar[tuple[str, ...]]
    """The other files it writes, the summary first."""
    plans: dict[str, Plan]
    results: dict[str, Result]

    def __init__(self, policy: str, runs: int) -> None:
        if policy not in POLICIES:
            known = " or ".join(map(repr, POLICIES))
            raise InvalidInput(f"policy {policy!r} is unknown; choose {known}")
        self.policy, self.runs = policy, positive(runs, "runs")
        if runs > MAX_RUNS:
            raise InvalidInput(f"runs = {runs:,} is above {MAX_RUNS:,}; the spread needs no more")

    @classmethod
    def files(cls) -> tuple[str, ...]:
        """The names of all files it writes."""
        return (*cls.tables, *(f"{cls.chart}.{ending}" for ending in FORMATS))

    @abstractmethod
    def settings(self) -> JsonObject:
        """What was asked for, as the summary holds it; known before any run."""

    def steps(self, workers: int | None = None, engine: str = "compiled") -> Iterator[Step]:
        """Do all runs, telling where one stands; see ``perform``."""
        self.results = {}
        traces: dict[str, dict[int, Traces]] = {name: {} for name in self.plans}
        wanted = dict.fromkeys(self.plans, range(self.runs))

        def keep(name: str, run: int, found: Traces) -> None:
            traces[name][run] = found

        yield from perform(self.plans, wanted, keep, workers, engine)
        drove = form(choose(engine))
        for name, plan in self.plans.items():
            self.results[name] = Result(plan, dict(sorted(traces[name].items())), drove)


def share_of(default: Any, alpha: Number, *more: Any) -> RewardFloor:
    """A floor that plans and backtests speak of: on a share of a default that earns.

    ``more``: as ``RewardFloor``. Raises InvalidInput for other defaults and alphas.

    >>> share_of(0, 0.05)
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: default = 0 must be > 0; shift the rewards so that the default
    earns, or simulate other floors by a study: `surefoot study new floors`
    """
    if exact(default, "default") <= 0:
        raise InvalidInput(
            f"default = {shown(default)} must be > 0; shift the rewards so that the default earns, "
            "or simulate other floors by a study: `surefoot study new floors`"
        )
    fraction(alpha, "alpha", "0.05 gives up at most 5 % of the default's reward", float)
    return RewardFloor(default, alpha, *more)


def explorable(floor: RewardFloor) -> Terms:
    """What a play moves on a constant floor. Raises InvalidInput if a default play adds nothing.

    >>> explorable(RewardFloor(0.5, 0.1)).deposit
    50000000
    """
    terms = floor.terms()
    if not terms.deposit:
        raise InvalidInput(
            f"alpha = {floor.alpha} of default = {floor.default} is less than the books' unit, "
            f"10**{-floor.places}: nothing would ever be explored; take a larger alpha"
        )
    return terms


def gain(result: Result, name: str, floor: RewardFloor) -> Array:
    """Reward above that of the default alone, whose plays bring exactly 0: (runs, checkpoints).

    The slack less what as many default plays would have deposited, and the reserve.
    """
    terms, places = floor.terms(), floor.places
    deposits = result.plan.checkpoints * (terms.value - terms.floor)
    reserve = int(floor.reserve.scaleb(places))
    slack: Array = result.measure(name, "slack")
    return slack - (deposits + reserve) / 10.0**places


def joint_plan(panels: Sequence[Panel]) -> Plan:
    """One plan for panels that differ in alpha only: their agents share base paths.

    Agent ``name`` of panel ``p`` is ``key(name, p)`` in the plan. Raises InvalidInput for panels
    that differ in more.
    """
    first = panels[0]
    alike = {"alpha": first.alpha, "source": first.source, "because": first.because}
    for panel in panels:
        if panel.model_copy(update=alike) != first:
            raise InvalidInput(f"{panel.name} and {first.name} must differ in alpha only")
    playing = {
        key(name, panel): agent for panel in panels for name, agent in panel.agents().items()
    }
    noted = checkpoints(first.horizon, first.curves)
    return Plan(playing, first.environment(), first.horizon, first.seed, noted)


def shortened(panels: Sequence[Panel], plays: int) -> list[Panel]:
    """Panels of one plan with at most so many plays, noted as usual: a list may name later ones."""
    horizon = min(panels[0].horizon, plays)
    return [panel.model_copy(update={"horizon": horizon, "curves": "grid"}) for panel in panels]


def checkpoints(horizon: int, curves: str | Sequence[int] = "grid") -> Ints:
    """The plays after which the books are noted: the last, and what ``Panel.curves`` asks for.

    "grid" notes all of the first plays, for the figure's inset.

    >>> checkpoints(500, [10, 100]).tolist()
    [10, 100, 500]
    """
    if curves == "grid":
        return grid(horizon, FIRST_PLAYS)
    return np.unique(np.array([*(() if curves == "none" else curves), horizon], dtype=np.int64))


def key(name: str, panel: Panel) -> str:
    """An agent's name in a plan of several panels.

    >>> from surefoot.study.sweep import read
    >>> key("GenCB", read("cmab-K72-alpha0.1"))
    'GenCB alpha=0.1'
    """
    return name if panel.alpha is None else f"{name} alpha={panel.alpha!r}"
