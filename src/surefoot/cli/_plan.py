"""``surefoot plan``: what to expect before going live, and what is sure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot._types import JsonObject
from surefoot.cli._commands import AsJson, Overwrite, PolicyName, Seed, Workers
from surefoot.cli._log_options import (
    ArmColumn,
    DecimalMark,
    DefaultValue,
    Delimiter,
    Missing,
    PropensityColumn,
    RewardColumn,
    Words,
    WorstCost,
    given,
    subject_or_case,
)
from surefoot.cli._terminal import carry_out, echo_json, show_found, spread, table_of
from surefoot.errors import InvalidInput

if TYPE_CHECKING:
    from surefoot.study.logs.outlook import Outlook, OutlookFindings
    from surefoot.study.logs.subject import Subject

Default = Annotated[
    str | None,
    typer.Option(
        metavar="REWARD|LABEL",
        help="What the default is known to pay a play; with --log, its label there.",
    ),
]
LogFile = Annotated[
    Path | None,
    typer.Option(
        "--log",
        metavar="FILE",
        help="A log that says what default and arms pay, in place of --means; as surefoot replay "
        "reads it.",
    ),
]
BuiltIn = Annotated[
    str | None,
    typer.Option(metavar="chicago|atlanta", help="A built-in log instead of one of your own."),
]
Alpha = Annotated[
    float | None,
    typer.Option(
        help="Fraction of the default's reward one is willing to lose. Default: 0.05; 0.02 with "
        "--case."
    ),
]
Means = Annotated[
    tuple[float, float] | None,
    typer.Option(
        metavar="LOW HIGH", help="Plausible range of the arms' mean rewards, spaced evenly over it."
    ),
]
Mean = Annotated[
    list[float] | None,
    typer.Option(help="Plausible mean of one arm, in place of --means; repeated for each."),
]
Arms = Annotated[int | None, typer.Option(help="How many arms there are in --means. Default: 10.")]
Traffic = Annotated[
    int | None,
    typer.Option(
        metavar="PLAYS", help="Plays a day; the plan then shows a day, a week and a month."
    ),
]
RewardRange = Annotated[
    tuple[float, float] | None,
    typer.Option(
        metavar="LOW HIGH",
        help="Sure bounds of a reward. Default: 0 1; of a log that leaves them, its own.",
    ),
]
Reserve = Annotated[float, typer.Option(help="What may be lost on top, from the first play on.")]
Horizon = Annotated[
    int | None,
    typer.Option(
        help="Plays to look ahead. Default: 30 days of --traffic, at most 1,000,000; else 100,000."
    ),
]
Policy = Annotated[
    PolicyName | None,
    typer.Option(help="What is to be guarded. Default: ucb1; of a log, klucb."),
]
Runs = Annotated[int, typer.Option(help="Simulated runs behind the predictions.")]
Out = Annotated[Path, typer.Option(help="Folder for the chart and plan.json.")]


HELP = """Before going live: when exploring begins, and what it can cost.

Sure, whatever the arms pay: the first exploring play, and the most that
can be lost against the default by any play, alpha * default * plays +
reserve. Predicted, by simulating GenCB on arms as you think them
plausible: how often the default is played, what is gained, from when on
the account funds itself, and what happens if no arm is as good as the
default. Each number says which of the two it is.

Writes the chart (PNG, SVG, PDF) and plan.json.

Examples:

  surefoot plan --default 0.7 --means 0.5 0.8 --traffic 1000
      ten arms that pay 0.5 to 0.8, a thousand plays a day
  surefoot plan --default 0.04 --mean 0.03 --mean 0.05 --policy klucb
      two new banners against one that is clicked 4 times in 100
  surefoot plan --default 12 --means 8 15 --reward-range -5 40 --reserve 100
      money that can also be lost, and 100 that may go at once
  surefoot plan --log log.csv --default control --alpha 0.1
      what a log of yours says, as surefoot replay prints it
