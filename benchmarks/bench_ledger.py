"""What a durable decision costs: group commit beside one transaction a decision.

    uv run benchmarks/bench_ledger.py [postgresql://user@host/database]

One Markdown table: decisions a second, each committed before it is answered, on a SQLite file with
`synchronous=FULL` (and on PostgreSQL, in an empty database, if its address is given). The two take
turns in one process on the same disk: read ratios, they survive a busy machine.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

from bench_engine import machine, table
from usage import explain

from surefoot.live.store import Store, open_store, writer

CALLERS, REPETITIONS, SECONDS = (1, 8, 32), 5, 1.0
PAYLOAD = {"arm": "B", "index": 1, "hold": 7, "floor": 7, "low": 0, "high": 10, "score": "0.13"}


def explore(tx: Any) -> Any:
    """One exploration, gated and chained."""
    return tx.append("decision.held", experiment="e", d_held=7, payload=PAYLOAD, gate=7)


def rate(store: Store, account: str, callers: int, group: int) -> float:
    """Decisions a second when this many threads ask at once."""
    writer.GROUP = group
    stop = time.perf_counter() + SECONDS
    counts = [0] * callers

    def call(number: int) -> None:
        while time.perf_counter() < stop:
            store.transact(account, explore)
            counts[number] += 1

    threads = [threading.Thread(target=call, args=[number]) for number in range(callers)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - start)


def rows(store: Store, name: str) -> list[list[str]]:
    """The rates of one store, both ways in turns."""
    store.open_account("bench", places=2, strict=False)
    grant = {"experiment": "e", "d_reserve": 10**15, "payload": {"amount": 10**15}}
    store.transact("bench", lambda tx: tx.append("endowment.granted", **grant))
    most = writer.GROUP
    found: list[list[str]] = []
    for callers in CALLERS:
        rate(store, "bench", callers, most)
        pairs = [
            (rate(store, "bench", callers, 1), rate(store, "bench", callers, most))
            for _ in range(REPETITIONS)
        ]
        ratio = median(grouped / single for single, grouped in pairs)
        single, grouped = (median(column) for column in zip(*pairs, strict=True))
        found.append([name, str(callers), f"{single:.0f}", f"{grouped:.0f}", f"{ratio:.1f}"])
    writer.GROUP = most
    return found


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        targets = [("SQLite, FULL", str(Path(folder) / "ledger.db"))]
        targets += [("PostgreSQL", address) for address in sys.argv[1:]]
        measured = []
        for name, target in targets:
            with open_store(target) as store:
                measured += rows(store, name)
    head = ["store", "callers", "one transaction each", "group commit", "ratio"]
    sys.stdout.write(
        "# The ledger, measured\n\n"
        f"Written by `benchmarks/bench_ledger.py` on {machine()}.\n\n"
        "Decisions a second, each durable before it is answered; medians of turns.\n\n"
        f"{table(head, measured)}\n"
    )


if __name__ == "__main__":
    explain(__doc__)
    main()
