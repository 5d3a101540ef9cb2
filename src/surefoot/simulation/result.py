"""What a simulation found: one table, and its summary at the horizon."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._exact import Unit, one_of, shown
from surefoot.environments.mean_variance import (
    best_mean_variance,
    mean_variance_regrets,
    realised_regret,
)  # fmt: skip
from surefoot.errors import InvalidInput, missing_extra
from surefoot.simulation import loop
from surefoot.simulation.chart import PANELS, draw
from surefoot.simulation.judging import asked_of
from surefoot.simulation.loop import Trace

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from surefoot.simulation.guards import Guard
    from surefoot.simulation.plan import Plan

COUNTS = ("default_plays", "violating_rounds")
AGAINST_FLOOR = ("slack", "minimum_slack", "violating_rounds")
COLUMNS = ("regret", "default_plays", "received", *AGAINST_FLOOR)
"""What is noted at each checkpoint."""
PARTS = ("regular_regret", "default_regret")
MEAN_VARIANCE = ("regret_of_means", "regret_exact", "regret_realised")
MEASURES = (*COLUMNS, *PARTS, *MEAN_VARIANCE)
SUMMARY = ("regret", "default_plays", "violating_rounds", "minimum_slack")
OF_A_FLOOR = ("received", *AGAINST_FLOOR)
"""What each of several floors has for itself."""
NOT_OF_ALL = ("slack", "minimum_slack")
"""What several floors do not have together."""


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

    def measure(self, name: str, measure: str, floor: str | None = None) -> Any:
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
        of its own moment.

        ``floor``: of an agent of several floors, the name of the one whose "received", "slack",
        "minimum_slack" or "violating_rounds" is meant. Without it "received" is the objective, the
        default's plays at its mean, and "violating_rounds" counts the plays after which any slack
        was below zero. Under a ceiling "received" is what was spent, and the slack what may still
        be spent above it. Of a floor that learns its default all of them are worked out at the
        mean that the default really has: slacks may be below zero in a share of runs of up to
        delta. Raises InvalidInput for an agent, a floor or a measure that is not here.
        """
        self._check(name)
        if self.plan.several(name):
            return self._of_several(name, measure, floor)
        (only,) = self.plan.guards[name]
        if floor is not None:
            one_of(floor, "floor", [only])
        return self._of_one(name, measure)

    def _of_one(self, name: str, measure: str) -> Any:
        """A measure of an agent of one floor."""
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
        return self._received(name, 0, books[:, :, loop.SLACK])

    def _of_several(self, name: str, measure: str, floor: str | None) -> Any:
        """A measure of an agent of several floors, of one of them or of the objective."""
        one_of(measure, "measure", (*COLUMNS, *PARTS))
        guards, books = self.plan.guards[name], self._books(name)
        if floor is None:
            if "regret" in measure:
                return self._regrets(name)[measure]
            if measure == "default_plays":
                return books[:, :, loop.DEFAULTS]
            if measure == "violating_rounds":
                return books[:, :, loop.BELOW]
            if measure == "received":
                explored = books[:, :, loop.SLACK] / 10.0 ** self.plan.agents[name].floor.places
                return explored + books[:, :, loop.DEFAULTS] * self.plan.defaults[name]
        if floor is None or measure not in OF_A_FLOOR:
            why = f"each floor has its own: give floor=, one of {', '.join(map(repr, guards))}"
            if floor is not None:
                why = "it is of the whole agent: leave floor= out"
            raise InvalidInput(f"{measure} of agent {shown(name)}: {why}")
        one_of(floor, "floor", guards)
        own = np.stack([run[name].floors for run in self.runs.values()])
        spot = list(guards).index(floor)
        columns = own[:, :, spot]
        one = guards[floor].floor
        if measure == "violating_rounds":
            return columns[:, :, loop.OF_BELOW]
        if measure == "minimum_slack":
            return columns[:, :, loop.OF_LEAST] / 10.0**one.places
        if measure == "slack":
            return columns[:, :, loop.OF_SLACK] / 10.0**one.places
        return self._received(name, spot, columns[:, :, loop.OF_SLACK])

    def _received(self, name: str, spot: int, slack: Any) -> Any:
        """What the slack of a floor, in units, says was received, or spent."""
        guard, plays = list(self.plan.guards[name].values())[spot], self._books(name)[:, :, loop.T]
        floor, gone = guard.floor, [run[name].forfeited for run in self.runs.values()]
        if gone[0].size:
            slack = slack + np.stack(gone)[:, :, spot]
        booked = (slack + plays * asked_of(guard, self.plan.environment)) / 10.0**floor.places
        received = booked - float(floor.reserve)
        return 0.0 - received if guard.costs else received

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

    def exact_minimum_slack(self, name: str, floor: str | None = None) -> Decimal:
        """The least slack over all runs, exact; ``floor``: as for ``measure``.

        Raises InvalidInput for an agent or a floor that is not here.
        """
        self._check(name)
        guards = self.plan.guards[name]
        if floor is not None or self.plan.several(name):
            one_of(floor, "floor", guards)
        if self.plan.several(name):
            spot = list(guards).index(str(floor))
            units = min(
                int(run[name].floors[-1, spot, loop.OF_LEAST]) for run in self.runs.values()
            )
            return self._unit(guards[str(floor)]).decimal(units)
        units = min(int(run[name].books[-1, loop.LEAST]) for run in self.runs.values())
        return self._unit(*guards.values()).decimal(units)

    def _unit(self, guard: Guard) -> Unit:
        unit: Unit = guard.floor.unit
        return unit

    def violating_runs(self, name: str, floor: str | None = None) -> int:
        """In how many runs the slack was ever below zero; ``floor``: as for ``measure``.

        Of a known default in none, unless the policy is unguarded; of a learned one in a share of
        at most delta, but for chance.
        """
        return int((self.measure(name, "violating_rounds", floor)[:, -1] > 0).sum())

    def _check(self, name: Any) -> None:
        if not isinstance(name, str) or name not in self.plan.agents:
            known = ", ".join(map(shown, self.agents))
            raise InvalidInput(f"name = {shown(name)} must be one of the agents {known}")

    def summary(self) -> dict[str, dict[str, dict[str, float]]]:
        """agent -> measure -> mean, min and max over the runs, at the horizon.

        An agent without a floor has no "violating_rounds" and no "minimum_slack"; one of several
        floors has one of each for every floor, as "minimum_slack_quality" of a floor "quality",
        and "received_quality", what came in by then, or was spent under a ceiling.
        """
        return {
            name: {
                column: spread(self.measure(name, *what)[:, -1])
                for column, what in self._columns(name, SUMMARY).items()
            }
            for name in self.agents
        }

    def _columns(self, name: str, wanted: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Columns of an agent, and by what arguments of ``measure`` each is found."""
        columns: dict[str, tuple[str, ...]] = {one: (one,) for one in wanted}
        if not self.plan.agents[name].measured:
            return {one: what for one, what in columns.items() if one not in AGAINST_FLOOR}
        if self.plan.several(name):
            own = [one for one in OF_A_FLOOR if one in wanted or one == "received"]
            columns = {one: what for one, what in columns.items() if one not in NOT_OF_ALL}
            for floor in self.plan.guards[name]:
                columns |= {f"{one}_{floor}": (one, floor) for one in own}
        return columns

    @property
    def frame(self) -> pl.DataFrame:
        """Tidy table: agent, run, t, and the measures; without a floor the slack is null.

        Where an agent has several floors, each has columns of its own, as "slack_quality", which
        are null for agents without that floor; "slack" and "minimum_slack" are null for it.
        """
        try:
            import polars as pl
        except ImportError:
            raise missing_extra("study", "polars") from None
        numbers, t = list(self.runs), self.plan.checkpoints
        rows = len(numbers) * len(t)
        known = {name: self._columns(name, COLUMNS) for name in self.agents}
        # A column of one floor begins with that of the whole, and has its type.
        columns = [*COLUMNS, *dict.fromkeys(c for own in known.values() for c in own)]
        columns = list(dict.fromkeys(columns))
        types = {c: pl.Int64 if c.startswith(COUNTS) else pl.Float64 for c in columns}
        tables = []
        for name in self.agents:
            measures = {
                column: self.measure(name, *known[name][column]).ravel()
                if column in known[name]
                else [None] * rows
                for column in columns
            }
            place = {"agent": [name] * rows, "run": np.repeat(numbers, len(t))}
            whole = {**place, "t": np.tile(t, len(numbers)), **measures}
            tables.append(pl.DataFrame(whole, schema_overrides=types))
        return pl.concat(tables)

    def plot(self, panels: Sequence[str] = PANELS) -> Figure:
        """Draw regret, reward above the floor, and the shares of the arms; for any agents.

        ``panels``: some of "regret", "slack" (of agents with a floor; several floors have a panel
        each) and "arms" (one panel an agent). A line is the mean over the runs, its band lies
        between the 5 % and 95 % quantiles, thin lines are the least and the most; regret and slack
        are in units of the objective and of the measure, and mean what ``measure`` says. Shares of
        default plays are counted; the other plays are split among the arms as those at the
        checkpoints are, exactly where ``checkpoints`` is "all".
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
