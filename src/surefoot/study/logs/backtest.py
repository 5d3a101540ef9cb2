"""A conservative backtest of a log: guarded and unguarded, side by side, and what it found."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from surefoot._exact import first_few
from surefoot._logs import row_place
from surefoot._types import JsonObject, Number, Seed
from surefoot.agents import GenCB, Plain
from surefoot.environments import ReplayLog
from surefoot.errors import InvalidInput
from surefoot.floors import RewardFloor
from surefoot.simulation import Plan
from surefoot.simulation.result import spread
from surefoot.study.files import versions
from surefoot.study.logs import flights, log, self_funding
from surefoot.study.numbers import Array, amount, counted, full
from surefoot.study.runs import MAX_ARMS, POLICIES, Simulation, explorable, gain
from surefoot.study.verdict import few, margin, side

if TYPE_CHECKING:
    import polars as pl


GUARDED: Final = "guarded"
UNGUARDED: Final = "unguarded"
JOINED: Final = "unguarded, default among its arms"

AGENTS: Final = (GUARDED, UNGUARDED, JOINED)

GIVEN: Final = "given"
"""A reward range that the user vouches for."""
FEW_ROWS: Final = 30
"""Arms with fewer rows are named: resampling a handful shows the handful, not the arm."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is replayed: a frame of ``arm`` and ``reward``, its default, and how it is called."""

    frame: Any
    default: Any
    title: str
    source: str
    reward: str = "reward"
    play: str = "play"
    name: str = "log"
    """What its folder is called after."""
    alpha: float = 0.05
    """What its owner is willing to lose, unless said otherwise."""
    place: Callable[[int], str] = row_place
    """Where a row of the frame is in what it was read from."""


def built_in(name: str, default: str | None = None) -> Subject:
    """A built-in real case as the subject of a backtest; ``default`` replaces the incumbent.

    >>> subject = built_in("chicago")
    >>> subject.default, subject.reward
    ('UA', 'on-time flights')
    """
    case = flights.find(name)
    frame = flights.load(case)
    incumbent = case.default if default is None else default
    names = case.title, case.sentence, "on-time flights", "flight", name
    return Subject(frame, incumbent, *names, alpha=case.alpha)


def own(
    path: str | Path,
    default: str | None,
    arm_column: str = "arm",
    reward_column: str = "reward",
    spelling: log.Spelling = log.USUAL,
) -> Subject:
    """A log of one's own as the subject of a backtest; ``default`` is its label as text.

    Raises InvalidInput as ``log.read`` does, and where no default is named.
    """
    logged = log.read(path, arm_column, reward_column, spelling)
    frame, place = logged.frame, logged.place
    if default is None:
        arms = first_few(frame["arm"].drop_nulls().unique().sort().to_list(), str)
        raise InvalidInput(
            f"name the default, the arm in use today, with --default; {path} has {arms}"
        )
    name = Path(path).name
    title = name if len(name) <= 40 else f"{name[:39]}…"
    source = f"{name}, {len(frame):,} rows."
    plain = name.removesuffix(".gz").removesuffix(".zst")
    arm = log.label(default, frame)
    return Subject(frame, arm, title, source, name=Path(plain).stem, place=place)


