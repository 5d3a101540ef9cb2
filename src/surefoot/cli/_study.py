"""``surefoot study``: the paper's experiments, from one command to figures and tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from surefoot.cli._commands import Commands
from surefoot.cli._legible import echo, echo_json, telling
from surefoot.cli._progress import drawing, tell, watch
from surefoot.cli._tables import show_table

app = Commands()
AXES = ("K", "d", "alpha", "rho")


@app.callback(invoke_without_command=True)
def _group(context: typer.Context) -> None:
    """Run the paper's experiments and draw its figures."""
    if context.invoked_subcommand is None:
        echo(context.get_help())


ARMS = "Number of arms"
ALPHA = "Fraction of the default's reward one is willing to lose"
Arms72 = Annotated[
    list[int] | None, typer.Option("--k", "--K", help=f"{ARMS}; may be repeated. Default: 72.")
]
Arms24 = Annotated[
    list[int] | None, typer.Option("--k", "--K", help=f"{ARMS}; may be repeated. Default: 24.")
]
Dims = Annotated[
    list[int] | None,
    typer.Option("--d", help="Dimension; there are 2d arms; may be repeated. Default: 7."),
]
Alphas5 = Annotated[
    list[float] | None, typer.Option("--alpha", help=f"{ALPHA}; may be repeated. Default: 0.05.")
]
Alphas1 = Annotated[
    list[float] | None, typer.Option("--alpha", help=f"{ALPHA}; may be repeated. Default: 0.01.")
]
Rhos = Annotated[
    list[float] | None,
    typer.Option(
        "--rho", help="Weight of the mean against the variance; may be repeated. Default: 10."
    ),
]
Instance = Annotated[
    int | None,
    typer.Option(help="The features and the parameter are drawn from this seed. Default: 0."),
]
Ratio = Annotated[
    float | None,
    typer.Option(help="The default's reward as a share of the best mean. Default: 0.875."),
]
Size = Annotated[int | None, typer.Option(help="Base arms in a super arm. Default: 3.")]
Delta = Annotated[
    float | None, typer.Option(help="The conservative rival's failure probability. Default: 1/T.")
]
Sigma = Annotated[float | None, typer.Option(help="The rival's bound on the noise. Default: 0.5.")]
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
Theory = Annotated[
    bool, typer.Option("--theory", help="Draw the regret bounds, and foretell the default plays.")
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print the summary as JSON on stdout, no table.")
]


