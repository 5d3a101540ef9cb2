"""Measure what the documentation says of reliability, and write it to `docs/reliability.md`.

    uv run scripts/reliability.py                  # in full: some hours on two cores
    uv run scripts/reliability.py --scale 0.01     # a hundredth of that, in a few minutes

Runs the simulated faults, the campaigns of real processes, the planted bugs and the paper's study.
PostgreSQL is started where its programs are installed, on a free loopback port, and stopped. What
was measured is kept in `build/reliability/`; run it again to go on after an interrupt, or further.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "tests" / "live"), str(ROOT / "benchmarks")]

from bench_engine import machine, table  # type: ignore[import-not-found]  # noqa: E402

Report = dict[str, Any]
Row = list[str]

FAULTS, PROCESSES = ["surefoot_torture", "faults"], ["surefoot_torture", "processes"]
BUG_SEEDS = 5


class Part(NamedTuple):
    """One measurement: its name, and the command whose JSON is kept."""

    name: str
    command: list[str]
    """A module, and the first words it is given."""
    options: list[str]
    on: str = ""
    """Where its ledger is: memory, sqlite or postgresql; none of these: it says so itself."""


def parts(scale: float) -> Iterator[Part]:
    """What is measured, in full at a scale of 1."""
    little = scale < 0.05

    def size(full: int, least: int = 1) -> str:
        return str(max(least, round(full * scale)))

    for leases in ([], ["--leases"]):
        under = "-leases" * bool(leases)
        in_memory = 50_000 if leases else 100_000
        for store, full in (("memory", in_memory), ("sqlite", 1000), ("postgresql", 200)):
            many = ["--schedules", size(full, 5), "--seed", "1000000", *leases]
            yield Part(f"faults-{store}{under}", FAULTS, many, store)
        for store, full in (("sqlite", 5000), ("postgresql", 2000)):
            kills = ["--kills", size(full, 20), *leases]
            yield Part(f"kills-{store}{under}", PROCESSES, kills, store)
    yield Part("races-sqlite", PROCESSES, ["--races", size(1000, 5), "--workers", "2"], "sqlite")
    races = ["--races", size(1000, 5), "--workers", "8"]
    yield Part("races-postgresql", PROCESSES, races, "postgresql")
    race = ["--races", size(10), "--race-of", "777", "--workers", "8"]
    yield Part("race-of-777", PROCESSES, race, "postgresql")
    for store in ("sqlite", "postgresql"):
        yield Part(f"stops-{store}", PROCESSES, ["--plays", size(1000, 50)], store)
    yield Part("limits", PROCESSES, ["--limits"], "sqlite")
    yield Part("sweep", PROCESSES, ["--sweep", "--stride", "20" if little else "1"], "sqlite")
    yield Part("bugs", [], ["120" if little else "400"])
    runs = ["--runs", "2", "--horizon", "3000"] if little else []
    yield Part("study", ["surefoot", "study"], ["all", "--overwrite", *runs])


def measure(part: Part, kept: Path, server: str | None, scale: float) -> Report | None:
    """Run a part, unless it was run at this scale; None if its PostgreSQL is not there."""
    file = kept / f"{part.name}.json"
    found: Report = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"scale": 0}
    if found["scale"] >= scale:
        return found
    if part.on == "postgresql" and server is None:
        return None
    sys.stderr.write(f"{part.name}: {' '.join([*part.command, *part.options])}\n")
    start = time.monotonic()
    if not part.command:
        found = {"bugs": bugs(int(part.options[0]))}
    else:
        found = ran(part, kept, server)
    took = max(time.monotonic() - start, found.get("seconds", 0))  # with what an earlier call did
    found |= {"took": round(took), "scale": scale, "commit": commit()}
    file.write_text(json.dumps(found), encoding="utf-8")
    return found


def ran(part: Part, kept: Path, server: str | None) -> Report:
    """The JSON that a command prints, which may be cut short and go on at the next call."""
    with ExitStack() as stack:
        address = stored(part, kept, server, stack)
        resume = [f"--resume={kept / part.name}.part"] if part.command == FAULTS else []
        study = [f"--out={kept / 'study'}"] if part.name == "study" else []
        command = [sys.executable, "-m", *part.command, *part.options, *address, *resume, *study]
        run = subprocess.run([*command, "--json"], stdout=subprocess.PIPE, check=False)
    if run.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {run.returncode}")
    found: Report = json.loads(run.stdout)
    return found


def stored(part: Part, kept: Path, server: str | None, stack: ExitStack) -> list[str]:
    """Where a part's ledger is to be, as options of its command."""
    if part.on == "postgresql":
        from postgres import empty_database  # type: ignore[import-not-found]

        assert server is not None
        return [f"--store={stack.enter_context(empty_database(server))}"]
    if part.on == "sqlite" and part.command == FAULTS:
        file = kept / f"{part.name}.db"
        return [f"--store={file}"]
    return []


