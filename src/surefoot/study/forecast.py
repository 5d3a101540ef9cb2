"""What a study will take: its runs, plays and bytes, and the time, from short runs of its plans."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import NamedTuple

from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.simulation.compiled import Engine
from surefoot.simulation.runner import choose, compile_ahead, cores, warm
from surefoot.study.own_code import shown_error
from surefoot.study.panel import Panel
from surefoot.study.results.rows import axes_of, table
from surefoot.study.results.store import Store
from surefoot.study.runs import checkpoints, joint_plan, shortened

FIRST = 1_000
"""Plays of the first run that is timed; each further one has ten times as many."""
ENOUGH = 0.2
"""Seconds of a run that is long enough to foretell a longer one in proportion."""
BUDGET = 10.0
"""Seconds after which no further plan is timed: the rest are taken to be as those that were."""


class Line(NamedTuple):
    """What is left to do of the panels of one plan."""

    name: str
    panels: int
    runs: int
    """Of all its panels that are not done yet."""
    plays: int
    """Of all its agents in those runs."""
    bytes: float
    """Of the parts on disk."""
    seconds: float
    """On one worker."""
    timed: str
    """"whole" by a run of its own, "short" by its first plays, or "not": as other plans."""


class Forecast(NamedTuple):
    """What is left to do of a study."""

    lines: list[Line]
    workers: int
    done: int
    """Runs of all panels that are there already."""

    @property
    def total(self) -> Line:
        """All of it."""
        lines = self.lines
        sure = all(line.timed == "whole" for line in lines)
        return Line(
            "all",
            sum(line.panels for line in lines),
            sum(line.runs for line in lines),
            sum(line.plays for line in lines),
            sum(line.bytes for line in lines),
            sum(line.seconds for line in lines),
            "whole" if sure else "short",
        )

    def summary(self) -> JsonObject:
        """The same for a machine; ``seconds`` are those of all workers together."""
        total = self.total
        return {
            "panels": total.panels,
            "runs": total.runs,
            "done": self.done,
            "plays": total.plays,
            "bytes": round(total.bytes),
            "seconds": round(total.seconds / self.workers, 3),
            "workers": self.workers,
            "estimate": total.timed != "whole",
            "plans": [
                {**line._asdict(), "bytes": round(line.bytes), "seconds": round(line.seconds, 3)}
                for line in self.lines
            ],
        }


class _Rate(NamedTuple):
    """What a play of one agent takes, and a row on disk."""

    seconds: float
    bytes: float


def forecast(store: Store, workers: int | None = None) -> Iterator[Forecast | str]:
    """Time runs of the plans that have anything left to do; yields what it does, then the forecast.

    One run of each, or its first plays where it is long, until ``BUDGET`` is spent; the engine is
    compiled where it is not yet. Nothing is written but what the compiler keeps. Raises
    InvalidInput where a class of the user's own fails in it.

    Holds when: runs are alike, and the first plays cost what later ones do; a policy whose plays
    become dearer, or cheaper as its slack grows, takes another time than foretold.
    """
    engine, spent = choose("compiled"), 0.0
    rates: list[_Rate] = []
    lines = []
    for name, panels in store.sweep.groups.items():
        left = sum(store.sweep.runs - store.finished(store.cell(panel)) for panel in panels)
        horizon = panels[0].horizon
        timed, rate = "not", _mean(rates)
        if left and spent < BUDGET:
            yield from _compiling(panels, engine)
            began = perf_counter()
            rate, sure = _timed(panels, engine)
            rates.append(rate)
            timed = "whole" if sure else "short"
            spent += perf_counter() - began
        played = left * len(panels[0].names()) * horizon
        rows = left * len(panels[0].names()) * len(checkpoints(horizon, panels[0].curves))
        lines.append(
            Line(name, len(panels), left, played, rows * rate.bytes, played * rate.seconds, timed)
        )
    yield Forecast(lines, cores() if workers is None else workers, store.done)


def _mean(rates: Sequence[_Rate]) -> _Rate:
    count = max(1, len(rates))
    return _Rate(sum(r.seconds for r in rates) / count, sum(r.bytes for r in rates) / count)


def _short(panels: Sequence[Panel], plays: int) -> list[Panel]:
    """The panels with a shorter horizon, if theirs is longer than that."""
    return shortened(panels, plays) if plays < panels[0].horizon else list(panels)


def _compiling(panels: Sequence[Panel], engine: Engine) -> Iterator[str]:
    plan = joint_plan(_short(panels, FIRST))
    if not warm(plan, engine):
        yield "compiling"
        compile_ahead(plan, engine)


def _timed(panels: Sequence[Panel], engine: Engine) -> tuple[_Rate, bool]:
    """What runs take, from longer and longer ones, and whether the last was a whole one."""
    plays, horizon = FIRST, panels[0].horizon
    _played(panels, plays, engine)  # what is loaded once is no run's
    while True:
        rate, seconds = _played(panels, plays, engine)
        if plays >= horizon or seconds >= ENOUGH:
            return rate, plays >= horizon
        plays *= 10


def _played(panels: Sequence[Panel], plays: int, engine: Engine) -> tuple[_Rate, float]:
    """One run of so many plays, turned into rows; what it took, and in how many seconds."""
    short = _short(panels, plays)
    plan, began = joint_plan(short), perf_counter()
    try:
        traces = plan.run(0, engine)
    except Exception as error:
        if not panels[0].foreign:
            raise
        said = shown_error(error)
        raise InvalidInput(f"a run of {panels[0].group} raised {said}") from error
    for panel in short:
        frame = table("0" * 16, panel, plan, {0: traces}, axes_of(panels))
    seconds = perf_counter() - began
    whole = io.BytesIO()
    frame.write_parquet(whole)
    rate = seconds / (plan.horizon * len(plan.agents))
    return _Rate(rate, len(whole.getbuffer()) / len(frame)), seconds
