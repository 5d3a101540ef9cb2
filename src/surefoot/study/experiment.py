"""From settings to files: do the runs that are missing, then write what they show."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.simulation.plan import Plan
from surefoot.simulation.runner import choose, kind_of
from surefoot.study import files
from surefoot.study.better import findings as better_findings
from surefoot.study.better import pages as better_pages
from surefoot.study.better.runs import BetterRuns
from surefoot.study.compare.chart import draw_comparison
from surefoot.study.compare.compare import Comparison, ComparisonFindings
from surefoot.study.files import require, to_json, uninterrupted, write_json
from surefoot.study.logs.backtest import Backtest
from surefoot.study.logs.backtest_chart import draw_backtest
from surefoot.study.logs.backtest_runs import BacktestRuns
from surefoot.study.logs.outlook import Outlook, OutlookFindings
from surefoot.study.logs.outlook_chart import draw_outlook
from surefoot.study.logs.rejection_backtest import RejectionBacktest, RejectionRuns
from surefoot.study.panel import Panel
from surefoot.study.report.publish import publish
from surefoot.study.results import open_runs
from surefoot.study.results.manifest import MANIFEST
from surefoot.study.results.parts import of_shard
from surefoot.study.results.sealed import put
from surefoot.study.results.store import Store
from surefoot.study.runs import Step, compiled, joint_plan
from surefoot.study.scheduling.executors import Crew, Local
from surefoot.study.scheduling.schedule import WHOLE, Job, Shard, drive, weight
from surefoot.study.scheduling.tasks import due


def steps_of_study(
    store: Store, workers: int | None = None, *, crew: Crew | None = None, shard: Shard = WHOLE
) -> Iterator[Step]:
    """Do the runs of a study that are missing, by tasks; stop whenever you like.

    ``crew``: who does them, by default ``workers`` threads of this process, one a core, and as many
    spawned processes for what is the user's own Python. ``shard``: the part that is done here. A
    step counts the runs of all panels.
    """
    require("numba", "polars", "matplotlib")
    doing = crew or Local(workers)
    try:
        groups, firsts = store.sweep.groups, dict[str, Plan]()
        kinds = {}
        for name, panels in groups.items():
            plan = joint_plan(panels)
            kinds[name] = kind_of(plan) or name
            if not foreign(panels):
                firsts.setdefault(kinds[name], plan)
        store.claim()  # not before everything that was asked for is known to fit
        jobs = [
            Job(name, kinds[name], tasks, foreign(panels))
            for name, panels in groups.items()
            if (tasks := due(store, panels, *shard))
        ]
        left = sum(weight(task) for job in jobs for task in job.tasks)
        wanted = sum(map(len, of_shard([range(store.sweep.runs)], *shard)))
        before = wanted * len(store.sweep.panels) - left
        yield Step("starting", before, before + left)
        if isinstance(doing, Local):
            fresh = [firsts[kind] for kind in firsts if any(job.kind == kind for job in jobs)]
            yield from compiled(fresh, choose("compiled"), before, before + left)
        yield from drive(jobs, doing, before=before)
    finally:
        if crew is None:
            doing.close()


def foreign(panels: Sequence[Panel]) -> bool:
    """Whether panels that are run together have Python of the user's own in them."""
    return any(panel.foreign for panel in panels)


def write_study(store: Store, drawn: Callable[[], object] = lambda: None) -> JsonObject:
    """Write tables, figures and the report of the runs that are finished; return the summary.

    What is written depends on the finished runs only, not on how often the study stopped; where
    the store says so, the theorems are drawn too. ``drawn`` is called after each panel.
    """
    store.check()
    summary = publish(store, drawn, theory=store.theory)
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


def claim(
    asked: BacktestRuns | RejectionRuns | Outlook | Comparison,
    folder: Path,
    *,
    overwrite: bool = False,
) -> None:
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
    found: Backtest | RejectionBacktest | OutlookFindings | ComparisonFindings, folder: Path
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
            if isinstance(found, Backtest):
                draw_backtest(found, folder / found.runs.chart)
                put(folder / "worlds.parquet", found.worlds)
            put(folder / "runs.parquet", found.frame)
    write_json(folder / names[0], summary)
    return summary


def _asked(
    found: Backtest | RejectionBacktest | OutlookFindings | ComparisonFindings,
) -> BacktestRuns | RejectionRuns | Outlook | Comparison:
    if isinstance(found, ComparisonFindings):
        return found.comparison
    return found.outlook if isinstance(found, OutlookFindings) else found.runs
