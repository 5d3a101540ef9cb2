"""Panels that differ in alpha only, run as one plan: their agents share base paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from surefoot.errors import InvalidInput
from surefoot.simulation import Plan, Result
from surefoot.simulation.loop import Ints, Trace
from surefoot.simulation.plan import grid
from surefoot.simulation.result import COUNTS
from surefoot.study.panel import Panel

if TYPE_CHECKING:
    import polars as pl

FIRST_PLAYS = 200
"""So many plays from the start are all noted: there a guarded agent's slack is smallest."""


def plan(panels: Sequence[Panel]) -> Plan:
    """One plan for panels that differ in alpha only.

    Agent ``name`` of panel ``p`` is ``key(name, p)`` in the plan. Raises InvalidInput for panels
    that differ in more.
    """
    first = panels[0]
    alike = {"alpha": first.alpha, "source": first.source, "because": first.because}
    for panel in panels:
        if panel.model_copy(update=alike) != first:
            raise InvalidInput(f"{panel.name} and {first.name} must differ in alpha only")
    playing = {
        key(name, panel): agent for panel in panels for name, agent in panel.agents().items()
    }
    return Plan(playing, first.environment(), first.horizon, first.seed, checkpoints(first.horizon))


def checkpoints(horizon: int) -> Ints:
    """The plays after which the books are noted: all of the first, for the figure's inset."""
    return grid(horizon, FIRST_PLAYS)


def frame(panels: Sequence[Panel], plan: Plan, run: int, traces: dict[str, Trace]) -> pl.DataFrame:
    """One run of a plan as a tidy table: problem, axes, agent, run, t, and the measures."""
    import polars as pl

    result = Result(plan, {run: traces})
    parts = []
    for panel in panels:
        for name in panel.names():
            found = {m: result.measure(key(name, panel), m)[0] for m in panel.measures()}
            types = {m: pl.Int64 if m in COUNTS else pl.Float64 for m in found}
            measures = pl.DataFrame({"t": plan.checkpoints, **found}, schema_overrides=types)
            at = {"problem": panel.problem, **panel.place, "agent": name, "run": run}
            parts.append(measures.select(*(pl.lit(v).alias(k) for k, v in at.items()), pl.all()))
    kinds = {axis: pl.Float64 if axis in {"alpha", "rho"} else pl.Int64 for axis in panels[0].axes}
    return pl.concat(parts).with_columns(
        *(pl.col(axis).cast(kind) for axis, kind in kinds.items()), pl.col("run").cast(pl.Int64)
    )


def key(name: str, panel: Panel) -> str:
    """An agent's name in a plan of several panels.

    >>> from surefoot.study.sweep import read
    >>> key("GenCB", read("cmab-K72-alpha0.1"))
    'GenCB alpha=0.1'
    """
    return f"{name} alpha={panel.alpha!r}"
