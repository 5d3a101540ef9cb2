"""What a study costs beside its plays, and what a cluster adds: two workers on this machine.

    uv run benchmarks/bench_scale.py > benchmarks/SCALE.md

Scheduler, client and both workers share the cores with each other, as they would not on a cluster.
By hand: two processes, each with half of the runs in a loop and one file at the end. Both forms are
measured in turns, from workers that have compiled and played already. Takes some eight minutes on
two idle cores.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from bench_engine import machine, table

from surefoot.simulation.runner import choose, compile_ahead
from surefoot.study.experiment import steps_of_study
from surefoot.study.problems import MAIN
from surefoot.study.results.rows import axes_of
from surefoot.study.results.rows import table as rows_of
from surefoot.study.results.store import Store
from surefoot.study.runs import joint_plan
from surefoot.study.scheduling import tasks
from surefoot.study.scheduling.executors import Cluster
from surefoot.study.scheduling.schedule import Job, drive
from surefoot.study.sweep import Sweep, read

WORKERS, HAND = 2, "--by-hand"
PANEL = Sweep.of(read(MAIN["cmab"])).but(K=(72,), alpha=(0.05,), horizon=100_000)
SMALL = Sweep.of(read(MAIN["cmab"])).but(K=(2,), alpha=(0.05,), horizon=2)


class Timed(NamedTuple):
    """A study on the cluster."""

    wall: float
    cpu: float
    """Seconds of all processes: client, scheduler and workers."""
    filled: float
    """Seconds in tasks, of the workers' seconds."""
    tasks: int


