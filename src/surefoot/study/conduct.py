"""A study from its settings to its files: do the missing runs, then draw what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot.errors import missing_extra
from surefoot.simulation.plan import Plan, positive
from surefoot.simulation.runner import choose, run_all
from surefoot.simulation.trace import Trace
from surefoot.simulation.warm import compile_ahead, warm
from surefoot.study import cmab
from surefoot.study.output import replacing, write_json
from surefoot.study.panel import Panel
from surefoot.study.store import Store
from surefoot.study.summary import of_panel, summarize

if TYPE_CHECKING:
    import polars as pl


class Step(NamedTuple):
    """Where a study stands: what it does next, and the runs finished of those wanted."""

    doing: str
    """"starting", "compiling" or "running"."""
    done: int
    total: int


def conduct(store: Store, workers: int | None = None) -> Iterator[Step]:
    """Do the runs that are missing, one Parquet file each; stop whenever you like.

    ``workers``: threads, by default one a core; what comes out does not depend on it.
    """
    for package in ("numba", "polars", "matplotlib"):
        if find_spec(package) is None:
            raise missing_extra("study", package)
    count = None if workers is None else positive(workers, "workers")
    groups = cmab.groups(store.sweep)
    plans = {name: cmab.plan(panels) for name, panels in groups.items()}
    store.claim()  # not before everything that was asked for is known to fit
    total = len(groups) * store.sweep.runs
    done = total - sum(len(store.missing(name)) for name in groups)
    yield Step("starting", done, total)
    for name, panels in groups.items():
        missing = store.missing(name)
        if not missing:
            continue
        keep = partial(_keep, store, name, panels, plans[name])
        yield from play(plans[name], missing, "compiled", count, keep, (done, total))
        done += len(missing)


def play(
    plan: Plan,
    runs: Sequence[int],
    engine: str,
    workers: int | None,
    keep: Callable[[int, dict[str, Trace]], object],
    finished: tuple[int, int],
) -> Iterator[Step]:
    """Compile what a plan needs, then do runs of it; ``keep`` gets each when it is done.

    ``finished``: runs done before, and in all.
    """
    loops = choose(engine)
    done, total = finished
    if not warm(plan, loops):
        yield Step("compiling", done, total)
    compile_ahead(plan, loops)
    yield Step("running", done, total)
    for run, traces in run_all(plan, runs, loops, workers):
        keep(run, traces)
        done += 1
        yield Step("running", done, total)


def _keep(
    store: Store, name: str, panels: Sequence[Panel], plan: Plan, run: int, traces: dict[str, Trace]
) -> None:
    store.keep(name, run, cmab.frame(panels, plan, run, traces))


def conclude(store: Store) -> dict[str, Any]:
    """Write tables and figures of the runs that are finished; return the summary.

    What is written depends on the finished runs only, not on how often the study stopped.
    """
    from surefoot.study.figure import draw

    sweep, frame = store.sweep, _table(store)
    summary = summarize(frame, sweep, cmab.NAMES)
    if frame.is_empty():
        return summary
    with replacing(store.folder / "runs.parquet") as scratch:
        frame.write_parquet(scratch)
    write_json(store.folder / "summary.json", summary)
    for panel in sweep.panels():
        rows = of_panel(frame, panel)
        if not rows.is_empty():
            draw(panel, rows, store.folder / panel.name)
    return summary


def _table(store: Store) -> pl.DataFrame:
    """All finished runs in one tidy table, ordered by panel, agent, run and play."""
    import polars as pl

    parts = [part for name in cmab.groups(store.sweep) for part in store.load(name)]
    if not parts:
        return pl.DataFrame(schema={"problem": pl.String, "K": pl.Int64, "alpha": pl.Float64})
    order = pl.col("agent").cast(pl.Enum(cmab.NAMES))
    return pl.concat(parts).sort("problem", "K", "alpha", order, "run", "t")
