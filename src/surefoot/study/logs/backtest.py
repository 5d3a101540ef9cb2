"""A conservative backtest of a log, and what it found: gain less luck, and a verdict."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from surefoot._exact import one_of, shown
from surefoot._logs import is_bandit_feedback
from surefoot._types import JsonObject, Number, Seed
from surefoot.errors import InvalidInput
from surefoot.simulation.loop import DEFAULTS, MEAN, T
from surefoot.simulation.result import spread
from surefoot.study.files import versions
from surefoot.study.logs import backtest_words as words
from surefoot.study.logs import flags as weak
from surefoot.study.logs.backtest_runs import BacktestRuns
from surefoot.study.logs.copies import NORMAL, Gain
from surefoot.study.logs.evidence import Evidence, weigh
from surefoot.study.logs.flags import Flag
from surefoot.study.logs.rejection_backtest import (
    MEANS,
    MODES,
    REJECTION,
    RejectionBacktest,
    RejectionRuns,
)
from surefoot.study.logs.subject import Subject, own
from surefoot.study.logs.worlds import (
    AGENTS,
    GUARDED,
    HALVED,
    JOINED,
    LOG,
    REDRAWN,
    SHUFFLED,
    UNGUARDED,
)
from surefoot.study.numbers import Array
from surefoot.study.runs import Step

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

DANGER: Final = (0.5, 0.9, 0.975)
"""Quantiles over the redrawn logs of how far an unguarded agent ever was below the floor."""


SHOWN_ARMS: Final = 12
"""Of the best arms, in a table."""


def backtest(
    log: Any,
    default: Any = None,
    alpha: Number = 0.05,
    *,
    arm: str | None = None,
    reward: str | None = None,
    propensity: str | None = None,
    context: str | Iterable[str] | None = None,
    default_value: Number | None = None,
    mode: str = MEANS,
    policy: Any = None,
    horizon: int | None = None,
    runs: int | None = None,
    worth: Number | None = None,
    alphas: Sequence[Number] = (),
    reward_range: tuple[Number, Number] | None = None,
    unit: str | None = None,
    seed: Seed = 0,
    engine: str = "auto",
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Backtest | RejectionBacktest:
    """What a guarded bandit would have gained on a log, and whether the log can tell.

    ``log``: a path, a polars or pandas frame, a dict of columns, or whatever ``read_log`` takes,
    with a row for each play; ``arm``, ``reward`` and ``propensity`` name its columns. ``default``:
    the arm in use today; where no row of the log is its own, ``default_value`` is what it pays.
    ``alpha``: the fraction of the default's reward one is willing to lose; ``alphas``: others to
    compare. ``policy``: "klucb" (None, too) or "ucb1". ``horizon``: plays looked ahead, by default
    one for each row. ``runs``: on the log itself, by default 100; 600 more go through shuffled and
    redrawn copies of it. ``worth``: the least gain worth having, by default 1 % of always default.
    ``reward_range``: sure bounds of a reward. ``unit``: what a reward is counted in. ``workers``:
    threads; the result depends on ``seed`` alone. ``engine`` and ``progress`` as in ``simulate``.
    Raises InvalidInput where something does not fit, with the row of the log.

    ``mode="rejection"``: for a log that chose its arms uniformly, see ``RejectionBacktest``.

    >>> log = {"page": ["old", "new", "old", "bad"] * 100, "paid": [1, 1, 0, 0] * 100}
    >>> found = backtest(log, "old", 0.1, arm="page", reward="paid")
    >>> found.verdict, found.gain.low > 0, found.arms[0]["arm"]
    ('pays', True, 'old')

    Holds when: the rows of an arm are independent draws of what it pays, and arms were chosen by
    chance, or with known propensities. Does not hold when: the log's own policy chose them by what
    they had paid or by whom they suit: see ``flags`` and ``notes``.
    """
    given = own(log, default, arm, reward, propensity=propensity, known=default_value, unit=unit,
                context=context)  # fmt: skip
    if mode == MEANS and context is None and is_bandit_feedback(log):
        given = _without_context(given)
    shared = (runs, horizon, seed, reward_range)
    asked = _runs_of(one_of(mode, "mode", MODES), given, policy, alpha, shared, alphas, worth)
    for step in asked.steps(workers, engine):
        if progress is not None:
            progress(step.done, step.total)
    return RejectionBacktest(asked) if mode == REJECTION else Backtest(asked)


def _without_context(given: Subject) -> Subject:
    """Bandit feedback always has contexts; unless they were asked for, its arms' means will do."""
    if "context" not in given.frame.columns:
        return given
    source = f"{given.source.removesuffix('.')}, its contexts left aside."
    return replace(given, frame=given.frame.drop("context"), source=source)


