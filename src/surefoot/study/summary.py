"""What a study found at the horizon: mean, least and most over the runs, for each agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.simulation.result import spread
from surefoot.study.panel import Panel

if TYPE_CHECKING:
    import polars as pl

FOUND = (
    "regret", "regular_regret", "default_regret", "default_plays", "violating_rounds",
    "minimum_slack",
)  # fmt: skip


def of_the_runs(panel: Panel, frame: pl.DataFrame) -> dict[str, Any]:
    """A panel's entry in ``summary.json``, from its rows.

    "regret" is pseudo-regret against what the panel's ``slope`` is against, "regular_regret" and
    "default_regret" are the parts that are due to regular arms and to the default,
    "default_plays" and "violating_rounds" count plays, "minimum_slack" is the least that a run
    ever had above the floor; the floor is kept where it is not negative.
    """
    return {
        "problem": panel.problem,
        **panel.place,
        "mu0": panel.pays,
        "horizon": panel.horizon,
        "runs": frame.get_column("run").n_unique(),
        "baseline_regret": panel.slope * panel.horizon,
        "agents": [{"name": name, **_spreads(panel, frame, name)} for name in panel.names()],
    }


def _spreads(panel: Panel, frame: pl.DataFrame, name: str) -> dict[str, Any]:
    wanted = (*FOUND, *panel.extra_measures)
    return {measure: spread(curves(frame, name, measure)[:, -1]) for measure in wanted}


def of_panel(frame: pl.DataFrame, panel: Panel) -> pl.DataFrame:
    """The rows of one panel."""
    return frame.filter(problem=panel.problem, **panel.place)


def curves(frame: pl.DataFrame, name: str, measure: str) -> Any:
    """One agent's measure in one panel, as an array of shape (runs, checkpoints)."""
    rows = frame.filter(agent=name).sort("run", "t")
    values = rows.get_column(measure).to_numpy()
    return np.reshape(values, (rows.get_column("run").n_unique(), -1))


def plays(frame: pl.DataFrame) -> Any:
    """The checkpoints, ascending."""
    return frame.get_column("t").unique().sort().to_numpy()
