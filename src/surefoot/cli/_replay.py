"""``surefoot replay``: a conservative backtest, from a log to the verdict its owner wants."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli._commands import AsJson, Overwrite, Seed, Workers
from surefoot.cli._log_options import (
    ArmColumn,
    ContextColumns,
    DecimalMark,
    DefaultValue,
    Delimiter,
    Missing,
    PropensityColumn,
    RewardColumn,
    Unit,
    Words,
    WorstCost,
    given,
    subject_or_case,
)
from surefoot.cli._replay_tables import plan_words, show
from surefoot.cli._terminal import carry_out, echo_json
from surefoot.errors import InvalidInput

if TYPE_CHECKING:
    from surefoot.study.logs.subject import Subject

OUT = Path("out")


class Case(StrEnum):
    """The built-in real cases."""

    CHICAGO = "chicago"
    ATLANTA = "atlanta"


class Mode(StrEnum):
    """How a log is replayed."""

    MEANS = "means"
    REJECTION = "rejection"


class ReplayPolicy(StrEnum):
    """The policies that a backtest can guard; the last two see contexts."""

    KLUCB = "klucb"
    UCB1 = "ucb1"
    LINUCB = "linucb"
    LINTS = "lints"


File = Annotated[
    Path | None,
    typer.Argument(
        help="A log, a row a play with its arm and its reward: CSV, Parquet, JSON lines or dsjson."
    ),
]
Default = Annotated[
    str | None, typer.Option(metavar="LABEL", help="The arm in use today; needed with a FILE.")
]
Alpha = Annotated[
    float | None,
    typer.Option(
        help="Fraction of the default's reward one is willing to lose. "
        "Default: 0.05 with a FILE, 0.02 without."
    ),
]
Alphas = Annotated[
    list[float] | None,
    typer.Option(metavar="ALPHAS", help="Other alphas to compare it with, one or more."),
]
Worth = Annotated[
    float | None,
    typer.Option(
        metavar="REWARD",
        help="The least gain over the horizon worth having. Default: 1 % of always the default.",
    ),
]
Policy = Annotated[
    ReplayPolicy | None,
    typer.Option(
        help="What is guarded; linucb and lints see contexts. Default: klucb; linucb with contexts."
    ),
]
ModeOption = Annotated[
    Mode,
    typer.Option(
        help="means: each arm's logged rewards are drawn again. rejection: a row counts where the "
        "policy chooses as the log did; for logs that chose uniformly, contexts too."
    ),
]
Runs = Annotated[
    int | None,
    typer.Option(help="Runs on the log itself. Default: 100; 10 with --mode rejection."),
]
Horizon = Annotated[
    int | None,
    typer.Option(
        help="Plays in a run. Default: one for each row of the log; by rejection, rows/arms."
    ),
]
RewardRange = Annotated[
    tuple[float, float] | None,
    typer.Option(
        metavar="LOW HIGH",
        help="Sure bounds of a reward. Default: 0 1 if all rewards lie there, else the log's own "
        "least and greatest, which is our assumption and labelled so.",
    ),
]
BuiltIn = Annotated[
    Case | None, typer.Option(help="A built-in case instead of a FILE. Default: chicago.")
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Folder for all that is written. Default: out/replay-NAME, of the FILE or the case."
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", help="Print all notes, the agents one by one, and the cross-check by halves."
    ),
]


HELP = """Would a guarded bandit have paid, on your own log? And can it tell?

A replay pays the arm that looks best what made it look best. So what
the log gains is held against shuffled copies of it, in which no arm is
better, and against logs drawn again from its rows. The verdict is one of

  pays            the gain is clearer than luck, and its interval above 0
  does not pay    the whole interval is below what is worth having
  cannot tell     else: how many rows would be needed is printed

and each of them ends with exit code 0.

Reward never falls below (1-alpha) of what the default is known to be worth.
That is the upper end of what the log shows, so that the promise holds
against its true worth.
Writes summary.json, runs.parquet, worlds.parquet and the chart (PNG, SVG,
PDF). It is a bootstrap of the log, not a causal claim.

