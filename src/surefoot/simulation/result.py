"""What a simulation found: one table, and its summary at the horizon."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._exact import shown
from surefoot.errors import InvalidInput, missing_extra
from surefoot.simulation.trace import BELOW, DEFAULTS, LEAST, SLACK, T, Trace

if TYPE_CHECKING:
    import polars as pl

    from surefoot.simulation.plan import Plan

COUNTS = ("default_plays", "violating_rounds")
AGAINST_FLOOR = ("slack", "minimum_slack", "violating_rounds")
COLUMNS = ("regret", "default_plays", "received", *AGAINST_FLOOR)
"""What is noted at each checkpoint."""
SUMMARY = ("regret", "default_plays", "violating_rounds", "minimum_slack")


class Result:
    """Runs of several agents at common checkpoints.

    ``frame``: a tidy polars frame, one row for each agent, run and checkpoint. ``summary()``:
    mean, min and max over the runs at the horizon. ``seed``: the entropy that repeats it.
    """

    def __init__(self, plan: Plan, runs: dict[int, dict[str, Trace]]) -> None:
        self.plan = plan
        self.runs = runs
        self.seed = plan.entropy

    @property
    def agents(self) -> list[str]:
        """The agents' names."""
        return list(self.plan.agents)

    def measure(self, name: str, measure: str) -> Any:
        """One agent's measure: shape (runs, checkpoints).

        "regret" is pseudo-regret, "received" the reward booked so far; "slack", the reward above
        the floor, and "minimum_slack", its least value so far, are exact up to the conversion to
        float; "violating_rounds" counts the plays after which the slack was below zero. Of an
        agent with a mean-variance floor, "received" is t*MV_t, and "regret" is that of the means.
        Raises InvalidInput for an agent or a measure that is not here.
        """
        self._check(name)
        if not isinstance(measure, str) or measure not in COLUMNS:
            known = ", ".join(map(repr, COLUMNS))
            raise InvalidInput(f"measure = {shown(measure)} is none of {known}")
        books = np.stack([run[name].books for run in self.runs.values()])
        agent = self.plan.agents[name]
        unit = 10.0**agent.floor.places
        if measure == "regret":
            losses = np.stack([run[name].losses for run in self.runs.values()])
            return losses + books[:, :, DEFAULTS] * self.plan.gaps[name][-1]
        if measure == "default_plays":
            return books[:, :, DEFAULTS]
        if measure == "violating_rounds":
            return books[:, :, BELOW]
        if measure == "minimum_slack":
            return books[:, :, LEAST] / unit
        if measure == "slack":
            return books[:, :, SLACK] / unit
        required = books[:, :, T] * agent.floor.asked
        return (books[:, :, SLACK] + required) / unit - float(agent.floor.reserve)

    def exact_minimum_slack(self, name: str) -> Decimal:
        """The least slack over all runs, exact; InvalidInput for an agent that is not here."""
        self._check(name)
        units = min(int(run[name].books[-1, LEAST]) for run in self.runs.values())
        return self.plan.agents[name].floor.unit.decimal(units)

    def _check(self, name: Any) -> None:
        if not isinstance(name, str) or name not in self.plan.agents:
            known = ", ".join(map(shown, self.agents))
            raise InvalidInput(f"name = {shown(name)} is none of the agents {known}")

    def summary(self) -> dict[str, dict[str, dict[str, float]]]:
        """agent -> measure -> mean, min and max over the runs, at the horizon.

        An agent without a floor has no "violating_rounds" and no "minimum_slack".
        """
        return {
            name: {
                measure: spread(self.measure(name, measure)[:, -1])
                for measure in SUMMARY
                if self.plan.agents[name].measured or measure not in AGAINST_FLOOR
            }
            for name in self.agents
        }

    @property
    def frame(self) -> pl.DataFrame:
        """Tidy table: agent, run, t, and the measures; without a floor the slack is null."""
        try:
            import polars as pl
        except ImportError:
            raise missing_extra("study", "polars") from None
        numbers, t = list(self.runs), self.plan.checkpoints
        rows = len(numbers) * len(t)
        types = {column: pl.Int64 if column in COUNTS else pl.Float64 for column in COLUMNS}
        tables = []
        for name in self.agents:
            measures = {
                column: self.measure(name, column).ravel()
                if self.plan.agents[name].measured or column not in AGAINST_FLOOR
                else [None] * rows
                for column in COLUMNS
            }
            place = {"agent": [name] * rows, "run": np.repeat(numbers, len(t))}
            columns = {**place, "t": np.tile(t, len(numbers)), **measures}
            tables.append(pl.DataFrame(columns, schema_overrides=types))
        return pl.concat(tables)

    def __repr__(self) -> str:
        return (
            f"Result({len(self.agents)} agents, {len(self.runs)} runs, "
            f"horizon {self.plan.horizon}, seed {shown(self.seed)})"
        )


def spread(values: Any) -> dict[str, float]:
    """Mean, least and most over the runs; counts stay whole numbers.

    >>> spread(np.array([1, 2, 6]))
    {'mean': 3.0, 'min': 1, 'max': 6}
    """
    return {"mean": values.mean().item(), "min": values.min().item(), "max": values.max().item()}