@app.command()
def cmab(
    k: Arms72 = None,
    alpha: Alphas5 = None,
    horizon: Horizon = None,
    runs: Runs = None,
    seed: Seed = None,
    out: Out = Path("out/cmab"),
    resume: Resume = False,
    overwrite: Overwrite = False,
    workers: Workers = None,
    theory: Theory = False,
    as_json: AsJson = False,
) -> None:
    """GenCB, UCB1 and ConUCB on K arms: the paper's figure, and who kept the floor.

    The arms are Bernoulli, their means evenly spaced from 0.8 to 0.2, and
    the default pays 0.7. Each pair of a --k and an --alpha is a panel with
    its own figure (PNG, SVG, PDF); report.html shows all, runs.parquet holds
    all runs, summary.json the numbers at the horizon. The paper gives no
    horizon and no seed: those are choices of ours.

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
    how = _How(out, resume, overwrite, workers, theory, as_json)
    _study("cmab", how, K=k, alpha=alpha, horizon=horizon, runs=runs, seed=seed)


@app.command()
def clb(
    d: Dims = None,
    alpha: Alphas1 = None,
    instance: Instance = None,
    ratio: Ratio = None,
    delta: Delta = None,
    sigma: Sigma = None,
    horizon: Horizon = None,
    runs: Runs = None,
    seed: Seed = None,
    out: Out = Path("out/clb"),
    resume: Resume = False,
    overwrite: Overwrite = False,
    workers: Workers = None,
    theory: Theory = False,
    as_json: AsJson = False,
) -> None:
    """GenCB, LinUCB and CLUCB on 2d linear arms.

    The paper names d, alpha and K = 2d only. The features, the parameter
    and the default's reward are choices of ours, said under the figure.
    Each pair of a --d and an --alpha is a panel. Files, and what Ctrl-C
    does: as `surefoot study cmab`.

    Examples:

      surefoot study clb
          the setting of the figure in the paper's main text
      surefoot study clb --d 5 --alpha 0.01 --alpha 0.03 --instance 1
          two panels, on other arms
    """
    how = _How(out, resume, overwrite, workers, theory, as_json)
    _study(
        "clb", how, d=d, alpha=alpha, instance=instance, ratio=ratio, delta=delta, sigma=sigma,
        horizon=horizon, runs=runs, seed=seed,
    )  # fmt: skip


@app.command()
def cccb(
    d: Dims = None,
    alpha: Alphas1 = None,
    size: Size = None,
    instance: Instance = None,
    ratio: Ratio = None,
    delta: Delta = None,
    sigma: Sigma = None,
    horizon: Horizon = None,
    runs: Runs = None,
    seed: Seed = None,
    out: Out = Path("out/cccb"),
    resume: Resume = False,
    overwrite: Overwrite = False,
    workers: Workers = None,
    theory: Theory = False,
    as_json: AsJson = False,
) -> None:
    """GenCB, C2UCB and C3UCB on super arms of 2d linear base arms.

    A super arm is any --size base arms, and pays their sum. The paper names
    d, alpha and K = 2d only; the rest is a choice of ours, said under the
    figure. Each pair of a --d and an --alpha is a panel. Files, and what
    Ctrl-C does: as `surefoot study cmab`.

    Examples:

      surefoot study cccb
          the setting of the figure in the paper's main text
      surefoot study cccb --size 1 --d 5
          single base arms
    """
    how = _How(out, resume, overwrite, workers, theory, as_json)
    _study(
        "cccb", how, d=d, alpha=alpha, size=size, instance=instance, ratio=ratio, delta=delta,
        sigma=sigma, horizon=horizon, runs=runs, seed=seed,
    )  # fmt: skip


@app.command()
def mv(
    k: Arms24 = None,
    alpha: Alphas5 = None,
    rho: Rhos = None,
    horizon: Horizon = None,
    runs: Runs = None,
    seed: Seed = None,
    out: Out = Path("out/mv"),
    resume: Resume = False,
    overwrite: Overwrite = False,
    workers: Workers = None,
    theory: Theory = False,
    as_json: AsJson = False,
) -> None:
    """MV-CUCB and MV-UCB on K arms, judged by rho * mean - variance.

    The arms and the default are those of `surefoot study cmab`, and so are
    the files and what Ctrl-C does. Each combination of a --k, an --alpha
    and a --rho is a panel.

    Examples:

      surefoot study mv
          the setting of the figure in the paper's main text
      surefoot study mv --rho 10 --rho 60
          two panels
    """
    how = _How(out, resume, overwrite, workers, theory, as_json)
    _study("mv", how, K=k, alpha=alpha, rho=rho, horizon=horizon, runs=runs, seed=seed)


@app.command("all")
def everything(
    horizon: Horizon = None,
    runs: Runs = None,
    seed: Seed = None,
    out: Out = Path("out/all"),
    resume: Resume = False,
    overwrite: Overwrite = False,
    workers: Workers = None,
    theory: Theory = False,
    as_json: AsJson = False,
) -> None:
    """All 22 panels of the paper and its supplement, and a report of them.

    report.html shows every figure, its numbers, and which of the paper's
    claims hold in these runs. It needs no other file. What Ctrl-C does: as
    `surefoot study cmab`.

    Examples:

      surefoot study all
          some minutes on two cores
      surefoot study all --runs 2 --horizon 5000
          a quick look
    """
    how = _How(out, resume, overwrite, workers, theory, as_json)
    _study("all", how, horizon=horizon, runs=runs, seed=seed)


class _How(NamedTuple):
    """The options of every study."""

    out: Path
    resume: bool
    overwrite: bool
    workers: int | None
    theory: bool
    as_json: bool


def _study(problem: str, how: _How, **changes: Any) -> None:
    """Do the main panel of a problem, or all panels, with some settings changed."""
    from surefoot.study.experiment import run_study, write_study
    from surefoot.study.files import to_json
    from surefoot.study.problems import MAIN
    from surefoot.study.results import Store, asked_for
    from surefoot.study.sweep import Sweep, paper, read

    usual = Sweep.of(*paper()) if problem == "all" else Sweep.of(read(MAIN[problem]))
    out, resume = how.out, how.resume
    sweep = asked_for(out, usual, resume=resume, **changes)
    store = Store(out, sweep, resume=resume, overwrite=how.overwrite, theory=how.theory)
    if resume and not store.begun:
        tell(f"nothing to resume in {out}; starting afresh")
    total, stopped = watch(run_study(store, how.workers))
    _tell_kept(store, total, stopped)
    with drawing(len(sweep.panels), "panels") as drawn:
        summary = write_study(store, drawn)
    echo_json(to_json(summary)) if how.as_json else _show(summary, out)
    if stopped:
        raise typer.Exit(130)


def _tell_kept(store: Any, total: int, stopped: bool) -> None:
    """What of the study is in its folder, where that is not what one has just asked for."""
    if stopped:
        tell(
            f"stopped: {store.done} of {total} runs are finished and kept in {store.folder}; "
            "the same command goes on"
        )
    elif store.begun:
        tell(f"{store.folder} held this study already; its finished runs are kept")
        if store.kept > total:
            way = "--resume without --runs goes on with all"
            tell(f"{store.kept} runs are kept, {total} shown; {way}")


@telling()
def _show(summary: dict[str, Any], out: Path) -> None:
    """The verdicts summed up, and the summary as one table a panel, on stdout."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from surefoot.study.numbers import brief
    from surefoot.study.verdict import EACH, tally

    several = len({panel["problem"] for panel in summary["panels"]}) > 1
    console = Console(highlight=False, soft_wrap=True)
    if summary["panels"]:
        found = [claim["holds"] for panel in summary["panels"] for claim in panel["claims"]]
        console.print(f"[bold]The paper's claims in these runs:[/] {tally(found)}")
    for panel in summary["panels"]:
        title = f"{panel['problem'].upper()}, " if several else ""
        place = ", ".join(f"{axis} = {panel[axis]}" for axis in AXES if axis in panel)
        console.print(
            f"\n[bold]{title}{place}[/]: {panel['runs']} runs of "
            f"{panel['horizon']:,} plays, baseline regret {brief(panel['baseline_regret'])}"
        )
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("")
        for heading in ("regret", "default plays", "plays below\nthe floor", "least slack"):
            table.add_column(heading, justify="right", no_wrap=True)
        for agent in panel["agents"]:
            cells = [agent["regret"], agent["default_plays"], agent["violating_rounds"]]
            slack = brief(agent["minimum_slack"]["min"])
            table.add_row(agent["name"], *map(_spread, cells), slack)
        show_table(console, table)
        for line in _unproved(panel):
            console.print(line, markup=False)
    if summary["panels"]:
        console.print("Mean over the runs, least and most; least slack is the worst of all runs.")
        console.print(f"What ± follows is the margin of a mean over the runs. {EACH}")
        console.print(
            f"Figures, report.html, runs.parquet and summary.json are in {out}", markup=False
        )


def _unproved(panel: dict[str, Any]) -> Iterator[str]:
    """A line for each claim that does not hold or is not decided; one for all, if runs lack."""
    from surefoot.study.verdict import few

    scarce = few(panel["runs"])
    for claim in panel["claims"]:
        if claim["holds"] is False:
            yield f"does not hold here: {claim['claim']} ({claim['found']})"
        elif claim["holds"] is None and not scarce:
            yield f"not decided: {claim['claim']} ({claim['found']})"
    if scarce:
        yield f"not decided: {scarce}"


def _spread(values: dict[str, float]) -> str:
    from surefoot.study.numbers import brief

    mean, low, high = (brief(values[key]) for key in ("mean", "min", "max"))
    return f"{mean}\n" + ("" if low == high else f"[dim]{low} to {high}[/]")
