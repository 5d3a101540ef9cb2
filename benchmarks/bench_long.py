"""One run of a billion plays: killed at a random block, gone on with elsewhere, and its memory.

    uv run benchmarks/bench_long.py > benchmarks/LONG.md

The agents are those of a panel of the paper. Three processes take turns: one does the run unbroken;
one is killed with SIGKILL at a block that ``--seed`` picks; one goes on from what that left, in a
folder of another name. Runs are kept every second here, not every 30: else one that takes less
would never be. Four minutes; ``--panel`` and ``--horizon`` for one alone.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from bench_engine import machine, table

from surefoot.simulation import loop, stages
from surefoot.simulation.runner import choose, compile_ahead
from surefoot.study.results import open_runs
from surefoot.study.results.open_runs import OpenRun, open_file, unpacked
from surefoot.study.runs import joint_plan
from surefoot.study.sweep import read

CELL = "0123456789abcdef"
RESULT = "result.npz"
MB = 2**20


class Noting(OpenRun):
    """Counts blocks, and how long writing took."""

    blocks = written = 0
    seconds = 0.0

    def keep(self, state: Any, ending: bool) -> None:
        """As ``OpenRun``."""
        self.blocks += 1
        super().keep(state, ending)

    def _write(self, data: bytes) -> None:
        start = time.perf_counter()
        super()._write(data)
        self.seconds += time.perf_counter() - start
        self.written += 1


def plan(name: str, horizon: int) -> Any:
    """The plan of one panel."""
    return joint_plan([read(name).model_copy(update={"horizon": horizon})])


def work(folder: Path, name: str, horizon: int) -> None:
    """One process: do the run, or what is left of it, and write down what it noted."""
    open_runs.EVERY = 1.0
    mine, engine = plan(name, horizon), choose("compiled")
    compile_ahead(mine, engine)
    keeper = Noting(folder, [CELL], 0)
    wall, cpu = time.perf_counter(), time.process_time()
    traces = mine.run(0, engine, keeper=keeper)
    took = [time.perf_counter() - wall, time.process_time() - cpu, keeper.blocks]
    found = {f"{who}.{what}": getattr(trace, what)
             for who, trace in traces.items() for what in ("books", "losses")}  # fmt: skip
    np.savez(folder / RESULT, took=[*took, keeper.written, keeper.seconds], **found)


class Worker:
    """A process that works, and its memory over time."""

    def __init__(self, folder: Path, name: str, horizon: int) -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.memory = folder, list[tuple[float, float]]()
        self.start = time.perf_counter()
        command = [sys.executable, __file__, "--panel", name, "--horizon", str(horizon)]
        self.process = subprocess.Popen([*command, "--worker", str(folder)])  # noqa: S603 # our own

    def alive(self) -> bool:
        """Whether it still works; notes its memory."""
        if self.process.poll() is not None:
            return False
        try:
            rss = psutil.Process(self.process.pid).memory_info().rss / MB
        except psutil.NoSuchProcess:
            return False
        if rss > 0:  # it has not ended meanwhile
            self.memory.append((time.perf_counter() - self.start, rss))
        time.sleep(0.1)
        return True

    def wait(self) -> Any:
        """Its result."""
        while self.alive():
            pass
        if self.process.wait() != 0:
            raise SystemExit(f"the worker in {self.folder} failed")
        with np.load(self.folder / RESULT) as read_:
            return dict(read_)

    def kill_after(self, blocks: int, size: int, stages_before: int) -> int:
        """SIGKILL it once it has kept a later block; how many bytes it left."""
        file = open_file(self.folder, [CELL], 0)
        while self.alive():
            if file.exists():
                state = unpacked(file.read_bytes())
                stage, turns = int(state["stage"][0]), int(state["now.turns"][0])
                if stage > stages_before or (stage == stages_before and turns >= blocks * size):
                    self.process.kill()
                    self.process.wait()
                    return file.stat().st_size
        raise SystemExit("the run ended before it was to be killed; give another --seed")


def tenths(memory: list[tuple[float, float]]) -> str:
    """The memory at each tenth of the time."""
    at = (memory[min(len(memory) - 1, len(memory) * i // 10)][1] for i in range(1, 11))
    return ", ".join(f"{one:.1f}" for one in at)


def measure(name: str, horizon: int, seed: int) -> str:
    """The text of the page."""
    mine = plan(name, horizon)
    size = -(-horizon // -(-horizon // stages.BLOCK))
    blocks, paths = -(-horizon // size), len(mine.paths)
    at = random.Random(seed).randrange(blocks * paths * 9 // 10)  # noqa: S311 # no secret
    with tempfile.TemporaryDirectory() as scratch:
        here, there, whole = (Path(scratch) / part for part in ("here", "there", "whole"))
        unbroken = Worker(whole, name, horizon)
        expected = unbroken.wait()
        killed = Worker(here, name, horizon)
        left = killed.kill_after(at % blocks, size, at // blocks)
        shutil.move(here, there)
        again = Worker(there, name, horizon)
        found = again.wait()
    took, rest = expected.pop("took").tolist(), found.pop("took").tolist()
    equal = all(expected[key].tobytes() == found[key].tobytes() for key in expected)
    if list(expected) != list(found) or not equal:
        raise SystemExit("the run that was killed differs from the unbroken one")
    kept = {key: rows[-1] for key, rows in expected.items() if key.endswith(".books")}
    plays = horizon * len(kept)
    below = ", ".join(
        f"{who.removesuffix(f' alpha={read(name).alpha}.books')} {row[loop.BELOW]:,}"
        for who, row in kept.items()
    )
    what = [name, f"{horizon:,}", f"{len(kept)}", f"{blocks * paths:,}", f"{at:,}"]
    return f"""{table(["panel", "T", "agents", "blocks", "killed behind"], [what])}

