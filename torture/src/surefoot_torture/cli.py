"""Break live experiments on purpose, and see whether anything acknowledged was lost.

  faults      one process simulates workers, clients, clock, network and store, and their failures
  processes   real processes decide and report; they are killed, stopped and raced

Both use the agent, the store and the worker that you install, on a store of your choice: memory, a
SQLite file, or the URL of an empty PostgreSQL database. Exit code 1 if anything acknowledged was
lost, booked twice or overstated, or if the promise was missed at any moment.

  surefoot-torture faults --schedules 2000
  surefoot-torture faults --store postgresql://user@host/empty --schedules 200
  surefoot-torture processes --store postgresql://user@host/empty --kills 200 --races 20

`surefoot-torture faults --help` and `surefoot-torture processes --help` list the options.
"""

from __future__ import annotations

import argparse

from surefoot_torture.faults import campaign as faults
from surefoot_torture.processes import campaign as processes


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; 1 if anything was wrong."""
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "surefoot-torture", description=__doc__, formatter_class=shape, usage="%(prog)s WHAT ..."
    )
    whats = parser.add_subparsers(
        prog=parser.prog, metavar="WHAT", required=True, help="faults or processes"
    )
    for name, what in (("faults", faults), ("processes", processes)):
        one = whats.add_parser(name, description=what.__doc__, formatter_class=shape)
        what.add_options(one)
        one.set_defaults(run=what.run, refuse=one.error)
    asked = parser.parse_args(arguments)
    code: int = asked.run(asked)
    return code
