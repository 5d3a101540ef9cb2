"""The progress bar of whatever runs for more than a moment; it draws on stderr."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import typer


class Watched(NamedTuple):
    """How many runs there were to be, and whether Ctrl-C stopped them."""

    total: int
    stopped: bool


def watch(steps: Iterator[tuple[str, int, int]]) -> Watched:
    """Draw steps of (doing, runs done, runs) until they end or Ctrl-C stops them.

    The first step is taken before the bar appears: what does not fit is told without one.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description:9}"), BarColumn(), MofNCompleteColumn())
    total = 0
    try:
        _, done, total = next(steps)
        with Progress(*columns, TextColumn("runs"), TimeElapsedColumn(), console=console) as bar:
            task = bar.add_task("starting", completed=done, total=total)
            for doing, done, _ in steps:
                if doing == "compiling":
                    bar.console.print("compiling the engine for this machine, once")
                bar.update(task, description=doing, completed=done)
    except KeyboardInterrupt:
        return Watched(total, stopped=True)
    return Watched(total, stopped=False)


def tell(message: str) -> None:
    """One line on stderr, as it is."""
    typer.echo(message, err=True)
