"""From the options of a study to its files: what every command of a study does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from surefoot._types import JsonObject
from surefoot.cli._terminal import (
    drawing,
    echo_json,
    lasting,
    show_table,
    spread,
    table_of,
    tell,
    tell_stopped,
    telling,
    watch,
)

if TYPE_CHECKING:
    from rich.table import Table

    from surefoot.study.forecast import Forecast
    from surefoot.study.results.store import Store
    from surefoot.study.scheduling.schedule import Shard
    from surefoot.study.sweep import Sweep

Out = Annotated[Path, typer.Option(help="Folder for all that is written.")]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Go on with the study in the folder; only --runs may differ."),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Start again in a folder that holds a study.")
]
ClusterAt = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Let the workers of a dask scheduler do the runs: tcp://10.0.0.1:8786, say, or "
        "'local', which starts one of this machine's cores.",
    ),
]
ShardOf = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="I/N",
        help="Do part I of N of the runs, and draw nothing; all parts share one --out.",
    ),
]
Theory = Annotated[
    bool, typer.Option("--theory", help="Draw the regret bounds, and predict the default plays.")
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Check all, foretell plays, bytes and time from short runs, and stop."
    ),
]


class Asked(NamedTuple):
    """What the options of a study ask for, besides its settings."""

    out: Path
    resume: bool
    overwrite: bool
    workers: int | None
    theory: bool
    dry_run: bool
    as_json: bool
    cluster: str | None = None
    shard: str | None = None


def carry_through(sweep: Sweep, asked: Asked) -> None:
    """Do the runs of a study that are missing, draw and tell what all of them show."""
    from surefoot.study.experiment import steps_of_study, write_study
    from surefoot.study.files import probe, to_json
    from surefoot.study.results.manifest import MANIFEST
    from surefoot.study.results.store import Store
    from surefoot.study.scheduling.executors import crew_of
    from surefoot.study.scheduling.schedule import Shard

    out = asked.out
    shard = Shard.asked(asked.shard, overwrite=asked.overwrite)
    with redirect_stdout(sys.stderr):  # the user's own code may print
        store = Store(
            out, sweep, resume=asked.resume, overwrite=asked.overwrite, theory=asked.theory
        )
    probe(out)
    if asked.dry_run:
        _foretell(store, asked)
        return
    if asked.resume and not store.begun:
        tell(f"nothing to resume in {out}; starting afresh")
    with redirect_stdout(sys.stderr), crew_of(asked.cluster, asked.workers) as crew:
        steps = steps_of_study(store, crew=crew, shard=shard)
        total, stopped = watch(steps, as_json=asked.as_json)
    if stopped and not (out / MANIFEST).exists():
        tell(f"stopped before anything was written to {out}")
        raise typer.Exit(130)
    if asked.shard is not None:
        _tell_shard(store, shard, total, stopped=stopped, as_json=asked.as_json)
        return
    _tell_kept(store, total, stopped)
    with redirect_stdout(sys.stderr), drawing(len(sweep.panels), "panels") as drawn:
        summary = write_study(store, drawn)
    echo_json(to_json(summary)) if asked.as_json else tell_found(summary, sweep, out)
    if stopped:
        raise typer.Exit(130)


def _tell_shard(store: Store, shard: Shard, total: int, *, stopped: bool, as_json: bool) -> None:
    """What of a shard is in the folder; it draws nothing."""
    from surefoot.study.files import to_json
    from surefoot.study.results import open_runs

    done = total - store.lacking(*shard)
    if as_json:
        echo_json(to_json({"shard": list(shard), "done": done, "runs": total}))
    if stopped:
        tell_stopped(done, total, store.folder, open_runs.count(store.folder))
        raise typer.Exit(130)
    tell(
        f"shard {shard.number}/{shard.of}: {done} of {total} runs are in {store.folder}; once all "
        f"shards are done, `surefoot study report {quote(str(store.folder))}` draws them"
    )


def _foretell(store: Store, asked: Asked) -> None:
    """Time short runs, and tell what the study will take."""
    from surefoot.study.files import to_json
    from surefoot.study.forecast import Forecast, forecast

    found: Forecast | None = None
    with redirect_stdout(sys.stderr):
        for said in forecast(store, asked.workers):
            if isinstance(said, Forecast):
                found = said
            else:
                tell("compiling the engine for this machine, once")
    if found is None:
        return
    if asked.as_json:
        echo_json(to_json(found.summary()))
    else:
        _show_forecast(found, store.folder)


SHOWN = 20
"""Plans that a forecast has a row for; of more, the total alone."""


@telling()
def _show_forecast(found: Forecast, out: Path) -> None:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    total = found.total
    rows = [total] if not 1 < len(found.lines) <= SHOWN else [*found.lines, total]
    table = table_of("", ("panels", "runs", "plays", "on disk", "time"), edge=False)
    for line in rows:
        seconds = line.seconds / found.workers
        about = "" if line.timed == "whole" else "about "
        time = f"{about}{lasting(seconds)}" if seconds >= 1 or not line.runs else "under 1 s"
        table.add_row(
            line.name, f"{line.panels:,}", f"{line.runs:,}", f"{line.plays:,}", _sized(line.bytes),
            time,
        )  # fmt: skip
    show_table(console, table)
    done = f"; {found.done:,} runs are there already" if found.done else ""
    console.print(
        f"{total.runs:,} runs to do in {out}{done}. Time on {found.workers} "
        f"worker{'s' if found.workers > 1 else ''}, without figures.",
        markup=False,
    )
    timed = sum(line.timed != "not" for line in found.lines)
    if total.timed != "whole" and total.runs:
        console.print(
            f"An estimate, from the first plays of one run in {timed:,} of {len(found.lines):,} "
            "plans."
        )


def _sized(size: float) -> str:
    """Bytes in a unit that suits them.

    >>> _sized(1), _sized(52_345), _sized(7.2e9)
    ('1 B', '52.3 kB', '7.2 GB')
    """
    units = ("B", "kB", "MB", "GB", "TB")
    power = min(len(units) - 1, max(0, (len(str(round(size))) - 1) // 3))
    return f"{size / 1000**power:.3g} {units[power]}"


def _tell_kept(store: Store, total: int, stopped: bool) -> None:
    """What of the study is in its folder, where that is not what one has just asked for."""
    from surefoot.study.results import open_runs

    if stopped:
        tell_stopped(store.done, total, store.folder, open_runs.count(store.folder))
    elif store.begun:
        tell(f"{store.folder} held this study already; its finished runs are kept")
        if store.kept > total:
            way = "--resume without --runs goes on with all"
            tell(f"{store.kept} runs are kept, {total} shown; {way}")


def _numbers(panel: JsonObject) -> Table:
    """The summary of a panel; of floors by name each has its columns."""
    from surefoot.study.numbers import brief
    from surefoot.study.panel import column

    floors = panel.get("floors", [""])
    heads = ["regret", "default plays"]
    for name in floors:
        broken = f"{name}\nplays broken" if name else "plays below\nthe floor"
        heads += [f"{name}\nin all"] if name else []
        heads += [broken, f"{name}\nleast slack" if name else "least slack"]
    table = table_of("", tuple(heads), edge=False)
    for agent in panel["agents"]:
        cells = [_spread(agent["regret"]), _spread(agent["default_plays"])]
        for name in floors:
            cells += [_spread(agent[column("received", name)])] if name else []
            cells.append(_spread(agent[column("violating_rounds", name)]))
            cells.append(brief(agent[column("minimum_slack", name)]["min"]))
        table.add_row(agent["name"], *cells)
    return table


LISTED = 30
"""Panels that are told on stdout."""


@telling()
def tell_found(summary: JsonObject, sweep: Sweep, out: Path) -> None:
    """The verdicts summed up, and the summary as one table a panel, on stdout."""
    from rich.console import Console

    from surefoot.study.numbers import brief
    from surefoot.study.verdict import EACH, tally

    panels = summary["panels"]
    if not panels:
        return
    several = len({panel["problem"] for panel in panels}) > 1
    axes = dict.fromkeys(axis for panel in sweep.panels for axis in panel.place)
    console = Console(highlight=False, soft_wrap=True)
    found = [claim["holds"] for panel in panels for claim in panel["claims"]]
    if found:
        console.print(f"[bold]The paper's claims in these runs:[/] {tally(found)}")
    for panel in panels[:LISTED]:
        title = f"{panel['problem'].upper()}, " if several else ""
        place = ", ".join(f"{axis} = {panel[axis]}" for axis in axes if axis in panel)
        baseline = panel["baseline_regret"]
        line = "" if baseline is None else f", baseline regret {brief(baseline)}"
        console.print(
            f"\n[bold]{title}{place or panel['problem']}[/]: {panel['runs']} runs of "
            f"{panel['horizon']:,} plays{line}"
        )
        show_table(console, _numbers(panel))
        for line in _unproved(panel):
            console.print(line, markup=False)
    if len(panels) > LISTED:
        console.print(f"\n... and {len(panels) - LISTED:,} more panels: all are in summary.csv")
    console.print("Mean over the runs, least and most; least slack is the worst of all runs.")
    if found:
        console.print(f"[a, b] is an interval of a mean over the runs. {EACH}", markup=False)
    console.print(f"Figures, report.html, summary.csv and summary.json are in {out}", markup=False)


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
