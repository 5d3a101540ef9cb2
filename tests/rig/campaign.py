"""The campaign: episodes one after the other, by seed, and the table of what they found."""

from __future__ import annotations

import itertools
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from rig import auditor
from rig.auditor import Finding
from rig.bench import Bench, masked
from rig.doors import Door
from rig.episodes import EPISODES, Skipped, possible
from rig.servers import Postgres

COUNTED = ("answers", "explorations", "reports", "refused", "taken back")


class Report(NamedTuple):
    """What came of one episode."""

    episode: str
    seed: int
    seconds: float
    counts: dict[str, int]
    """Answers, explorations, reports, refusals, and what the rig took back."""
    findings: list[Finding]
    skipped: str | None = None


def run(name: str, seed: int, server: Postgres | None, doors: list[str] | None = None) -> Report:
    """One episode, from its seed."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="surefoot-chaos-", ignore_cleanup_errors=True) as home:
        bench = Bench(Path(home), seed, server, doors or [])
        try:
            EPISODES[name].run(bench)
            facts = bench.settled()
            findings = bench.findings(facts)
        except Skipped as reason:
            return Report(name, seed, 0.0, {}, [], str(reason))
        finally:
            bench.close()
    return Report(name, seed, time.monotonic() - began, counted(facts), findings)


def counted(facts: auditor.Facts) -> dict[str, int]:
    """How much there was to find something in."""
    counts: Counter[str] = Counter()
    for call in facts.calls:
        if call.what == "select" and call.told is not None:
            counts["answers"] += 1
            counts["explorations"] += call.told["index"] >= 0
        elif call.what in auditor.REPORTING and call.told is not None:
            counts["reports"] += 1
        counts["refused"] += call.error is not None
    counts["taken back"] = auditor.taken_back(facts)
    return dict(counts)


def plan(seed: int, only: list[str], has_server: bool) -> Iterator[tuple[str, int]]:
    """Episodes and their seeds, for ever: all kinds in each round, in another order."""
    names = only or [name for name, each in EPISODES.items() if possible(each.needs, has_server)]
    rng, numbers = random.Random(seed), itertools.count(seed)
    while True:
        round_ = list(names)
        if not only:
            rng.shuffle(round_)
        for name in round_:
            yield name, next(numbers)


def campaign(
    server: Postgres | None,
    seed: int,
    minutes: float,
    most: int | None = None,
    only: list[str] | None = None,
    doors: list[str] | None = None,
    tell: Callable[[Report], None] = lambda _: None,
) -> list[Report]:
    """Episodes until the time is over, or there were ``most``."""
    stop = time.monotonic() + 60 * minutes
    reports: list[Report] = []
    for name, number in plan(seed, only or [], server is not None):
        if time.monotonic() >= stop or (most is not None and len(reports) >= most):
            return reports
        reports.append(run(name, number, server, doors))
        tell(reports[-1])
    return reports


def table(reports: list[Report]) -> list[list[str]]:
    """A row for each kind of episode, and one for all."""
    head = ["episode", "times", *COUNTED, *auditor.KINDS]
    rows = [head]
    names = list(dict.fromkeys(report.episode for report in reports))
    for name in [*names, None]:
        some = [report for report in reports if name in (report.episode, None)]
        kinds = Counter(finding.kind for report in some for finding in report.findings)
        counts = [sum(report.counts.get(what, 0) for report in some) for what in COUNTED]
        ran = sum(report.skipped is None for report in some)
        numbers = [ran, *counts, *(kinds[kind] for kind in auditor.KINDS)]
        rows.append([name or "all", *(f"{number:,}" for number in numbers)])
    return rows


def rendered(rows: list[list[str]]) -> str:
    """The table as plain text."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def searched(server: Postgres | None, door: Door, seed: int, rounds: int = 3) -> Report:
    """Look for an open door in the episodes that have to find it: the first report with a finding.

    What the same episode finds with the door shut is no finding of the door.
    """
    report = Report("", seed, 0.0, {}, [], "nothing here can find it")
    if door.missing:
        return report._replace(skipped=f"no part {door.missing[0]} is there: write it anew")
    for number in range(seed, seed + rounds):
        for name in door.episodes:
            if possible(EPISODES[name].needs, server is not None):
                report = run(name, number, server, [door.name])
            if report.findings:
                known = {masked(each) for each in run(name, number, server).findings}
                report.findings[:] = [each for each in report.findings if masked(each) not in known]
            if report.findings:
                return report
    return report
