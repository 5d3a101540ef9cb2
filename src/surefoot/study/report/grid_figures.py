"""The figures of a grid: what a study found against one of its axes, a line an agent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._drawing import style
from surefoot._drawing.inline import Drawn, pieces
from surefoot._types import JsonObject
from surefoot.study.grids import Grid, called
from surefoot.study.numbers import counted, tick
from surefoot.study.panel import column

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 12
"""Figures of grids that are drawn."""
_LEAST = "Least above the floor, in the worst run"
_READ = "Dots: means over the runs, with their 95 % intervals. Last: the worst run."


def draw_grid(grid: Grid, entries: Sequence[JsonObject], path: Path) -> Drawn:
    """Write ``path`` as PNG, SVG and PDF; ``entries``: what ``found_in`` says of its panels.

    Regret at the horizon, the share of default plays, and the least that any run had above each
    floor. Panels of which no run is finished are left out.
    """
    runs = {entry["runs"] for entry in entries}
    count = counted(runs.pop(), "run") if len(runs) == 1 else f"{min(runs)} to {max(runs)} runs"
    short = f"{count} of {entries[0]['horizon']:,} plays at each of {len(entries)} points. {_READ}"
    names = list(dict.fromkeys(one["name"] for entry in entries for one in entry["agents"]))
    curves = dict(zip(names, style.curves(len(names)), strict=True))
    guards = grid.panels[0].guards
    columns = 2 + len(guards)
    with style.sheet(grid.title, short, columns, (1 + 5.0 * columns, 4.1)) as (figure, panels):
        for axes in panels:
            axes.set_xlabel(called(grid.axis))
        panels[0].set(title="Regret at the horizon", ylabel="pseudo-regret")
        _means(panels[0], grid, entries, curves, "regret")
        panels[1].set(title="Share of default plays", ylabel="share of plays")
        _means(panels[1], grid, entries, curves, "default_plays", share=True)
        for axes, guard in zip(panels[2:], guards, strict=True):
            _least(axes, grid, entries, curves, guard)
        style.fit(panels)
        style.save(figure, path)
        return Drawn(short, pieces(figure, panels, grid.title))


def _points(
    grid: Grid, entries: Sequence[JsonObject], name: str, measure: str
) -> tuple[Any, list[JsonObject], Any]:
    """Where an agent was measured, what, and of how many plays."""
    found = [
        (float(entry[grid.axis]), agent[measure], entry["horizon"])
        for entry in entries
        for agent in entry["agents"]
        if agent["name"] == name
    ]
    x, values, horizons = zip(*found, strict=True)
    return np.array(x), list(values), np.array(horizons)


def _means(
    axes: Axes,
    grid: Grid,
    entries: Sequence[JsonObject],
    curves: dict[str, style.Curve],
    measure: str,
    *,
    share: bool = False,
) -> None:
    """A measure at the horizon; ``share``: in per cent of the plays."""
    ends = []
    for name, curve in curves.items():
        x, values, horizons = _points(grid, entries, name, measure)
        per = horizons / 100 if share else np.ones(len(x))
        _between(axes, x, values, curve, per)
        ends.append((float(values[-1]["mean"] / per[-1]), name, curve))
    axes.set_ylim(bottom=0 if share else min(0.0, axes.get_ylim()[0]))
    if share:
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g} %")
    _finish(axes, entries, grid, ends)


def _least(
    axes: Axes,
    grid: Grid,
    entries: Sequence[JsonObject],
    curves: dict[str, style.Curve],
    guard: str,
) -> None:
    axes.set_title(f"{guard}: least slack, in the worst run" if guard else _LEAST)
    axes.set_ylabel(f"slack in {guard}" if guard else "reward above the floor")
    ends = []
    for name, curve in curves.items():
        x, values, _ = _points(grid, entries, name, column("minimum_slack", guard))
        worst = np.array([value["min"] for value in values], float)
        style.line(axes, x, worst, curve._replace(marker=curve.marker or "."))
        ends.append((float(worst[-1]), name, curve))
    low, high = axes.get_ylim()
    high = max(high, 0.08 * (high - low))
    axes.set_ylim(low, high)
    if low < 0:
        axes.axhspan(low, 0, color=style.HAIR, alpha=0.45, linewidth=0)
    axes.axhline(0, color=style.BLACK, linewidth=1)
    _finish(axes, entries, grid, ends)


def _between(axes: Axes, x: Any, values: list[JsonObject], curve: style.Curve, per: Any) -> None:
    """Means as a line with dots, and their intervals as a band."""
    means = np.array([value["mean"] for value in values], float)
    ends = [value["interval"] or (value["mean"], value["mean"]) for value in values]
    low, high = np.array(ends, float).T
    axes.fill_between(x, low / per, high / per, color=curve.colour, alpha=0.18, linewidth=0)
    style.line(axes, x, means / per, curve._replace(marker=curve.marker or "."))


def _finish(
    axes: Axes,
    entries: Sequence[JsonObject],
    grid: Grid,
    ends: list[tuple[float, str, style.Curve]],
) -> None:
    x = [float(entry[grid.axis]) for entry in entries]
    if min(x) > 0 and max(x) > 20 * min(x):
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: tick(value, value) if value else "0")
        axes.xaxis.set_minor_formatter("")
    if min(x) < max(x):
        axes.set_xlim(min(x), max(x))
    style.label_ends(axes, ends)
