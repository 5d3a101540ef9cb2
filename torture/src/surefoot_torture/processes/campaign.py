"""Kill, race and stop processes on one ledger, and audit what they left.

The processes decide and report through `sf.Live`. After each batch what they had been told is
compared with the ledger, its account summed in fractions, and the verifier.

  surefoot-torture processes --kills 200 --races 20 --plays 200 --sweep
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from surefoot.live.live import Live
from surefoot.live.store import open_store
from surefoot_torture.processes import sweep as sweeps
from surefoot_torture.processes.audit import audit
from surefoot_torture.processes.children import HOLD, LEASE, Child, agent, children, warm
from surefoot_torture.processes.limits import limits
from surefoot_torture.processes.writer import PATIENCE, surely, write

ROTATED = 40
"""How many kills one account takes before the next begins: an audit reads its whole ledger."""
EARLY, SPAN = 0.2, 0.1
"""The share of kills that come while a process opens the store (the others are timed from what it
is told first), and after how many seconds at most a kill comes."""
COUNTED = (
    "kills", "acknowledged", "entries", "races", "plays", "stops", "limits", "kill_points",
    "kill_points_there",
)  # fmt: skip
Steps = Iterator[int]
"""How much was done since the step before."""


class Campaign:
    """What is done to one store, and what came of it; the same seed makes the same schedule.

    Its accounts are named ``campaign-...``, and new each time.

    Holds when: the process has one thread and nothing open.
    """

    def __init__(
        self, address: str, folder: Path, seed: int = 0, workers: int = 4, leases: bool = False
    ) -> None:
        self.address, self.folder, self.workers = address, folder, workers
        self.journal = folder / "journal" if leases else None
        self.rng = random.Random(seed)  # noqa: S311  (a schedule, no secret)
        self.name = f"campaign-{secrets.token_hex(4)}"
        self.problems: list[str] = []
        self.counts = dict.fromkeys(COUNTED, 0)
        self.recoveries: list[float] = []

    def kill(self, kills: int) -> Steps:
        """Kill writers at random moments; after each batch, open a Live and audit."""
        done = 0
        while done < kills:
            name = f"{self.name}-{done}"
            diaries = [self.folder / f"{name}-w{n}.diary" for n in range(self.workers)]
            for _ in range(0, min(ROTATED, kills - done), self.workers):
                batch = diaries[: kills - done]
                self._batch(name, batch)
                found = self._audited(name, diaries)
                done += len(batch)
                yield len(batch)
            self._add(acknowledged=found["acknowledged"], entries=found["entries"])

    def _batch(self, name: str, diaries: list[Path]) -> None:
        """Start writers, and kill some while they open the store, most while they write."""
        start, before = time.monotonic(), [_acknowledged(diary) for diary in diaries]
        early = [self.rng.random() < EARLY for _ in diaries]
        spans = [self.rng.uniform(0, SPAN) for _ in diaries]
        moments = [start + span if soon else None for soon, span in zip(early, spans, strict=True)]
        with children(self._writers(name, diaries)) as writers:
            waiting = set(range(len(writers)))
            while waiting:
                time.sleep(0.002)
                now = time.monotonic()
                for n in sorted(waiting):
                    moment = moments[n]
                    if moment is None:
                        if _acknowledged(diaries[n]) > before[n] or now > start + PATIENCE:
                            moments[n] = now + spans[n]
                    elif now >= moment:
                        writers[n].kill()
                        waiting.remove(n)
            for writer in writers:
                code, answer = writer.end()
                if code != -signal.SIGKILL:
                    self.problems.append(f"{name}: a writer ended by itself: {answer}")
        self._add(kills=len(diaries))

    def race(self, trials: int, explorations: int | None = None) -> Steps:
        """Let all workers race for accounts that afford so many explorations and not one more."""
        budgets = [explorations or self.rng.randrange(1, 31) for _ in range(trials)]
        tasks = {f"{self.name}-race-{self.counts['races'] + n}": b for n, b in enumerate(budgets)}
        with children([partial(_race, self.address, tasks)] * self.workers) as racers:
            won: list[dict[str, list[str]]] = [racer.result() for racer in racers]
        for name, budget in tasks.items():
            plays = [play for mine in won for play in mine[name]]
            if not len(plays) == len(set(plays)) == budget:
                self.problems.append(f"{name}: {len(plays)} explorations were won, not {budget}")
        self.problems += Child(partial(_raced, self.address, tasks)).result()
        self._add(races=trials)
        yield trials

    def play(self, plays: int) -> Steps:
        """Let all workers make so many plays, whatever happens; each is stopped for a while.

        Under a lease it is stopped for so long that the others forfeit what it had.
        """
        name = f"{self.name}-play-{self.counts['plays']}"
        diaries = [self.folder / f"{name}-w{n}.diary" for n in range(self.workers)]
        with children(self._writers(name, diaries, plays)) as writers:
            for writer in writers:
                time.sleep(self.rng.uniform(0.1, 0.3))
                writer.kill(signal.SIGSTOP)
                time.sleep(self.rng.uniform(0.1, 0.5) if self.journal is None else 2 * LEASE)
                writer.kill(signal.SIGCONT)
            for writer in writers:
                code, answer = writer.end()
                if code:
                    self.problems.append(f"{name}: a writer failed: {answer}")
                yield plays
        found = self._audited(name, diaries)
        self._add(
            plays=plays * self.workers, stops=self.workers,
            acknowledged=found["acknowledged"], entries=found["entries"],
        )  # fmt: skip

    def sweep(self, calm: sweeps.Calm, stride: int = 1) -> Steps:
        """Kill a scenario at each of its writes, recover, and go on to the same end."""
        self._add(kill_points_there=len(calm.points()))
        for point in calm.points()[::stride]:
            self.problems += sweeps.killed(self.folder, point, calm.end)
            self._add(kill_points=1)
            yield 1

    def limit(self) -> Steps:
        """Fill the disk under a ledger, and take away the right to write it; SQLite only."""
        self.problems += limits(self.folder)
        self._add(limits=2)
        yield 2

    def report(self) -> dict[str, Any]:
        """All that was done and found; seconds of recovery as median and 99th percentile."""
        times = self.recoveries
        p99 = quantiles(times, n=100)[98] if len(times) > 1 else max(times, default=0.0)
        return {
            "ok": not self.problems, **self.counts, "recoveries": len(times),
            "recovery_p50": median(times or [0.0]), "recovery_p99": p99, "problems": self.problems,
        }  # fmt: skip

    def _writers(
        self, name: str, diaries: list[Path], plays: int | None = None
    ) -> list[Callable[[], int]]:
        seeds = [self.rng.getrandbits(32) for _ in diaries]
        return [
            partial(write, self.address, name, diary, seed, plays, self.journal)
            for diary, seed in zip(diaries, seeds, strict=True)
        ]

    def _audited(self, name: str, diaries: list[Path]) -> dict[str, Any]:
        found: dict[str, Any] = Child(
            lambda: surely(partial(audit, self.address, name, diaries, self.journal))
        ).result()
        self.recoveries.append(found["seconds"])
        self.problems += [f"{name}: {problem}" for problem in found["problems"]]
        return found

    def _add(self, **counts: int) -> None:
        for name, count in counts.items():
            self.counts[name] += count


def _acknowledged(diary: Path) -> int:
    text = diary.read_bytes() if diary.exists() else b""
    return text.count(b'"play"') + text.count(b'"told"')


def _race(address: str, tasks: dict[str, int]) -> dict[str, list[str]]:
    """Explore in each account until it affords no more; the plays that were acknowledged."""
    won: dict[str, list[str]] = {}
    with open_store(address) as store:
        for name, budget in tasks.items():
            live = Live(agent(HOLD * budget + Decimal("0.1")), store, name)
            won[name] = []
            while not (play := live.select()).is_default:
                won[name].append(play.id)
    return won


def _raced(address: str, tasks: dict[str, int]) -> list[str]:
    """What is wrong with the accounts that were raced for."""
    problems = []
    with open_store(address) as store:
        for name, budget in tasks.items():
            kinds = [entry.kind for entry in store.entries(name)]
            rest = Live(None, store, name).account.slack
            if (kinds.count("decision.held"), rest) != (budget, Decimal("0.1")):
                held = kinds.count("decision.held")
                problems.append(f"{name}: {held} explorations of {budget}, {rest} is left")
    return problems


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``surefoot-torture processes``."""
    say = parser.add_argument
    count: dict[str, Any] = {"type": _count, "metavar": "N"}
    say("--store", metavar="ADDRESS", help="a SQLite file, which is made, or the URL of an empty "
        "PostgreSQL database; default: a SQLite file of its own, gone afterwards")  # fmt: skip
    say("--kills", default=0, help="SIGKILLs of writing processes", **count)
    say("--leases", action="store_true", help="let writing processes decide under leases")
    say("--races", default=0, help="races for small accounts", **count)
    say("--race-of", help="explorations to race for; default: 1 to 30", **count)
    say("--plays", default=0, help="plays of each process, while you break things", **count)
    say("--limits", action="store_true", help="a full disk and a read-only file, on SQLite")
    say("--sweep", action="store_true", help="a kill at each write of a scenario")
    say("--stride", default=1, help="sweep only every so many points", **count)
    say("--workers", default=4, help="processes at once; default: 4", **count)
    say("--seed", type=int, default=0, metavar="N", help="of the schedule")
    say("--json", action="store_true", help="print the report as JSON")


