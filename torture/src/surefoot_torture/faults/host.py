"""A machine of a simulation: its workers' journals, and what a power cut leaves of them."""

from __future__ import annotations

import errno
import os
import random
from pathlib import Path

from surefoot.live.leases import Lease
from surefoot.live.live import Live
from surefoot_torture.faults.judge import Note


class Host:
    """Where some workers run; ``lease``: the leases that they take, in a folder of its own."""

    def __init__(self, folder: Path, plays: int, seconds: float, durable: bool) -> None:
        self.folder, self.durable = folder, durable
        self._plays, self._seconds = plays, seconds
        self._boots = 1
        self._notes: dict[Path, list[tuple[int, Note]]] = {}
        """What was answered from each journal and is not in the ledger: up to where it was."""
        self._seen: dict[Path, bytes] = {}
        """What each journal once was, as a disk may remember it."""
        self._survived: set[Path] = set()
        """The journals that came through a power cut: what is left of them is on the disk."""

    @property
    def lease(self) -> Lease:
        """How a worker that starts now takes its leases."""
        boot = f"boot-{self._boots}"
        return Lease(self.folder, self._plays, self._seconds, self.durable, boot=boot)

    def answered(self, live: Live) -> Note:
        """Something was answered: a power cut may take it, until it is in the ledger."""
        note, worker = Note(), live._worker
        assert worker is not None
        path = worker._journal.path
        if worker._steps:
            self._notes.setdefault(path, []).append((worker._journal.end, note))
        else:
            self._notes.pop(path, None)
        return note

    def fill(self, live: Live) -> None:
        """The disk is full in the middle of the next line of a journal, and not after it."""
        assert live._worker is not None
        journal = live._worker._journal

        def append(_: object) -> int:
            del vars(journal)["_append"]
            os.write(journal._file, b"half a li")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        vars(journal)["_append"] = append

    def look(self) -> None:
        """Remember what is on the disk."""
        for path in self.folder.glob("*.journal"):
            self._seen[path] = path.read_bytes()

    def power_cut(self, rng: random.Random) -> None:
        """Its workers are gone already: take back what no sync made sure of."""
        self._boots += 1
        there = set(self.folder.glob("*.journal"))
        for path in sorted({*there, *self._seen} if not self.durable else ()):
            old, kept = self._seen.get(path), 0
            if old is not None and rng.random() < 0.5:
                path.write_bytes(old)  # a truncation or a removal that never reached the disk
            elif path in there - self._survived:
                data = path.read_bytes()
                header = data.index(b"\n") + 1
                kept = rng.choice((len(data), rng.randint(header, len(data)), header))
                path.write_bytes(data[:kept])
            for end, note in self._notes.pop(path, ()):
                note.lost = end > kept
        self._seen.clear()
        self._survived = set(self.folder.glob("*.journal"))