def _runs_of(
    mode: str,
    given: Subject,
    policy: Any,
    alpha: Number,
    shared: tuple[int | None, int | None, Seed, tuple[Number, Number] | None],
    alphas: Sequence[Number],
    worth: Number | None,
) -> Any:
    """What is to be run; only by rejection may a policy see contexts."""
    if isinstance(alphas, str) or not isinstance(alphas, Iterable):
        raise InvalidInput(f"alphas = {shown(alphas)} must be a list, e.g. [0.01, 0.1]")
    others = list(alphas)
    if mode == REJECTION:
        if others:
            raise InvalidInput(
                f"alphas = {shown(alphas)} is for mode = {MEANS!r}; run mode = {REJECTION!r} once "
                "for each alpha"
            )
        return RejectionRuns(given, policy, alpha, *shared, worth)
    sees = policy in ("linucb", "lints") or not isinstance(policy, str | None)
    if sees or "context" in getattr(given.frame, "columns", ()):
        raise InvalidInput(
            f"contexts, and policies that see them, need mode = {REJECTION!r}: the means of the "
            "arms know no context"
        )
    runs, horizon, seed, ends = shared
    count = 100 if runs is None else runs
    return BacktestRuns(
        given, alpha, policy or "klucb", count, horizon, seed, ends, alphas=others, worth=worth
    )


