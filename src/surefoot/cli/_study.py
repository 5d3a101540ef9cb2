"""``surefoot study``: the paper's experiments, from one command to figures and tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from surefoot.cli._progress import tell, watch

app = typer.Typer()


@app.callback(invoke_without_command=True)
def _group(context: typer.Context) -> None:
    """Run the paper's experiments and draw its figures."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


Arms = Annotated[
    list[int] | None,
    typer.Option("--k", "--K", help="Number of arms; may be repeated. Default: 72."),
]
Alphas = Annotated[
    list[float] | None,
    typer.Option(
        help="Fraction of the default's reward one is willing to lose; may be repeated. "
        "Default: 0.05."
    ),
]
Horizon = Annotated[int | None, typer.Option(help="Plays in a run. Default: 100000.")]
Runs = Annotated[int | None, typer.Option(help="Independent runs. Default: 50.")]
Seed = Annotated[int | None, typer.Option(help="Equal seeds give equal numbers. Default: 0.")]
Out = Annotated[Path, typer.Option(help="Folder for all that is written.")]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Go on with the study in the folder; only --runs may differ."),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Start again in a folder that holds a study.")
]
Workers = Annotated[
    int | None, typer.Option(help="Threads; no number depends on them. Default: one a core.")
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the summary as JSON on stdout, no table.")
]


@app.command()
def cmab(
    k: Arms = None,
    alpha: Alphas = None,
    horizon: Horizon = None,
    runs: Runs = None,
    seed: Seed = None,
    out: Out = Path("out/cmab"),
    resume: Resume = False,
    overwrite: Overwrite = False,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """GenCB, UCB1 and ConUCB on K arms: the paper's figure, and who kept the floor.

    The arms are Bernoulli, their means evenly spaced from 0.8 to 0.2, and
    the default pays 0.7. Each pair of a --k and an --alpha is a panel with
    its own figure (PNG, SVG, PDF); runs.parquet holds all runs, summary.json
    the numbers at the horizon. The paper gives no horizon and no seed: those
    are choices of ours.

    Examples:

      surefoot study cmab
          the figure in the paper's main text: 50 runs of 100,000 plays
      surefoot study cmab --k 24 --k 72 --alpha 0.05 --alpha 0.1
          four panels
      surefoot study cmab --k 24 --horizon 5000 --runs 2 --json
          a quick look, for a script

    Ctrl-C keeps the finished runs and draws them. The same command goes on,
    and ends with the numbers of one that never stopped; when all is done it
    only draws again.
    """
    from surefoot.study.conduct import conclude, conduct
    from surefoot.study.output import to_json
    from surefoot.study.panel import MAIN, Sweep, read
    from surefoot.study.store import Store, asked_for

    sweep = asked_for(
        out, Sweep.of(read(MAIN)), resume=resume,
        K=k, alpha=alpha, horizon=horizon, runs=runs, seed=seed,
    )  # fmt: skip
    store = Store(out, sweep, resume=resume, overwrite=overwrite)
    if resume and not store.begun:
        tell(f"nothing to resume in {out}; starting afresh")
    done, total, stopped = watch(conduct(store, workers))
    _tell_kept(store, done, total, stopped)
    summary = conclude(store)
    typer.echo(to_json(summary)) if as_json else _show(summary, out)
    if stopped:
        raise typer.Exit(130)


def _tell_kept(store: Any, done: int, total: int, stopped: bool) -> None:
    """What of the study is in its folder, where that is not what one has just asked for."""
    if stopped:
        tell(
            f"stopped: {done} of {total} runs are finished and kept in {store.folder}; "
            "the same command goes on"
        )
    elif store.begun:
        tell(f"{store.folder} held this study already; its finished runs are kept")
        if store.kept > total:
            way = "--resume without --runs goes on with all"
            tell(f"{store.kept} runs are kept, {total} shown; {way}")


def _show(summary: dict[str, Any], out: Path) -> None:
    """The summary as one table a panel, on stdout."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, soft_wrap=True)
    for panel in summary["panels"]:
        console.print(
            f"\n[bold]K = {panel['K']}, alpha = {panel['alpha']}[/]: {panel['runs']} runs of "
            f"{panel['horizon']:,} plays, baseline regret {panel['baseline_regret']:,.0f}"
        )
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("")
        for heading in ("regret", "default plays", "plays below\nthe floor", "least slack"):
            table.add_column(heading, justify="right", no_wrap=True)
        for agent in panel["agents"]:
            cells = [agent["regret"], agent["default_plays"], agent["violating_rounds"]]
            slack = agent["minimum_slack"]["min"]
            table.add_row(agent["name"], *map(_spread, cells), f"{slack:,.10g}")
        console.print(table)
    if summary["panels"]:
        console.print("Mean over the runs, least and most; least slack is the worst of all runs.")
        console.print(f"Figures, runs.parquet and summary.json are in {out}", markup=False)


def _spread(values: dict[str, float]) -> str:
    mean, low, high = (f"{values[key]:,.0f}" for key in ("mean", "min", "max"))
    return f"{mean}\n" + ("" if low == high else f"[dim]{low} to {high}[/]")
