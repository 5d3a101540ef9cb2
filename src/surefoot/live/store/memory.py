"""A store in memory: the semantics of the others, gone with the process; for tests and trials."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

from surefoot.live.entries import Entry, wall_clock
from surefoot.live.store.base import (
    AccountRow,
    Clock,
    LeaseRow,
    PlayRow,
    Store,
    check_process,
    checked_clock,
    checked_snapshot,
    inside_a_work,
    new_account,
    page,
    same_account,
    unknown_account,
)
from surefoot.live.store.tx import Batch, Tx, Watermarks, earliest

T = TypeVar("T")


class MemoryStore(Store):
    """A store in memory, under one lock.

    >>> store = MemoryStore(clock=lambda: 0)
    >>> _ = store.open_account("shop", places=2, strict=True)
    >>> hold = {"hold": 7}
    >>> def explore(tx):
    ...     return tx.append("decision.held", experiment="e", d_held=7, payload=hold, gate=7)
    >>> store.transact("shop", explore) is None  # the account cannot afford it
    True
    """

    def __init__(self, clock: Clock = wall_clock) -> None:
        self._clock = checked_clock(clock)
        self._lock = threading.RLock()
        self._accounts: dict[str, _Account] = {}
        self._working = False
        self._process = os.getpid()
        self._known = Watermarks()

    def __repr__(self) -> str:
        return "MemoryStore()"

    def open_account(self, account: str, places: int, strict: bool) -> AccountRow:
        asked = new_account(account, places, strict)
        check_process(self._process)
        with self._lock:
            found = self._accounts.setdefault(account, _Account(asked)).row
        return same_account(found, asked)

    def accounts(self) -> list[str]:
        check_process(self._process)
        with self._lock:
            return sorted(self._accounts)

    def account(self, account: str) -> AccountRow:
        return self._find(account).row

    def transact(self, account: str, work: Callable[[Tx], T]) -> T:
        if os.getpid() != self._process:
            check_process(self._process)
        with self._lock:
            if self._working:
                raise inside_a_work()
            found = self._found(account)
            batch = Batch(found.row, found, self._clock(), self._known.audit(found.row, found))
            try:
                self._working = True
                result = batch.run(work)
            finally:
                self._working = False
            found.unfinished = batch  # here it is kept: an interrupt from here on undoes nothing
            found.finish()
            if batch.audit.doubt is None:
                self._known.keep(batch.row)
        return result

    def entries(self, account: str, after: int = 0, limit: int | None = None) -> Iterator[Entry]:
        found = self._find(account).entries
        start, stop = page(after, limit)
        return _since(found, start, stop)

    def play(self, account: str, play: str) -> PlayRow | None:
        return self._find(account).plays.get(play)

    def snapshot(self, account: str, seq: int, blob: bytes, experiment: str = "") -> None:
        found = self._find(account)
        checked_snapshot(seq, blob, experiment)
        with self._lock:
            kept = found.snapshots.setdefault(experiment, {})
            kept[seq] = blob
            for old in sorted(kept)[:-2]:
                del kept[old]

    def latest_snapshot(self, account: str, experiment: str = "") -> tuple[int, bytes] | None:
        found = self._find(account)
        with self._lock:
            kept = found.snapshots.get(experiment)
            return max(kept.items()) if kept else None

    def now(self) -> int:
        return self._clock()

    def close(self) -> None:
        pass

    def _find(self, account: str) -> _Account:
        check_process(self._process)
        with self._lock:
            return self._found(account)

    def _found(self, account: str) -> _Account:
        found = self._accounts.get(account) if isinstance(account, str) else None
        if found is None:
            raise unknown_account(account)
        if found.unfinished is not None:
            found.finish()
        return found


class _Account:
    """What is committed of one account."""

    __slots__ = ("entries", "leases", "plays", "row", "snapshots", "unfinished", "waiting")

    def __init__(self, row: AccountRow) -> None:
        self.row = row
        self.entries: list[Entry] = []
        self.plays: dict[str, PlayRow] = {}
        self.leases: dict[str, LeaseRow] = {}
        self.snapshots: dict[str, dict[int, bytes]] = {}
        self.unfinished: Batch | None = None
        """What is committed and not all in its places yet."""
        self.waiting: dict[str, PlayRow] = {}
        """The open plays with a deadline."""

    def finish(self) -> None:
        """Put what is committed in its places; again, if an interrupt came between."""
        batch = self.unfinished
        assert batch is not None
        if batch.entries:
            self.row = batch.row
        self.entries[batch.first.seq :] = batch.entries
        self.plays |= batch.plays
        self.leases |= batch.leases
        for play, row in batch.plays.items():
            if row.state == "open" and row.deadline is not None:
                self.waiting[play] = row
            else:
                self.waiting.pop(play, None)
        self.unfinished = None

    def read_entries(self, after: int, most: int) -> list[Entry]:
        return self.entries[after : after + most]

    def read_ends(self, seq: int) -> list[Entry]:
        some = self.entries[max(0, seq - 1) : seq] + self.entries[-1:]
        return [entry for entry in some if entry.seq == seq or entry is some[-1]]

    def read_play(self, play: str) -> PlayRow | None:
        return self.plays.get(play)

    def read_plays(self, plays: list[str]) -> list[PlayRow]:
        return [self.plays[play] for play in plays if play in self.plays]

    def read_due(self, now: int, limit: int) -> list[PlayRow]:
        return earliest(self.waiting.values(), now)[:limit]

    def read_lease(self, lease: str) -> LeaseRow | None:
        return self.leases.get(lease)

    def read_leases(self) -> list[LeaseRow]:
        return [row for row in self.leases.values() if row.state == "open"]


def _since(entries: list[Entry], start: int, stop: int | None) -> Iterator[Entry]:
    while start < len(entries) and (stop is None or start < stop):
        yield entries[start]
        start += 1
