"""What leases save: workers that decide under one beside workers that ask the store each time.

    uv run benchmarks/bench_leases.py [postgresql://user@host/database]

One Markdown table: plays a second, each decided and reported through `surefoot.Live` by 8 worker
processes on one SQLite file with `synchronous=FULL` (and on PostgreSQL, in an empty database, if
its address is given). The account funds itself, a lease is for 100 plays. Plays are asked for by an
id of the caller's own, as the pages recommend, and without one. All ways take turns on the same
ledger: read ratios, they survive a busy machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from statistics import median
from uuid import uuid4

from bench_engine import machine, table
from usage import explain

import surefoot as sf
from surefoot.live import Lease

WORKERS, REPETITIONS, SECONDS = 8, 3, 4.0
IDS, NONE = "ids of one's own", "no ids"


def agent() -> sf.GenCB:
    """24 arms, and a reserve that pays for every exploration there will be."""
    floor = sf.RewardFloor(default=0.5, alpha=0.1, reserve=10**6)
    return sf.GenCB(sf.UCB1(24), floor, seed=0, default_competes=False)


def say(word: str) -> None:
    """Tell the parent process."""
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def work(address: str, journals: str, asked: str) -> None:
    """One worker: ready, told to start, plays until the time is over, says how many."""
    lease = Lease(journals) if journals else None
    live = sf.Live(agent(), address, lease=lease)
    live.update(live.select(), 0.75)
    mine = uuid4().hex
    say("ready")
    sys.stdin.readline()
    stop = time.perf_counter() + SECONDS
    for played in count():
        if time.perf_counter() >= stop:
            break
        live.update(live.select(id=f"{mine}-{played}" if asked == IDS else None), 0.75)
    live.flush()
    say(str(played))
    sys.stdin.readline()
    live.close()


def rate(address: str, journals: str, asked: str) -> float:
    """Plays a second of all workers together."""
    command = [sys.executable, __file__, "--worker", address, journals, asked]
    workers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603
        for _ in range(WORKERS)
    ]
    made = 0
    for worker in workers:
        assert worker.stdout is not None
        worker.stdout.readline()
    start = time.perf_counter()
    for word in ("start", "close"):
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write(f"{word}\n")
            worker.stdin.flush()
        if word == "start":
            made = sum(int(worker.stdout.readline()) for worker in workers if worker.stdout)
            took = time.perf_counter() - start
    for worker in workers:
        worker.communicate()
    return made / took


def measured(name: str, address: str, journals: str) -> list[list[str]]:
    """A store's rows: with ids and without, the store asked each time and leases by turns."""
    ways = [(asked, folder) for asked in (IDS, NONE) for folder in ("", journals)]
    turns = [
        {(asked, folder): rate(address, folder, asked) for asked, folder in ways}
        for _ in range(REPETITIONS)
    ]
    rows = []
    for asked in (IDS, NONE):
        each, leased = (median(turn[asked, way] for turn in turns) for way in ("", journals))
        ratio = median(turn[asked, journals] / turn[asked, ""] for turn in turns)
        rows.append([name, asked, f"{each:.0f}", f"{leased:.0f}", f"{ratio:.1f}"])
    return rows


def main() -> None:
    """Print the table."""
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        journals = str(Path(folder) / "journals")
        rows += measured("SQLite, FULL", str(Path(folder) / "ledger.db"), journals)
        for address in sys.argv[1:]:
            rows += measured("PostgreSQL", address, journals)
    head = ["store", "asked by", "the store asked each time", "leases of 100", "ratio"]
    sys.stdout.write(
        "# Leases, measured\n\n"
        f"Written by `benchmarks/bench_leases.py` on {machine()}.\n\n"
        f"Plays a second of {WORKERS} workers, decided and reported, until all are in the ledger; "
        "medians of turns.\n\n"
        f"{table(head, rows)}\n"
    )


if __name__ == "__main__":
    explain(__doc__)
    if sys.argv[1:2] == ["--worker"]:
        work(*sys.argv[2:])
    else:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        main()
