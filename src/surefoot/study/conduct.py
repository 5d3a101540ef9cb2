"""A study from its settings to its files: do the missing runs, then draw what is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot.errors import missing_extra
from surefoot.simulation.checks import positive
from surefoot.simulation.loop import Trace
from surefoot.simulation.plan import Plan
from surefoot.simulation.runner import choose, compile_ahead, run_all, warm
from surefoot.study import groups
from surefoot.study.output import replacing, uninterrupted, versions, write_json
from surefoot.study.panel import Panel
from surefoot.study.store import Store
from surefoot.study.summary import of_panel, of_the_runs

if TYPE_CHECKING:
    import polars as pl

    from surefoot.study.report import Page


class Step(NamedTuple):
    """Where a study stands: what it does next, and the runs finished of those of all panels."""

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
    shared = store.sweep.groups
    plans = {name: groups.plan(panels) for name, panels in shared.items()}
    store.claim()  # not before everything that was asked for is known to fit
    missing = {name: store.missing(name) for name in shared}
    done, total = store.done, len(store.sweep.panels) * store.sweep.runs
    yield Step("starting", done, total)
    wanted = [plans[name] for name, runs in missing.items() if runs]
    loops = choose("compiled")
    if not all(warm(plan, loops) for plan in wanted):
        yield Step("compiling", done, total)
        for plan in wanted:
            compile_ahead(plan, loops)
    for name, runs in missing.items():
        if runs:
            keep = partial(_keep, store, name, shared[name], plans[name])
            each = len(shared[name])  # panels, which make their runs together
            for step in play(plans[name], runs, "compiled", count, keep, (0, total)):
                yield Step(step.doing, done + each * step.done, total)
            done += each * len(runs)


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
        with uninterrupted():
            keep(run, traces)
        done += 1
        yield Step("running", done, total)


def _keep(
    store: Store, name: str, panels: Sequence[Panel], plan: Plan, run: int, traces: dict[str, Trace]
) -> None:
    store.keep(name, run, groups.frame(panels, plan, run, traces))


def conclude(store: Store, drawn: Callable[[], object] = lambda: None) -> dict[str, Any]:
    """Write tables, figures and the report of the runs that are finished; return the summary.

    What is written depends on the finished runs only, not on how often the study stopped; where
    the store says so, it is with the regret bounds, and the default plays that are foretold.
    ``drawn`` is called after each panel.
    """
    from surefoot.study.report import write

    pages, tables = [], []
    for panels, frame in _tables(store):
        for panel in panels:
            with uninterrupted():
                page = _page(store, panel, of_panel(frame, panel))
            pages.append(page)
            drawn()
        tables.append(frame)
    entries = [page.found for page in pages]
    summary = {"panels": entries, "seed": store.sweep.seed, "versions": versions()}
    if entries:
        with uninterrupted():
            _write_table(store.folder / "runs.parquet", tables)
        write_json(store.folder / "summary.json", summary)
        write(store.folder / "report.html", pages, summary)
    return summary


def _page(store: Store, panel: Panel, rows: pl.DataFrame) -> Page:
    """What the finished runs of a panel tell, in numbers, claims and figures."""
    from surefoot.study.bounds import told
    from surefoot.study.claims import claims
    from surefoot.study.report import Page

    found = of_the_runs(panel, rows)
    found["claims"] = [claim._asdict() for claim in claims(panel, rows)]
    if store.theory:
        found["theory"] = told(panel, rows)
    pictures = _figures(store.folder / panel.name, panel, rows, store.theory)
    return Page(panel, found, pictures)


def _figures(stem: Path, panel: Panel, rows: pl.DataFrame, theory: bool) -> list[tuple[Path, str]]:
    """Draw a panel; its pictures, and what each shows in words."""
    from surefoot.study import bounds_figure, figure

    drawings = [(stem, figure.draw)]
    if theory:
        drawings.append((stem.with_name(f"{stem.name}-theory"), bounds_figure.draw))
    return [
        (stem.with_name(f"{stem.name}.png"), draw(panel, rows, stem)) for stem, draw in drawings
    ]


def _tables(store: Store) -> Iterator[tuple[list[Panel], pl.DataFrame]]:
    """The finished runs of each group, ordered by panel, agent, run and play."""
    import polars as pl

    for name, panels in store.sweep.groups.items():
        with uninterrupted():
            parts = store.load(name)
            if not parts:
                continue
            whole = pl.concat(parts)
            order = pl.col("agent").cast(pl.Enum(panels[0].names()))
            frame = pl.concat(of_panel(whole, panel).sort(order, "run", "t") for panel in panels)
        yield panels, frame


def _write_table(path: Path, tables: list[pl.DataFrame]) -> None:
    import polars as pl

    axes = ("problem", "K", "d", "alpha", "rho")
    whole = pl.concat(tables, how="diagonal")
    first = [axis for axis in axes if axis in whole.columns]
    with replacing(path) as scratch:
        whole.select(*first, pl.exclude(first)).write_parquet(scratch)
