"""What ``surefoot replay`` prints: the verdict, its reasons, the arms, and what comes next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot._types import JsonObject
from surefoot.cli._log_options import typed
from surefoot.cli._terminal import show_found, spread, table_of

if TYPE_CHECKING:
    from rich.table import Table

    from surefoot.study.logs.backtest import Backtest
    from surefoot.study.logs.rejection_backtest import RejectionBacktest

MOST_ARMS = 12
_NEEDED = "an arm that pays more than the default is found"
"""A reason that a table tells better."""


def show(
    found: Backtest | RejectionBacktest, summary: JsonObject, out: Path, plan: str, *, verbose: bool
) -> None:
    """The findings on stdout: tables, then a sentence for each reason and each note."""
    tables = [_arms(summary)]
    needs = summary["verdict"] == "cannot tell" and any((summary.get("rows_needed") or {}).values())
    reasons = [why for why in summary["why"] if not (needs and why.startswith(_NEEDED))]
    notes = [f"Why: {'; '.join(reasons)}."]
    if len(summary.get("sweep", ())) > 1:
        tables.append(_sweep(summary))
    if needs:
        tables.append(_rows_needed(summary))
    if verbose and "agents" in summary:
        tables.append(_agents(summary))
        notes.append(_halves(summary))
    written = "summary.json and runs.parquet are in"
    if "agents" in summary:
        written = "Chart, summary.json, runs.parquet and worlds.parquet are in"
    last = f"{written} {out}\n{plan}"
    show_found(found.headline(), tables, [*notes, *summary["notes"]], last)


def plan_words(
    file: Path | None,
    summary: JsonObject,
    case: Any,
    reading: dict[str, Any],
    policy: str | None,
    reward_range: tuple[float, float] | None,
) -> str:
    """The command that plans on the same log, ready to paste, and what it is for."""
    named, ends = summary["default"], reward_range
    options: dict[str, Any] = {"--log": file, "--case": case}
    if file is None:
        options["--case"] = "chicago" if case is None else case.value
    options |= {
        "--default": None if reading["--default-value"] is not None else named["arm"],
        **{key: value for key, value in reading.items() if key not in _NOT_OF_A_PLAN},
        "--alpha": f"{summary['alpha']:.10g}",
        "--policy": policy if policy in ("klucb", "ucb1") else "klucb",
        "--horizon": summary["horizon"],
        "--reward-range": ends and tuple(f"{end:.10g}" for end in ends),
    }
    expected = "what to expect"
    if reading["--context-columns"] is not None:
        expected = "what to expect of arms whose contexts nobody looks at"
    return f"Next, what is sure and {expected}:\n  surefoot plan{typed(options)}"


_NOT_OF_A_PLAN = ("--context-columns", "--unit")


def _arms(summary: JsonObject) -> Table:
    """Rows, mean and interval of the best arms, and of the default wherever it stands."""
    from surefoot.study.numbers import full

    ranked = sorted(summary["arms"], key=lambda arm: -arm["mean"])
    shown = [arm for i, arm in enumerate(ranked) if i < MOST_ARMS or arm["is_default"]]
    paying, flagged = "paying" in shown[0], any(map(_flags, shown))
    columns = ("rows", *(("paying",) if paying else ()), "mean", "95 %", "plays")
    columns += ("flags",) if flagged else ()
    table = table_of("arm", columns, "Mean: of a reward. Plays: guarded, in the mean of the runs.")
    largest = max(abs(arm["mean"]) for arm in shown)
    for arm in shown:
        name = f"{arm['arm']} (default)" if arm["is_default"] else f"{arm['arm']}"
        counts = [f"{arm['rows']:,}", *([f"{arm['paying']:,}"] if paying else [])]
        ends = " to ".join(full(arm[end], largest) for end in ("low", "high"))
        cells = full(arm["mean"], largest), ends, f"{arm['plays']:,.0f}"
        table.add_row(name, *counts, *cells, *([_flags(arm)] if flagged else []))
    if len(ranked) > len(shown):
        table.add_row(f"and {len(ranked) - len(shown):,} more", *[""] * len(columns))
    return table


def _flags(arm: JsonObject) -> str:
    return ", ".join(flag for flag in ("few", "heavy") if arm.get(flag))


def _sweep(summary: JsonObject) -> Table:
    """What more risk buys: under each alpha the gain, and the stake, which is sure."""
    from surefoot.study.logs.backtest_words import BELOW
    from surefoot.study.numbers import amount

    said = "Where the intervals overlap, more risk bought nothing that this log shows."
    if any(one["gain"]["low"] < -one["stake"] for one in summary["sweep"]):
        said += f" What is lost at most is sure: {BELOW}."
    table = table_of("alpha", ("at most lost,\nsure", "gain less luck", "95 %", "verdict"), said)
    for one in sorted(summary["sweep"], key=lambda one: one["alpha"]):
        gain = one["gain"]
        ends = " to ".join(amount(gain[end], signed=True) for end in ("low", "high"))
        table.add_row(
            f"{one['alpha']:g}", amount(one["stake"]), amount(gain["mean"], signed=True), ends,
            one["verdict"],
        )  # fmt: skip
    return table


def _rows_needed(summary: JsonObject) -> Table:
    """How many rows of an arm would tell it from the default."""
    table = table_of(
        "an arm pays more by", ("rows of it needed",), "To find it in 8 of 10 such logs."
    )
    for lift, rows in summary["rows_needed"].items():
        if rows is not None:
            table.add_row(f"{100 * float(lift):g} %", f"{rows:,}")
    return table


def _agents(summary: JsonObject) -> Table:
    """The guarded agent beside the unguarded ones, on the log itself."""
    from surefoot.study.numbers import amount, percent, scale

    table = table_of(
        "", (
            "above always\nthe default", "default\nplays", "furthest\nbelow", "runs\nbelow",
            "plays\nbelow",
        ),
        "On the log: mean over the runs, least to most; below: the floor, at any play of any run.",
    )  # fmt: skip
    agents = summary["agents"]
    furthest = scale(agent["worst_shortfall"] for agent in agents)
    gains = scale(max(abs(agent["gain"][end]) for end in ("min", "max")) for agent in agents)
    for agent in agents:
        table.add_row(
            agent["name"], spread(agent["gain"], lambda gain: amount(gain, gains, signed=True)),
            _plays(agent["default_plays"]) if agent["name"] == "guarded" else "\N{EN DASH}",
            amount(agent["worst_shortfall"], furthest), percent(agent["runs_below_floor"]),
            percent(agent["plays_below_floor"]),
        )  # fmt: skip
    return table


def _halves(summary: JsonObject) -> str:
    """The cross-check: learnt on one half of the rows, counted on the other."""
    from surefoot.study.numbers import amount

    halves = summary["halves"]
    if halves is None:
        return "By halves: not possible, an arm has a single row."
    return (
        f"By halves: learnt on half of each arm's rows and counted at the means of the others, the "
        f"gain is {amount(halves['mean'], signed=True)} \N{PLUS-MINUS SIGN} "
        f"{amount(halves['margin'])}, the mean of ten splits."
    )


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
