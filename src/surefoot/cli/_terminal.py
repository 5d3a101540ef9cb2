"""Words, progress and tables for whatever terminal there is."""

from __future__ import annotations

import codecs
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import typer

from surefoot._types import JsonObject

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from surefoot.study.compare.compare import Comparison, ComparisonFindings
    from surefoot.study.logs.backtest import Backtest
    from surefoot.study.logs.backtest_runs import BacktestRuns
    from surefoot.study.logs.outlook import Outlook, OutlookFindings
    from surefoot.study.logs.rejection_backtest import RejectionBacktest, RejectionRuns


_ALIKE = {
    "\N{EN DASH}": "-", "\N{EM DASH}": "-", "\N{MINUS SIGN}": "-", "\N{MIDDLE DOT}": "-",
    "\N{BULLET}": "*", "\N{HORIZONTAL ELLIPSIS}": "...", "\N{MULTIPLICATION SIGN}": "x",
    "\N{PLUS-MINUS SIGN}": "+/-", "\N{NO-BREAK SPACE}": " ",
}  # fmt: skip
_NAME = "surefoot.legible"


def _legible(error: UnicodeError) -> tuple[str, int]:
    """A codec's way out: our own marks in ASCII, any other character by its number."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    said = error.object[error.start : error.end]
    spelled = (_ALIKE.get(one) or one.encode("ascii", "backslashreplace").decode() for one in said)
    return "".join(spelled), error.end


codecs.register_error(_NAME, _legible)


@contextmanager
def legible() -> Iterator[None]:
    """Let stdout and stderr print anything, and a warning be one line, until the block ends.

    >>> "\\N{MINUS SIGN}1 \\N{LATIN SMALL LETTER U WITH DIAERESIS}".encode("ascii", _NAME)
    b'-1 \\\\xfc'
    """
    changed = []
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            changed.append((stream, stream.errors))
            stream.reconfigure(errors=_NAME)
    before = warnings.showwarning
    warnings.showwarning = _told
    try:
        yield
    finally:
        warnings.showwarning = before
        for stream, errors in changed:
            if not stream.closed:
                stream.reconfigure(errors=errors)


class Unwritten(OSError):
    """What a command says cannot be written: its output, and no file that it works on."""


@contextmanager
def telling() -> Iterator[None]:
    """Name what fails in here as output that is not written; a closed pipe stays what it is."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Unwritten(error.errno, f"the output cannot be written: {error.strerror}") from error


def echo(message: str, *, err: bool = False) -> None:
    """Print a line in the encoding of its stream: typer's own sends UTF-8 where that is ASCII."""
    stream = sys.stderr if err else sys.stdout
    if stream is not None:  # as in a process without a terminal
        with telling():
            stream.write(f"{message}\n")
            stream.flush()


def _told(message: Warning | str, *_: Any, **__: Any) -> None:
    echo(f"warning: {' '.join(str(message).split())}", err=True)


