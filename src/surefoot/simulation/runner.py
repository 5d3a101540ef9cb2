"""Run a plan: choose the driver, spread the runs over threads, collect what they leave."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from surefoot import _compile
from surefoot._exact import one_of
from surefoot._kernel_text import digest
from surefoot._types import Seed
from surefoot.agents.agent import Agent
from surefoot.environments import Environment
from surefoot.environments._kernels import records_of
from surefoot.errors import missing_extra
from surefoot.simulation import compiled
from surefoot.simulation.checks import check_progress, positive
from surefoot.simulation.compiled import PLAIN, Engine
from surefoot.simulation.loop import Trace
from surefoot.simulation.plan import Plan
from surefoot.simulation.result import Result

V = TypeVar("V")
ENGINES = ("auto", "compiled", "plain")
# Seconds. Under a signal handler that restarts what it interrupts (polars installs one) a wait
# without end would see Ctrl-C only when a run ends.
_HEARTBEAT = 0.1
# Numba tells afterwards what it compiled; a marker file beside what is kept tells before.
_READY: set[str] = set()  # in this process, cached or not


def simulate(
    agents: Mapping[str, Agent],
    environment: Environment,
    horizon: int,
    runs: int = 1,
    seed: Seed = None,
    *,
    checkpoints: Sequence[int] | str | None = None,
    engine: str = "auto",
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Let agents play ``runs`` independent runs of ``horizon`` plays each, on common noise.

    The agents must be fresh and are left as they are. ``seed``: of all randomness; None takes fresh
    entropy, which is then ``Result.seed``. The agents' own seeds are not used: agents of one policy
    share its random draws as they share the noise, so two that differ only in their seeds make the
    same plays. ``checkpoints``: plays to note, "all", or None for a grid that is dense early.
    ``engine``: "compiled" (numba), "plain" (the same loops in Python, slow) or "auto", compiled if
    numba is there; policies of your own that are not written as kernels are driven play by play
    either way, and so are floors of your own, but those that are ``plain``: constant terms in
    ``RewardBooks`` (``Result.engines`` says which). ``workers``: threads, by default one a core;
    the result does not depend on it. ``progress`` is called with (runs done, runs). Raises
    InvalidInput where something does not fit, and MissingExtra for "compiled" without numba.

    >>> import surefoot as sf
    >>> agents = {
    ...     "GenCB": sf.gencb_cmab(n_arms=2, default=0.7, alpha=0.05),
    ...     "UCB1": sf.Plain(sf.UCB1(2), sf.RewardFloor(0.7, 0.05)),
    ... }
    >>> env = sf.BernoulliArms([0.8, 0.2])
    >>> result = sf.simulate(agents, env, horizon=200, runs=2, seed=1, engine="plain")
    >>> result.summary()["GenCB"]["violating_rounds"]["max"]
    0

    Default plays are reported at once, and so are explorations unless the environment says when
    their rewards arrive (``Delayed``, ``Batched``). Of agents of several floors each guards the
    measure of its name in ``MeasuredArms``, whose ``default`` is what defaults that are learned
    draw. Under a single ``CostCeiling`` what the environment pays is a cost, for all agents; the
    objective, which the regret is of, is then minus the cost.

    Holds when: what is decided is played; a run depends on the seed and its number alone. Does not
    hold when: a policy of yours keeps a random generator of its own: use the one that ``select``
    is handed.
    """
    check_progress(progress)
    plan = Plan(agents, environment, horizon, seed, checkpoints)
    numbers = range(positive(runs, "runs"))
    loops = choose(engine)
    done: dict[int, dict[str, Trace]] = {}
    for number, traces in run_all(plan, numbers, loops, workers):
        done[number] = traces
        if progress is not None:
            progress(len(done), runs)
    return Result(plan, dict(sorted(done.items())), form(loops))


def choose(engine: str) -> Engine:
    """The engine by its name."""
    one_of(engine, "engine", ENGINES)
    if engine == "plain" or (engine == "auto" and not _compile.available()):
        return PLAIN
    if not _compile.available():
        raise missing_extra("fast", "numba")
    return compiled.engine()