class Backtest(Simulation):
    """Three agents over one policy, on each arm's logged rewards drawn again, with replacement.

    - ``GUARDED``: GenCB, the default competing; a default play is credited at its known value,
      the default's logged mean.
    - ``UNGUARDED``: the same policy over the same arms, on the same noise, without a guard.
    - ``JOINED``: the same policy unguarded, the default one more of its arms, paying its own logged
      rewards: what one would deploy if there were no guard.

    ``alpha``: None takes the subject's. ``horizon``: plays a run; None takes one for each row of
    the log. ``reward_range``: sure bounds of a reward; None takes [0, 1] if all rewards lie in it,
    else the log's own least and greatest.
    Raises InvalidInput where log and settings do not fit.

    >>> log = {"arm": ["a", "b"] * 50, "reward": [0, 1] * 25 + [1, 1] * 25}
    >>> backtest = Backtest(Subject(log, "a", "Try", "A log."), alpha=0.1, runs=2)
    >>> backtest.horizon, backtest.floor.default, backtest.environment.arms
    (100, Decimal('0.500000000'), ('b',))

    Holds when: as ``ReplayLog``; the guarantee as ``GenCB``. Does not hold when: one reads it as a
    causal claim: the log shows what each arm paid where it was used, not what it would have paid
    elsewhere.
    """

    chart = "replay"
    tables = ("summary.json", "runs.parquet")

    def __init__(
        self,
        subject: Subject,
        alpha: Number | None = None,
        policy: str = "klucb",
        runs: int = 100,
        horizon: int | None = None,
        seed: Seed = 0,
        reward_range: tuple[Number, Number] | None = None,
    ) -> None:
        super().__init__(policy, runs)
        self.subject = subject
        self.environment = ReplayLog(subject.frame, subject.default, reward_range=reward_range)
        joined = self.environment.with_default()
        if joined.n_arms > MAX_ARMS:
            raise InvalidInput(
                f"the log has {joined.n_arms:,} arms, a replay takes at most {MAX_ARMS:,}; "
                "is that column the arm?"
            )
        self.range_is, bounds = _bounds(joined, reward_range)
        mean = self.environment.default_mean
        if mean is None or mean <= 0:
            raise InvalidInput(
                f"the default {subject.default!r} pays {float(mean or 0):g} a play in the log; a "
                "floor needs a default that earns: shift the rewards"
            )
        self.value = mean
        self.floor = RewardFloor(self.value, subject.alpha if alpha is None else alpha, bounds)
        explorable(self.floor)
        self.rows = sum(joined.rows)
        self.horizon = self.rows if horizon is None else horizon
        make = POLICIES[policy][1]
        arms = self.environment.arms
        playing = {
            GUARDED: GenCB(make(arms=arms), self.floor, default_competes=True),
            UNGUARDED: Plain(make(arms=arms), self.floor),
        }
        alone = {JOINED: Plain(make(arms=joined.arms), self.floor)}
        paired = Plan(playing, self.environment, self.horizon, seed)
        self.seed = paired.entropy
        self.plans = {GUARDED: paired, JOINED: Plan(alone, joined, self.horizon, self.seed)}

    @property
    def least(self) -> Decimal:
        """The floor of one play, (1-alpha) times the default's value, in exact units."""
        return self.floor.unit.decimal(self.floor.terms().floor)

    @property
    def first_exploration(self) -> int:
        """The first play at which the guarded agent may explore, however lucky it is.

        As many deposits come before it as one exploration can lose.
        """
        terms = self.floor.terms()
        return self_funding.first_play(terms.hold, terms.deposit)

    @property
    def shown(self) -> str:
        """The default's label, cut where it would not fit a chart."""
        label = " ".join(str(self.subject.default).split())
        return label if len(label) <= 12 else label[:11] + "…"

    @property
    def arms(self) -> list[JsonObject]:
        """Label, rows and mean of each arm of the log, the default's first."""
        environment = self.environment
        default = (self.subject.default, self.rows - sum(environment.rows), float(self.value))
        others = zip(environment.arms, environment.rows, environment.means.tolist(), strict=True)
        return [
            {"arm": arm, "rows": rows, "mean": mean, "is_default": arm == self.subject.default}
            for arm, rows, mean in (default, *others)
        ]

    def settings(self) -> JsonObject:
        """What decides the numbers, as ``summary.json`` holds it; known before the runs are."""
        (low, high), subject = self.floor.reward_range, self.subject
        logged = {"rows": self.rows, "arms": self.arms}
        return {
            "log": {"title": subject.title, "source": subject.source, **logged},
            "default": {"arm": self.subject.default, "value": float(self.value)},
            "alpha": float(self.floor.alpha),
            "floor": float(self.least),
            "reward_range": {"low": float(low), "high": float(high), "is": self.range_is},
            "policy": self.policy,
            "default_competes": True,
            "horizon": self.horizon,
            "runs": self.runs,
            "seed": self.seed,
        }


def _bounds(log: ReplayLog, declared: Any) -> tuple[str, tuple[Any, Any]]:
    """The range the floor is to trust, and where it comes from."""
    if declared is not None:
        return GIVEN, declared
    low, high = log.reward_range
    if 0 <= low and high <= 1:
        return "none in the log does", (0, 1)
    rewards = log.record.rewards  # in whole units, which a narrow log's range is wider than
    if rewards.min() == rewards.max():
        raise InvalidInput(
            f"all rewards of the log are about {low.normalize():f}; there is nothing to choose"
        )
    return "the log's own least and greatest reward", (low, high)


SHOWN_ARMS = 12