def echo_json(text: str) -> None:
    """Print JSON as it is, or in ASCII where stdout cannot: either way it means the same."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(json.loads(text), indent=2)
    echo(text)


A = TypeVar("A", bound="BacktestRuns | RejectionRuns | Comparison | Outlook")
F = TypeVar("F", bound="Backtest | RejectionBacktest | ComparisonFindings | OutlookFindings")


class Watched(NamedTuple):
    """How many runs there were to be, and whether Ctrl-C stopped them."""

    total: int
    stopped: bool


def watch(steps: Iterator[tuple[str, int, int]], *, as_json: bool = False) -> Watched:
    """Draw steps of (doing, runs done, runs) until they end or Ctrl-C stops them.

    The first step is taken before the bar appears: what does not fit is said without one.
    ``as_json``: for a machine, a line of JSON on stderr every few seconds in place of the bar; so
    too, in words, where stderr is no terminal, as in the log of a batch system.
    """
    total = 0
    try:
        _, done, total = next(steps)
        if as_json or not _drawn():
            _tell_steps(steps, _Pace(done, total), as_json=as_json)
            return Watched(total, stopped=False)
        with _bar("runs") as bar:
            task = bar.add_task("starting", completed=done, total=total)
            for doing, done, _ in steps:
                if doing in _SAID:
                    bar.console.print(_SAID[doing])
                bar.update(task, description=doing, completed=done)
    except KeyboardInterrupt:
        return Watched(total, stopped=True)
    return Watched(total, stopped=False)


_SAID = {
    "compiling": "compiling the engine for this machine, once",
    "waiting": "no worker for a minute; waiting for one",
}
"""What is said in words when a step of this name comes."""
_OFTEN, _SELDOM = 2.0, 60.0
"""Seconds between two lines for a machine, and between two in a log that people read."""


class _Pace:
    """How fast runs are done, and when all will be."""

    def __init__(self, done: int, total: int) -> None:
        self._first, self._total, self._began = done, total, monotonic()

    def of(self, done: int) -> tuple[float | None, float | None]:
        """Runs a second since the start, and seconds that are left; None before any is done."""
        took = monotonic() - self._began
        rate = (done - self._first) / took if took > 0 else 0.0
        return (rate, (self._total - done) / rate) if rate > 0 else (None, None)


def _drawn() -> bool:
    """Whether stderr can show a bar that moves."""
    return sys.stderr is not None and sys.stderr.isatty()


def _tell_steps(steps: Iterator[tuple[str, int, int]], pace: _Pace, *, as_json: bool) -> None:
    """Say on stderr where steps stand, now and then and at the end."""
    told = monotonic()
    every = _OFTEN if as_json else _SELDOM
    for doing, done, total in steps:
        if doing in _SAID and not as_json:
            tell(_SAID[doing])
        elif monotonic() - told >= every or (as_json and doing in _SAID) or done == total:
            told = monotonic()
            rate, left = pace.of(done)
            if as_json:
                short = {"rate": rate and round(rate, 3), "left": left and round(left, 1)}
                tell(json.dumps({"doing": doing, "done": done, "total": total, **short}))
            else:
                end = "" if left is None else f"; {rate:.3g} a second, {lasting(left)} left"
                tell(f"{doing}: {done} of {total} runs{end}")


def lasting(seconds: float) -> str:
    """A time, in the two units that matter.

    >>> lasting(59.6), lasting(125), lasting(7_300), lasting(200_000)
    ('1 min', '2 min 5 s', '2 h 1 min', '2 d 7 h')
    """
    units = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
    left = round(seconds)
    said: list[str] = []
    for name, size in units:
        if left >= size or (name == "s" and not said):
            said.append(f"{left // size} {name}")
            left %= size
    return " ".join(said[:2])


@contextmanager
def drawing(total: int, what: str) -> Iterator[Callable[[], None]]:
    """Go on with the bar while figures are drawn; call what it gives after each of them."""
    with _bar(what) as bar:
        task = bar.add_task("drawing", total=total)
        yield lambda: bar.advance(task)


def _bar(what: str) -> Progress:
    """What is done, how much of it, how fast, for how long, and for how much longer."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """So many a second."""

        def render(self, task: Any) -> Text:
            return Text(f"{task.speed:.3g}/s" if task.speed else "")

    columns = (TextColumn("{task.description:9}"), BarColumn(), MofNCompleteColumn())
    ends = (
        TextColumn(what),
        Rate(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True, highlight=False)
    return Progress(*columns, *ends, console=console)


def carry_out(
    asked: A, found_in: Callable[[A], F], out: Path, overwrite: bool, workers: int | None
) -> tuple[F, JsonObject]:
    """Do the runs of a backtest, plan or comparison, and write what is found to a folder."""
    from surefoot.study.outputs import claim, write

    claim(asked, out, overwrite=overwrite)
    if watch(asked.steps(workers)).stopped:
        tell("stopped: nothing was written")
        raise typer.Exit(130)
    found = found_in(asked)
    with drawing(1, "chart") as drawn:
        summary = write(found, out)
        drawn()
    return found, summary


def tell(message: str) -> None:
    """One line on stderr, as it is."""
    echo(message, err=True)


def tell_stopped(done: int, total: int, out: Path, begun: int = 0) -> None:
    """What Ctrl-C left of a study that can go on; ``begun``: runs that are kept unfinished."""
    too = f" (long runs kept open: {begun})" if begun else ""
    tell(
        f"stopped: {done} of {total} runs are finished and kept in {out}{too}; the same command "
        "goes on"
    )


_WIDEST = 10_000
_LEAST_NAME = 9
"""Columns that the name of a row can do with, where it may be wrapped."""


def show_table(console: Console, table: Table) -> None:
    """Print a table; where the terminal is too narrow, row by row, a line for each figure.

    rich would cut numbers, and in the end the names of the rows.
    """
    from rich.cells import cell_len

    first, *others = table.columns
    needs = console.measure(table, options=console.options.update(width=_WIDEST)).maximum
    if not first.no_wrap:
        needs -= max(0, *(cell_len(str(name)) - _LEAST_NAME for name in first.cells))
    if needs <= console.width:
        console.print(table)
        return
    for row, name in enumerate(first.cells):
        console.print(_joined(name), style="bold")
        for column in others:
            cell = _joined(list(column.cells)[row])
            if cell:
                console.print(f"  {_joined(column.header)}: {cell}")
    console.print("", table.caption or "", sep="\n")


def _joined(cell: object) -> str:
    """A cell of several lines in one; least to most behind the mean, in brackets."""
    line, *more = str(cell).split("\n")
    spread = more and " to " in more[-1]
    return f"{line} ({' '.join(more)})" if spread else " ".join([line, *more])


def table_of(
    first: str, headings: Sequence[str], caption: str | None = None, *, edge: bool = True
) -> Table:
    """A table whose columns are numbers, but for the first."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=edge, caption=caption, caption_justify="left")
    table.add_column(first, overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


@telling()
def show_found(headline: str, tables: Sequence[Table], notes: Sequence[str], last: str) -> None:
    """What a backtest or a plan found, on stdout: tables, and a paragraph for each note."""
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    console.print(headline, style="bold")
    for table in tables:
        show_table(console, table)
    for note in notes:
        console.print(note, "", sep="\n")
    console.print(last, soft_wrap=True)


def spread(values: dict[str, float], written: Callable[[float], str]) -> str:
    """Mean, and below it least and most, unless all are one."""
    mean, low, high = (written(values[key]) for key in ("mean", "min", "max"))
    return mean if low == high else f"{mean}\n{low} to {high}"
