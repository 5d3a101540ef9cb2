"""What a study found at the horizon: mean, least and most over the runs, for each agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._exact import exact
from surefoot.simulation.result import SUMMARY, spread
from surefoot.study.output import versions
from surefoot.study.panel import Panel, Sweep

if TYPE_CHECKING:
    import polars as pl


def summarize(frame: pl.DataFrame, sweep: Sweep, names: Sequence[str]) -> dict[str, Any]:
    """The content of ``summary.json``; a panel without a finished run is left out.

    ``frame``: the tidy table of the runs. "regret" is pseudo-regret against the mu_* of ``slope``,
    "default_plays" and "violating_rounds" count plays, "minimum_slack" is the least that a run's
    reward was ever above the floor; the floor is kept where it is not negative.
    """
    panels = [(panel, of_panel(frame, panel)) for panel in sweep.panels()]
    return {
        "panels": [_panel(panel, runs, names) for panel, runs in panels if not runs.is_empty()],
        "seed": sweep.seed,
        "versions": versions(),
    }


def _panel(panel: Panel, frame: pl.DataFrame, names: Sequence[str]) -> dict[str, Any]:
    return {
        "problem": panel.problem,
        "K": panel.K,
        "alpha": panel.alpha,
        "mu0": panel.mu0,
        "horizon": panel.horizon,
        "runs": frame.get_column("run").n_unique(),
        "baseline_regret": slope(panel) * panel.horizon,
        "agents": [{"name": name, **_spreads(frame, name)} for name in names],
    }


def _spreads(frame: pl.DataFrame, name: str) -> dict[str, Any]:
    return {measure: spread(curves(frame, name, measure)[:, -1]) for measure in SUMMARY}


def of_panel(frame: pl.DataFrame, panel: Panel) -> pl.DataFrame:
    """The rows of one panel."""
    return frame.filter(problem=panel.problem, K=panel.K, alpha=panel.alpha)


def curves(frame: pl.DataFrame, name: str, measure: str) -> Any:
    """One agent's measure in one panel, as an array of shape (runs, checkpoints)."""
    rows = frame.filter(agent=name).sort("run", "t")
    values = rows.get_column(measure).to_numpy()
    return np.reshape(values, (rows.get_column("run").n_unique(), -1))


def slope(panel: Panel) -> float:
    """Regret per play of one who earns exactly the floor: mu_* - (1-alpha)*mu0.

    As in the environments, mu_* is the best regular arm, or the default where that is better.

    >>> from surefoot.study.panel import MAIN, read
    >>> slope(read(MAIN))
    0.135
    """
    mu0, alpha = exact(panel.mu0, "mu0"), exact(panel.alpha, "alpha")
    best = exact(max(panel.best, panel.worst, panel.mu0), "best")
    return float(best - (1 - alpha) * mu0)
