"""``surefoot study better``: other policies under the paper's floors, measured against it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from surefoot._types import JsonObject
from surefoot.cli._commands import AsJson, Overwrite, Seed, Workers
from surefoot.cli._terminal import (
    drawing,
    echo_json,
    show_table,
    table_of,
    tell,
    tell_stopped,
    telling,
    watch,
)


class ProblemName(StrEnum):
    """The paper's problems."""

    CMAB = "cmab"
    CLB = "clb"
    CCCB = "cccb"
    MV = "mv"


Problem = Annotated[
    list[ProblemName] | None,
    typer.Option(help="One of the paper's problems; may be repeated. Default: all four."),
]
Runs = Annotated[int, typer.Option(help="Independent runs of each panel.")]
Horizon = Annotated[
    int | None, typer.Option(help="Plays in a run. Default: what each panel has in `study all`.")
]
Instances = Annotated[
    int, typer.Option(help="Fresh linear instances of each d in 5, 7 and 9; 0 for none.")
]
Out = Annotated[Path, typer.Option(help="Folder for all that is written.")]


def better(
    problem: Problem = None,
    runs: Runs = 50,
    horizon: Horizon = None,
    instances: Instances = 16,
    seed: Seed = 20261129,
    out: Out = Path("out/better"),
    overwrite: Overwrite = False,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Better policies against the printed algorithms, on shuffled arms.

    The paper's 22 panels again, each policy under the printed floor: one
    policy named beforehand for each problem, one with a published guarantee,
    and others. The arms are shuffled anew in each run, since the panels list
    the best arm first. Compared are regrets in the same runs, with intervals
    of the paired bootstrap; what plays a second time shows what chance does.
    Linear policies also play on fresh instances. better.html has the figure
    and all tables, better.json the numbers.

    Examples:

      surefoot study better
          some minutes on two cores
      surefoot study better --problem cmab --runs 5 --horizon 5000
          a quick look

    Ctrl-C keeps the finished runs, and shows those that are finished in all
    panels of a problem. The same command goes on, and so does one with
    another --runs, --problem or --instances.
    """
    from surefoot.study.better.runs import Better, BetterRuns
    from surefoot.study.files import to_json
    from surefoot.study.outputs import write_better

    chosen = [one.value for one in problem or ProblemName]
    asked = Better(chosen, runs, seed, horizon, instances)
    study = BetterRuns(out, asked, overwrite=overwrite)
    total, stopped = watch(study.steps(workers))
    if stopped:
        tell_stopped(study.done, total, out)
    with drawing(1, "figure") as drawn:
        summary = write_better(study)
        drawn()
    if not summary["families"]:
        tell("nothing to show yet: those runs count that are finished in all panels of a problem")
    echo_json(to_json(summary)) if as_json else _show(summary, out)
    if stopped:
        raise typer.Exit(130)


@telling()
def _show(summary: JsonObject, out: Path) -> None:
    """The verdicts, and a table for each problem and for the fresh instances of each d."""
    from rich.console import Console

    from surefoot.study.better.findings import Share, said
    from surefoot.study.better.pages import place
    from surefoot.study.verdict import EACH, tally

    if not summary["families"]:
        return
    console = Console(highlight=False, soft_wrap=True)
    held = [claim["holds"] for claim in summary["claims"]]
    console.print(f"[bold]What was to be reached:[/] {tally(held)}")
    for claim in summary["claims"]:
        word = {True: "holds", False: "does not hold", None: "not decided"}[claim["holds"]]
        console.print(f"{word}: {claim['claim']} ({claim['found']})", markup=False)
    for family in summary["families"]:
        console.print(f"\n[bold]{family['problem'].upper()}[/]: regret / the printed one")
        heads = ("geometric mean", "worst panel", "worst run")
        table = table_of("", heads, edge=False)
        for one in family["policies"]:
            shares = (one["geometric_mean"], one["worst_panel"]["share"])
            cells = (said(Share(**share)) for share in shares)
            table.add_row(one["name"], *cells, f"{one['worst_run']:.3f}")
        show_table(console, table)
    for at in summary["instances"]:
        many = f"{at['instances']} fresh instances, {at['runs']} runs of each"
        console.print(f"\n[bold]{at['problem'].upper()}, {place(at['panel'])}[/]: {many}")
        table = table_of("", ("geometric mean", "worst run", "runs above"), edge=False)
        for one in at["policies"]:
            mean, worst = said(Share(**one["geometric_mean"])), f"{one['worst_run']:.3f}"
            table.add_row(one["name"], mean, worst, f"{one['runs_above']}")
        show_table(console, table)
    console.print(
        "A worst run is the largest regret of a run over the printed algorithm's mean; above: "
        "larger than that mean."
    )
    console.print(f"In brackets: 95 % intervals of the paired bootstrap. {EACH}")
    console.print(f"better.html, its figure and better.json are in {out}", markup=False)
