"""What a backtest found, in tables, numbers and words."""

from __future__ import annotations

import textwrap
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.simulation.result import spread
from surefoot.study.caption import counted
from surefoot.study.output import versions
from surefoot.study.replay import (
    FEW_ROWS,
    GIVEN,
    GUARDED,
    JOINED,
    POLICIES,
    UNGUARDED,
    Backtest,
    gain,
    listed,
)
from surefoot.study.replay_numbers import amount, full
from surefoot.study.verdict import few, margin, side

if TYPE_CHECKING:
    import polars as pl

SETTING = (
    "{source} {policy} over the arms besides {default}, {runs:,} runs of {horizon:,} {play}s, seed "
    "{seed}. Guarded at alpha = {alpha:g}: after every {play} at least {share:.10g} % of what "
    "always {default} is known to be worth; {default} is also played where no arm looks better. "
    'Unguarded: the same policy on the same noise, without a guard; "{joined}" may choose '
    "{default} too, for what it then pays."
)
CREDIT = (
    "The default is credited at its known value: each play of {default} counts as {value}, its "
    "logged mean, whatever it would really pay. The floor is a promise about explored reward plus "
    "default plays at that value."
)
BOOTSTRAP = (
    "A bootstrap of the log, not a causal claim: each play draws one of its arm's logged rewards "
    "again, as if they did not depend on when, where and for whom it was used. {sure}"
)
SURE = (
    "The mean gain of the guarded policy, {gain}, is known to ± {margin}, at 95 % by Student's t: "
    "that is what more runs may change, not how far the log may mislead."
)
LEVEL = "No guarded run gained or lost anything against the default."
ASSUMED = (
    "Our assumption: no reward ever leaves [{low}, {high}] ({range}). The guarantee rests on a "
    "sure bound; --reward-range gives yours."
)
CLAIMED = "Your claim: no reward leaves [{low}, {high}]. The guarantee rests on it."
CUT = '"{default}" is {label}.'
FEW = "Fewer than {least} rows: {few}. Drawing a handful again shows the handful, not the arm."

SHOWN_ARMS = 12