def run(asked: argparse.Namespace) -> int:
    """Run what the options ask for; 1 if anything is wrong."""
    if not (asked.kills or asked.races or asked.plays or asked.limits or asked.sweep):
        asked.refuse("nothing to do; ask for --kills, --races, --plays, --limits or --sweep")
    if not hasattr(os, "fork"):
        asked.refuse("this system cannot fork; run it on Linux")
    warm()
    with tempfile.TemporaryDirectory(prefix="surefoot-campaign-") as folder:
        address = asked.store or f"{folder}/ledger.db"
        campaign = Campaign(address, Path(folder), asked.seed, asked.workers, asked.leases)
        _watch(_steps(campaign, asked))
    report = campaign.report()
    sys.stdout.write(json.dumps(report) if asked.json else _told(report))
    sys.stdout.write("\n")
    return 0 if report["ok"] else 1


def _count(text: str) -> int:
    if (count := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text} must be 1 or more")
    return count


def _steps(campaign: Campaign, asked: argparse.Namespace) -> Iterator[tuple[str, int, int]]:
    parts: list[tuple[str, int, Callable[[], Steps]]] = [
        ("killing", asked.kills, lambda: campaign.kill(asked.kills)),
        ("racing", asked.races, lambda: campaign.race(asked.races, asked.race_of)),
        ("playing", asked.plays * asked.workers, lambda: campaign.play(asked.plays)),
        ("limiting", 2 * asked.limits, campaign.limit),
    ]
    if asked.sweep:
        calm = sweeps.calm(campaign.folder)
        points = len(calm.points()[:: asked.stride])
        parts.append(("sweeping", points, lambda: campaign.sweep(calm, asked.stride)))
    done, total = 0, sum(size for _, size, _ in parts)
    for doing, size, part in parts:
        for step in part() if size else ():
            done += step
            yield doing, done, total


def _watch(steps: Iterator[tuple[str, int, int]]) -> None:
    """Draw how far it came, on stderr and without a thread: the process forks."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), auto_refresh=False) as bar:
        task = bar.add_task("starting")
        for doing, done, total in steps:
            bar.update(task, description=doing, completed=done, total=total, refresh=True)


def _told(report: dict[str, Any]) -> str:
    """The report as lines."""
    lines = [f"{name.replace('_', ' ')}: {value}" for name, value in report.items()]
    return "\n".join([*lines[1:-1], *(report["problems"] or ["nothing was lost or booked twice"])])
