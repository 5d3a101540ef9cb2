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
from surefoot.study.results import Store
from surefoot.study.rows import axes_of, table
from surefoot.study.runs import checkpoints, joint_plan

SHORT = 20_000
"""Plays of a timed run at most; the time of a longer one is foretold in proportion."""
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

    One run of at most ``SHORT`` plays of each, until ``BUDGET`` is spent; the engine is compiled
    where it is not yet. Nothing is written but what the compiler keeps. Raises InvalidInput where
    a class of the user's own fails in it.

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
            timed = "whole" if horizon <= SHORT else "short"
            yield from _compiling(panels, engine)
            began = perf_counter()
            rate = _timed(panels, engine)
            rates.append(rate)
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


def _short(panels: Sequence[Panel]) -> list[Panel]:
    """The panels with a shorter horizon, if theirs is long."""
    horizon = min(panels[0].horizon, SHORT)
    changed = {"horizon": horizon, "curves": "grid"} if horizon < panels[0].horizon else {}
    return [panel.model_copy(update=changed) for panel in panels]


def _compiling(panels: Sequence[Panel], engine: Engine) -> Iterator[str]:
    plan = joint_plan(_short(panels))
    if not warm(plan, engine):
        yield "compiling"
        compile_ahead(plan, engine)


def _timed(panels: Sequence[Panel], engine: Engine) -> _Rate:
    """One run, played and turned into a table of rows."""
    short = _short(panels)
    plan, began = joint_plan(short), perf_counter()
    try:
        traces = plan.run(0, engine)
    except Exception as error:
        if not panels[0].foreign:
            raise
        said = shown_error(f"{type(error).__name__}: {error}")
        raise InvalidInput(f"a run of {panels[0].group} raised {said}") from error
    frame = table("0" * 16, short[0], plan, {0: traces}, axes_of(panels))
    whole = io.BytesIO()
    frame.write_parquet(whole)
    seconds = perf_counter() - began
    plays = plan.horizon * len(plan.agents)
    return _Rate(seconds / plays, len(whole.getbuffer()) / len(frame))