class Findings:
    """A backtest whose runs are done: its table, its summary, and the words that go with them.

    >>> from surefoot.study.replay import Subject
    >>> log = {"arm": ["a", "b"] * 50, "reward": [0, 1] * 25 + [1, 1] * 25}
    >>> backtest = Backtest(Subject(log, "a", "Try", "a log"), alpha=0.1, runs=5)
    >>> list(backtest.steps(engine="plain"))[-1].done
    10
    >>> Findings(backtest).headline()
    'Try: 45.5 more reward than always a at its logged 0.5, in none of 5 runs below the floor'
    """

    def __init__(self, backtest: Backtest) -> None:
        self.backtest = backtest
        paired, joined = backtest.results
        self.results = {GUARDED: paired, UNGUARDED: paired, JOINED: joined}
        self.t = paired.plan.checkpoints

    def called(self, name: str) -> str:
        """An agent's name on a chart."""
        return f"unguarded with {self.backtest.shown}" if name == JOINED else name

    def headline(self) -> str:
        """What was found, in one line."""
        backtest = self.backtest
        first = backtest.first_exploration
        if backtest.horizon < first:
            found = (
                f"the horizon ({backtest.horizon:,}) is shorter than the wait ({first:,} "
                f"{backtest.subject.play}s until the first exploration), so nothing can be explored"
            )
        else:
            found = f"{self._found()}, {self._kept()}"
        return f"{backtest.subject.title}: {found}"

    def _found(self) -> str:
        """What exploring brought or cost, if these runs tell."""
        backtest, gains = self.backtest, self.measure(GUARDED, "gain")[:, -1]
        mean, reward = float(gains.mean()), backtest.subject.reward
        always = f"always {backtest.shown} at its logged {full(float(backtest.value))}"
        if not gains.any():
            return f"as much {reward} as {always}"
        if self.outcome is True:
            return f"{amount(mean)} more {reward} than {always}"
        if self.outcome is False:
            return f"exploring cost {amount(-mean)} {reward} against {always}"
        off = few(backtest.runs) or f"± {amount(margin(gains))}"
        return f"not decided: {amount(mean, signed=True)} {reward} against {always} ({off})"

    def _kept(self) -> str:
        agent, runs = self.agent(GUARDED), self.backtest.runs
        if agent["worst_shortfall"] > 0:
            return f"up to {amount(agent['worst_shortfall'])} below the floor"
        return f"in none of {counted(runs, 'run')} below the floor"

    @property
    def outcome(self) -> bool | None:
        """Whether exploring paid, guarded; None where these runs do not tell."""
        return side(self.measure(GUARDED, "gain")[:, -1])

    def notes(self) -> list[str]:
        """How it was found, and what the numbers are and are not; a paragraph each."""
        backtest = self.backtest
        subject, floor = backtest.subject, backtest.floor
        words = {
            "source": subject.source,
            "play": subject.play,
            "policy": POLICIES[backtest.policy][0],
            "default": backtest.shown,
            "label": textwrap.shorten(str(subject.default), 120, placeholder="…"),
            "joined": self.called(JOINED),
            "runs": backtest.runs,
            "horizon": backtest.horizon,
            "seed": backtest.seed,
            "alpha": float(floor.alpha),
            "share": float(100 - 100 * floor.alpha),
            "value": full(float(backtest.value)),
            "low": full(float(floor.reward_range[0]), figures=6),
            "high": full(float(floor.reward_range[1]), figures=6),
            "range": backtest.range_is,
            "least": FEW_ROWS,
            "few": listed([arm["arm"] for arm in backtest.arms if arm["rows"] < FEW_ROWS]),
        }
        claim = CLAIMED if backtest.range_is == GIVEN else ASSUMED
        notes = [SETTING, CREDIT, BOOTSTRAP.replace("{sure}", self._sure()), claim]
        if backtest.shown != words["label"]:
            notes[0] += f" {CUT}"
        if words["few"]:
            notes.append(FEW)
        return [note.format(**words) for note in notes]

    def _sure(self) -> str:
        """How far the mean over the runs may be off."""
        lack = few(self.backtest.runs)
        if lack:
            return f"No verdict: {lack}."
        gains = self.measure(GUARDED, "gain")[:, -1]
        if not gains.any():
            return LEVEL
        mean = amount(float(gains.mean()), signed=True)
        return SURE.format(gain=mean, margin=amount(margin(gains)))

    def measure(self, name: str, measure: str) -> Any:
        """As ``Result.measure``; and "gain", reward received above always playing the default."""
        if measure == "gain":
            return gain(self.results[name], name)
        return self.results[name].measure(name, measure)

    @property
    def frame(self) -> pl.DataFrame:
        """Tidy table: agent, run, t, the measures of ``Result.frame``, and gain."""
        import polars as pl

        tables = []
        for result in dict.fromkeys(self.results.values()):
            gains = [gain(result, name).ravel() for name in result.agents]
            tables.append(result.frame.with_columns(gain=pl.Series(np.concatenate(gains))))
        return pl.concat(tables)

    def summary(self) -> dict[str, Any]:
        """The backtest in numbers, as ``summary.json`` holds it.

        - log: source, title, rows, and arms: [{arm, rows, mean, is_default}]
        - default: arm, value (its logged mean, what a default play is credited at)
        - alpha, floor (the least reward a play, (1-alpha)*value), reward_range: {low, high, is}
        - policy, default_competes, horizon, runs, seed
        - always_default, always_best: expected reward over the horizon of playing one arm only
        - agents: [{name, and mean, min and max over the runs at the horizon of: received, gain
          (above always_default), regret, default_plays, violating_rounds, minimum_slack;
          gain_margin: of the mean gain, at 95 %, null below 5 runs;
          runs_below_floor, plays_below_floor: shares; worst_shortfall: the furthest below the
          floor over all runs and plays, 0 if never}]; where the default is one of the arms, its
          plays are no default_plays
        - notes: what the numbers are and are not
        - versions
        """
        backtest = self.backtest
        means = [arm["mean"] for arm in backtest.arms]
        return {
            **backtest.settings(),
            "always_default": float(backtest.value) * backtest.horizon,
            "always_best": max(means) * backtest.horizon,
            "agents": [self.agent(name) for name in self.results],
            "notes": self.notes(),
            "versions": versions(),
        }

    def shown_arms(self) -> tuple[list[dict[str, Any]], int]:
        """The best arms, and the default wherever it stands; and how many are left out."""
        ranked = sorted(self.backtest.arms, key=lambda arm: -arm["mean"])
        shown = [arm for i, arm in enumerate(ranked) if i < SHOWN_ARMS or arm["is_default"]]
        return shown, len(ranked) - len(shown)

    def agent(self, name: str) -> dict[str, Any]:
        """One agent's numbers at the horizon."""
        result = self.results[name]
        horizon, runs = self.backtest.horizon, self.backtest.runs
        least = self.measure(name, "minimum_slack")[:, -1]
        below = self.measure(name, "violating_rounds")[:, -1]
        gains = self.measure(name, "gain")[:, -1]
        worst = max(Decimal(0), -result.exact_minimum_slack(name))
        return {
            "name": name,
            "received": spread(self.measure(name, "received")[:, -1]),
            "gain": spread(gains),
            "gain_margin": None if few(runs) else margin(gains),
            **result.summary()[name],
            "runs_below_floor": float((least < 0).mean()),
            "plays_below_floor": float(below.sum()) / (runs * horizon),
            "worst_shortfall": float(worst),
        }
