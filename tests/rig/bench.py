"""The bench: an episode's processes and servers, and the log of what was done to them."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from rig import auditor, diary, ledger
from rig.auditor import Facts, Finding, Gap
from rig.diary import NOW
from rig.proxy import Proxy
from rig.servers import PASSWORD, Postgres

TESTS = Path(__file__).resolve().parents[1]
ACCOUNT = "shop"
SPEC = {
    "clients": 3, "pace": 0.03, "reap": 1.0, "window": None, "reserve": "4", "agent": True,
    "clock": False, "sweep": False, "lease": None, "live": {},
    "nowhere": (), "dawdle": 0, "ways": {},
}  # fmt: skip
WIDTH = 240
"""How much of a finding is told."""
SLOW_TOOL = 25.0
"""How many seconds a command may take on a busy machine, its start included."""


class Worker:
    """A process of ``rig.worker``."""

    def __init__(self, bench: Bench, spec: dict[str, Any]) -> None:
        self.name, self.bench = spec["name"], bench
        self.errors = bench.folder / f"{self.name}.stderr"
        with self.errors.open("ab") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "rig.worker", json.dumps(spec)],
                stdin=subprocess.PIPE, stdout=stderr, stderr=stderr, env=environment(), cwd=TESTS,
            )  # fmt: skip
        self.pid = self.process.pid
        self.stopped: float | None = None
        self.finished = False

    def tell(self, **order: Any) -> None:
        """Give an order."""
        try:
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps(order).encode() + b"\n")
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.bench.deaths[self.pid] = NOW()
        self.go_on()

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)
        self.stopped = NOW()

    def go_on(self) -> None:
        if self.stopped is None:
            return
        if self.process.poll() is None:
            os.kill(self.pid, signal.SIGCONT)
        # What waited for a process that was stopped had a reason to be refused.
        self.bench.pauses.setdefault(self.pid, []).append((self.stopped, NOW()))
        self.bench.storms.append((self.stopped, NOW()))
        self.stopped = None

    def finish(self, patience: float = 30.0) -> None:
        """Let it close; what does not end is killed, and its open call is a finding."""
        self.go_on()
        if self.finished:
            return
        self.finished = True
        if self.process.poll() is not None:
            if self.pid not in self.bench.deaths:
                self.bench.deaths[self.pid] = NOW()
                self.bench.odd(f"{self.name} ended by itself with {self.process.returncode}")
            return
        self.tell(do="stop")
        try:
            self.process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            self.kill()
            self.bench.odd(f"{self.name} did not stop within {patience:.0f} s")


class Bench:
    """One episode: it starts workers, knows what befell them, and hands it all to the auditor."""

    def __init__(self, folder: Path, seed: int, server: Postgres | None, doors: list[str]) -> None:
        self.folder, self.seed, self.server, self.doors = folder, seed, server, doors
        self.rng = random.Random(f"{seed}")
        self.workers: dict[str, Worker] = {}
        self.gaps: list[Gap] = []
        self.storms: list[tuple[float, float]] = []
        self.pauses: dict[int, list[tuple[float, float]]] = {}
        self.deaths: dict[int, float] = {}
        self.odds: list[Finding] = []
        self.strangers: set[str] = set()
        """Workers that came when the store had been set back: they cannot know better."""
        self.common: dict[str, Any] = {}
        """What all workers of this episode are given."""
        self.database: str | None = None
        self.store = str(folder / "shop.db")
        """The address that workers get."""
        self.truth = self.store
        """The address that the auditor reads."""
        self.windowed = False
        self.damaged = False
        """Whether the rig left the ledger in a state that verify must not be content with."""
        self.proxy: Proxy | None = None
        self._facts: Facts | None = None

    def use_postgres(self, port: int | None = None) -> None:
        """Keep the ledger in a database of its own; ``port``: where workers connect to."""
        assert self.server is not None
        self.database = self.database or self.server.new_database()
        self.truth = self.server.address(self.database)
        self.store = self.server.address(self.database, port)

    def use_proxy(self) -> Proxy:
        assert self.server is not None
        self.proxy = Proxy(self.server.port)
        self.use_postgres(self.proxy.port)
        return self.proxy

    def leased(self, **settings: Any) -> None:
        """Give all workers leases with one folder of journals, and mostly something to lend."""
        self.common["reserve"] = self.rng.choice(("4", "40", "200"))
        journal = str(self.folder / "journals")
        self.common["lease"] = {"journal": journal, "plays": 8, "seconds": 4.0, **settings}

    def start(self, name: str, **spec: Any) -> Worker:
        """Start a worker; of one that was killed, again."""
        told = {
            **SPEC, "name": name, "diary": str(self.folder), "seed": self.seed,
            "store": self.store, "doors": self.doors, **self.common, **spec,
        }  # fmt: skip
        self.windowed = self.windowed or told["window"] is not None
        self.workers[name] = Worker(self, told)
        return self.workers[name]

    def crew(self, count: int = 2, **spec: Any) -> list[Worker]:
        """Start some workers and wait until they play."""
        started = [self.start(f"w{number}", **spec) for number in range(count)]
        self.until_played([worker.name for worker in started])
        return started

    def until_played(self, names: list[str], plays: int = 3, patience: float = 30.0) -> None:
        """Wait until each of some workers got so many answers."""
        stop = NOW() + patience
        while NOW() < stop:
            if all(self.answers(name) >= plays for name in names):
                return
            time.sleep(0.1)
        self.odd(f"{', '.join(names)} did not play within {patience:.0f} s")

    def answers(self, name: str) -> int:
        """How many answers a worker got so far."""
        path = self.folder / f"{name}.diary"
        return path.read_bytes().count(b'"told": {"play"') if path.exists() else 0

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)

    @contextmanager
    def storm(self) -> Iterator[None]:
        """While something is amiss, calls may be refused."""
        since = NOW()
        self.storms.append((since, float("inf")))
        place = len(self.storms) - 1
        try:
            yield
        finally:
            self.storms[place] = since, NOW()

    @contextmanager
    def taking_back(self, since: float, worker: str | None = None) -> Iterator[None]:
        """While the rig takes from the store what was acknowledged after a moment."""
        place = len(self.gaps)
        self.gaps.append(Gap(since, float("inf"), worker))
        try:
            yield
        finally:
            self.gaps[place] = Gap(since, NOW(), worker)

    def odd(self, what: str, kind: str = "other") -> None:
        """Something that must not be, and that no diary tells."""
        self.odds.append(Finding(kind, what))

    def tool(self, *words: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Run a command of the package, through the same doors; its code is as expected."""
        name = f"tool-{words[0]}"
        began = NOW()
        command = [sys.executable, "-m", "rig.tool", json.dumps(self.doors), *words]
        try:
            run = subprocess.run(
                command, capture_output=True, text=True, env=environment(), cwd=TESTS,
                timeout=2 * SLOW_TOOL, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            self.odd(f"surefoot {words[0]} hung", "hang")
            return subprocess.CompletedProcess(command, -1, "", "")
        if NOW() - began > SLOW_TOOL:
            self.odd(f"surefoot {words[0]} took {NOW() - began:.0f} s", "hang")
        with (self.folder / f"{name}.stderr").open("a") as file:
            file.write(run.stdout + run.stderr)
        if code is not None and run.returncode != code:
            said = (run.stdout + run.stderr).strip().splitlines()[-3:]
            self.odd(f"surefoot {words[0]} ended with {run.returncode}, not {code}: {said}")
        return run

    def settled(self) -> Facts:
        """Bring the episode to its end, once: stop all, sweep up, have the ledger verified."""
        if self._facts is None:
            for worker in self.workers.values():
                worker.go_on()
            for worker in self.workers.values():
                worker.finish()
            self.sweep()
            self._facts = self.facts()
            if self._facts.ledger.entries and not self.damaged:
                self.tool("verify", self.store, "--account", ACCOUNT)
        return self._facts

    def sweep(self) -> None:
        """Enter what dead workers left, by a worker that only does that."""
        name = "sweeper"
        sweeper = self.start(name, clients=0, reap=0, sweep=True, agent=False)
        stop = NOW() + 30
        path = self.folder / f"{name}.diary"
        while NOW() < stop:
            tries = diary.read(path)[0] if path.exists() else []
            if any(call.ended and call.error != "StoreUnavailable" for call in tries):
                break
            time.sleep(0.1)
        sweeper.finish()

    def facts(self) -> Facts:
        """All that the auditor gets."""
        calls, over = [], NOW()
        for path in sorted(self.folder.glob("*.diary")):
            found, notes = diary.read(path)
            calls += found
            for note in notes:
                if "child" in note:
                    self.deaths.setdefault(note["child"], over)
        known = frozenset(call.worker for call in calls) - self.strangers
        return Facts(
            calls, ledger.read(self.truth, ACCOUNT), Fraction(self.common.get("reserve", "4")),
            self.gaps, self.storms, self.pauses, self.deaths, over, known, self.windowed,
            self.damaged, self.left_in_journals(),
        )  # fmt: skip

    def left_in_journals(self) -> str:
        """What stands in the journals."""
        lease = self.common.get("lease")
        files = [] if lease is None else Path(lease["journal"]).glob("*.journal")
        return "\n".join(path.read_text(errors="replace") for path in files)

    def findings(self, facts: Facts) -> list[Finding]:
        """What the auditor finds, and what stands on the workers' standard error."""
        found = [*self.odds, *auditor.audit(facts)]
        for path in sorted(self.folder.glob("*.stderr")):
            text = path.read_text(errors="replace")
            if "Traceback" in text:
                found.append(Finding("traceback", f"{path.stem}: {text.strip().splitlines()[-1]}"))
            if PASSWORD in text:
                found.append(Finding("other", f"{path.stem}: a password in what it printed"))
        told = [call for call in facts.calls if PASSWORD in call.text]
        found += [Finding("other", f"{call}: a password in its error") for call in told]
        return distinct(found)

    def close(self) -> None:
        for worker in self.workers.values():
            if worker.process.poll() is None:
                worker.process.kill()
                worker.process.wait()
        for path in self.folder.glob("*.diary"):
            for note in diary.read(path)[1]:
                if "child" in note:
                    end_child(note["child"])
        if self.proxy is not None:
            self.proxy.close()
        if self.server is not None and self.database is not None:
            self.server.drop(self.database)


def distinct(found: list[Finding]) -> list[Finding]:
    """The same findings, those that differ only by numbers as one, and none of them long."""
    kinds: dict[Finding, list[str]] = {}
    for finding in found:
        kinds.setdefault(masked(finding), []).append(finding.what)
    return [
        Finding(alike.kind, shortened(each[0]) + f" ({len(each)} times)" * (len(each) > 1))
        for alike, each in kinds.items()
    ]


def masked(finding: Finding) -> Finding:
    """A finding without the names and numbers of its run."""
    return finding._replace(what=re.sub(r"w-[0-9a-f]{12}|\d+", "#", finding.what))


def shortened(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."


def end_child(pid: int) -> None:
    """Kill a forked child that still hangs, if the process of that number is one of ours."""
    try:
        if b"rig.worker" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def environment() -> dict[str, str]:
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
