"""What a study costs: CPU time against arms, dimensions, plays and workers; a report's memory.

    uv run benchmarks/bench_costs.py > benchmarks/COSTS.md

CPU time is of a thread, so that other work on the machine weighs little; the least of several runs
counts. A play is one play of one agent. Three minutes on an idle machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from bench_engine import machine, table
from usage import explain

import surefoot as sf
from surefoot.simulation import Plan
from surefoot.simulation.runner import choose, compile_ahead
from surefoot.study.panel import Panel
from surefoot.study.problems import MAIN
from surefoot.study.results.parts import Part
from surefoot.study.results.rows import schema
from surefoot.study.results.store import Store
from surefoot.study.runs import checkpoints, joint_plan
from surefoot.study.sweep import Sweep, read

REPEATS = 3
PARTS = 20
MEASURES = (
    "regret", "regular_regret", "default_regret", "default_plays", "received", "slack",
    "minimum_slack", "violating_rounds",
)  # fmt: skip


def panels(problem: str, **changes: Any) -> tuple[Panel, ...]:
    """The panels of the paper's main figure of a problem, with some fields changed."""
    return Sweep.of(read(MAIN[problem])).but(**changes).panels


def seconds(group: Sequence[Panel], runs: int = REPEATS) -> float:
    """The least CPU time of a run of a group."""
    plan, engine = joint_plan(group), choose("compiled")
    compile_ahead(plan, engine)
    taken = []
    for number in range(runs):
        start = time.thread_time()
        plan.run(number, engine)
        taken.append(time.thread_time() - start)
    return min(taken)


def per_play(problem: str, horizon: int, **place: Any) -> str:
    """Nanoseconds a play of one agent."""
    group = panels(problem, horizon=horizon, **place)
    agents = sum(len(panel.names()) for panel in group)
    return f"{seconds(group) / horizon / agents * 1e9:.1f}"


def arms() -> list[list[str]]:
    """Cost against K, of sums and of mean-variance."""
    return [
        [f"{K:,}", per_play("cmab", 100_000, K=(K,)), per_play("mv", 100_000, K=(K,))]
        for K in (24, 72, 144, 1_000)
    ]


def dimensions() -> list[list[str]]:
    """Cost against d, of linear arms and of super arms."""
    return [
        [str(d), per_play("clb", 30_000, d=(d,)), per_play("cccb", 30_000, d=(d,))]
        for d in (5, 10, 20, 40)
    ]


def horizons() -> list[list[str]]:
    """Cost against T."""
    return [
        [f"{T:,}", per_play("cmab", T), per_play("clb", T)] for T in (10_000, 100_000, 1_000_000)
    ]


def alphas() -> list[list[str]]:
    """Cost of more alphas, which share the turns of their policies."""
    rows = []
    for count in (1, 4, 16):
        group = panels("cmab", alpha=tuple(n / 100 for n in range(1, count + 1)))
        took = seconds(group)
        rows.append([str(count), f"{took * 1e3:.1f}", f"{took / count * 1e3:.1f}"])
    return rows


