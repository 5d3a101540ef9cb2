"""``surefoot compare``: other libraries' policies and ours, unguarded and guarded."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot._types import JsonObject
from surefoot.cli._commands import AsJson, Overwrite, Seed, Workers
from surefoot.cli._terminal import carry_out, echo_json, show_found, table_of

if TYPE_CHECKING:
    from surefoot.study.compare.compare import ComparisonFindings


class CaseName(StrEnum):
    """Where the policies play."""

    PAPER = "paper"
    CHICAGO = "chicago"
    ATLANTA = "atlanta"


Cases = Annotated[
    list[CaseName] | None,
    typer.Option("--case", help="Where they play; repeated for more. Default: paper and chicago."),
]
Runs = Annotated[int, typer.Option(help="Independent runs.")]
Horizon = Annotated[int, typer.Option(help="Plays in a run.")]
Out = Annotated[Path, typer.Option(help="Folder for the chart and compare.json.")]


def compare(
    case: Cases = None,
    runs: Runs = 10,
    horizon: Horizon = 1_000,
    seed: Seed = 0,
    out: Out = Path("out/compare"),
    overwrite: Overwrite = False,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Policies of other libraries and ours, unguarded and guarded.

    scikit-learn, MABWiser, River, bayesianbandits and Vowpal Wabbit play
    by surefoot.adapters, beside our own policies: each once as it is and
    once under the same floor. The table says how often and how far each
    falls below the floor, and when first. What is not installed is named
    with the command that installs it.

    Cases: the paper's 24 arms, in another order in each run; and real
    flights from New York to Chicago or Atlanta, drawn again from their log.

    Examples:

      surefoot compare
          both cases, a minute or two
      surefoot compare --case atlanta --runs 50
          where the default is the best arm: exploring can only cost
    """
    from surefoot.study.compare.compare import Comparison, ComparisonFindings
    from surefoot.study.files import to_json

    cases = [one.value for one in case or (CaseName.PAPER, CaseName.CHICAGO)]
    comparison = Comparison(cases, runs, horizon, seed)
    findings, summary = carry_out(comparison, ComparisonFindings, out, overwrite, workers)
    echo_json(to_json(summary)) if as_json else _show(findings, summary, out)


def _show(findings: ComparisonFindings, summary: JsonObject, out: Path) -> None:
    """A table for each case, and a few sentences, on stdout."""
    from surefoot.study.numbers import amount

    last = len(summary["cases"]) - 1
    for number, case in enumerate(summary["cases"]):
        table = table_of(
            "",
            (
                "runs\nbelow", "first\nplay", "furthest\nbelow", "regret",
                "guarded:\nbelow", "regret",
            ),
            "Means over the runs; first unguarded, then guarded.",
            edge=False,
        )  # fmt: skip
        for one in case["policies"]:
            free, kept = one["unguarded"], one["guarded"]
            first = free["first_below"]
            table.add_row(
                one["name"],
                str(free["runs_below"]),
                f"{first['mean']:,.0f}" if first else "\N{EN DASH}",
                *(amount(free[what]["mean"]) for what in ("furthest_below", "regret")),
                str(kept["runs_below"]),
                amount(kept["regret"]["mean"]),
            )
        end = f"Chart and compare.json are in {out}" if number == last else ""
        show_found(findings.headline(case), (table,), summary["notes"] * (number == last), end)
