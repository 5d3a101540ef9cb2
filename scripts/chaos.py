"""Let chaos loose on live experiments, and audit what they acknowledged.

    uv run scripts/chaos.py --minutes 5 --seed 0          # all kinds of trouble in turn
    uv run scripts/chaos.py --only "silent network"       # one kind; --list names them
    uv run scripts/chaos.py --only forks --seed 17 --times 1   # a finding again
    uv run scripts/chaos.py --doors                       # put known faults back: is each found?

Real processes play on SQLite and on a PostgreSQL of their own, directly, through a proxy that can
go silent, and through pgbouncer; each client keeps a diary. They are killed, stopped and forked,
networks and servers fail, files and rows disappear, ledgers are set back. An auditor that shares no
code with the package then compares diaries and ledger. Exit code 1 if anything was found:

- violation: more was at stake than had been earned, by what the clients were answered;
- lost: acknowledged, and not in the ledger, unless the run itself took it from the store;
- double: an id with two answers, or a play that was decided or credited twice;
- hang: a call of more than 10 s; traceback: an error that is none of the package's own;
- other: refused for no reason, a ledger that does not verify, a password in a message, and such.

What needs PostgreSQL or pgbouncer is left out where they are not installed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from rig import campaign, doors  # type: ignore[import-not-found]
from rig.episodes import EPISODES  # type: ignore[import-not-found]
from rig.servers import postgres  # type: ignore[import-not-found]

SHOWN = 40
"""How many findings are spelled out."""


def main() -> int:
    """Run what was asked for; returns the exit code."""
    asked = arguments()
    if asked.list:
        for each in EPISODES.values():
            print(f"{each.name:24} {each.needs:10} {(each.run.__doc__ or '').splitlines()[0]}")
        return 0
    with postgres() as server:
        if server is None:
            sys.stderr.write("PostgreSQL is not installed: only what needs none is run\n")
        if asked.doors is not None:
            return through_doors(server, asked)
        reports = campaign.campaign(
            server, asked.seed, asked.minutes, asked.times, asked.only, asked.door, Progress(asked)
        )
    if asked.json:
        print(json.dumps(as_json(reports), indent=1))
    else:
        print(campaign.rendered(campaign.table(reports)))
        print(*spelled(reports), sep="\n")
    return int(any(report.findings for report in reports))


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--times", type=int, help="how many episodes at most")
    parser.add_argument("--only", action="append", choices=list(EPISODES), metavar="EPISODE")
    parser.add_argument("--door", action="append", choices=list(doors.DOORS), metavar="DOOR")
    parser.add_argument("--doors", nargs="*", metavar="DOOR", help="open these doors; none: all")
    parser.add_argument("--list", action="store_true", help="say what episodes there are")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


class Progress:
    """A line on standard error after each episode."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.end, self.began = asked.minutes, time.monotonic()
        self.found = self.count = 0

    def __call__(self, report: Any) -> None:
        """Say how it stands."""
        self.count += 1
        self.found += len(report.findings)
        minutes = (time.monotonic() - self.began) / 60
        said = f"{minutes:4.1f} of {self.end:g} min, {self.count} episodes, {self.found} findings"
        line = f"{said}: {report.episode}, seed {report.seed}"
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{line}")
        else:
            sys.stderr.write(f"{line}{f' ({report.skipped})' * bool(report.skipped)}\n")
        sys.stderr.flush()


def spelled(reports: list[Any]) -> list[str]:
    """The first findings in words, each with how to see it again."""
    lines, left = [""], SHOWN
    for report in reports:
        of = f"{report.episode}, seed {report.seed}"
        lines += [f"{each.kind}: {of}: {each.what}" for each in report.findings[:left]]
        left -= min(left, len(report.findings))
    return [*lines, "nothing was found" if len(lines) == 1 else ""]


def as_json(reports: list[Any]) -> list[dict[str, Any]]:
    """The reports as plain JSON."""
    return [
        {**report._asdict(), "findings": [finding._asdict() for finding in report.findings]}
        for report in reports
    ]


def through_doors(server: Any, asked: argparse.Namespace) -> int:
    """Open each door by itself, and see whether the rig finds that it is open."""
    missed = 0
    for name in asked.doors or list(doors.DOORS):
        door = doors.DOORS[name]
        report = campaign.searched(server, door, asked.seed)
        missed += not report.findings
        kinds = ", ".join(dict.fromkeys(finding.kind for finding in report.findings))
        first = report.findings[0].what if report.findings else report.skipped or ""
        said = f"found: {kinds}" if report.findings else "NOT FOUND"
        print(f"{name:44} {said} ({report.episode}, seed {report.seed}) {first[:100]}")
        sys.stdout.flush()
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
