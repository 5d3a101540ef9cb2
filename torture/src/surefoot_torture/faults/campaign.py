"""Simulate faults around real live agents: one seed is one schedule, which it reproduces.

Workers that die, a store that fails, hangs or loses its answers, a network that loses, doubles and
delays, clocks that jump and run backwards, clients that give up and repeat themselves. A judge
with a text of its own keeps the clients' diary and says whether the promise was kept at every
moment, whether anything acknowledged was lost or counted twice, and whether the books are exact.

  surefoot-torture faults --schedules 2000 --seed 0
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from surefoot.errors import InvalidInput
from surefoot.live.store import Store, open_store
from surefoot_torture.faults.judge import KINDS
from surefoot_torture.faults.schedule import SIZE, Verdict, schedule
from surefoot_torture.faults.workers import Clock

_SAVED_EVERY = 50
_SHOWN_AFTER = 2.0
"""After how many seconds there is a progress bar."""
_COUNTED = ("decisions", "explorations", "faults", "entries")


class Campaign:
    """Many schedules, from ``seed`` on; one that was stopped goes on from its file.

    ``store``: ``memory``, the path of a SQLite file, or a PostgreSQL URL; it is filled with one
    account a schedule. ``resume``: a JSON file that remembers how far it came. Raises InvalidInput
    for the file of another campaign.

    >>> campaign = Campaign("memory", schedules=3, seed=1, size=(5, 10))
    >>> [verdict.ok for verdict in campaign.run()], campaign.report()["violations"]
    ([True, True, True], 0)
    """

    def __init__(
        self,
        store: str,
        schedules: int,
        seed: int = 0,
        size: tuple[int, int] = SIZE,
        leases: bool = False,
        resume: Path | None = None,
    ) -> None:
        self.store, self.schedules, self.seed, self.size = store, schedules, seed, size
        self.leases, self.resume = leases, resume
        self.done, self.seconds = 0, 0.0
        self.totals: Counter[str] = Counter()
        self.failed: dict[int, list[str]] = {}
        """What was wrong, by seed."""
        self._clock = Clock()
        if resume is not None and resume.exists():
            self._restore(resume)

    def run(self) -> Iterator[Verdict]:
        """Run what is left, one schedule after the other."""
        store: Store | None = None
        if self.store != "memory":
            store = open_store(self.store, self._clock)
        first = 0 if store is None else len(store.accounts())
        try:
            while self.done < self.schedules:
                start, seed = time.monotonic(), self.seed + self.done
                account = f"a{first + self.done}"
                verdict = schedule(seed, store, self._clock, self.size, self.leases, account)
                self._count(verdict, time.monotonic() - start)
                yield verdict
        finally:
            self._save()
            if store is not None:
                store.close()

    def _count(self, verdict: Verdict, seconds: float) -> None:
        self.done += 1
        self.seconds += seconds
        self.totals.update(verdict.problems)
        self.totals.update({name: getattr(verdict, name) for name in _COUNTED})
        if not verdict.ok:
            self.failed[verdict.seed] = verdict.told
        if self.done % _SAVED_EVERY == 0:
            self._save()

    @property
    def _named(self) -> dict[str, Any]:
        return {
            "store": self.store, "seed": self.seed, "size": list(self.size), "leases": self.leases,
        }  # fmt: skip

    def _save(self) -> None:
        if self.resume is None:
            return
        failed = {str(seed): told for seed, told in self.failed.items()}
        state = {"done": self.done, "seconds": self.seconds, "totals": self.totals}
        part = self.resume.with_name(f"{self.resume.name}.part")
        part.write_text(json.dumps({**self._named, **state, "failed": failed}), encoding="utf-8")
        part.replace(self.resume)

    def _restore(self, path: Path) -> None:
        state = json.loads(path.read_text(encoding="utf-8"))
        for name, ours in self._named.items():
            if state[name] != ours:
                raise InvalidInput(
                    f"{path} is of a campaign with {name} = {state[name]!r}, not {ours!r}; "
                    "repeat its options, or name another file"
                )
        self.done, self.seconds = state["done"], state["seconds"]
        self.totals = Counter(state["totals"])
        self.failed = {int(seed): told for seed, told in state["failed"].items()}

    def report(self) -> dict[str, Any]:
        """What was found, as plain JSON; ``bound``: below it lies the rate of bad ones, at 95 %."""
        problems = {_plural(kind): self.totals[kind] for kind in KINDS}
        counted = {name: self.totals[name] for name in _COUNTED}
        return {
            **self._named, "schedules": self.done,
            "seeds": [self.seed, self.seed + self.done - 1], "failed": sorted(self.failed),
            **problems, **counted, "seconds": round(self.seconds, 2),
            "bound": None if self.failed or not self.done else 3 / self.done,
        }  # fmt: skip

    def sentence(self) -> str:
        """The report as one line, and two more for each seed that failed."""
        said = self.report()
        names = "schedules", *_COUNTED[:3], *map(_plural, KINDS)
        parts = [f"{name} {said[name]:,}".replace(",", " ") for name in names]
        parts.insert(1, "seeds {}..{}".format(*said["seeds"]))
        if said["bound"] is not None:
            parts.append(f"rate below {said['bound']:.1e} (95 %)")
        parts.append(f"{said['seconds']:.1f} s")
        lines = [" \N{MIDDLE DOT} ".join(parts)]
        for seed, told in sorted(self.failed.items())[:5]:
            lines += [f"seed {seed}: {told[0]}", f"  again: {self.again(seed)}"]
        return "\n".join(lines)

    def again(self, seed: int) -> str:
        """The command that runs one schedule again."""
        least, most = self.size
        flag = " --leases" if self.leases else ""
        command = f"surefoot-torture faults --seed {seed} --schedules 1"
        return f"{command} --size {least}-{most}{flag}"


def _plural(kind: str) -> str:
    return "violations" if kind == "violation" else kind


def _watched(campaign: Campaign) -> None:
    """Run it, with a bar on stderr if it takes a while."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("schedules"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    start, bar = time.monotonic(), Progress(*columns, console=Console(stderr=True))
    task = bar.add_task("schedules", total=campaign.schedules)
    try:
        for _ in campaign.run():
            bar.update(task, completed=campaign.done)
            if not bar.live.is_started and time.monotonic() - start > _SHOWN_AFTER:
                bar.start()
    except KeyboardInterrupt:
        return
    finally:
        bar.stop()


def _size(text: str) -> tuple[int, int]:
    least, _, most = text.partition("-")
    return int(least), int(most or least)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``surefoot-torture faults``."""
    say = parser.add_argument
    say("--store", default="memory", help="memory, a SQLite file, or postgresql://")
    say("--schedules", type=int, default=2000, metavar="N", help="how many; default: 2000")
    say("--seed", type=int, default=0, metavar="N", help="of the first; the rest follow")
    say("--size", type=_size, default=SIZE, metavar="LEAST-MOST", help="decisions of a schedule")
    say("--leases", action="store_true", help="workers decide under leases")
    say("--resume", type=Path, metavar="FILE", help="remembers how far it came, and goes on there")
    say("--json", action="store_true", help="print the report as JSON")


def run(asked: argparse.Namespace) -> int:
    """Run what the options ask for; 1 if anything was wrong."""
    campaign = Campaign(
        asked.store, asked.schedules, asked.seed, asked.size, asked.leases, asked.resume
    )
    _watched(campaign)
    text = json.dumps(campaign.report()) if asked.json else campaign.sentence()
    sys.stdout.write(f"{text}\n")
    return 1 if campaign.failed else 0
