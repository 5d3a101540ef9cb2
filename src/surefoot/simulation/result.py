"""What a simulation found: one table, and its summary at the horizon."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._exact import one_of, shown
from surefoot.environments.mean_variance import (
    best_mean_variance,
    mean_variance_regrets,
    realised_regret,
)  # fmt: skip
from surefoot.errors import InvalidInput, missing_extra
from surefoot.simulation import loop
from surefoot.simulation.chart import PANELS, draw
from surefoot.simulation.loop import Trace

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from surefoot.simulation.plan import Plan

COUNTS = ("default_plays", "violating_rounds")
AGAINST_FLOOR = ("slack", "minimum_slack", "violating_rounds")
COLUMNS = ("regret", "default_plays", "received", *AGAINST_FLOOR)
"""What is noted at each checkpoint."""
PARTS = ("regular_regret", "default_regret")
MEAN_VARIANCE = ("regret_of_means", "regret_exact", "regret_realised")
MEASURES = (*COLUMNS, *PARTS, *MEAN_VARIANCE)
SUMMARY = ("regret", "default_plays", "violating_rounds", "minimum_slack")


class Result:
    """Runs of several agents at common checkpoints.

    ``frame``: a tidy polars frame, one row for each agent, run and checkpoint. ``summary()``:
    mean, min and max over the runs at the horizon. ``seed``: the entropy that repeats it.
    ``engines``: what drove each agent.
    """

    def __init__(
        self, plan: Plan, runs: dict[int, dict[str, Trace]], engine: str = "compiled"
    ) -> None:
        self.plan = plan
        self.engine = engine
        """The form of the engine: "compiled" or "plain"."""
        self.runs = runs
        self.seed = plan.entropy

    @property
    def agents(self) -> list[str]:
        """The agents' names."""
        return list(self.plan.agents)

    @property
    def engines(self) -> dict[str, str]:
        """agent -> "compiled" or "plain", the engine's loops; or "stepwise".

        "compiled by play" and "plain by play" are the engine's loop for one agent: where rewards
        come late, arms drift or the agent looks at its slack, no turns can be shared. An agent is
        "stepwise" where it is not written as kernels, or a class of yours overrides what they stand
        for. The result is the same each way.

        >>> import surefoot as sf
        >>> agents = {"GenCB": sf.gencb_cmab(n_arms=2, default=0.7, alpha=0.05)}
        >>> arms = sf.BernoulliArms([0.8, 0.2])
        >>> sf.simulate(agents, arms, horizon=9, engine="plain").engines
        {'GenCB': 'plain'}
        """
        drivers = dict.fromkeys(self.agents, self.engine)
        drivers |= dict.fromkeys(self.plan.by_play, f"{self.engine} by play")
        return drivers | dict.fromkeys(self.plan.stepwise, "stepwise")

    @property
    def faults(self) -> dict[str, int]:
        """agent -> how often its policy failed in all runs, see ``GenCB(on_fault="default")``."""
        runs = self.runs.values()
        return {name: sum(run[name].faults for run in runs) for name in self.agents}

    def measure(self, name: str, measure: str) -> Any:
        """One agent's measure: shape (runs, checkpoints).

        "regret" is pseudo-regret: of the means, or for a mean-variance floor t times that of Du,
        Wang, Huang 2021, eq. (4), and then "regular_regret" and "default_regret" are what regular
        arms and the default lose in it play by play; the rest comes from the means' differences.
        "regret_exact" has the true weight of those, "regret_realised" is t*(MV_* - MV_t), and
        "regret_of_means" is of the means under any floor. "received" is the reward booked so far,
        or t*MV_t; "slack", the reward above the floor, and "minimum_slack", its least value so
        far, are exact up to the conversion to float; "violating_rounds" counts the plays after
        which the slack was below zero. Both look at every play, also of a floor with checkpoints,
        which may be below zero between them: there look at "slack" at multiples of n. An
        exploration whose reward is still out counts as played in the regret, and at its worst in
        what was received and the slack. Where the arms drift, each play is held against the best
        of its own moment. Raises InvalidInput for an agent or a measure that is not here.
        """
        self._check(name)
        floor = self.plan.agents[name].floor
        moments = floor.rho is not None
        known = MEASURES if moments else MEASURES[: -len(MEAN_VARIANCE) + 1]
        one_of(measure, "measure", known)
        if "regret" in measure:
            regrets = self._moment_regrets if moments and measure != "regret_of_means" else None
            return (regrets or self._regrets)(name)[measure]
        books = self._books(name)
        unit = 10.0**floor.places
        if measure == "default_plays":
            return books[:, :, loop.DEFAULTS]
        if measure == "violating_rounds":
            return books[:, :, loop.BELOW]
        if measure == "minimum_slack":
            return books[:, :, loop.LEAST] / unit
        if measure == "slack":
            return books[:, :, loop.SLACK] / unit
        required = books[:, :, loop.T] * floor.asked
        return (books[:, :, loop.SLACK] + required) / unit - float(floor.reserve)

    def _books(self, name: str) -> Any:
        return np.stack([run[name].books for run in self.runs.values()])

    def _losses(self, name: str) -> Any:
        return np.stack([run[name].losses for run in self.runs.values()])

    def _regrets(self, name: str) -> dict[str, Any]:
        """Pseudo-regret of the means and its two parts."""
        losses = self._losses(name)
        regular = losses[:, :, loop.GAP]
        default = self._books(name)[:, :, loop.DEFAULTS] * self.plan.default_gap(name)
        if losses.shape[-1] > loop.DEFAULT:  # the arms drift, and with them the gap
            default = losses[:, :, loop.DEFAULT]
        both = regular + default
        return {
            "regret": both,
            "regret_of_means": both,
            "regular_regret": regular,
            "default_regret": default,
        }

    def _moment_regrets(self, name: str) -> dict[str, Any]:
        """The mean-variance regrets; MV_* of the best regular arm, or the default if better."""
        floor, environment = self.plan.agents[name].floor, self.plan.environment
        books, losses = self._books(name), self._losses(name)
        rho, mu0 = float(floor.rho or 0), float(floor.default)
        best = best_mean_variance(environment.means, environment.variances, rho)
        best = max(best, rho * mu0)
        default_plays, plays = books[:, :, loop.DEFAULTS], books[:, :, loop.T]
        sums = losses[:, :, loop.MEAN], losses[:, :, loop.SQUARE], losses[:, :, loop.VARIANCE]
        regrets = mean_variance_regrets(
            plays - default_plays, *sums, default_plays, rho=rho, default=mu0, best=best
        )
        received = self.measure(name, "received")
        return {
            "regret": regrets.pseudo,
            "regret_exact": regrets.pseudo_exact,
            "regret_realised": realised_regret(plays, received, best),
            "regular_regret": (plays - default_plays) * best - rho * sums[0] + sums[2],
            "default_regret": default_plays * (best - rho * mu0),
        }

    def exact_minimum_slack(self, name: str) -> Decimal:
        """The least slack over all runs, exact; InvalidInput for an agent that is not here."""
        self._check(name)
        units = min(int(run[name].books[-1, loop.LEAST]) for run in self.runs.values())
        return self.plan.agents[name].floor.unit.decimal(units)

    def _check(self, name: Any) -> None:
        if not isinstance(name, str) or name not in self.plan.agents:
            known = ", ".join(map(shown, self.agents))
            raise InvalidInput(f"name = {shown(name)} must be one of the agents {known}")

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

    def plot(self, panels: Sequence[str] = PANELS) -> Figure:
        """Draw regret, reward above the floor, and the shares of the arms; for any agents.

        ``panels``: some of "regret", "slack" (of agents with a floor) and "arms" (one panel an
        agent). A line is the mean over the runs, its band lies between the 5 % and 95 % quantiles,
        thin lines are the least and the most; regret and slack are in units of reward, and mean
        what ``measure`` says. Shares of default plays are counted; the other plays are split among
        the arms as those at the checkpoints are, exactly where ``checkpoints`` is "all".
        Returns a matplotlib ``Figure``: ``figure.savefig("runs.png")``; pyplot is not touched.
        Raises InvalidInput for another panel, and MissingExtra without matplotlib.

        >>> import surefoot as sf
        >>> agents = {"GenCB": sf.gencb_cmab(n_arms=2, default=0.7, alpha=0.05)}
        >>> result = sf.simulate(agents, sf.BernoulliArms([0.8, 0.2]), 99, runs=2, engine="plain")
        >>> [axes.get_title(loc="left") for axes in result.plot().axes]
        ['Cumulative regret', 'Above the floor', 'GenCB: share of plays']

        Holds when: the runs are few enough for memory. Does not hold when: a policy plays its arms
        in a rhythm that the checkpoints fall in with: then the arms' shares mislead.
        """
        return draw(self, panels)

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
