"""``surefoot plan``: what to expect before going live, and what is sure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot._types import JsonObject
from surefoot.cli._commands import AsJson, Overwrite, PolicyName, Seed, Workers
from surefoot.cli._terminal import carry_out, echo_json, show_found, spread, table_of
from surefoot.errors import InvalidInput

if TYPE_CHECKING:
    from surefoot.study.logs.outlook import OutlookFindings

Default = Annotated[float, typer.Option(help="What the default is known to pay a play.")]
Alpha = Annotated[
    float, typer.Option(help="Fraction of the default's reward one is willing to lose.")
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
    tuple[float, float], typer.Option(metavar="LOW HIGH", help="Sure bounds of a reward.")
]
Reserve = Annotated[float, typer.Option(help="What may be lost on top, from the first play on.")]
Horizon = Annotated[
    int | None,
    typer.Option(
        help="Plays to look ahead. Default: 30 days of --traffic, at most 1,000,000; else 100,000."
    ),
]
Policy = Annotated[PolicyName, typer.Option(help="What is to be guarded.")]
Runs = Annotated[int, typer.Option(help="Simulated runs behind the predictions.")]
Out = Annotated[Path, typer.Option(help="Folder for the chart and plan.json.")]


def plan(
    default: Default,
    alpha: Alpha = 0.05,
    means: Means = None,
    mean: Mean = None,
    arms: Arms = None,
    traffic: Traffic = None,
    reward_range: RewardRange = (0, 1),
    reserve: Reserve = 0,
    horizon: Horizon = None,
    policy: Policy = PolicyName.UCB1,
    runs: Runs = 30,
    seed: Seed = 0,
    out: Out = Path("out/plan"),
    overwrite: Overwrite = False,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Before going live: when exploring begins, and what it can cost.

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
    """
    from surefoot.study.files import to_json
    from surefoot.study.logs.outlook import Outlook, OutlookFindings

    _within(default, *reward_range)
    plausible = _plausible(means, mean, arms)
    outlook = Outlook(
        default, alpha, plausible, reward_range, reserve, traffic, horizon, policy.value, runs, seed
    )
    prospects, summary = carry_out(outlook, OutlookFindings, out, overwrite, workers)
    echo_json(to_json(summary)) if as_json else _show(prospects, summary, out)


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