class Fixed:
    """The least that a policy of one's own can be: it always plays arm 0."""

    n_arms = 72

    def select(self, context: Any, rng: Any) -> int:
        """The arm."""
        return 0

    def update(self, arm: int, reward: float, context: Any) -> None:
        """Learn nothing."""

    def state(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Take nothing back."""


def own() -> list[list[str]]:
    """Cost of a play of a policy of one's own, which is driven play by play."""
    (panel,) = panels("cmab")
    policy: Any = Fixed()
    agents = {"fixed": sf.GenCB(policy, panel.floor())}
    plan = Plan(agents, panel.environment(), 5_000, 0)
    taken = []
    for number in range(REPEATS):
        start = time.thread_time()
        plan.run(number, choose("compiled"))
        taken.append(time.thread_time() - start)
    return [["always arm 0", f"{min(taken) / 5_000 * 1e6:.1f}"]]


def workers() -> list[list[str]]:
    """60 runs on one thread and on two, interleaved: wall time, and CPU time a run."""
    (panel,) = panels("cmab")
    plan, engine = joint_plan([panel]), choose("compiled")
    compile_ahead(plan, engine)

    def one(number: int) -> float:
        start = time.thread_time()
        plan.run(number, engine)
        return time.thread_time() - start

    wall: dict[int, list[float]] = {1: [], 2: []}
    cpu: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(REPEATS):
        for count, taken in wall.items():
            with ThreadPoolExecutor(count) as pool:
                start = time.perf_counter()
                cpu[count].append(float(np.median(list(pool.map(one, range(60))))))
                taken.append(time.perf_counter() - start)
    return [
        [str(n), f"{60 / min(wall[n]):.1f}", f"{min(wall[1]) / min(wall[n]):.2f}",
         f"{min(cpu[n]) * 1e3:.1f}"]
        for n in wall
    ]  # fmt: skip


def made_up(folder: Path, cells: int, runs: int) -> None:
    """A finished study of so many panels and runs, of random numbers: only its size matters."""
    sweep = Sweep.of(
        *panels("cmab", alpha=tuple(n / 1_000 for n in range(1, cells + 1)), runs=runs)
    )
    store = Store(folder, sweep)
    store.claim()
    rng, each = np.random.default_rng(0), runs // PARTS
    t = checkpoints(sweep.panels[0].horizon)
    for cell, panel in store.cells.items():
        store.place(cell).mkdir(parents=True)
        for first in range(0, runs, each):
            rows = each * len(t)
            frame = pl.concat(
                pl.DataFrame(
                    {
                        "agent": [name] * rows,
                        "run": np.repeat(np.arange(first, first + each), len(t)),
                        "t": np.tile(t, each),
                        **{measure: np.sort(rng.random(rows)) for measure in MEASURES},
                    }
                )
                for name in panel.names()
            )
            place = {"cell": cell, "problem": "cmab", **panel.place}
            columns = {
                name: frame[name] if name in frame.columns else pl.Series([place.get(name)])
                for name in schema(store.axes)
            }
            full = frame.select(
                (
                    pl.col(name) if name in frame.columns else pl.lit(columns[name][0]).alias(name)
                ).cast(kind)
                for name, kind in schema(store.axes).items()
            )
            full.write_parquet(store.place(cell) / Part(first, first + each - 1).name)


def reports() -> list[list[str]]:
    """Time and peak memory of ``surefoot study report`` on studies of several sizes."""
    rows = []
    for cells, runs in ((2, 100), (20, 100), (1, 2_000), (3, 2_000)):
        with tempfile.TemporaryDirectory() as folder:
            made_up(Path(folder) / "out", cells, runs)
            size = sum(file.stat().st_size for file in (Path(folder) / "out").rglob("*.parquet"))
            command = [sys.executable, "-m", "surefoot", "study", "report", f"{folder}/out"]
            child = subprocess.Popen(  # noqa: S603 # our own
                command,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode:
                raise SystemExit(f"the report of {cells} panels ended with {child.returncode}")
            cpu = usage.ru_utime + usage.ru_stime
            peak = f"{usage.ru_maxrss / 1024:,.0f}"
            rows.append([f"{cells}", f"{runs:,}", f"{size / 1e6:,.0f}", f"{cpu:.1f}", peak])
    return rows


HEAD = """# What a study costs

Written by `benchmarks/bench_costs.py`. CPU time is of a thread, so that other work on the machine
weighs little. A play is one play of one agent.

"""


def main() -> None:
    """Print the page, a table as soon as it is measured."""
    ns = "CPU ns a play"
    sections: list[tuple[str, list[str], Callable[[], list[list[str]]]]] = [
        ("Against the number of arms K, at T = 100,000",
         ["K", f"CMAB, {ns}", f"mean-variance, {ns}"], arms),
        ("Against the dimension d (2d arms), at T = 30,000",
         ["d", f"linear arms, {ns}", f"super arms, {ns}"], dimensions),
        ("Against the plays T, K = 72 and d = 5", ["T", f"CMAB, {ns}", f"linear arms, {ns}"],
         horizons),
        ("Against the number of alphas in one plan: CMAB, K = 72, T = 100,000, CPU ms",
         ["alphas", "a run of all", "for each alpha"], alphas),
        ("A policy of one's own in plain Python, guarded by GenCB",
         ["policy", "CPU us a play"], own),
        ("Threads of one process: CMAB, K = 72, T = 100,000, 60 runs",
         ["threads", "runs a second", "times one thread", "CPU ms a run"], workers),
        ("`surefoot study report`: CMAB with three agents, made-up numbers",
         ["panels", "runs of each", "MB of parts", "CPU s", "peak MB"], reports),
    ]  # fmt: skip
    sys.stdout.write(f"{HEAD}{machine()}, load {os.getloadavg()[0]:.1f}.\n")
    for title, head, measure in sections:
        sys.stdout.write(f"\n{title}:\n\n{table(head, measure())}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    explain(__doc__)
    main()