"""


def plan(
    default: Default = None,
    log: LogFile = None,
    case: BuiltIn = None,
    alpha: Alpha = None,
    means: Means = None,
    mean: Mean = None,
    arms: Arms = None,
    traffic: Traffic = None,
    reward_range: RewardRange = None,
    reserve: Reserve = 0,
    horizon: Horizon = None,
    policy: Policy = None,
    runs: Runs = 30,
    seed: Seed = 0,
    arm_column: ArmColumn = None,
    reward_column: RewardColumn = None,
    propensity_column: PropensityColumn = None,
    delimiter: Delimiter = None,
    decimal: DecimalMark = None,
    words: Words = None,
    missing: Missing = None,
    worst_cost: WorstCost = None,
    default_value: DefaultValue = None,
    out: Out = Path("out/plan"),
    overwrite: Overwrite = False,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Plan on a guess or on a log, write it, and print it; see ``HELP``."""
    from surefoot.study.files import to_json
    from surefoot.study.logs.outlook import OutlookFindings

    reading = given(
        arm_column=arm_column, reward_column=reward_column, propensity_column=propensity_column,
        context_columns=None, delimiter=delimiter, decimal=decimal, words=words, missing=missing,
        worst_cost=worst_cost, default_value=default_value,
    )  # fmt: skip
    asked: dict[str, Any] = {
        "alpha": alpha, "reward_range": reward_range, "reserve": reserve, "traffic": traffic,
        "horizon": horizon, "runs": runs, "seed": seed,
    }  # fmt: skip
    asked |= {} if policy is None else {"policy": policy.value}
    if log is None and case is None:
        _refuse_reading(reading)
        outlook = _of_a_guess(default, _plausible(means, mean, arms), asked)
    else:
        _refuse_guesses(means=means, mean=mean, arms=arms)
        outlook = _of_a_log(subject_or_case(log, default, case, reading), asked)
    prospects, summary = carry_out(outlook, OutlookFindings, out, overwrite, workers)
    echo_json(to_json(summary)) if as_json else _show(prospects, summary, out)


def _of_a_guess(default: str | None, plausible: list[Any], asked: dict[str, Any]) -> Outlook:
    """What is planned from what one knows and thinks."""
    from surefoot.study.logs.outlook import Outlook

    if default is None:
        raise InvalidInput("say what the default pays: --default REWARD; or give a log: --log FILE")
    try:
        pays = float(default)
    except ValueError:
        point = default.replace(",", ".", 1)
        way = f"{point} has a decimal point" if point != default else "with --log it is a label"
        raise InvalidInput(f"--default {default} must be a number; {way}") from None
    ends = asked.pop("reward_range") or (0, 1)
    alpha = asked.pop("alpha")
    _within(pays, *ends)
    return Outlook(pays, 0.05 if alpha is None else alpha, plausible, ends, **asked)


def _of_a_log(subject: Subject, asked: dict[str, Any]) -> Outlook:
    from surefoot.study.logs.log import within
    from surefoot.study.logs.outlook_of_log import outlook_of

    if asked["reward_range"] is not None:
        low, high = asked["reward_range"]
        within(subject.frame, low, high, subject.place)
    return outlook_of(subject, **asked)


def _refuse_reading(reading: dict[str, Any]) -> None:
    for option, value in reading.items():
        if value is not None:
            raise InvalidInput(f"{option} says how a log is read; give one with --log")


def _refuse_guesses(**guesses: Any) -> None:
    for name, value in guesses.items():
        if value:
            raise InvalidInput(f"--{name} is a guess, and a log says it; leave one of them out")


def _within(default: float, low: float, high: float) -> None:
    if low < high and not low <= default <= high:
        raise InvalidInput(
            f"--default {default:.10g} lies outside --reward-range {low:.10g} {high:.10g}; "
            "widen the range or correct the default"
        )


def _plausible(
    means: tuple[float, float] | None, mean: list[float] | None, arms: int | None
) -> list[Any]:
    """What the arms may pay, from whichever way it was given."""
    from surefoot.study.logs.outlook import spaced

    if mean and means is not None:
        raise InvalidInput("--means and --mean exclude each other; give one")
    if mean:
        if arms is not None and arms != len(mean):
            raise InvalidInput(f"--arms {arms} but {len(mean)} times --mean; leave --arms out")
        return list(mean)
    if means is None:
        raise InvalidInput("say what the arms may plausibly pay: --means LOW HIGH, or --mean each")
    return list(spaced(*means, arms=10 if arms is None else arms))


def _show(prospects: OutlookFindings, summary: JsonObject, out: Path) -> None:
    """The plan as one table and a few sentences, on stdout."""
    from surefoot.study.logs.outlook import PLAUSIBLE
    from surefoot.study.numbers import amount, full, percent

    table = table_of(
        "by",
        (
            "most lost,\nsure", "default plays\nforced at\nmost, sure",
            "default plays,\npredicted", "above always\nthe default,\npredicted",
        ),
        "Sure: on every path. Predicted: mean over the runs, least to most.",
        edge=False,
    )  # fmt: skip
    table.columns[0].no_wrap = True
    for point in prospects.outlook.points():
        found = prospects.at(PLAUSIBLE, point)
        share = gain = "not simulated"
        if found:
            share = spread(found["default_share"], percent)
            gain = spread(found["gain"], lambda gain: amount(gain, signed=True))
        sure = full(float(point.largest_loss), figures=6), f"{point.forced:,}"
        table.add_row(point.label, *sure, share, gain)
    last = f"Chart and plan.json are in {out}"
    show_found(prospects.headline(), (table,), summary["notes"], last)