The run that was killed and the unbroken one are equal in every column of every checkpoint. Plays
below the floor, as the exact books have it: {below}.

{
        table(
            ["", "wall s", "CPU s", "CPU ns a play", "blocks", "kept", "ms each"],
            [
                row("unbroken", took, f"{1e9 * took[1] / plays:.1f}"),
                row("what was left", rest, ""),
            ],
        )
    }

A kept state has {left / 1000:.0f} kB. The unbroken process had, in MB at each tenth of its time,
{tenths(unbroken.memory)}; the one that went on {tenths(again.memory)}.
"""


def row(what: str, took: list[float], each: str) -> list[str]:
    """How long a process took."""
    wall, cpu, blocks, kept, seconds = took
    return [
        what, f"{wall:.1f}", f"{cpu:.1f}", each, f"{blocks:,.0f}", f"{kept:.0f}",
        f"{1e3 * seconds / max(1, kept):.1f}",
    ]  # fmt: skip


PAGE = {
    "cmab-K72-alpha0.05": 10**9,
    "mv-K72-alpha0.05-rho60": 10**9,
    "clb-d9-alpha0.01": 2 * 10**7,
    "cccb-d9-alpha0.01": 5 * 10**6,
}
"""How many plays of which panels are measured for the page."""
HEAD = """# One long run, killed and gone on with

Written by `benchmarks/bench_long.py`. One run of the agents of a panel of the paper, three times:
unbroken; killed with SIGKILL once a state behind a block picked at random was on disk; and what was
left of it, by another process, in a folder of another name. A state is written every second here,
every 30 seconds in a study. A play is one play of one agent.
"""


def main() -> None:
    """Measure, and write the results to the terminal."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--horizon", type=int, default=10**9)
    options.add_argument("--panel")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--worker", type=Path)
    given = options.parse_args()
    if given.worker is not None:
        work(given.worker, given.panel, given.horizon)
        return
    if given.panel is None:
        sys.stdout.write(HEAD)
    for name, horizon in ({given.panel: given.horizon} if given.panel else PAGE).items():
        text = measure(name, horizon, given.seed)
        when, load = datetime.now(UTC), os.getloadavg()[0]
        sys.stdout.write(
            f"\n## {name}\n\nMeasured on {when:%d %B %Y}: {machine()}, load {load:.1f}.\n\n{text}"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
