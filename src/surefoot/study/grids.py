"""Grids: panels of a study that differ in one axis, which a figure is drawn over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from surefoot._types import JsonObject
from surefoot.study.panel import Panel, stem

STEPS = 4
"""An axis with so many values is drawn against; fewer are no line."""
_LETTERS = {"alpha": "α", "rho": "ρ"}


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
        axis = max(values, key=lambda one: len(values[one]), default="")
        if len(values.get(axis, ())) < STEPS:
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
