"""What leases save: workers that decide under one beside workers that ask the store each time.

    uv run benchmarks/bench_leases.py [postgresql://user@host/database]

One Markdown table: plays a second, each decided and reported through `surefoot.Live` by 8 worker
processes on one SQLite file with `synchronous=FULL` (and on PostgreSQL, in an empty database, if
its address is given). The account funds itself, a lease is for 100 plays. The two ways take turns
on the same ledger: read ratios, they survive a busy machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from bench_engine import machine, table

import surefoot as sf
from surefoot.live import Lease

WORKERS, REPETITIONS, SECONDS = 8, 3, 4.0


def agent() -> sf.GenCB:
    """24 arms, and a reserve that pays for every exploration there will be."""
    floor = sf.RewardFloor(default=0.5, alpha=0.1, reserve=10**6)
    return sf.GenCB(sf.UCB1(24), floor, seed=0, default_competes=False)


def say(word: str) -> None:
    """Tell the parent process."""
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def work(address: str, journals: str) -> None:
    """One worker: ready, told to start, plays until the time is over, says how many."""
    lease = Lease(journals) if journals else None
    live = sf.Live(agent(), address, lease=lease)
    live.update(live.select(), 0.75)
    say("ready")
    sys.stdin.readline()
    count, stop = 0, time.perf_counter() + SECONDS
    while time.perf_counter() < stop:
        live.update(live.select(), 0.75)
        count += 1
    live.flush()
    say(str(count))
    sys.stdin.readline()
    live.close()


def rate(address: str, journals: str) -> float:
    """Plays a second of all workers together."""
    command = [sys.executable, __file__, "--worker", address, journals]
    workers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603
        for _ in range(WORKERS)
    ]
    count = 0
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
            count = sum(int(worker.stdout.readline()) for worker in workers if worker.stdout)
            took = time.perf_counter() - start
    for worker in workers:
        worker.communicate()
    return count / took


def main() -> None:
    """Print the table."""
    measured = []
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        journals = str(Path(folder) / "journals")
        targets = [("SQLite, FULL", str(Path(folder) / "ledger.db"))]
        targets += [("PostgreSQL", address) for address in sys.argv[1:]]
        for name, address in targets:
            pairs = [(rate(address, ""), rate(address, journals)) for _ in range(REPETITIONS)]
            ratio = median(leased / asked for asked, leased in pairs)
            asked, leased = (median(column) for column in zip(*pairs, strict=True))
            measured.append([name, str(WORKERS), f"{asked:.0f}", f"{leased:.0f}", f"{ratio:.1f}"])
    head = ["store", "workers", "the store asked each time", "leases of 100", "ratio"]
    sys.stdout.write(
        "# Leases, measured\n\n"
        f"Written by `benchmarks/bench_leases.py` on {machine()}.\n\n"
        "Plays a second, decided and reported, until all are in the ledger; medians of turns.\n\n"
        f"{table(head, measured)}\n"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work(*sys.argv[2:])
    else:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        main()
