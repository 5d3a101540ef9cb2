"""``surefoot replay``: a conservative backtest, from a log to the chart its owner wants."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot._types import JsonObject
from surefoot.cli._commands import AsJson, Overwrite, PolicyName, Seed, Workers
from surefoot.cli._terminal import carry_out, echo_json, show_found, spread, table_of
from surefoot.errors import InvalidInput

if TYPE_CHECKING:
    from surefoot.study.logs.backtest import Backtest

OUT = Path("out")
_TABS = {"tab": "\t", "\\t": "\t"}


class Case(StrEnum):
    """The built-in real cases."""

    CHICAGO = "chicago"
    ATLANTA = "atlanta"


File = Annotated[
    Path | None,
    typer.Argument(help="A log, CSV or Parquet: a row a play, with its arm and its reward."),
]
Default = Annotated[
    str | None, typer.Option(metavar="LABEL", help="The arm in use today; needed with a FILE.")
]
ArmColumn = Annotated[
    str | None, typer.Option(metavar="NAME", help="Column of the arms. Default: arm.")
]
RewardColumn = Annotated[
    str | None, typer.Option(metavar="NAME", help="Column of the rewards. Default: reward.")
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        metavar="MARK",
        help="What separates the columns of a CSV. Default: comma, semicolon, tab or bar, as it "
        "fits; tab is also a MARK.",
    ),
]
DecimalMark = Annotated[
    str | None,
    typer.Option("--decimal", metavar="MARK", help="Decimal mark of rewards. Default: a point."),
]
Words = Annotated[
    tuple[str, str] | None,
    typer.Option(
        metavar="YES NO", help="Words for a reward of 1 and of 0, besides true and false."
    ),
]
Missing = Annotated[
    float | None,
    typer.Option(
        metavar="REWARD", help="Reward of a row that has none. Default: such a row is an error."
    ),
]
Alpha = Annotated[
    float | None,
    typer.Option(
        help="Fraction of the default's reward one is willing to lose. "
        "Default: 0.05 with a FILE, 0.02 without."
    ),
]
Policy = Annotated[PolicyName, typer.Option(help="What is guarded.")]
Runs = Annotated[int, typer.Option(help="Independent runs.")]
Horizon = Annotated[
    int | None, typer.Option(help="Plays in a run. Default: one for each row of the log.")
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


def replay(
    file: File = None,
    default: Default = None,
    arm_column: ArmColumn = None,
    reward_column: RewardColumn = None,
    delimiter: Delimiter = None,
    decimal: DecimalMark = None,
    words: Words = None,
    missing: Missing = None,
    alpha: Alpha = None,
    policy: Policy = PolicyName.KLUCB,
    runs: Runs = 100,
    horizon: Horizon = None,
    seed: Seed = 0,
    reward_range: RewardRange = None,
    case: BuiltIn = None,
    out: Out = None,
    overwrite: Overwrite = False,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Backtest a log: what exploring would have bought, guarded and not.

    A guarded policy plays on the log, on shuffled copies of it, in which no
    arm is better, and on redrawn ones: exploring pays, does not pay, or this
    log cannot tell. The default is credited at the upper end of its logged
    mean. Writes the chart (PNG, SVG, PDF), runs.parquet and summary.json.
    This is a bootstrap of the log, not a causal claim.

    Examples:

      surefoot replay
          choose the carrier New York-Chicago: real flights of 2013
      surefoot replay --case atlanta
          the same where the incumbent is already the best
      surefoot replay log.csv --default control --alpha 0.1
          your own log, with columns arm and reward
      surefoot replay log.parquet --default 7 --arm-column ad --reward-column paid
          other columns
    """
    from surefoot.study.files import to_json
    from surefoot.study.logs.backtest import Backtest
    from surefoot.study.logs.backtest_runs import BacktestRuns
    from surefoot.study.logs.log import within

    reading = {
        "--arm-column": arm_column, "--reward-column": reward_column, "--delimiter": delimiter,
        "--decimal": decimal, "--words": words, "--missing": missing,
    }  # fmt: skip
    subject = _subject(file, default, case, reading)
    if reward_range is not None:
        within(subject.frame, *reward_range, subject.place)
    asked = BacktestRuns(subject, alpha, policy.value, runs, horizon, seed, reward_range)
    folder = OUT / f"replay-{subject.name}" if out is None else out
    findings, summary = carry_out(asked, Backtest, folder, overwrite, workers)
    echo_json(to_json(summary)) if as_json else _show(findings, summary, folder)


