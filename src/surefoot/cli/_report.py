"""``surefoot study report``: figures, tables and the page of a study, from its runs alone."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli._commands import AsJson
from surefoot.cli._study_runs import Theory, tell_found
from surefoot.cli._terminal import drawing, echo_json, tell

INCOMPLETE = 3
"""The exit code where runs are missing."""


def report(
    out: Annotated[Path, typer.Argument(help="Folder of a study, finished or not.")],
    theory: Theory = False,
    as_json: AsJson = False,
) -> None:
    """Write the report of a study from its finished runs; nothing is run.

    Figures, report.html, summary.json and summary.csv are written to the
    folder of the study, one panel after the other. Where runs are missing it
    says which, and ends with exit code 3. Above 30 panels there is no figure
    for each: grids are drawn against their longest axis. A panel with more
    than 1,000 files of runs is first compacted to files of about 128 MB.

    Examples:

      surefoot study report out/sweep
          after a job array, or while one is under way
      surefoot study report out/sweep --json
          the summary on stdout, for a script
    """
    from surefoot.errors import StoreUnavailable
    from surefoot.study.files import probe, require, to_json
    from surefoot.study.report.publish import publish
    from surefoot.study.results.compaction import compact
    from surefoot.study.results.manifest import read
    from surefoot.study.results.store import Runs

    require("numba", "polars", "matplotlib")
    runs = Runs.of(out)
    try:
        probe(out)
    except OSError as error:
        raise StoreUnavailable(
            f"{out} cannot be written ({error.strerror}), and figures and tables go there; copy "
            "the folder to where they can, and report on the copy"
        ) from error
    with redirect_stdout(sys.stderr), drawing(len(runs.sweep.panels), "panels") as drawn:
        for cell in runs.cells:
            compact(runs, cell)
        summary = publish(runs, drawn, theory=theory or read(out)["theory"])
    missing = summary["missing"]
    if as_json:
        echo_json(to_json(summary))
    else:
        tell_found(summary, runs.sweep, out)
    if missing:
        lacking, total = sum(one["runs"] for one in missing), runs.sweep.runs * len(runs.cells)
        first = missing[0]
        more = f", and {len(missing) - 1:,} more panels" if len(missing) > 1 else ""
        tell(
            f"{lacking:,} of {total:,} runs are missing: {first['runs']:,} of {first['panel']}"
            f"{more}; the command that began the study goes on with --resume"
        )
        raise typer.Exit(INCOMPLETE)
