"""``surefoot study run | new | show``: study files, and what to start one from."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli._commands import AsJson, Workers
from surefoot.cli._study_runs import (
    Asked,
    ClusterAt,
    DryRun,
    Overwrite,
    Resume,
    ShardOf,
    Theory,
    carry_through,
)
from surefoot.cli._terminal import echo


def run(
    file: Annotated[Path, typer.Argument(help="The study file.", show_default=False)],
    *,
    horizon: Annotated[
        int | None, typer.Option(help="Plays in a run, in place of the file's.")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(help="Independent runs, in place of the file's.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed, in place of the file's.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for all that is written. Default: out/ and the file's name."),
    ] = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    workers: Workers = None,
    cluster: ClusterAt = None,
    shard: ShardOf = None,
    theory: Theory = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Run a study file: grids, agents and environments of your own.

    A study file is TOML. It names a problem, what is set, what is varied
    (all combinations of a grid) and who plays; what it leaves out is as in
    the paper. Classes of your own are named as "module:Class" and looked for
    beside the file first. What is wrong is told with file and line, before
    anything runs. Files, and what Ctrl-C does: as `surefoot study cmab`.

    Examples:

      surefoot study new > mine.toml
          a study file to start from, each setting with what it means
      surefoot study run mine.toml --dry-run
          check it, and foretell plays, bytes and time
      surefoot study run mine.toml --horizon 5000 --runs 2
          a quick look
      surefoot study run mine.toml --resume --runs 100 --out out/mine
          more runs of the same study
    """
    from surefoot.study.toml.study_file import read_study

    with redirect_stdout(sys.stderr):  # what is imported may print
        sweep = read_study(file, horizon=horizon, runs=runs, seed=seed)
    folder = Path("out") / file.stem if out is None else out
    carry_through(
        sweep, Asked(folder, resume, overwrite, workers, theory, dry_run, as_json, cluster, shard)
    )


def new(
    problem: Annotated[str, typer.Argument(help="cmab, clb, cccb, mv, own, or floors.")] = "cmab",
) -> None:
    """Print a study file to start from: each setting with what it means.

    As it is printed, it runs what `surefoot study cmab` (or another problem
    of the paper) runs by default. "own" is a study on an environment of
    your own, "floors" one with several floors by name, such as a quality
    and a cost.

    Examples:

      surefoot study new > mine.toml
      surefoot study new own > shop.toml
    """
    from surefoot.study.toml.template import template

    echo(template(problem).rstrip())


def show(
    name: Annotated[str | None, typer.Argument(help="A panel of the paper, or a problem.")] = None,
) -> None:
    """Print one of the paper's 22 panels, which is a study file; or list them.

    Examples:

      surefoot study show
      surefoot study show cmab-K72-alpha0.1 > cmab.toml
    """
    from surefoot.study.sweep import paper
    from surefoot.study.toml.template import shipped

    if name is None:
        for panel in paper():
            echo(f"{panel.name:24} {panel.source}")
    else:
        echo(shipped(name).rstrip())