def _subject(
    file: Path | None, default: str | None, case: Case | None, reading: dict[str, Any]
) -> Any:
    """The log of one's own, or a built-in one; ``reading``: the options that a log is read by."""
    from surefoot.study.logs.log import USUAL, Spelling
    from surefoot.study.logs.subject import built_in, own

    if file is None:
        for option, value in reading.items():
            if value is not None:
                said = " ".join(map(str, value)) if isinstance(value, tuple) else value
                raise InvalidInput(f"{option} {said} is for a log of your own; give the FILE")
        return built_in(case or Case.CHICAGO, default)
    if case is not None:
        raise InvalidInput(f"--case {case} and {file} exclude each other; give one")
    arm, reward, delimiter, decimal, words, missing = reading.values()
    spelling = Spelling(
        _TABS.get(delimiter, delimiter), decimal or USUAL.decimal, words or USUAL.words, missing
    )
    return own(file, default, arm or "arm", reward or "reward", spelling)


def _show(findings: Backtest, summary: JsonObject, out: Path) -> None:
    """The findings as two tables and a few sentences, on stdout."""
    from surefoot.study.logs.backtest import GUARDED
    from surefoot.study.logs.backtest_words import called
    from surefoot.study.numbers import amount, full, percent, scale

    table = table_of(
        "",
        (
            f"above always\n{findings.runs.shown}", "default\nplays", "furthest\nbelow",
            "runs\nbelow", "plays\nbelow",
        ),
        "Mean over the runs, least to most; below: the floor, at any play of any run.",
    )  # fmt: skip
    agents = summary["agents"]
    furthest = scale(agent["worst_shortfall"] for agent in agents)
    gains = scale(max(abs(agent["gain"][end]) for end in ("min", "max")) for agent in agents)
    for agent in agents:
        guarded = agent["name"] == GUARDED
        table.add_row(
            called(findings, agent["name"]),
            spread(agent["gain"], lambda gain: amount(gain, gains, signed=True)),
            _plays(agent["default_plays"]) if guarded else "\N{EN DASH}",
            amount(agent["worst_shortfall"], furthest), percent(agent["runs_below_floor"]),
            percent(agent["plays_below_floor"]),
        )  # fmt: skip
    arms = table_of("arm", ("rows", "paying", "mean reward", "95 %"))
    shown, left_out = findings.shown_arms()
    largest = max(abs(arm["mean"]) for arm in shown)
    for arm in shown:
        name = f"{arm['arm']} (default)" if arm["is_default"] else f"{arm['arm']}"
        ends = " to ".join(full(arm[end], largest) for end in ("low", "high"))
        counts = f"{arm['rows']:,}", f"{arm['paying']:,}"
        arms.add_row(name, *counts, full(arm["mean"], largest), ends)
    if left_out:
        arms.add_row(f"and {left_out:,} more", "", "", "", "")
    last = f"Chart, runs.parquet and summary.json are in {out}"
    reasons = "; ".join(findings.why)
    show_found(findings.headline(), (arms, table), [f"Why: {reasons}.", *summary["notes"]], last)


def _plays(values: dict[str, float]) -> str:
    """What is counted: in full, unless it is long."""
    from surefoot.study.numbers import amount, full

    high = values["max"]
    if high >= 100_000:
        return spread(values, lambda plays: amount(plays, high))
    counted = f"{values['min']:,.0f}", f"{high:,.0f}"
    return (
        counted[0]
        if counted[0] == counted[1]
        else (f"{full(values['mean'], figures=3)}\n{' to '.join(counted)}")
    )
