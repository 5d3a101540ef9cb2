"""What a backtest, a plan, a comparison and ``study better`` leave in a folder."""

from __future__ import annotations

import json
from pathlib import Path

from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.study import files
from surefoot.study.better import findings as better_findings
from surefoot.study.better import pages as better_pages
from surefoot.study.better.runs import BetterRuns
from surefoot.study.compare.chart import draw_comparison
from surefoot.study.compare.compare import Comparison, ComparisonFindings
from surefoot.study.files import require, to_json, uninterrupted, write_json
from surefoot.study.logs.backtest import Backtest
from surefoot.study.logs.backtest_chart import draw_backtest
from surefoot.study.logs.backtest_runs import BacktestRuns
from surefoot.study.logs.outlook import Outlook, OutlookFindings
from surefoot.study.logs.outlook_chart import draw_outlook
from surefoot.study.logs.rejection_backtest import RejectionBacktest, RejectionRuns
from surefoot.study.results.manifest import MANIFEST
from surefoot.study.results.sealed import put


def write_better(study: BetterRuns) -> JsonObject:
    """Write figure, page and summary of the runs that are finished; return the summary."""
    summary, stem = better_findings.found_in(study), study.folder / "better"
    if summary["families"]:
        with uninterrupted():
            better_pages.write_page(summary, stem, better_pages.draw(summary, stem))
        write_json(study.folder / "better.json", summary)
    return summary


def claim(
    asked: BacktestRuns | RejectionRuns | Outlook | Comparison,
    folder: Path,
    *,
    overwrite: bool = False,
) -> None:
    """Make sure that all can be drawn and written to a folder, before it takes its time.

    A folder is used again for the very same settings, or with ``overwrite``; never the folder of a
    study whose files have the same names.
    """
    require("numba", "matplotlib")
    names = asked.files()
    if "summary.json" in names and (folder / MANIFEST).exists():
        raise InvalidInput(f"{folder} holds a study; give another --out")
    found = files.read_json(folder / names[0])
    here = found.get("settings", found) if isinstance(found, dict) else {}
    wanted = json.loads(to_json(asked.settings()))
    same = {key: here.get(key) for key in wanted} == wanted
    files.claim(folder, names, overwrite=overwrite, same=same)


def write(
    found: Backtest | RejectionBacktest | OutlookFindings | ComparisonFindings, folder: Path
) -> JsonObject:
    """Write the chart, the runs of a backtest and, last, the summary; return the summary.

    What is there is replaced, and nothing else: ``claim`` the folder first.
    """
    names = _asked(found).files()
    for name in names:
        (folder / name).unlink(missing_ok=True)
    with uninterrupted():
        summary = found.summary()
        if isinstance(found, ComparisonFindings):
            draw_comparison(found, summary, folder / "compare")
        elif isinstance(found, OutlookFindings):
            draw_outlook(found, folder / found.outlook.chart)
        else:
            if isinstance(found, Backtest):
                draw_backtest(found, folder / found.runs.chart)
                put(folder / "worlds.parquet", found.worlds)
            put(folder / "runs.parquet", found.frame)
    write_json(folder / names[0], summary)
    return summary


def _asked(
    found: Backtest | RejectionBacktest | OutlookFindings | ComparisonFindings,
) -> BacktestRuns | RejectionRuns | Outlook | Comparison:
    if isinstance(found, ComparisonFindings):
        return found.comparison
    return found.outlook if isinstance(found, OutlookFindings) else found.runs