def form(engine: Engine) -> str:
    """The form of an engine: "compiled" or "plain"."""
    return "plain" if engine is PLAIN else "compiled"


def run_all(
    plan: Plan, runs: Sequence[int], engine: Engine, workers: int | None = None
) -> Iterator[tuple[int, dict[str, Trace]]]:
    """Yield each run as it is done.

    When the caller stops, by Ctrl-C too, or a run fails, the others are given up within a block.
    """
    count = cores() if workers is None else positive(workers, "workers")

    def one(number: int, stopped: Callable[[], bool]) -> tuple[int, dict[str, Trace]]:
        return number, plan.run(number, engine, stopped)

    yield from in_threads((partial(one, number) for number in runs), count)


def in_threads(jobs: Iterator[Callable[[Callable[[], bool]], V]], count: int) -> Iterator[V]:
    """Yield what each job returns as it is done, so many at a time.

    A job is called with ``stopped``, which says yes once the caller has stopped, by Ctrl-C too, or
    another job has failed.
    """
    stop = threading.Event()
    with ThreadPoolExecutor(count) as pool:
        active: set[Future[V]] = set()
        try:
            while True:
                for job in islice(jobs, count + 1 - len(active)):  # one more: no thread waits
                    active.add(pool.submit(job, stop.is_set))
                if not active:
                    return
                finished, active = wait(active, _HEARTBEAT, FIRST_COMPLETED)
                for future in finished:
                    yield future.result()
        finally:
            stop.set()
            for future in active:
                future.cancel()


def cores() -> int:
    """The cores this process may use, which in a container may be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def warm(plan: Plan, engine: Engine) -> bool:
    """Whether every loop this plan runs is compiled: in this process, or in the cache."""
    if engine is PLAIN:
        return True
    folder = _compile.cache_folder(read_only=True)
    return all(
        marker in _READY or (folder is not None and (folder / marker).exists())
        for marker in _markers(plan)
    )


def kind_of(plan: Plan) -> str:
    """What names the compiled loops of a plan: plans of one kind run the same; "" for none."""
    return " ".join(sorted(_markers(plan)))


def compile_ahead(plan: Plan, engine: Engine) -> None:
    """Load or compile every loop this plan runs, by one play of it, and note that it is done.

    What is missing in the cache takes seconds; what is there, tenths of one.
    """
    markers = _markers(plan)
    if engine is PLAIN or _READY.issuperset(markers):
        return
    agents = {name: plan.agents[name] for name in markers.values()}
    Plan(agents, plan.environment, 1, seed=0).run(0, engine)
    _READY.update(markers)
    folder = _compile.cache_folder()
    if folder is not None:
        for marker in markers:
            with suppress(OSError):  # then something is only said to be compiled once more
                (folder / marker).touch()


def _measured(plan: Plan, name: str) -> list[str]:
    """The records that the measures of an agent's several floors are drawn from."""
    if not plan.several(name):
        return []
    environment: Any = plan.environment
    measures = {guard.measure for guard in plan.guards[name].values()} - {None}
    kinds = (records_of(environment.measures[measure].record) for measure in measures)
    return sorted({kind.__name__ for each in kinds for kind in each})


def _markers(plan: Plan) -> dict[str, str]:
    """One name for each combination that numba specialises the loops on, and an agent with it.

    Those are the parameter records of policy and environment, and the kind of floor.
    """
    import llvmlite.binding as llvm  # type: ignore[import-untyped]
    import numba

    records = records_of(plan.environment.record)
    draws = "-".join(record.__name__ for record in records)
    builder = f"{sys.implementation.cache_tag}-{numba.__version__}-{llvm.get_host_cpu_name()}"
    found = {}
    shared = [(walk, names, "") for walk, names in plan.paths]
    alone = [(walk, [name], "-by-play") for name, walk in plan.by_play.items()]
    for walk, names, how in shared + alone:
        for name in names:
            floor = "-".join([type(plan.agents[name].floor).__name__, *_measured(plan, name)])
            foreign = digest(walk.kind, *records)[:16]
            kind = f"{walk.kind.__name__}{how}"
            found[f"ready-{kind}-{floor}-{draws}-{builder}-{foreign}"] = name
    return found
