"""Finished runs as rows: one schema for the cells of every study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.simulation import Plan, Result
from surefoot.simulation.result import COUNTS
from surefoot.study.panel import FLOOR_MEASURES, MEASURES, Panel, column
from surefoot.study.problems import PROBLEMS
from surefoot.study.runs import Traces, key

if TYPE_CHECKING:
    import polars as pl

AXES = {"K": "Int64", "d": "Int64", "alpha": "Float64", "rho": "Float64"}
"""The axes that the rows of every study have, null where a panel has no such axis."""
AMOUNT, COUNT = "Amount", "Count"
"""The types of measures of floors by name."""
KINDS = frozenset({"Int64", "Float64", "String", AMOUNT, COUNT})
"""The types of columns."""
_EXTRA = tuple(dict.fromkeys(m for kind in PROBLEMS.values() for m in kind.extra_measures))


def axes_of(panels: Sequence[Panel]) -> dict[str, str]:
    """The axes of a study's rows and the measures of its floors by name, by their types.

    >>> from surefoot.study.sweep import paper
    >>> axes_of(paper("cmab"))
    {'K': 'Int64', 'd': 'Int64', 'alpha': 'Float64', 'rho': 'Float64'}
    """
    found = dict(AXES)
    values: dict[str, list[Any]] = {}
    for panel in panels:
        for axis, value in panel.place.items():
            values.setdefault(axis, []).append(value)
    for axis, taken in values.items():
        kinds = {type(value) for value in taken}
        if axis not in AXES:
            found[axis] = "Int64" if kinds == {int} else "Float64"
            if not kinds <= {int, float}:
                found[axis] = "String"
    for guard in dict.fromkeys(name for panel in panels for name in panel.guards if name):
        for measure in FLOOR_MEASURES:
            found[column(measure, guard)] = COUNT if measure in COUNTS else AMOUNT
    return found


def schema(axes: Mapping[str, str]) -> dict[str, pl.DataType]:
    """The columns of a part, and their types.

    >>> list(schema(AXES))[:9]
    ['cell', 'problem', 'K', 'd', 'alpha', 'rho', 'agent', 'run', 't']
    """
    import polars as pl

    kinds = {
        "Int64": pl.Int64(), "Float64": pl.Float64(), "String": pl.String(),
        COUNT: pl.Int64(), AMOUNT: pl.Float64(),
    }  # fmt: skip
    measures = {m: "Int64" if m in COUNTS else "Float64" for m in (*MEASURES, *_EXTRA)}
    of_floors = {name: kind for name, kind in axes.items() if kind in (AMOUNT, COUNT)}
    places = {name: kind for name, kind in axes.items() if name not in of_floors}
    named = {
        "cell": "String", "problem": "String", **places, "agent": "String", "run": "Int64",
        "t": "Int64", **measures, **of_floors,
    }  # fmt: skip
    return {name: kinds[kind] for name, kind in named.items()}


def table(
    cell: str, panel: Panel, plan: Plan, runs: Mapping[int, Traces], axes: Mapping[str, str]
) -> pl.DataFrame:
    """Runs of a panel's agents in a plan, as rows by agent, run and t.

    ``runs``: the traces of each run, by its number.
    """
    import polars as pl

    result, t = Result(plan, dict(runs)), plan.checkpoints
    columns = schema(axes)
    rows = len(runs) * len(t)
    numbers = {"run": np.repeat(list(runs), len(t)), "t": np.tile(t, len(runs))}
    frames = []
    for name in panel.names():
        found = _measured(result, key(name, panel), panel)
        found.update(numbers)
        at = {"cell": cell, "problem": panel.problem, **panel.place, "agent": name}
        frames.append(pl.DataFrame([
            pl.Series(column, found[column], kind) if column in found
            else pl.repeat(at.get(column), rows, dtype=kind, eager=True).alias(column)
            for column, kind in columns.items()
        ]))  # fmt: skip
    return pl.concat(frames)


def _measured(result: Result, name: str, panel: Panel) -> dict[str, Any]:
    """An agent's measures, by their columns."""
    of_floors = {
        column(measure, guard): (measure, guard)
        for guard in panel.guards
        if guard
        for measure in FLOOR_MEASURES
    }
    return {
        one: result.measure(name, *of_floors.get(one, (one,))).ravel() for one in panel.measures()
    }