class BacktestFindings:
    """A backtest whose runs are done: its table, its summary, and the words that go with them.

    >>> from surefoot.study.logs.backtest import Subject
    >>> log = {"arm": ["a", "b"] * 50, "reward": [0, 1] * 25 + [1, 1] * 25}
    >>> backtest = Backtest(Subject(log, "a", "Try", "a log"), alpha=0.1, runs=5)
    >>> list(backtest.steps(engine="plain"))[-1].done
    10
    >>> BacktestFindings(backtest).headline()
    'Try: 45.5 more reward than always a at its logged 0.5, in none of 5 runs below the floor'
    """

    def __init__(self, backtest: Backtest) -> None:
        self.backtest = backtest
        paired, joined = backtest.results.values()
        self.results = {GUARDED: paired, UNGUARDED: paired, JOINED: joined}
        self.t = paired.plan.checkpoints

    def called(self, name: str) -> str:
        """An agent's name on a chart."""
        return f"unguarded with {self.backtest.shown}" if name == JOINED else name

    def headline(self) -> str:
        """What was found, in one line."""
        backtest, agent = self.backtest, self.agent(GUARDED)
        kept, first = f"in none of {counted(backtest.runs, 'run')}", backtest.first_exploration
        if agent["worst_shortfall"] > 0:
            kept = f"up to {amount(agent['worst_shortfall'])}"
        found = f"{self._found()}, {kept} below the floor"
        if backtest.horizon < first:
            found = (
                f"the horizon ({backtest.horizon:,}) is shorter than the wait ({first:,} "
                f"{backtest.subject.play}s until the first exploration), so nothing can be explored"
            )
        return f"{backtest.subject.title}: {found}"

    def _found(self) -> str:
        """What exploring brought or cost, if these runs decide it."""
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

    @property
    def outcome(self) -> bool | None:
        """Whether exploring paid, guarded; None where these runs do not decide it."""
        return side(self.measure(GUARDED, "gain")[:, -1])

    def notes(self) -> list[str]:
        """How it was found, and what the numbers are and are not; a paragraph each."""
        backtest, subject, floor = self.backtest, self.backtest.subject, self.backtest.floor
        default, play = backtest.shown, subject.play
        notes = [
            (
                f"{subject.source} {POLICIES[backtest.policy][0]} over the arms besides {default}, "
                f"{backtest.runs:,} runs of {backtest.horizon:,} {play}s, seed {backtest.seed}. "
                f"Guarded at alpha = {float(floor.alpha):g}: after every {play} at least "
                f"{float(100 - 100 * floor.alpha):.10g} % of what always {default} is known to be "
                f"worth; {default} is also played where no arm looks better. Unguarded: the same "
                f'policy on the same noise, without a guard; "{self.called(JOINED)}" may choose '
                f"{default} too, for what it then pays."
            ),
            (
                f"The default is credited at its known value: each play of {default} counts as "
                f"{full(float(backtest.value))}, its logged mean, whatever it would really pay. "
                "The floor is a promise about explored reward plus default plays at that value."
            ),
            (
                "A bootstrap of the log, not a causal claim: each play draws one of its arm's "
                "logged rewards again, as if they did not depend on when, where and for whom it "
                f"was used. {self._sure()}"
            ),
        ]
        low, high = (full(float(end), figures=6) for end in floor.reward_range)
        if backtest.range_is == GIVEN:
            notes.append(
                f"Your claim: no reward leaves [{low}, {high}]. The guarantee rests on it."
            )
        else:
            notes.append(
                f"Our assumption: no reward ever leaves [{low}, {high}] ({backtest.range_is}). "
                "The guarantee rests on a sure bound; --reward-range gives yours."
            )
        label = textwrap.shorten(str(subject.default), 120, placeholder="…")
        if default != label:
            notes[0] += f' "{default}" is {label}.'
        if rare := first_few([arm["arm"] for arm in backtest.arms if arm["rows"] < FEW_ROWS], str):
            notes.append(
                f"Fewer than {FEW_ROWS} rows: {rare}. Drawing a handful again shows the handful, "
                "not the arm."
            )
        return notes

    def _sure(self) -> str:
        """How far the mean over the runs may be off."""
        if lack := few(self.backtest.runs):
            return f"No verdict: {lack}."
        gains = self.measure(GUARDED, "gain")[:, -1]
        if not gains.any():
            return "No guarded run gained or lost anything against the default."
        mean = amount(float(gains.mean()), signed=True)
        return (
            f"The mean gain of the guarded policy, {mean}, is known to ± {amount(margin(gains))}, "
            "at 95 % by Student's t: that is what more runs may change, not how far the log may "
            "mislead."
        )

    def measure(self, name: str, measure: str) -> Array:
        """As ``Result.measure``; and "gain", reward received above always playing the default."""
        if measure == "gain":
            return gain(self.results[name], name, self.backtest.floor)
        found: Array = self.results[name].measure(name, measure)
        return found

    @property
    def frame(self) -> pl.DataFrame:
        """Tidy table: agent, run, t, the measures of ``Result.frame``, and gain."""
        import polars as pl

        tables = []
        for result in dict.fromkeys(self.results.values()):
            gains = [gain(result, name, self.backtest.floor).ravel() for name in result.agents]
            tables.append(result.frame.with_columns(gain=pl.Series(np.concatenate(gains))))
        return pl.concat(tables)

    def summary(self) -> JsonObject:
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

    def shown_arms(self) -> tuple[list[JsonObject], int]:
        """The best arms, and the default wherever it stands; and how many are left out."""
        ranked = sorted(self.backtest.arms, key=lambda arm: -arm["mean"])
        shown = [arm for i, arm in enumerate(ranked) if i < SHOWN_ARMS or arm["is_default"]]
        return shown, len(ranked) - len(shown)

    def agent(self, name: str) -> JsonObject:
        """One agent's numbers at the horizon."""
        result, horizon, runs = self.results[name], self.backtest.horizon, self.backtest.runs
        least, below, gains, received = (
            self.measure(name, measure)[:, -1]
            for measure in ("minimum_slack", "violating_rounds", "gain", "received")
        )
        worst = max(Decimal(0), -result.exact_minimum_slack(name))
        return {
            "name": name,
            "received": spread(received),
            "gain": spread(gains),
            "gain_margin": None if few(runs) else margin(gains),
            **result.summary()[name],
            "runs_below_floor": float((least < 0).mean()),
            "plays_below_floor": float(below.sum()) / (runs * horizon),
            "worst_shortfall": float(worst),
        }
