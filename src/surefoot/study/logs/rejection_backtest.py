"""A backtest of a uniform log by rejection, with contexts or without: passes and verdict."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from surefoot._exact import exact
from surefoot._types import JsonObject, Number, Seed
from surefoot.environments import ReplayLog
from surefoot.errors import InvalidInput
from surefoot.floors.reward import checked_alpha
from surefoot.simulation.checks import positive
from surefoot.study.files import versions
from surefoot.study.logs.backtest_runs import WORTH, bounds_of
from surefoot.study.logs.copies import NORMAL, Default, Gain
from surefoot.study.logs.evidence import CANNOT_TELL, DOES_NOT_PAY, PAYS, Evidence, weigh
from surefoot.study.logs.rejection import (
    LINEAR,
    Replayed,
    Visits,
    agent_of,
    check_uniform,
    policy_of,
    replay,
)
from surefoot.study.logs.subject import Subject
from surefoot.study.numbers import amount, full
from surefoot.study.runs import POLICIES, Step

if TYPE_CHECKING:
    import polars as pl

MEANS: Final = "means"
"""Each arm's logged rewards are drawn again: any log without contexts."""
REJECTION: Final = "rejection"
"""Rows count where the policy chooses as the log did: uniform logs, contexts too."""
MODES: Final = (MEANS, REJECTION)
COPIES: Final = 39
"""Shuffled copies, and redrawn ones: a pass asks the policy at each row, which takes its time."""
PAIR: Final = 2
SAID = {
    PAYS: "exploring pays",
    DOES_NOT_PAY: "exploring does not pay",
    CANNOT_TELL: "this log cannot tell",
}
_LOG, _SHUFFLED, _REDRAWN = range(3)