def bugs(tries: int) -> dict[str, list[int | None]]:
    """How many schedules each planted bug takes to be found, from several seeds."""
    from surefoot_torture.faults.planted import BUGS, OF_LEASES, planted
    from surefoot_torture.faults.schedule import schedule

    found: dict[str, list[int | None]] = {}
    for bug in BUGS | OF_LEASES:
        sys.stderr.write(f"  {bug}\n")
        found[bug] = []
        for start in range(BUG_SEEDS):
            with planted(bug):
                seeds = range(10_000 * (start + 1), 10_000 * (start + 1) + tries)
                took = (n for n, seed in enumerate(seeds, 1) if failed(schedule, seed, bug))
                found[bug].append(next(took, None))
    return found


def failed(schedule: Callable[..., Any], seed: int, bug: str) -> bool:
    """Whether a schedule finds that something is wrong, by its judge or by an assertion."""
    from surefoot_torture.faults.planted import OF_LEASES

    try:
        return not schedule(seed, leases=bug in OF_LEASES).ok
    except AssertionError:
        return True


def of_faults(found: dict[str, Report | None]) -> str:
    """The simulated schedules."""
    rows = []
    for name, report in found.items():
        if not name.startswith("faults-"):
            continue
        label = name.removeprefix("faults-").replace("-leases", ", leases")
        if report is None:
            rows.append([label, "not measured: no PostgreSQL", *[""] * 7])
            continue
        first, last = report["seeds"]
        bound = "-" if report["bound"] is None else f"{report['bound']:.0e}"
        told = [report[key] for key in ("schedules", "decisions", "explorations", "faults")]
        bad = [report[key] for key in ("violations", "lost", "double")]
        other = report["wrong"] + report["broken"]
        cells = [f"{n:,}" for n in (*told, *bad, other)]
        rows.append([label, f"{first}..{last}", *cells, bound])
    head = [
        "ledger in", "seeds", "schedules", "decisions", "explorations", "faults", "violations",
        "lost", "double", "other", "rate, below (95 %)",
    ]  # fmt: skip
    return str(table(head, rows))


def of_campaigns(found: dict[str, Report | None]) -> str:
    """The real processes."""
    rows = []
    for name, report in found.items():
        if not name.startswith(("kills", "race", "stops", "limits", "sweep")):
            continue
        if report is None:
            rows.append([name, "not measured: no PostgreSQL", "", "", ""])
            continue
        keys = ("kills", "races", "plays", "stops", "limits")
        done = [f"{key}: {report[key]:,}" for key in keys if report[key]]
        if report["kill_points_there"]:
            done.append(f"kill points: {report['kill_points']:,}/{report['kill_points_there']:,}")
        answered = f"{report['acknowledged']:,}" if report["acknowledged"] else ""
        again = f"{report['recovery_p99']:.2f} s" if report["recoveries"] else ""
        wrong = str(len(report["problems"]))
        rows.append([name, ", ".join(done), answered, wrong, again])
    return str(table(["campaign", "done", "acknowledged", "problems", "recovery, p99"], rows))


def of_bugs(found: dict[str, Report | None]) -> str:
    """The planted bugs."""
    report = found["bugs"] or {"bugs": {}}
    rows = []
    for bug, counts in report["bugs"].items():
        caught = [count for count in counts if count is not None]
        middle = f"{median(caught):g}" if caught else "never"
        rows.append([bug.replace("_", " "), f"{len(caught)} of {len(counts)}", middle])
    return str(
        table(["planted bug", "searches that found it", "schedules until then, median"], rows)
    )


