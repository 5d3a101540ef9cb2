"""``surefoot study``: the paper's experiments, from one command to figures and tables.

The options of a problem are the fields of its panels that have a description; they are read when
the command is: ``surefoot --help`` imports no panel.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from surefoot._types import JsonObject
from surefoot.cli._better import better
from surefoot.cli._commands import AsJson, Commands, Workers, help_of_group
from surefoot.cli._terminal import (
    drawing,
    echo_json,
    show_table,
    spread,
    table_of,
    tell,
    tell_stopped,
    telling,
    watch,
)

if TYPE_CHECKING:
    from surefoot.study.panel import Panel
    from surefoot.study.results import Store

AXES = ("K", "d", "alpha", "rho")
ALL, BETTER = "all", "better"

Out = Annotated[Path, typer.Option(help="Folder for all that is written.")]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Go on with the study in the folder; only --runs may differ."),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Start again in a folder that holds a study.")
]
Theory = Annotated[
    bool, typer.Option("--theory", help="Draw the regret bounds, and predict the default plays.")
]


class Studies(TyperGroup):
    """The group of the studies: a command gets its options when it is asked for."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command, and add the options of its panels."""
        name, command, rest = super().resolve_command(ctx, args)
        if name and command and name != BETTER:
            maker = Commands(add_completion=False)
            maker.command()(_with_fields(name))
            made = typer.main.get_command(maker)
            command.params, command.callback = made.params, made.callback
        return name, command, rest


app = Commands(cls=Studies)
app.callback(invoke_without_command=True)(
    help_of_group("Run the paper's experiments and draw its figures.")
)


@app.command()
def cmab() -> None:
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


@app.command()
def clb() -> None:
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


@app.command()
def cccb() -> None:
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


@app.command()
def mv() -> None:
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


@app.command(ALL)
def everything() -> None:
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


app.command(BETTER)(better)


def _with_fields(problem: str) -> Callable[..., None]:
    """The command of a problem, or of all, with the options of its panels' fields."""
    from surefoot.study.panel import Panel
    from surefoot.study.problems import MAIN
    from surefoot.study.sweep import read

    usual = read(MAIN.get(problem, MAIN["cmab"]))
    kind = Panel if problem == ALL else type(usual)
    axes = () if problem == ALL else kind.axes
    last = ("horizon", "runs", "seed")
    names = [*axes, *(name for name in kind.model_fields if name not in (*axes, *last, "alpha"))]
    fields = [name for name in (*names, *last) if kind.model_fields[name].description]

    def command(
        *,
        out: Out = Path("out") / problem,
        resume: Resume = False,
        overwrite: Overwrite = False,
        workers: Workers = None,
        theory: Theory = False,
        as_json: AsJson = False,
        **changes: Any,
    ) -> None:
        from surefoot.study.experiment import run_study, write_study
        from surefoot.study.files import to_json
        from surefoot.study.results import Store, asked_for
        from surefoot.study.sweep import Sweep, paper

        sweep = Sweep.of(*paper()) if problem == ALL else Sweep.of(usual)
        sweep = asked_for(out, sweep, resume=resume, **changes)
        store = Store(out, sweep, resume=resume, overwrite=overwrite, theory=theory)
        if resume and not store.begun:
            tell(f"nothing to resume in {out}; starting afresh")
        total, stopped = watch(run_study(store, workers))
        _tell_kept(store, total, stopped)
        with drawing(len(sweep.panels), "panels") as drawn:
            summary = write_study(store, drawn)
        echo_json(to_json(summary)) if as_json else _show(summary, out)
        if stopped:
            raise typer.Exit(130)

    own = inspect.signature(command, eval_str=True)
    every = [*(_option(usual, name) for name in fields), *own.parameters.values()][:-1]
    command.__signature__ = own.replace(parameters=every)  # type: ignore[attr-defined]
    return command


def _option(panel: Panel, name: str) -> inspect.Parameter:
    """A field as an option, None where it is not given; of an axis all the values given."""
    field, value = type(panel).model_fields[name], getattr(panel, name)
    axis = name in panel.axes
    one: Any = int if field.annotation is int else float
    kind = (list[one] if axis else one) | None
    said = f"{field.description}{'; may be repeated' if axis else ''}. Default: {value}."
    option = typer.Option(*dict.fromkeys((f"--{name.lower()}", f"--{name}")), help=said)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, option]
    )


def _tell_kept(store: Store, total: int, stopped: bool) -> None:
    """What of the study is in its folder, where that is not what one has just asked for."""
    if stopped:
        tell_stopped(store.done, total, store.folder)
    elif store.begun:
        tell(f"{store.folder} held this study already; its finished runs are kept")
        if store.kept > total:
            way = "--resume without --runs goes on with all"
            tell(f"{store.kept} runs are kept, {total} shown; {way}")


@telling()
def _show(summary: JsonObject, out: Path) -> None:
    """The verdicts summed up, and the summary as one table a panel, on stdout."""
    from rich.console import Console

    from surefoot.study.numbers import brief
    from surefoot.study.verdict import EACH, tally

    panels = summary["panels"]
    if not panels:
        return
    several = len({panel["problem"] for panel in panels}) > 1
    console = Console(highlight=False, soft_wrap=True)
    found = [claim["holds"] for panel in panels for claim in panel["claims"]]
    console.print(f"[bold]The paper's claims in these runs:[/] {tally(found)}")
    for panel in panels:
        title = f"{panel['problem'].upper()}, " if several else ""
        place = ", ".join(f"{axis} = {panel[axis]}" for axis in AXES if axis in panel)
        console.print(
            f"\n[bold]{title}{place}[/]: {panel['runs']} runs of "
            f"{panel['horizon']:,} plays, baseline regret {brief(panel['baseline_regret'])}"
        )
        heads = ("regret", "default plays", "plays below\nthe floor", "least slack")
        table = table_of("", heads, edge=False)
        for agent in panel["agents"]:
            cells = [agent["regret"], agent["default_plays"], agent["violating_rounds"]]
            slack = brief(agent["minimum_slack"]["min"])
            table.add_row(agent["name"], *map(_spread, cells), slack)
        show_table(console, table)
        for line in _unproved(panel):
            console.print(line, markup=False)
    console.print("Mean over the runs, least and most; least slack is the worst of all runs.")
    console.print(f"What ± follows is the margin of a mean over the runs. {EACH}")
    console.print(f"Figures, report.html, runs.parquet and summary.json are in {out}", markup=False)


def _unproved(panel: JsonObject) -> Iterator[str]:
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

    mean, *ends = spread(values, brief).split("\n")
    return f"{mean}\n" + "".join(f"[dim]{end}[/]" for end in ends)