class Group:
    """A scheduler and its workers, ended with the block."""

    def __init__(self, folder: Path) -> None:
        said = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--scheduler-file", said, "--port", "0")
        while not said.exists():
            time.sleep(0.05)
        time.sleep(0.5)
        self.address = json.loads(said.read_text())["address"]
        words = ("worker", self.address, "--nthreads", "1", "--no-nanny")
        self._all = [self.scheduler, *(self._start(*words) for _ in range(WORKERS))]

    @staticmethod
    def _start(kind: str, *words: Any) -> subprocess.Popen[bytes]:
        environ = {
            **os.environ, "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
            "DASK_DISTRIBUTED__ADMIN__LOW_LEVEL_LOG_LENGTH": "100",
        }  # fmt: skip
        fixed = ("--host", "127.0.0.1", "--no-dashboard")
        command = [sys.executable, "-m", "dask", kind, *map(str, words), *fixed]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(command, env=environ, stdout=quiet, stderr=quiet)  # noqa: S603

    def end(self) -> None:
        for one in self._all:
            one.kill()
            one.wait()

    @property
    def cpu(self) -> float:
        """Seconds that all processes have had, this one too."""
        ticks = 0
        for one in self._all:
            stat = Path(f"/proc/{one.pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(stat[11]) + int(stat[12])
        return ticks / os.sysconf("SC_CLK_TCK") + time.process_time()

    @property
    def memory(self) -> float:
        """MB of the scheduler that are resident."""
        pages = Path(f"/proc/{self.scheduler.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def group(folder: Path) -> Iterator[tuple[Group, Cluster]]:
    """Workers that wait for work."""
    made = Group(folder)
    crew = Cluster(made.address)
    try:
        while crew.workers() < WORKERS:
            time.sleep(0.1)
        yield made, crew
    finally:
        crew.close()
        made.end()


def on_cluster(made: Group, crew: Cluster, runs: int, folder: Path) -> Timed:
    """The study by the workers of a cluster."""
    store, began, cpu = Store(folder, PANEL.but(runs=runs)), time.perf_counter(), made.cpu
    list(steps_of_study(store, crew=crew))
    wall, cpu = time.perf_counter() - began, made.cpu - cpu
    log = [json.loads(line) for line in (folder / "log.ndjson").read_text().splitlines()]
    return Timed(wall, cpu, sum(one["seconds"] for one in log) / (WORKERS * wall), len(log))


def by_hand(runs: int, folder: Path) -> tuple[float, float]:
    """The same by two processes that have compiled and played: seconds on the clock, of CPU."""
    half = runs // WORKERS
    each = [
        subprocess.Popen(  # noqa: S603
            [sys.executable, __file__, HAND, str(i * half), str((i + 1) * half), str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for i in range(WORKERS)
    ]  # fmt: skip
    for one in each:
        assert one.stdout is not None
        one.stdout.readline()
    began = time.perf_counter()
    for one in each:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    cpu = 0.0
    for one in each:
        assert one.stdout is not None
        cpu += float(one.stdout.readline())
    wall = time.perf_counter() - began
    for one in each:
        assert one.wait() == 0
    return wall, cpu


def hand(first: int, stop: int, folder: Path) -> None:
    """One of these processes."""
    (panel,) = PANEL.panels
    plan, engine = joint_plan([panel]), choose("compiled")
    compile_ahead(plan, engine)
    plan.run(10**6, engine)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    began = time.process_time()
    found = {run: plan.run(run, engine) for run in range(first, stop)}
    folder.mkdir(exist_ok=True)
    frame = rows_of("by hand", panel, plan, found, axes_of([panel]))
    frame.write_parquet(folder / f"{first}.parquet")
    sys.stdout.write(f"{time.process_time() - began}\n")


def outside(runs: int, folder: Path) -> list[tuple[float, float]]:
    """Milliseconds a run outside ``plan.run``, of tasks of so many runs: on the clock, of CPU."""
    store = Store(folder, PANEL.but(runs=7 * runs))
    store.claim()
    (task,) = tasks.due(store, *store.sweep.groups.values())
    plan = tasks._rebuilt(tasks.cells.canonical([one["settings"] for one in task["panels"]])).plan
    compile_ahead(plan, choose("compiled"))
    run, spent = plan.run, np.zeros(2)

    def now() -> Any:
        return np.array([time.perf_counter(), time.process_time()])

    def timed(*words: Any, **more: Any) -> Any:
        nonlocal spent
        began = now()
        try:
            return run(*words, **more)
        finally:
            spent += now() - began

    plan.run = timed  # type: ignore[method-assign]
    found = []
    for number in range(6):
        spent, began = np.zeros(2), now()
        tasks.carry_out({**task, "first": number * runs, "last": (number + 1) * runs - 1})
        found.append(tuple(1e3 * (now() - began - spent) / runs))
    return found[1:]  # the first imports polars


def many(made: Group, crew: Cluster, count: int, folder: Path) -> tuple[float, float, float]:
    """MB of the scheduler before and after ``count`` tasks of 100 runs, and ms a run."""
    store = Store(folder, SMALL.but(runs=100 * count))
    store.claim()
    (whole,) = tasks.due(store, *store.sweep.groups.values())
    pieces = [{**whole, "first": 100 * i, "last": 100 * i + 99} for i in range(count)]
    list(drive([Job("warm", "warm", pieces[:20])], crew))
    time.sleep(2)
    before, began = made.memory, time.perf_counter()
    list(drive([Job("many", "warm", pieces[20:])], crew))
    took = time.perf_counter() - began
    return before, made.memory, 1e3 * took * WORKERS / (100 * (count - 20))


def main() -> None:
    """Measure, and write the results to the terminal."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of the runs, and rougher")
    quick = parser.parse_args().quick
    runs, count, times = (400, 120, 1) if quick else (2_000, 1_000, 3)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        cost = outside(100, folder / "outside")
        cluster: list[Timed] = []
        hands: list[tuple[float, float]] = []
        with group(folder) as (workers, crew):
            on_cluster(workers, crew, 40, folder / "warm")
            for number in range(times):
                cluster.append(on_cluster(workers, crew, runs, folder / f"cluster-{number}"))
                hands.append(by_hand(runs, folder / f"hand-{number}"))
            before, after, each = many(workers, crew, count, folder / "many")
    wall, cpu = zip(*cost, strict=True)
    walls, cpus = zip(*hands, strict=True)
    theirs = median(one.wall for one in cluster), median(one.cpu for one in cluster)
    spread = " ".join(f"{hand / one.wall:.2f}" for hand, one in zip(walls, cluster, strict=True))
    lines = [
        [f"{runs:,} runs, two processes by hand",
         f"{median(walls):.1f} s, {median(cpus):.1f} s of CPU", ""],
        [f"{runs:,} runs, two workers of a cluster",
         f"{theirs[0]:.1f} s, {theirs[1]:.1f} s of CPU in {cluster[0].tasks} tasks", ""],
        ["by hand / cluster, on the clock", f"{median(walls) / theirs[0]:.2f} ({spread})",
         "0.8 or more"],
        ["by hand / cluster, of CPU", f"{median(cpus) / theirs[1]:.2f}", ""],
        ["seconds in tasks, of workers x wall",
         f"{median(one.filled for one in cluster):.2f}", "0.85 or more"],
        [f"{100 * count:,} runs as {count:,} tasks: the scheduler's memory",
         f"{before:.0f} -> {after:.0f} MB ({after - before:+.1f})", "+10 MB at most"],
        ["the same: time of a worker for a run of 2 plays", f"{each:.1f} ms", ""],
        ["a run outside its plays, 100 runs a part",
         f"{median(wall):.2f} ms ({min(wall):.2f} to {max(wall):.2f})", "2 ms at most"],
        ["the same, of CPU", f"{median(cpu):.2f} ms", ""],
    ]  # fmt: skip
    form, often = " --quick" * quick, f"{times} time{'s' * (times > 1)}"
    points = len(joint_plan(PANEL.panels).checkpoints)
    sys.stdout.write(f"""\
# Studies at scale, measured

Written by `benchmarks/bench_scale.py{form}` on {machine()}.

CMAB, K = 72, alpha = 0.05, three agents, T = 100,000, {points} checkpoints. A scheduler, a client
and two workers of dask on the same two cores; by hand: two processes, each with half of the runs
and one file. In turns, {often}; medians, each ratio in brackets; from workers that have compiled
and played. Dask is set as docs/howto/cluster.md says: no profiler, short logs of messages.

{table(["what", "measured", "wanted"], lines)}
""")


if __name__ == "__main__":
    if sys.argv[1:2] == [HAND]:
        hand(int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
    else:
        main()
