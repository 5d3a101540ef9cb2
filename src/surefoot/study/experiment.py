"""A study from settings to files: do the runs that are missing, then write what they show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from surefoot._types import JsonObject
from surefoot.simulation.plan import Plan
from surefoot.simulation.runner import choose, kind_of
from surefoot.study.files import require
from surefoot.study.panel import Panel
from surefoot.study.report.publish import publish
from surefoot.study.results import open_runs
from surefoot.study.results.parts import of_shard
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
