"""From settings to files: do the runs that are missing, then write what they show."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.simulation.checks import positive
from surefoot.simulation.runner import choose, compile_ahead, cores, in_threads, warm
from surefoot.study import better_findings, better_pages, files, open_runs
from surefoot.study.better import BetterRuns
from surefoot.study.compare import Comparison, ComparisonFindings
from surefoot.study.compare_chart import draw_comparison
from surefoot.study.figures import draw_panel, draw_theory
from surefoot.study.files import replacing, require, to_json, uninterrupted, versions, write_json
from surefoot.study.findings import found_in
from surefoot.study.logs.backtest import Backtest, BacktestFindings
from surefoot.study.logs.backtest_chart import draw_backtest
from surefoot.study.logs.outlook import Outlook, OutlookFindings
from surefoot.study.logs.outlook_chart import draw_outlook
from surefoot.study.manifest import MANIFEST, PARTS
from surefoot.study.report import Page, write_report
from surefoot.study.results import PanelRuns, Store, write_table
from surefoot.study.runs import Step, joint_plan
from surefoot.study.tasks import carry_out, cut


def run_study(store: Store, workers: int | None = None) -> Iterator[Step]:
    """Do the runs of a study that are missing, by tasks; stop whenever you like.

    ``workers``: threads, by default one a core. A step counts the runs of all panels.
    """
    require("numba", "polars", "matplotlib")
    count = cores() if workers is None else positive(workers, "workers")
    groups = store.sweep.groups
    plans = {name: joint_plan(panels) for name, panels in groups.items()}
    store.claim()  # not before everything that was asked for is known to fit
    due = {name: store.due(name) for name in groups}
    done = store.done
    total = done + sum(map(_runs, chain(*due.values())))
    yield Step("starting", done, total)
    loops = choose("compiled")
    left = [plans[name] for name in groups if due[name]]
    if not all(warm(plan, loops) for plan in left):
        yield Step("compiling", done, total)
        for plan in left:
            compile_ahead(plan, loops)
    jobs = (
        partial(_carried_out, piece)
        for tasks in due.values()
        for task in tasks
        for piece in _pieces(task, max(1, (task["last"] - task["first"] + 1) // (3 * count)))
    )
    for finished in in_threads(jobs, count):
        done += finished
        yield Step("running", done, total)


def _runs(task: JsonObject) -> int:
    return int(task["last"] - task["first"] + 1) * len(task["panels"])


def _pieces(task: JsonObject, size: int) -> Iterator[JsonObject]:
    rest: JsonObject | None = task
    while rest is not None:
        piece, rest = cut(rest, size)
        yield piece


def _carried_out(task: JsonObject, stopped: Callable[[], bool]) -> int:
    carry_out(task, stopped)
    return _runs(task)


def write_study(store: Store, drawn: Callable[[], object] = lambda: None) -> JsonObject:
    """Write tables, figures and the report of the runs that are finished; return the summary.

    What is written depends on the finished runs only, not on how often the study stopped; where
    the store says so, the theorems are drawn too. ``drawn`` is called after each panel.
    """
    store.check()
    pages = []
    for cell, panel in store.cells.items():
        if store.finished(cell):
            with uninterrupted():
                runs = PanelRuns(panel, store.rows(cell))
                found = found_in(runs, theory=store.theory)
                pages.append(Page(panel, found, _draw(store, runs)))
            drawn()
    entries = [page.found for page in pages]
    summary = {"panels": entries, "seed": store.sweep.seed, "versions": versions()}
    if entries:
        with uninterrupted():
            write_table(store)
        write_json(store.folder / "summary.json", summary)
        write_report(store.folder / "report.html", pages, summary)
    if store.complete:
        open_runs.clear(store.folder)  # of tasks that were done twice
    return summary


def write_better(study: BetterRuns) -> JsonObject:
    """Write figure, page and summary of the runs that are finished; return the summary."""
    summary, stem = better_findings.found_in(study), study.folder / "better"
    if summary["families"]:
        with uninterrupted():
            better_pages.write_page(summary, stem, better_pages.draw(summary, stem))
        write_json(study.folder / "better.json", summary)
    return summary


def claim(asked: Backtest | Outlook | Comparison, folder: Path, *, overwrite: bool = False) -> None:
    """Make sure that all can be drawn and written to a folder, before it takes its time.

    A folder is used again for the very same settings, or with ``overwrite``; never the folder of a
    study whose files have the same names.
    """
    require("numba", "matplotlib")
    names = asked.files()
    if "summary.json" in names and (folder / MANIFEST).exists():
        raise InvalidInput(f"{folder} holds a study; give another --out")
    found = files.read_json(folder / names[0])
    here = found.get("settings", found) if isinstance(found, dict) else {}
    wanted = json.loads(to_json(asked.settings()))
    same = {key: here.get(key) for key in wanted} == wanted
    files.claim(folder, names, overwrite=overwrite, same=same)


def write(
    found: BacktestFindings | OutlookFindings | ComparisonFindings, folder: Path
) -> JsonObject:
    """Write the chart, the runs of a backtest and, last, the summary; return the summary.

    What is there is replaced, and nothing else: ``claim`` the folder first.
    """
    names = _asked(found).files()
    for name in names:
        (folder / name).unlink(missing_ok=True)
    with uninterrupted():
        summary = found.summary()
        if isinstance(found, ComparisonFindings):
            draw_comparison(found, summary, folder / "compare")
        elif isinstance(found, OutlookFindings):
            draw_outlook(found, folder / found.outlook.chart)
        else:
            draw_backtest(found, folder / found.backtest.chart)
            with replacing(folder / "runs.parquet") as scratch:
                found.frame.write_parquet(scratch)
    write_json(folder / names[0], summary)
    return summary


def _asked(
    found: BacktestFindings | OutlookFindings | ComparisonFindings,
) -> Backtest | Outlook | Comparison:
    if isinstance(found, ComparisonFindings):
        return found.comparison
    return found.outlook if isinstance(found, OutlookFindings) else found.backtest


def _draw(store: Store, runs: PanelRuns) -> list[tuple[Path, str]]:
    """Draw a panel; its pictures, and what each shows in words."""
    drawn = []
    for end, draw in zip(PARTS, (draw_panel, draw_theory), strict=True):
        if not end or store.theory:
            stem = store.folder / f"{runs.panel.name}{end}"
            drawn.append((stem.with_name(f"{stem.name}.png"), draw(runs, stem)))
    return drawn
