"""What a campaign is made of: an agent, processes that may die, and what they were told in time."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from surefoot.agents import GenCB
from surefoot.errors import RewardOutOfRange
from surefoot.floors import RewardFloor
from surefoot.live.live import Live
from surefoot.policies import UCB1

HOLD = Decimal("0.375")
"""What each exploration may lose: (1 - 0.25) * 0.5."""


LEASE = 1.0
"""How many seconds a lease lasts."""


def agent(reserve: Decimal = Decimal(2)) -> GenCB:
    """An agent that explores whenever its account affords it."""
    floor = RewardFloor(Decimal("0.5"), Decimal("0.25"), reserve=reserve)
    return GenCB(UCB1(3), floor, default_competes=False, seed=1)


def warm() -> None:
    """Import and set up all that a first play needs, so that a forked child need not."""
    import surefoot.live.store.postgres  # noqa: F401

    with tempfile.TemporaryDirectory() as folder, Live(agent(), f"{folder}/warm.db") as live:
        for _ in range(5):
            live.update(live.select(), Decimal(0))


def opened(store: Any, name: str, journal: Path | None) -> Live:
    """The agent, live; with a journal it decides under leases of a few plays."""
    if journal is None:
        return Live(agent(), store, name)
    from surefoot.live.leases import Lease

    return Live(agent(Decimal(100)), store, name, lease=Lease(journal, plays=10, seconds=LEASE))


class Diary:
    """What one process did and was told, line by line; in a file it survives the process.

    A line that a kill has torn is no line: each begins anew.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.lines = [] if path is None else read(path)
        self._file: int | None = None
        if path is not None:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, *line: Any) -> None:
        """Add a line, at once."""
        if self._file is not None:
            os.write(self._file, f"\n{json.dumps(line)}\n".encode())
        self.lines.append(list(line))


def read(path: Path) -> list[list[Any]]:
    """The lines of a diary; none if it was never begun."""
    if not path.exists():
        return []
    lines = []
    for text in path.read_text(encoding="utf-8").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, list):
            lines.append(line)
    return lines


class Child:
    """A forked process that does one thing and answers in JSON, unless it is killed before.

    Holds when: the parent has one thread and no open store. A child of a child is not waited for.
    """

    def __init__(self, work: Callable[[], Any]) -> None:
        self._answer, own = os.pipe()
        self.over = False
        self.pid = os.fork()
        if not self.pid:
            _leave(work, own)
        os.close(own)

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal; nothing happens once ``end`` was called."""
        if not self.over:
            os.kill(self.pid, number)

    def end(self) -> tuple[int, Any]:
        """Wait until it is over: its exit code, below 0 for a signal, and what it answered."""
        with os.fdopen(self._answer, encoding="utf-8") as pipe:
            text = pipe.read()
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.over = True
        return code, json.loads(text) if text else None

    def result(self) -> Any:
        """What it answered; RuntimeError if it failed."""
        code, answer = self.end()
        if code:
            raise RuntimeError(f"a process of the campaign ended with {code}:\n{answer}")
        return answer


@contextmanager
def children(works: Iterable[Callable[[], Any]]) -> Iterator[list[Child]]:
    """Fork a child for each work; none outlives the block."""
    born = [Child(work) for work in works]
    try:
        yield born
    finally:
        for child in born:
            if not child.over:
                child.kill()
                child.end()


def _leave(work: Callable[[], Any], pipe: int) -> None:
    """Do the work of a child, and end the process without anything of its parent's."""
    code, answer = 1, None
    try:
        warnings.simplefilter("ignore", RewardOutOfRange)
        code, answer = 0, work()
    except BaseException:  # noqa: BLE001  (it is told to the parent)
        answer = traceback.format_exc()
    finally:
        with os.fdopen(pipe, "w", encoding="utf-8") as file:
            json.dump(answer, file)
        os._exit(code)
