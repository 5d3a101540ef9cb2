"""What a full disk and a file that cannot be written do to a ledger on SQLite: an error each."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

from surefoot.errors import StoreUnavailable
from surefoot_torture.processes.audit import audit
from surefoot_torture.processes.children import Child, opened
from surefoot_torture.processes.writer import Writer

NAME = "limits"
SPARE = 100_000
"""How many bytes a file may still grow when the disk is said to be full."""
NOBODY = 65534


def limits(folder: Path) -> list[str]:
    """What is wrong after a disk was full, and after a file was read-only; nothing is."""
    path, diary = folder / "limits.db", folder / "limits.diary"
    problems = []
    meetings: tuple[Callable[[Path, Path], list[str]], ...] = (_full, _read_only)
    for meet in meetings:
        problems += Child(partial(meet, path, diary)).result()
        problems += Child(partial(audit, str(path), NAME, [diary])).result()["problems"]
    return problems


def _full(path: Path, diary: Path) -> list[str]:
    """Play until no file may grow any more, and go on once they may again."""
    import resource

    live = opened(str(path), NAME, None)
    done = Writer(live, diary, 1, patience=0).run(5)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    largest = max(file.stat().st_size for file in path.parent.iterdir())
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest + SPARE, hard))
    try:
        Writer(live, diary, 2, patience=0).run(done + 10_000)
    except StoreUnavailable:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        Writer(live, diary, 3, patience=0).run(done + 20)
        return []
    return ["no write failed though no file could grow"]


def _read_only(path: Path, _: Path) -> list[str]:
    """Open what cannot be written, as somebody to whom that applies."""
    before = path.stat().st_mode, path.parent.stat().st_mode
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        answer: list[str] = Child(partial(_refused, path)).result()
        return answer
    finally:
        path.parent.chmod(before[1])
        path.chmod(before[0])


def _refused(path: Path) -> list[str]:
    if not os.geteuid():
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    try:
        opened(str(path), NAME, None).select()
    except StoreUnavailable:
        return []
    return ["it was written though it is read-only"]