def of_study(found: dict[str, Report | None]) -> str:
    """The paper's panels: plays below the floor, added up over panels and runs."""
    report = found["study"]
    assert report is not None
    rows: dict[tuple[str, str], list[int]] = {}
    for panel in report["panels"]:
        for agent in panel["agents"]:
            below = agent.get("violating_rounds")
            if below is None:
                continue
            row = rows.setdefault((panel["problem"], agent["name"]), [0, 0, 0, 0])
            row[0] += 1
            row[1] += panel["runs"] * panel["horizon"]
            row[2] += round(below["mean"] * panel["runs"])
            row[3] = max(row[3], round(below["max"]))
    lines = [[*key, *(f"{n:,}" for n in row)] for key, row in sorted(rows.items())]
    head = ["problem", "agent", "panels", "plays", "plays below the floor", "worst run"]
    return str(table(head, lines))


def page(found: dict[str, Report | None]) -> str:
    """`docs/reliability.md`."""
    commits = {report["commit"] for report in found.values() if report is not None}
    took = sum(report["took"] for report in found.values() if report is not None)
    today = dt.datetime.now(tz=dt.UTC).date()
    return f"""# Reliability, measured

Written by `scripts/reliability.py` on {today:%d %B %Y}, from commit {", ".join(sorted(commits))}:
{machine()}, {took / 60:.0f}
minutes in all, two parts at a time. In full it is 100,000 schedules in memory, 50,000 more under
leases, 1,000 in SQLite, 200 in PostgreSQL, 5,000 and 2,000 kills; the tables say how many there
were.

What is assumed: rewards lie in the declared range, the default is worth its declared value, the
store keeps what it acknowledged, and nobody reports plays that were not made.

## Simulated faults

Workers, clients, clock, store and network in one thread, one seed a schedule, around the real
agent. Messages are lost, doubled, late and out of order; clocks jump by up to 30 days; the store
fails, hangs, or loses its answer; workers die, sleep past their lease and wake up. A judge with
a text of its own compares with what was truly played and paid.

A *violation*: the promise missed, in the order of decisions, plays or reports. *Lost*:
acknowledged and not in the ledger. *Double*: credited twice. *Other*: sums that do not agree, or
an agent that differs from its own ledger.

{of_faults(found)}

Any of them again: `surefoot-torture faults --seed SEED --schedules 1`, with `--leases` where it
says so.

## Real processes

Killed with SIGKILL, stopped with SIGSTOP, racing for an exact number of explorations, on a full
disk and a read-only file; a scenario killed at each of its writes. What each process had been
told is compared with the ledger.

{of_campaigns(found)}

## Planted bugs

What finds no bug proves nothing: each of these was put into the real code, and simulated
schedules had to find it.

{of_bugs(found)}

## The paper's study

Exact check at every play. ConUCB, CLUCB and C3UCB promise something else: a bound on expected
rewards, with high probability.

{of_study(found)}

## Not measured here

Throughput is in {{doc}}`explanation/performance`. HTTP, a full disk under PostgreSQL, and soaks
over days are not measured.
"""


def commit() -> str:
    """Which code this is."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    said = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return said.stdout.strip()


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--scale", type=float, default=1.0, help="1: in full")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="parts at once")
    parser.add_argument("--only", metavar="START", default="", help="parts whose name starts so")
    scale, only = (asked := parser.parse_args()).scale, asked.only
    kept = ROOT / "build" / "reliability"
    kept.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        from postgres import cluster, programs

        binaries = programs()
        server = None if binaries is None else stack.enter_context(cluster(binaries))
        wanted = [part for part in parts(scale) if part.name.startswith(only)]
        with ThreadPoolExecutor(asked.jobs) as pool:
            results = pool.map(lambda part: measure(part, kept, server, scale), wanted)
            found = dict(zip((part.name for part in wanted), results, strict=True))
    if only:
        sys.stdout.write(json.dumps(found, indent=1) + "\n")
        return
    (ROOT / "docs" / "reliability.md").write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
