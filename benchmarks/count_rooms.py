"""How many rooms a live decision and a live report walk through, counted while they run.

    uv run benchmarks/count_rooms.py            a table
    uv run benchmarks/count_rooms.py --trace    and each file in the order in which it is entered
    uv run benchmarks/count_rooms.py --calls    and each file's calls, by function

For one ``Live.select`` and for one ``Live.update`` with a reward, on a memory store, once the
experiment runs: the Python functions called in every thread, generators resumed included; the
files of ``surefoot`` they stand in; and how often a call goes into a file that calls had been in
and had left. Counts, not times: they are the same on every machine for one Python version.
"""

from __future__ import annotations

import argparse
import platform
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import surefoot as sf
from surefoot.live import MemoryStore

PACKAGE = str(Path(sf.__file__).parent)
PLAYS = 200


class Walk:
    """The calls of one piece of work."""

    def __init__(self) -> None:
        self.called: Counter[tuple[str, str]] = Counter()
        """How often each function was called, by file."""
        self.files: list[str] = []
        """Each file when the walk enters it, from another or from outside."""

    def _event(self, frame: Any, event: str, _: object) -> None:
        if event != "call":
            return
        file = frame.f_code.co_filename
        self.called[file, frame.f_code.co_qualname] += 1
        if file.startswith(PACKAGE) and (not self.files or self.files[-1] != file):
            self.files.append(file)

    def of(self, work: Callable[[], object]) -> Walk:
        """Follow a piece of work, in this thread and in those that it starts."""
        threading.setprofile(self._event)
        sys.setprofile(self._event)
        try:
            work()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        return self

    @property
    def calls(self) -> int:
        """How many functions it called."""
        return self.called.total()

    @property
    def entered(self) -> int:
        """How many files it walked through."""
        return len(set(self.files))

    @property
    def returns(self) -> int:
        """How often it came back to a file that it had left."""
        return len(self.files) - self.entered


def walks() -> dict[str, list[Walk]]:
    """The decisions and the reports of a live experiment, default plays and explorations apart."""
    agent = sf.GenCB(sf.UCB1(n_arms=4), sf.RewardFloor(default=0.5, alpha=0.2), seed=0)
    live = sf.Live(agent, MemoryStore())
    found: dict[str, list[Walk]] = {}
    for number in range(PLAYS):
        box: list[Any] = []
        chosen = Walk().of(lambda: box.append(live.select(id=f"v-{number}")))  # noqa: B023
        play = box[0]
        reward = None if play.is_default else float(number % 3 == 0)
        told = Walk().of(lambda: live.update(play, reward))  # noqa: B023
        kind = "default" if play.is_default else "exploration"
        found.setdefault(f"select, {kind}", []).append(chosen)
        found.setdefault(f"update, {kind}", []).append(told)
    return found


def _by_file(walk: Walk) -> list[str]:
    """How many calls went into each file, and into which functions."""
    of: dict[str, Counter[str]] = {}
    for (file, function), count in walk.called.items():
        of.setdefault(_short(file), Counter())[function] += count
    return [
        f"  {some.total():3} {file}: {', '.join(f'{n} {name}' for name, n in some.most_common())}"
        for file, some in sorted(of.items(), key=lambda found: -found[1].total())
    ]


def _short(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(PACKAGE)) if file.startswith(PACKAGE) else path.name


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trace", action="store_true", help="print each file as it is entered")
    parser.add_argument("--calls", action="store_true", help="print each file's calls")
    asked = parser.parse_args()
    lines = [
        f"Python {platform.python_version()}, {PLAYS} plays on a memory store, medians.",
        "",
        "| | Python calls | files entered | returns to a file already left |",
        "| --- | ---: | ---: | ---: |",
    ]
    middle = {
        name: sorted(some, key=lambda walk: walk.calls)[len(some) // 2]
        for name, some in walks().items()
    }
    for name, walk in middle.items():
        lines.append(f"| {name} | {walk.calls} | {walk.entered} | {walk.returns} |")
    for name, walk in middle.items() if asked.trace else ():
        lines += ["", f"{name}:", *(f"  {_short(file)}" for file in walk.files)]
    for name, walk in middle.items() if asked.calls else ():
        lines += ["", f"{name}:", *_by_file(walk)]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
