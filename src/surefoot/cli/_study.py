"""``surefoot study``: the paper's experiments, from one command to figures and tables.

The options of a problem are the fields of its panels that have a description; they are read when
the command is: ``surefoot --help`` imports no panel.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from surefoot.cli._better import better
from surefoot.cli._commands import AsJson, Commands, Workers, help_of_group
from surefoot.cli._report import report
from surefoot.cli._study_files import new, run, show
from surefoot.cli._study_runs import (
    Asked,
    ClusterAt,
    DryRun,
    Out,
    Overwrite,
    Resume,
    ShardOf,
    Theory,
    carry_through,
)

if TYPE_CHECKING:
    from surefoot.study.panel import Panel

ALL = "all"
PAPERS = ("cmab", "clb", "cccb", "mv", ALL)
"""The commands whose options are fields of panels."""


class Studies(TyperGroup):
    """The group of the studies: a command gets its options when it is asked for."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command, and add the options of its panels."""
        name, command, rest = super().resolve_command(ctx, args)
        if name in PAPERS and command:
            maker = Commands(add_completion=False)
            maker.command()(_with_fields(name))
            made = typer.main.get_command(maker)
            command.params, command.callback = made.params, made.callback
        return name, command, rest


app = Commands(cls=Studies)
app.callback(invoke_without_command=True)(
    help_of_group("Run the paper's experiments, or a study file of your own, and draw figures.")
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


app.command("better")(better)
app.command("run")(run)
app.command("new")(new)
app.command("show")(show)
app.command("report")(report)


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
        cluster: ClusterAt = None,
        shard: ShardOf = None,
        theory: Theory = False,
        dry_run: DryRun = False,
        as_json: AsJson = False,
        **changes: Any,
    ) -> None:
        from surefoot.study.results.store import asked_for
        from surefoot.study.sweep import Sweep, paper

        sweep = Sweep.of(*paper()) if problem == ALL else Sweep.of(usual)
        sweep = asked_for(out, sweep, resume=resume, **changes)
        carry_through(
            sweep, Asked(out, resume, overwrite, workers, theory, dry_run, as_json, cluster, shard)
        )

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