class RejectionRuns:
    """The passes of a guarded agent over a uniform log, shuffled and redrawn copies of it.

    ``subject``: its frame may have a column ``context``. ``policy``: a name, or a policy over the
    log's arms besides the default; None takes "linucb" with contexts, else "klucb". ``horizon``:
    plays a pass; None takes as many as rows are expected to count, rows/arms. Raises InvalidInput
    where the log is not uniform.

    >>> log = {"arm": ["a", "b"] * 100, "reward": [0, 1] * 50 + [1, 1] * 50}
    >>> runs = RejectionRuns(Subject(log, "a", "Try", "A log."), "ucb1", 0.1, runs=2)
    >>> runs.horizon, runs.mean
    (100, 0.5)
    """

    tables = ("summary.json", "runs.parquet")

    def __init__(
        self,
        subject: Subject,
        policy: Any = None,
        alpha: Number | None = None,
        runs: int | None = None,
        horizon: int | None = None,
        seed: Seed = 0,
        reward_range: tuple[Number, Number] | None = None,
        worth: Number | None = None,
    ) -> None:
        if subject.known is not None:
            raise InvalidInput(
                f"mode = {REJECTION!r} needs rows of the default, of which it is one arm; "
                "leave default_value out"
            )
        log = ReplayLog(subject.frame, subject.default, reward_range=reward_range)
        columns = getattr(subject.frame, "columns", ())
        features = subject.frame["context"].to_numpy() if "context" in columns else None
        shares = np.asarray(subject.frame["propensity"]) if "propensity" in columns else None
        self.subject, self.runs = subject, positive(10 if runs is None else runs, "runs")
        if self.runs < PAIR:
            raise InvalidInput(f"runs = {runs} must be at least {PAIR}: t is taken from two")
        self.alpha = checked_alpha(subject.alpha if alpha is None else alpha)
        self.range_is, self.bounds = bounds_of(log, reward_range)
        self.labels = [*log.arms, subject.default]
        check_uniform(log.codes, self.labels, features, shares)
        chosen = ("klucb" if features is None else "linucb") if policy is None else policy
        self.policy, self._context = policy_of(chosen, log.arms, features, self.bounds)
        self.called = _called(chosen)
        self.visits = Visits(log.codes, log.amounts, np.arange(len(log.codes)))
        self.unit, self.top = log.unit, Default(exact(self.bounds[1], "r_max"))
        self.logged = self.visits.copy_of(log.unit, self.top, len(log.arms))
        if self.logged.mean <= 0:
            raise InvalidInput(
                f"the default {subject.default!r} pays {self.logged.mean:g} a play in the log; a "
                "floor needs a default that earns: shift the rewards"
            )
        expected = len(log.codes) // len(self.labels)
        self.horizon = expected if horizon is None else positive(horizon, "horizon")
        always = self.logged.mean * self.horizon
        self.worth = WORTH * always if worth is None else float(exact(worth, "worth"))
        self.seed = seed.entropy if isinstance(seed, np.random.SeedSequence) else (
            np.random.SeedSequence(seed).entropy
        )  # fmt: skip
        self.found: dict[int, list[list[Replayed]]] = {}

    @property
    def count(self) -> int:
        """Rows of the log."""
        return len(self.visits.codes)

    @property
    def mean(self) -> float:
        """The default's logged mean."""
        return self.logged.mean

    @property
    def value(self) -> Decimal:
        """What a default play is credited at: the upper end of its mean."""
        return self.logged.credited

    @classmethod
    def files(cls) -> tuple[str, ...]:
        """The names of all files it writes."""
        return cls.tables

    def settings(self) -> JsonObject:
        """What decides the numbers, as ``summary.json`` holds it; known before the passes are."""
        subject, (low, high) = self.subject, map(float, self.bounds)
        columns = getattr(subject.frame, "columns", ())
        width = subject.frame["context"].to_numpy().shape[1] if "context" in columns else 0
        logged = {"title": subject.title, "source": subject.source, "rows": self.count}
        default = {"arm": subject.default, "mean": self.mean, "value": float(self.value)}
        return {
            "mode": REJECTION,
            "log": {**logged, "propensities": subject.has_propensities, "contexts": width},
            "default": default,
            "alpha": float(self.alpha),
            "reward_range": {"low": low, "high": high, "is": self.range_is},
            "policy": self.called,
            "horizon": self.horizon,
            "worth": self.worth,
            "runs": self.runs,
            "seed": self.seed,
        }

    def steps(self, workers: int | None = None, engine: str = "auto") -> Iterator[Step]:
        """Make all passes one by one, telling where one stands; neither argument is used."""
        counts = {_LOG: self.runs, _SHUFFLED: COPIES, _REDRAWN: COPIES + 1}
        total, done = sum(counts.values()), 0
        yield Step("running", done, total)
        found: dict[int, list[list[Replayed]]] = {}
        for kind, count in counts.items():
            found[kind] = []
            for number in range(count):
                stream = np.random.SeedSequence(self.seed, spawn_key=(kind, number))
                rng = np.random.default_rng(stream)
                found[kind].append(self._of_kind(kind, rng))
                done += 1
                yield Step("running", done, total)
        self.found = found

    def _of_kind(self, kind: int, rng: np.random.Generator) -> list[Replayed]:
        visits = self.visits
        if kind == _SHUFFLED:
            visits = visits.shuffled(rng)
        elif kind == _REDRAWN:
            visits = visits.redrawn(rng)
        copy = visits.copy_of(self.unit, self.top, len(self.labels) - 1)
        agent = agent_of(self.policy, copy.credited, self.alpha, self.bounds)
        return [
            replay(
                agent, visits.in_order(rng.permutation(len(visits.codes))), self._context,
                self.unit, copy.mean, self.horizon, rng,
            )
            for _ in range(PAIR if kind == _SHUFFLED else 1)
        ]  # fmt: skip

    def gain(self, passes: Sequence[Replayed]) -> Gain:
        """What passes gain in the mean, and its error by the spread of the log's rewards."""
        explored = sum(one.explored for one in passes)
        value = float(np.mean([one.gain for one in passes]))
        spread = float(self.visits.amounts.std()) * float(self.unit.decimal(1))
        return Gain(value, spread * explored**0.5 / len(passes))


