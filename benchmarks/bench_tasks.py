"""What a run of a study costs beside its plays, in tasks of 1, 10 and 100 runs.

    uv run benchmarks/bench_tasks.py > benchmarks/TASKS.md

A task looks what is there, plays, makes a table of all its runs, hashes, writes and syncs a part.
The plays are the time within ``Plan.run``; the rest, which depends on the checkpoints and not on
the plays, is the best of several tasks, by the clock and in CPU time of all threads. A minute.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench_engine import machine, table
from usage import explain

from surefoot.simulation import Plan
from surefoot.study.problems import MAIN
from surefoot.study.results.store import Store
from surefoot.study.runs import checkpoints
from surefoot.study.scheduling.tasks import carry_out, cut, due
from surefoot.study.sweep import Sweep, read

SIZES, TASKS, HORIZON = (1, 10, 100), 4, 10_000


class Clocks:
    """Wall and CPU seconds within ``Plan.run``, and of whole tasks."""

    def __init__(self) -> None:
        self.wall = self.cpu = 0.0

    def of(self, function: Callable[..., Any], *given: Any) -> Any:
        """Call a function and add what it took."""
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            return function(*given)
        finally:
            self.wall += time.perf_counter() - wall
            self.cpu += time.process_time() - cpu


def beside(problem: str, size: int, folder: Path) -> list[str]:
    """A line: milliseconds a run within the plays and beside them, of tasks of one size."""
    sweep = Sweep.of(read(MAIN[problem])).but(runs=size * TASKS + 1, horizon=HORIZON)
    store = Store(folder / f"{problem}-{size}", sweep)
    store.claim()
    ((group, _),) = sweep.groups.items()
    (task,) = due(store, store.sweep.groups[group])
    piece, rest = cut(task, 1)
    carry_out(piece)  # compiles
    play, found = Plan.run, []
    while rest is not None:
        inside, whole = Clocks(), Clocks()
        piece, rest = cut(rest, size)
        Plan.run = lambda *given, inside=inside: inside.of(play, *given)  # type: ignore[method-assign]
        try:
            whole.of(carry_out, piece)
        finally:
            Plan.run = play  # type: ignore[method-assign]
        found.append((inside.wall, whole.wall - inside.wall, whole.cpu - inside.cpu))
    each = [min(times) * 1e3 / size for times in zip(*found, strict=True)]
    return [problem, str(size), *(f"{one:.2f}" for one in each)]


def load() -> str:
    """How much else ran."""
    return (
        f"Processes that were running meanwhile: {os.getloadavg()[0]:.0f}; the clock counts their "
        "work too, CPU time does not."
    )


def main() -> None:
    """Measure, and print Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [beside(problem, size, Path(folder)) for problem in MAIN for size in SIZES]
    head = ["panel", "runs a task", "plays, ms a run", "beside, ms a run", "of it CPU ms"]
    sys.stdout.write(
        f"# What a run costs beside its plays\n\n{datetime.now(UTC):%Y-%m-%d}, {machine()}. "
        f"Runs of {HORIZON:,} plays with {len(checkpoints(HORIZON))} checkpoints. {load()}\n\n"
        f"{table(head, rows)}\n"
    )


if __name__ == "__main__":
    explain(__doc__)
    main()