Examples:

  surefoot replay
      choose the carrier New York-Chicago: real flights of 2013
  surefoot replay --case atlanta
      the same where the incumbent is already the best
  surefoot replay log.csv --default control --alpha 0.1 --unit EUR
      your own log, with columns arm and reward
  surefoot replay log.csv --default control --alphas .01 .02 .05 .1 .2
      what more risk would buy
  surefoot replay log.parquet --default 7 --arm-column ad --reward-column paid
      other columns
  surefoot replay log.csv --default a --mode rejection --context-columns age,visits
      a log that chose uniformly, with contexts, by LinUCB
"""


def replay(
    file: File = None,
    default: Default = None,
    arm_column: ArmColumn = None,
    reward_column: RewardColumn = None,
    propensity_column: PropensityColumn = None,
    context_columns: ContextColumns = None,
    delimiter: Delimiter = None,
    decimal: DecimalMark = None,
    words: Words = None,
    missing: Missing = None,
    worst_cost: WorstCost = None,
    default_value: DefaultValue = None,
    unit: Unit = None,
    alpha: Alpha = None,
    alphas: Alphas = None,
    worth: Worth = None,
    mode: ModeOption = Mode.MEANS,
    policy: Policy = None,
    runs: Runs = None,
    horizon: Horizon = None,
    seed: Seed = 0,
    reward_range: RewardRange = None,
    case: BuiltIn = None,
    out: Out = None,
    overwrite: Overwrite = False,
    workers: Workers = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
) -> None:
    """Backtest a log, write what was found, and print it; see ``HELP``."""
    from surefoot.study.files import to_json
    from surefoot.study.logs.log import within

    reading = given(
        arm_column=arm_column, reward_column=reward_column, propensity_column=propensity_column,
        context_columns=context_columns, delimiter=delimiter, decimal=decimal, words=words,
        missing=missing, worst_cost=worst_cost, default_value=default_value, unit=unit,
    )  # fmt: skip
    subject = subject_or_case(file, default, None if case is None else case.value, reading)
    if reward_range is not None:
        within(subject.frame, *reward_range, subject.place)
    chosen = None if policy is None else policy.value
    asked = {
        "alpha": alpha, "horizon": horizon, "seed": seed, "reward_range": reward_range,
        "worth": worth, **({} if runs is None else {"runs": runs}),
    }  # fmt: skip
    make: Any = _by_rejection if mode is Mode.REJECTION else _by_means
    runs_of, found_in = make(subject, chosen, alphas, asked)
    folder = OUT / f"replay-{subject.name}" if out is None else out
    found, summary = carry_out(runs_of, found_in, folder, overwrite, workers)
    if as_json:
        echo_json(to_json(summary))
        return
    plan = plan_words(file, summary, case, reading, chosen, reward_range)
    show(found, summary, folder, plan, verbose=verbose)


def _by_means(
    subject: Subject, policy: str | None, alphas: list[float] | None, asked: dict[str, Any]
) -> Any:
    from surefoot.study.logs.backtest import Backtest
    from surefoot.study.logs.backtest_runs import BacktestRuns

    if "context" in getattr(subject.frame, "columns", ()) or policy in ("linucb", "lints"):
        raise InvalidInput(
            "contexts, and policies that see them, need --mode rejection: the means of the arms "
            "know no context"
        )
    runs = BacktestRuns(subject, policy=policy or "klucb", alphas=alphas or (), **asked)
    return runs, Backtest


def _by_rejection(
    subject: Subject, policy: str | None, alphas: list[float] | None, asked: dict[str, Any]
) -> Any:
    from surefoot.study.logs.rejection_backtest import RejectionBacktest, RejectionRuns

    if alphas:
        raise InvalidInput("--alphas is for --mode means; run --mode rejection once for each alpha")
    return RejectionRuns(subject, policy, **asked), RejectionBacktest
