"""What a crash costs: opening a Live on ledgers of growing length, with a snapshot and without.

    uv run benchmarks/bench_recovery.py [ENTRIES ...]

One Markdown table. Each ledger is what a real Live writes when every reward comes 500 plays late;
only its commits are rarer, so that a million entries take minutes and not hours. Each recovery is a
process of its own, in which nothing was opened before; its memory is what it takes beyond that.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from bench_engine import machine, table
from usage import explain

from surefoot import UCB1, GenCB, RewardFloor
from surefoot.cli._ledger import exported_lines
from surefoot.live.live import Live
from surefoot.live.store import Store, Tx, open_store
from surefoot.live.store.database import DatabaseStore, Group
from surefoot.verifier import verify
from surefoot_torture.processes.children import Child, warm

T = TypeVar("T")
SIZES = (10_000, 100_000, 1_000_000)
NAME, LATE, TOGETHER = "bench", 500, 5000


class Rarely(Store):
    """A database that commits once for some thousand works, and keeps the newest snapshot."""

    def __init__(self, inner: DatabaseStore) -> None:
        self.inner = inner
        self.kept: tuple[Any, ...] | None = None
        self._connection = inner._writes.connect()
        self._begin()

    def _begin(self) -> None:
        self._transaction = self._connection.begin()
        self._group = Group(self._connection, self.inner._time, self.inner._known)
        self._works = 0

    def flush(self) -> None:
        """Commit what there is."""
        self._group.write()
        self._transaction.commit()
        if self.kept is not None:
            account, seq, blob, experiment = self.kept
            self.inner.snapshot(account, seq, blob, experiment)
        self._begin()

    def transact(self, account: str, work: Callable[[Tx], T]) -> T:
        if self._works == TOGETHER:
            self.flush()
        self._works += 1
        return self._group.batch(account).run(work)

    def snapshot(self, account: str, seq: int, blob: bytes, experiment: str = "") -> None:
        self.kept = account, seq, blob, experiment

    def open_account(self, account: str, places: int, strict: bool) -> Any:
        self._transaction.rollback()
        row = self.inner.open_account(account, places, strict)
        self._begin()
        return row

    def accounts(self) -> list[str]:
        return self.inner.accounts()

    def account(self, account: str) -> Any:
        return self.inner.account(account)

    def entries(self, account: str, after: int = 0, limit: int | None = None) -> Iterator[Any]:
        return self.inner.entries(account, after, limit)

    def play(self, account: str, play: str) -> Any:
        return self.inner.play(account, play)

    def latest_snapshot(self, account: str, experiment: str = "") -> Any:
        return self.inner.latest_snapshot(account, experiment)

    def now(self) -> int:
        return self.inner.now()

    def close(self) -> None:
        self.flush()
        self._transaction.rollback()
        self._connection.close()
        self.inner.close()


def build(path: str, size: int) -> dict[str, Any]:
    """Write a ledger of so many entries; returns its plays, and its bytes a play."""
    agent = GenCB(UCB1(24), RewardFloor(0.5, 0.25, reserve=500), seed=0)
    inner = open_store(path)
    assert isinstance(inner, DatabaseStore)
    waiting: deque[Any] = deque()
    plays = 0
    with Rarely(inner) as store:
        live = Live(agent, store, NAME)
        seq = 2
        while seq < size:
            if len(waiting) < LATE:
                waiting.append(live.select())
                plays += 1
            else:
                play = waiting.popleft()
                live.update(play, None if play.is_default else float(seq % 7 < 4))
            seq += 1
    return {"plays": plays, "bytes": sum(f.stat().st_size for f in Path(path).parent.iterdir())}


def recover(path: str, snapshot: bool) -> dict[str, float]:
    """Open a Live; how long that takes and what memory."""
    with open_store(path) as store:
        assert isinstance(store, DatabaseStore)
        if not snapshot:
            with store._writes.begin() as connection:
                connection.execute(sa.text("DELETE FROM snapshot"))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start, cpu = time.perf_counter(), time.process_time()
        live = Live(None, store, NAME)
        seconds = {"wall": time.perf_counter() - start, "cpu": time.process_time() - cpu}
        assert live.degraded is None
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {**seconds, "megabytes": (peak - before) / 1024}


def prove(path: str, export: Path) -> dict[str, float]:
    """Export the ledger and verify it; entries a second of CPU."""
    with open_store(path) as store, export.open("wb") as file:
        assert isinstance(store, DatabaseStore)
        with store.moment(NAME) as moment:
            file.writelines(exported_lines(moment, None))
    cpu = time.process_time()
    with export.open("rb") as file:
        report = verify(file)
    assert report["ok"], report["problems"]
    return {"entries": report["entries"], "rate": report["entries"] / (time.process_time() - cpu)}


def measure(size: int, folder: Path) -> list[str]:
    """One row of the table."""
    (folder / "store").mkdir()
    path = str(folder / "store" / "ledger.db")
    built = Child(partial(build, path, size)).result()
    fast = Child(partial(recover, path, snapshot=True)).result()
    slow = Child(partial(recover, path, snapshot=False)).result()
    proved = Child(partial(prove, path, folder / "ledger.ndjson")).result()
    return [
        f"{proved['entries']:,}", f"{built['bytes'] / built['plays']:,.0f}",
        *(
            f"{said['wall']:.2f} s ({said['cpu']:.2f} s), {said['megabytes']:.0f} MB"
            for said in (fast, slow)
        ),
        f"{proved['rate']:,.0f}",
    ]  # fmt: skip


def main() -> None:
    """Print the table."""
    sizes = [int(word) for word in sys.argv[1:]] or SIZES
    warm()
    rows = []
    for size in sizes:
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            rows.append(measure(size, Path(folder)))
    head = ["entries", "bytes a play", "with a snapshot", "without", "verified entries a second"]
    sys.stdout.write(
        "# Recovery, measured\n\n"
        f"Written by `benchmarks/bench_recovery.py` on {machine()}.\n\n"
        "Opening a Live on a SQLite ledger in a fresh process: wall clock (CPU), and the memory it "
        "takes.\nA snapshot is at most 1,000 entries old; without one the whole chain is checked "
        f"and folded.\n{LATE} plays wait for their reward.\n\n{table(head, rows)}\n"
    )


if __name__ == "__main__":
    explain(__doc__)
    main()