def _called(policy: Any) -> str:
    if isinstance(policy, str):
        return {**POLICIES, **LINEAR}[policy][0]
    return type(policy).__name__


class RejectionBacktest:
    """What a backtest by rejection found; ``sf.backtest(..., mode="rejection")`` makes it.

    Row by row (Li, Chu, Langford, Wang 2011): a row counts where the guarded agent chooses the arm
    that was logged; ``used`` says how many do. ``context`` names columns of numbers; ``policy`` is
    "linucb" (the default with contexts) or "lints", each arm with weights of its own, "klucb" (the
    default without) or "ucb1", or a policy over the log's arms besides the default, an adapted one
    too, which is given each row's numbers. By default 10 runs of rows/arms plays; ``alphas``,
    ``engine`` and ``workers`` are not used. ``verdict``, ``why``, ``gain``, ``arms``: as
    ``Backtest``, of 39 shuffled and 40 redrawn copies. InvalidInput for a log that is not uniform,
    with the reason.

    Holds when: the log chose its arms uniformly, whatever the context, and rows are independent.
    Does not hold when: rewards drift over the log, whose rows are taken in random orders.
    """

    def __init__(self, runs: RejectionRuns) -> None:
        if not runs.found:
            raise InvalidInput("this backtest has not run; go through its steps first")
        self.runs = runs
        passes = [one for (one,) in runs.found[_LOG]]
        self.used = float(np.mean([one.plays.sum() for one in passes]))
        self.gain: Evidence = weigh(
            float(np.mean([one.gain for one in passes])),
            runs.gain(passes[:PAIR]).t,
            [runs.gain(pair) for pair in runs.found[_SHUFFLED]],
            [one.gain for (one,) in runs.found[_REDRAWN]],
            runs.worth,
        )
        self.least_slack = min(one.slack for one in passes)

    @property
    def verdict(self) -> str:
        """ "pays", "does not pay" or "cannot tell"."""
        return self.gain.verdict

    @property
    def why(self) -> list[str]:
        """The reasons of the verdict."""
        gain, alike = self.gain, round(self.gain.p * (COPIES + 1)) - 1
        copies = (
            f"of {COPIES} shuffled copies of the log, in which no arm is better in any context, "
            f"{alike} gain as clearly as the log (p = {gain.p:.3f})"
        )
        least = (
            f"in 97.5 % of the redrawn logs the gain is below {_signed(gain.high)}, and less than "
            f"{amount(self.runs.worth)} is not worth having"
        )
        said = [copies]
        if self.verdict == DOES_NOT_PAY:
            return [least]
        if self.verdict == CANNOT_TELL:
            said.append(f"in the redrawn logs the gain is {_signed(gain.low)} to "
                        f"{_signed(gain.high)}")  # fmt: skip
            said.append(f"only {self.used:,.0f} of {self.runs.count:,} rows count")
        return said

    @property
    def arms(self) -> list[JsonObject]:
        """Each arm's rows, mean with its 95 % interval, and mean plays; the default first."""
        runs, copy = self.runs, self.runs.logged
        plays = np.mean([one.plays for (one,) in runs.found[_LOG]], axis=0)
        sizes = np.bincount(runs.visits.codes)
        found: list[JsonObject] = [
            {
                "arm": label, "rows": int(sizes[arm]), "mean": float(copy.means[arm]),
                "low": float(copy.means[arm] - NORMAL * copy.errors[arm]),
                "high": float(copy.means[arm] + NORMAL * copy.errors[arm]),
                "plays": float(plays[arm]), "is_default": arm == len(runs.labels) - 1,
            }
            for arm, label in enumerate(runs.labels)
        ]  # fmt: skip
        return [found[-1], *found[:-1]]

    @property
    def always_default(self) -> float:
        """What always the default pays over the horizon, at its logged mean."""
        return self.runs.mean * self.runs.horizon

    def headline(self) -> str:
        """The verdict, the gain and the luck in one line."""
        gain, subject = self.gain, self.runs.subject
        found = f"{_signed(gain.low)} to {_signed(gain.high)}"
        if self.verdict != CANNOT_TELL:
            found = f"{_signed(gain.mean)} {subject.reward} ({found})"
        else:
            found += f" {subject.reward}"
        return (
            f"{subject.title}: {SAID[self.verdict]}: {found} against always "
            f"{subject.default} over {self.runs.horizon:,} {subject.play}s; shuffled copies gain "
            f"{_signed(gain.luck)}"
        )

    def notes(self) -> list[str]:
        """How it was found, and what the numbers are and are not."""
        runs = self.runs
        low, high = (full(float(end), figures=6) for end in runs.bounds)
        return [
            (
                f"{runs.subject.source} {runs.called} over the arms besides "
                f"{runs.subject.default}, guarded at alpha = {float(runs.alpha):g}; {runs.runs:,} "
                f"passes over the rows in random orders, {COPIES} shuffled and {COPIES + 1} "
                f"redrawn copies, seed {runs.seed}. A row counts where the agent chooses the arm "
                f"that was logged: {self.used:,.0f} of {runs.count:,} in the mean, at most "
                f"{runs.horizon:,}. Rewards are those of the rows, not means."
            ),
            (
                "Unbiased where the log chose its arms uniformly, whatever the context; the shares "
                "of the arms, and their contexts, were tested for it."
            ),
            (
                f"The default is credited at the upper end of its mean, {runs.value:f}. The range "
                f"of a reward is [{low}, {high}] ({runs.range_is}). Least slack of any pass: "
                f"{self.least_slack.normalize():f}."
            ),
        ]

    @property
    def frame(self) -> pl.DataFrame:
        """Tidy table, a row for each pass: copy, number, pass, plays, default_plays, gain."""
        import polars as pl

        names = {_LOG: "log", _SHUFFLED: "shuffled", _REDRAWN: "redrawn"}
        return pl.DataFrame(
            [
                {
                    "copy": names[kind], "number": number, "pass": order,
                    "plays": int(one.plays.sum()), "default_plays": int(one.plays[-1]),
                    "gain": one.gain, "minimum_slack": float(one.slack),
                }
                for kind, copies in self.runs.found.items()
                for number, passes in enumerate(copies)
                for order, one in enumerate(passes)
            ]
        )  # fmt: skip

    def summary(self) -> JsonObject:
        """The backtest in numbers, as ``summary.json`` holds it.

        - mode, verdict, why; gain: mean, low, high, in_sample, luck, p
        - log: title, source, rows, propensities, contexts (how many numbers); used: rows that
          counted, in the mean
        - default: arm, mean, value; alpha; reward_range: {low, high, is}; policy, horizon, worth,
          runs, seed
        - always_default; arms: [{arm, rows, mean, low, high, plays, is_default}]
        - notes, versions
        """
        keys = ("mean", "low", "high", "in_sample", "luck", "p")
        return {
            "verdict": self.verdict,
            "why": self.why,
            "gain": {key: getattr(self.gain, key) for key in keys},
            **self.runs.settings(),
            "used": self.used,
            "always_default": self.always_default,
            "arms": self.arms,
            "notes": self.notes(),
            "versions": versions(),
        }

    def __repr__(self) -> str:
        gain = self.gain
        return (
            f"RejectionBacktest({self.verdict!r}: {_signed(gain.mean)} ({_signed(gain.low)} to "
            f"{_signed(gain.high)}) over {self.runs.horizon:,} plays; luck {_signed(gain.luck)})"
        )

    def _repr_html_(self) -> str:
        reasons = "".join(f"<li>{html.escape(reason)}</li>" for reason in self.why)
        return f"<p><strong>{html.escape(self.headline())}</strong></p><ul>{reasons}</ul>"


def _signed(value: float) -> str:
    return amount(value, signed=True)
