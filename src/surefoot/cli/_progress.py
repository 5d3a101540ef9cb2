"""The progress bar of whatever runs for more than a moment; it draws on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from surefoot.cli._legible import echo

if TYPE_CHECKING:
    from rich.progress import Progress


class Watched(NamedTuple):
    """How many runs there were to be, and whether Ctrl-C stopped them."""

    total: int
    stopped: bool


def watch(steps: Iterator[tuple[str, int, int]]) -> Watched:
    """Draw steps of (doing, runs done, runs) until they end or Ctrl-C stops them.

    The first step is taken before the bar appears: what does not fit is told without one.
    """
    total = 0
    try:
        _, done, total = next(steps)
        with _bar("runs") as bar:
            task = bar.add_task("starting", completed=done, total=total)
            for doing, done, _ in steps:
                if doing == "compiling":
                    bar.console.print("compiling the engine for this machine, once")
                bar.update(task, description=doing, completed=done)
    except KeyboardInterrupt:
        return Watched(total, stopped=True)
    return Watched(total, stopped=False)


@contextmanager
def drawing(total: int, what: str) -> Iterator[Callable[[], None]]:
    """Go on with the bar while figures are drawn; call what it gives after each of them."""
    with _bar(what) as bar:
        task = bar.add_task("drawing", total=total)
        yield lambda: bar.advance(task)


def _bar(what: str) -> Progress:
    """What is done, how much of it, and for how long."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:9}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True, highlight=False)
    return Progress(*columns, TextColumn(what), TimeElapsedColumn(), console=console)


def tell(message: str) -> None:
    """One line on stderr, as it is."""
    echo(message, err=True)