class Backtest:
    """What a backtest found; ``sf.backtest`` makes it.

    ``verdict``: "pays", "does not pay" or "cannot tell", and ``why``, its reasons. ``gain``: reward
    over the horizon above always the default: ``mean``, ``low``, ``high``, and what they are made
    of, ``in_sample``, ``luck`` and ``p``. ``arms``: each arm's rows, mean and interval.

    >>> log = {"arm": ["a", "b"] * 50, "reward": [0, 1] * 25 + [1, 1] * 25}
    >>> found = backtest(log, default="a", alpha=0.1)
    >>> found
    Backtest('pays': +44.1 (+30.9 to +54.6) reward over 100 plays; luck +1.45)

    Holds when: as ``backtest``.
    """

    def __init__(self, runs: BacktestRuns) -> None:
        if not runs.found:
            raise InvalidInput("this backtest has not run; go through its steps first")
        self.runs = runs
        self.t = next(iter(runs.results.values())).plan.checkpoints
        self.results = {name: result for result in runs.results.values() for name in result.agents}

    @property
    def verdict(self) -> str:
        """ "pays", "does not pay" or "cannot tell"."""
        return self.gain.verdict

    @property
    def gain(self) -> Evidence:
        """Gain above always the default over the horizon, in reward."""
        return self.evidence(0)

    @property
    def alpha(self) -> float:
        """The fraction of the default's reward that may be lost."""
        return float(self.runs.floor.alpha)

    @property
    def horizon(self) -> int:
        """Plays looked ahead."""
        return self.runs.horizon

    @property
    def always_default(self) -> float:
        """What always the default pays over the horizon, at its logged mean."""
        return self.runs.always

    @property
    def why(self) -> list[str]:
        """The reasons of the verdict, the weightiest first."""
        return words.why(self)

    def evidence(self, spot: int) -> Evidence:
        """The evidence under one of the alphas; 0 is the one that all agents were run under."""
        return self._evidence[spot]

    @cached_property
    def _evidence(self) -> list[Evidence]:
        runs = self.runs
        logged, copies, drawn = (runs.of_kind(kind) for kind in (LOG, SHUFFLED, REDRAWN))
        barred = any(flag.bars for flag in self.flags)
        found = []
        for spot in range(len(runs.alphas)):
            pair = np.mean([one.plays[spot] for one in logged[: runs.worlds.pair]], axis=0)
            found.append(weigh(
                float(np.mean([one.gains[spot].value for one in logged])),
                runs.worlds.logged.gain(pair).t,
                [one.gains[spot] for one in copies], [one.gains[spot].value for one in drawn],
                runs.worth, barred=barred,
            ))  # fmt: skip
        return found

    @cached_property
    def flags(self) -> list[Flag]:
        """What makes the evidence weaker than its numbers; some bar a verdict."""
        return words.flags(self)

    @cached_property
    def arms(self) -> list[JsonObject]:
        """Each arm's rows, rows that pay, mean and its 95 % interval, plays guarded; default first.

        ``few`` and ``heavy``: see ``flags``. ``plays``: in the mean of the runs on the log; the
        default's are the rest of the horizon.
        """
        runs, rows, copy = self.runs, self.runs.rows, self.runs.worlds.logged
        few, heavy = set(weak.few(rows).tolist()), set(weak.heavy(rows).tolist())
        plays = np.mean([one.plays[0] for one in runs.of_kind(LOG)], axis=0)
        least, most = map(float, runs.floor.reward_range)
        default = {
            "arm": runs.subject.default, "rows": 0, "paying": 0, "mean": copy.mean,
            "low": copy.mean, "high": copy.mean, "plays": runs.horizon - float(plays.sum()),
            "few": False, "heavy": False, "is_default": True,
        }  # fmt: skip
        found = []
        for arm, (mean, error) in enumerate(zip(copy.means, copy.errors, strict=True)):
            own = {
                "arm": runs.labels[arm],
                "rows": int(rows.sizes[arm]),
                "paying": int(rows.paying[arm]),
                "mean": float(mean),
                "low": float(min(mean, max(mean - NORMAL * error, least))),
                "high": float(max(mean, min(mean + NORMAL * error, most))),
                "few": arm in few,
                "heavy": arm in heavy,
            }
            if arm == rows.n_arms:
                default |= own
            else:
                found.append({**own, "plays": float(plays[arm]), "is_default": False})
        return [default, *({key: one[key] for key in default} for one in found)]

    @cached_property
    def halves(self) -> Gain | None:
        """The cross-check: learnt on half of the rows, counted at the means of the others.

        The mean of ten splits, both ways each; its error is that of one split. None where an arm
        has a single row.
        """
        gains = [one.gains[0] for one in self.runs.of_kind(HALVED)]
        if not gains:
            return None
        return Gain(*(float(np.mean([one[part] for one in gains])) for part in range(2)))

    @cached_property
    def danger(self) -> dict[str, JsonObject]:
        """How far an unguarded agent ever falls below the floor, over the redrawn logs.

        By agent: ``quantiles`` of the deepest dip, and ``share`` of the logs in which there is
        one. Optimistic: a redrawn log is kinder than the world the log came from (ours; where all
        arms are worse, 55 % of such runs end below the floor for 100 % in truth).
        """
        unit = float(self.runs.floor.unit.decimal(1))
        found = {}
        for name in (UNGUARDED, JOINED):
            dips = np.array([one.dips[name] for one in self.runs.of_kind(REDRAWN)]) * unit
            ends = np.quantile(dips, DANGER)
            quantiles = {f"{100 * at:g}": float(end) for at, end in zip(DANGER, ends, strict=True)}
            found[name] = {"quantiles": quantiles, "share": float((dips > 0).mean())}
        return found

    @property
    def sweep(self) -> list[JsonObject]:
        """Under each alpha, the first one too: gain, verdict and the stake, the most to be lost."""
        credit = float(self.runs.value) * self.horizon
        return [
            {
                "alpha": float(alpha),
                "stake": float(alpha) * credit,
                "gain": _numbers(self.evidence(spot)),
                "verdict": self.evidence(spot).verdict,
            }
            for spot, alpha in enumerate(self.runs.alphas)
        ]

    @property
    def rows_needed(self) -> dict[str, int | None]:
        """Rows of an arm by which one that pays 5, 10 or 20 % more is found in 8 of 10 logs."""
        rows, copy = self.runs.rows, self.runs.worlds.logged
        square = rows.variance * float(rows.unit.decimal(1)) ** 2
        return {
            f"{lift:g}": weak.rows_needed(lift, square, copy.mean, rows.n_arms)
            for lift in weak.LIFTS
        }

    def headline(self) -> str:
        """What was found, in one line."""
        return words.headline(self)

    def notes(self) -> list[str]:
        """How it was found, and what the numbers are and are not; a paragraph each."""
        return words.notes(self)

    def measure(self, name: str, measure: str) -> Array:
        """As ``Result.measure``, shape (runs, checkpoints); and "gain", what plays are worth.

        That is the sum of means less the default's logged mean over the arms played: what was
        drawn in a run is luck, and does not enter it.
        """
        result = self.results[name]
        if measure != "gain":
            found: Array = result.measure(name, measure)
            return found
        traces = [run[name] for run in result.runs.values()]
        books = np.stack([trace.books for trace in traces])
        means = np.stack([trace.losses[:, MEAN] for trace in traces])
        gains: Array = means - (books[:, :, T] - books[:, :, DEFAULTS]) * self.runs.mean
        return gains

    @property
    def frame(self) -> pl.DataFrame:
        """Tidy table of the runs on the log: agent, run, t, as ``Result.frame``, and gain."""
        import polars as pl

        tables = []
        for result in self.runs.results.values():
            gains = [self.measure(name, "gain").ravel() for name in result.agents]
            tables.append(result.frame.with_columns(gain=pl.Series(np.concatenate(gains))))
        return pl.concat(tables)

    @property
    def worlds(self) -> pl.DataFrame:
        """Tidy table of what the evidence rests on: world, number, alpha, gain and error.

        A row for each world and alpha. ``world``: "log", "shuffled" or "redrawn"; ``gain``: of the
        plays of a run there, a shuffled one's pair in the mean, at the means that hold there;
        ``error``: its standard error, the plays held fixed.
        """
        import polars as pl

        kinds = {"log": LOG, "shuffled": SHUFFLED, "redrawn": REDRAWN}
        return pl.DataFrame(
            [
                (world, number, float(alpha), *one.gains[spot])
                for world, kind in kinds.items()
                for number, one in enumerate(self.runs.of_kind(kind))
                for spot, alpha in enumerate(self.runs.alphas)
            ],
            schema={
                "world": pl.String, "number": pl.Int64, "alpha": pl.Float64, "gain": pl.Float64,
                "error": pl.Float64,
            },
            orient="row",
        )  # fmt: skip

    def summary(self) -> JsonObject:
        """The backtest in numbers, as ``summary.json`` holds it.

        - verdict, why
        - gain: mean, low, high; in_sample, luck, p, of which they are made
        - log: title, source, rows, propensities (whether it has them)
        - default: arm, rows, mean (logged), value (what a default play is credited at)
        - alpha, alphas, floor (the least reward a play, (1-alpha)*value), reward_range: {low, high,
          is}
        - policy, default_competes, horizon, worth, runs, seed
        - always_default, always_best: reward over the horizon of one arm only, at its logged mean
        - stake: the most that can be lost over the horizon, alpha*value*horizon
        - arms: [{arm, rows, paying, mean, low, high, plays, few, heavy, is_default}]
        - flags: [{name, why, arms, bars}]
        - halves: {mean, margin} of the cross-check, null where an arm has a single row
        - rows_needed: of an arm, by lift over the default
        - sweep: [{alpha, stake, gain, verdict}]
        - danger: by unguarded agent, quantiles of its deepest dip below the floor, and share of the
          redrawn logs with one; optimistic
        - agents: [{name, and mean, min and max over the runs on the log at the horizon of:
          received, gain, regret, default_plays, violating_rounds, minimum_slack;
          runs_below_floor, plays_below_floor: shares; worst_shortfall: the furthest below the
          floor over all runs and plays, 0 if never}]; where the default is one of the arms, its
          plays are no default_plays
        - notes: what the numbers are and are not
        - versions
        """
        halves, best = self.halves, max(arm["mean"] for arm in self.arms)
        margin = None if halves is None else {
            "mean": halves.value, "margin": NORMAL * halves.error
        }  # fmt: skip
        labels = self.runs.labels
        return {
            "verdict": self.verdict,
            "why": self.why,
            "gain": _numbers(self.gain),
            **self.runs.settings(),
            "always_default": self.always_default,
            "always_best": best * self.horizon,
            "stake": self.alpha * float(self.runs.value) * self.horizon,
            "arms": self.arms,
            "flags": [
                {**flag._asdict(), "arms": [labels[arm] for arm in flag.arms]}
                for flag in self.flags
            ],
            "halves": margin,
            "rows_needed": self.rows_needed,
            "sweep": self.sweep,
            "danger": self.danger,
            "agents": [self.agent(name) for name in AGENTS],
            "notes": self.notes(),
            "versions": versions(),
        }

    def shown_arms(self) -> tuple[list[JsonObject], int]:
        """The best arms, and the default wherever it stands; and how many are left out."""
        ranked = sorted(self.arms, key=lambda arm: -arm["mean"])
        shown = [arm for i, arm in enumerate(ranked) if i < SHOWN_ARMS or arm["is_default"]]
        return shown, len(ranked) - len(shown)

    def agent(self, name: str) -> JsonObject:
        """One agent's numbers at the horizon, over the runs on the log."""
        result, horizon, runs = self.results[name], self.horizon, self.runs.runs
        least, below, gains, received = (
            self.measure(name, measure)[:, -1]
            for measure in ("minimum_slack", "violating_rounds", "gain", "received")
        )
        worst = max(Decimal(0), -result.exact_minimum_slack(name))
        return {
            "name": name,
            "received": spread(received),
            "gain": spread(gains),
            **result.summary()[name],
            "runs_below_floor": float((least < 0).mean()),
            "plays_below_floor": float(below.sum()) / (runs * horizon),
            "worst_shortfall": float(worst),
        }

    def plot(self) -> Figure:
        """The chart as a matplotlib figure."""
        from surefoot.study.logs.backtest_chart import figure_of

        return figure_of(self)

    def write(self, folder: str | Path) -> JsonObject:
        """Write chart, tables and summary.json to a folder; returns the summary."""
        from surefoot.study.outputs import claim, write

        claim(self.runs, Path(folder))
        return write(self, Path(folder))

    def __repr__(self) -> str:
        return words.in_short(self)

    def _repr_html_(self) -> str:
        return words.table(self, html.escape)


def _numbers(evidence: Evidence) -> JsonObject:
    return {key: value for key, value in evidence._asdict().items() if key != "verdict"}


__all__ = ["AGENTS", "GUARDED", "JOINED", "UNGUARDED", "Backtest", "Step", "backtest"]
