"""The figures of a grid: what a study found against one of its axes, a line an agent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from surefoot._drawing import style
from surefoot._drawing.inline import Drawn, pieces
from surefoot._types import JsonObject
from surefoot.study.numbers import counted, tick
from surefoot.study.panel import Panel, stem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = 4
"""An axis with so many values is drawn against; fewer are no line."""
MOST = 12
"""Figures of grids that are drawn."""
_LETTERS = {"alpha": "α", "rho": "ρ"}
_READ = "Dots: means over the runs, with their 95 % intervals. Last: the worst run."


class Grid(NamedTuple):
    """Panels that differ in one axis."""

    problem: str
    axis: str
    rest: JsonObject
    """Where they stand on the other axes."""
    panels: tuple[Panel, ...]

    @property
    def name(self) -> str:
        """The stem of its files."""
        return f"grid-{stem(self.problem, self.rest)}-over-{self.axis}"

    @property
    def title(self) -> str:
        """The first line of its figure."""
        where = ", ".join(f"{called(axis)} = {shown(value)}" for axis, value in self.rest.items())
        return f"{self.problem.upper()}: the grid over {called(self.axis)}{where and f', {where}'}"


def called(axis: str) -> str:
    """An axis as the figures call it.

    >>> called("alpha"), called("mine.c")
    ('α', 'mine.c')
    """
    return _LETTERS.get(axis, axis)


def shown(value: Any) -> str:
    """A place on an axis.

    >>> shown(0.05), shown(24), shown("1/T")
    ('0.05', '24', '1/T')
    """
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def grids(panels: Sequence[Panel]) -> list[Grid]:
    """The grids of some panels: of each problem over its longest axis, one for each other place.

    >>> from surefoot.study.sweep import Sweep, paper
    >>> wide = Sweep.of(*paper("cmab")).but(K=(24,), alpha=tuple(n / 100 for n in range(1, 11)))
    >>> [(grid.name, len(grid.panels)) for grid in grids(wide.panels)], grids(paper())
    ([('grid-cmab-K24-over-alpha', 10)], [])
    """
    found = []
    for problem in dict.fromkeys(panel.problem for panel in panels):
        mine = [panel for panel in panels if panel.problem == problem]
        values = {axis: _numbers(mine, axis) for axis in mine[0].place}
        axis = max(values, key=lambda one: len(values[one]))
        if len(values[axis]) < STEPS:
            continue
        groups: dict[str, list[Panel]] = {}
        for panel in mine:
            rest = {one: value for one, value in panel.place.items() if one != axis}
            groups.setdefault(repr(rest), []).append(panel)
        for group in groups.values():
            if len(group) >= STEPS:
                rest = {one: value for one, value in group[0].place.items() if one != axis}
                ordered = sorted(group, key=lambda panel: float(panel.place[axis]))
                found.append(Grid(problem, axis, rest, tuple(ordered)))
    return found


def _numbers(panels: Sequence[Panel], axis: str) -> set[float]:
    """The values on an axis, none if they are not numbers."""
    values = {panel.place.get(axis) for panel in panels}
    if not all(isinstance(value, int | float) for value in values):
        return set()
    return {float(value) for value in values if value is not None}


def draw_grid(grid: Grid, entries: Sequence[JsonObject], path: Path) -> Drawn:
    """Write ``path`` as PNG, SVG and PDF; ``entries``: what ``found_in`` says of its panels.

    Regret at the horizon, the share of default plays, and the least that any run had above the
    floor. Panels of which no run is finished are left out.
    """
    runs = {entry["runs"] for entry in entries}
    count = counted(runs.pop(), "run") if len(runs) == 1 else f"{min(runs)} to {max(runs)} runs"
    short = f"{count} of {entries[0]['horizon']:,} plays at each of {len(entries)} points. {_READ}"
    names = list(dict.fromkeys(one["name"] for entry in entries for one in entry["agents"]))
    curves = dict(zip(names, style.curves(len(names)), strict=True))
    with style.sheet(grid.title, short, 3, (16.0, 4.1)) as (figure, panels):
        for axes in panels:
            axes.set_xlabel(called(grid.axis))
        _means(panels[0], grid, entries, curves)
        _defaults(panels[1], grid, entries, curves)
        _least(panels[2], grid, entries, curves)
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
    axes: Axes, grid: Grid, entries: Sequence[JsonObject], curves: dict[str, style.Curve]
) -> None:
    axes.set_title("Regret at the horizon")
    axes.set_ylabel("pseudo-regret")
    ends = []
    for name, curve in curves.items():
        x, values, _ = _points(grid, entries, name, "regret")
        _between(axes, x, values, curve, 1.0)
        ends.append((float(values[-1]["mean"]), name, curve))
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    _finish(axes, entries, grid, ends)


def _defaults(
    axes: Axes, grid: Grid, entries: Sequence[JsonObject], curves: dict[str, style.Curve]
) -> None:
    axes.set_title("Share of default plays")
    axes.set_ylabel("share of plays")
    ends = []
    for name, curve in curves.items():
        x, values, horizons = _points(grid, entries, name, "default_plays")
        _between(axes, x, values, curve, horizons / 100)
        ends.append((float(values[-1]["mean"] / horizons[-1] * 100), name, curve))
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g} %")
    _finish(axes, entries, grid, ends)


def _least(
    axes: Axes, grid: Grid, entries: Sequence[JsonObject], curves: dict[str, style.Curve]
) -> None:
    axes.set_title("Least above the floor, in the worst run")
    axes.set_ylabel("reward above the floor")
    ends = []
    for name, curve in curves.items():
        x, values, _ = _points(grid, entries, name, "minimum_slack")
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
