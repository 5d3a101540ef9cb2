"""The diary of a process: each public call, when it began, when it ended, and what came of it.

A line is one write to a file that is open for appending, so what was noted survives a SIGKILL.
"""

import itertools
import json
import os
import time
import traceback
from contextlib import suppress
from pathlib import Path

from surefoot.errors import SurefootError

NOW = time.monotonic
"""One clock for all processes of a machine, which nobody sets."""


def starved() -> float:
    """How many seconds the threads of this process have waited for a processor."""
    total = 0
    for task in Path("/proc/self/task").glob("*/schedstat"):
        with suppress(OSError):  # a thread that has just ended
            total += int(task.read_text().split()[1])
    return total / 1e9


class Diary:
    """Written by one process, by any number of its threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._numbers = itertools.count()
        self.note(born=os.getpid())

    def note(self, **line) -> None:
        """Write one line."""
        os.write(self._file, json.dumps({"at": NOW(), **line}).encode() + b"\n")

    def call(self, what, function, told=None, **about):
        """Make a public call; returns its result, or None and the error it raised on purpose.

        ``told``: what of the result is to be remembered.
        """
        number, queued = next(self._numbers), starved()
        self.note(call=number, what=what, **about)

        def ended(**how) -> None:
            self.note(end=number, queued=max(0.0, starved() - queued), **how)

        try:
            result = function()
        except SurefootError as problem:
            ended(error=type(problem).__name__, text=str(problem))
            return None, problem
        except BaseException:  # noqa: BLE001  (what a user would see as a traceback)
            ended(crash=traceback.format_exc())
            return None, None
        ended(told={} if told is None else told(result))
        return result, None


class Call:
    """A public call as a diary has it; ``ended`` is None if it never returned."""

    def __init__(self, worker: str, life: int, line: dict) -> None:
        self.worker, self.life = worker, life
        """``life``: the process that made it, and when that began."""
        self.what, self.began, self.about = line["what"], line["at"], line
        self.ended: float | None = None
        self.queued = 0.0
        """How long its process waited for a processor meanwhile, which is nobody's fault."""
        self.error: str | None = None
        self.text = ""
        self.crash: str | None = None
        self.told: dict | None = None
        """What it returned; None unless it did."""

    def end(self, line: dict) -> None:
        self.ended, self.queued = line["at"], line["queued"]
        self.error, self.text = line.get("error"), line.get("text", "")
        self.crash, self.told = line.get("crash"), line.get("told")

    def __str__(self) -> str:
        of = self.about.get("id") or self.about.get("play") or ""
        return f"{self.what}({of}) of {self.worker}"


def read(path: Path) -> tuple[list[Call], list[dict]]:
    """The calls of a diary in the order in which they began, and its other lines."""
    calls, notes, open_calls, life = [], [], {}, 0
    for text in path.read_bytes().split(b"\n")[:-1]:
        line = json.loads(text)
        if "born" in line:
            life, open_calls = line["born"], {}
        if "call" in line:
            call = open_calls[line["call"]] = Call(path.stem, life, line)
            calls.append(call)
        elif "end" in line:
            open_calls.pop(line["end"]).end(line)
        else:
            notes.append(line)
    return calls, notes
