"""From finished runs to files: figures, tables and the report, from results alone.

One panel is read, drawn and written after the other, so memory does not grow with their number,
and of a panel with many runs a column at a time.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from surefoot._drawing.inline import Drawn
from surefoot._types import JsonObject
from surefoot.study.files import replacing, uninterrupted, versions, write_json
from surefoot.study.grids import grids
from surefoot.study.panel import Panel
from surefoot.study.report.figures import draw_panel, draw_theory
from surefoot.study.report.findings import found_in
from surefoot.study.report.grid_figures import MOST, draw_grid
from surefoot.study.report.panel_runs import PanelRuns
from surefoot.study.report.report import FIGURED, Page, Report
from surefoot.study.results.store import Runs, write_table

SUMMARY, NUMBERS, REPORT = "summary.json", "summary.csv", "report.html"
AT_HAND = 200_000
"""Rows of a panel, some 40 MB, that are read at once; of more, a column whenever it is needed."""
_OF_MEASURE = ("mean", "low", "high", "min", "max")


def publish(
    runs: Runs, drawn: Callable[[], object] = lambda: None, *, theory: bool = False
) -> JsonObject:
    """Write figures, ``summary.json``, ``summary.csv`` and ``report.html``; return the summary.

    What is written depends on the finished runs only. ``theory``: also draw the theorems, where
    the agents are the paper's. ``drawn`` is called after each panel. Above 30 panels there is no
    figure a panel: grids are drawn against an axis of theirs. "missing" in the summary says which
    panels lack how many runs. Nothing is written where no run is finished. Raises DamagedFile.
    """
    sweep, missing = runs.sweep, []
    entries: dict[str, JsonObject] = {}
    with Report(parts=len(sweep.panels) <= FIGURED) as report:
        for panel in sweep.panels:
            cell = runs.cell(panel)
            finished = runs.finished(cell)
            if finished < sweep.runs:
                missing.append({"panel": panel.name, "runs": sweep.runs - finished})
            if finished:
                with uninterrupted(), _damage(runs, cell):
                    page = _page(runs, cell, panel, theory=theory)
                    report.add(page)
                entries[panel.name] = page.found
            drawn()
        summary: JsonObject = {
            "panels": list(entries.values()), "seed": sweep.seed, "versions": versions(),
            "missing": missing,
        }  # fmt: skip
        if entries:
            with uninterrupted():
                figures = _grids(runs, entries)
                write_table(runs)
            _write_numbers(runs.folder / NUMBERS, summary["panels"], sweep.panels)
            report.finish(runs.folder / REPORT, summary, figures)
            write_json(runs.folder / SUMMARY, summary)
    return summary


@contextmanager
def _damage(runs: Runs, cell: str) -> Iterator[None]:
    """Name the part that cannot be read, or that lacks rows."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, ValueError) as problem:
        found = runs.damaged(cell)
        if found is None:
            raise
        raise found from problem


def _page(runs: Runs, cell: str, panel: Panel, *, theory: bool) -> Page:
    """A panel's numbers and figures."""
    rows = runs.scan(cell)
    whole = PanelRuns(panel, rows.collect() if runs.count_rows(cell) <= AT_HAND else rows)
    if whole.count != runs.finished(cell):
        raise ValueError("a part has other runs than its name says")
    found = found_in(whole, theory=theory)
    return Page(panel, found, _draw(runs, whole, theory="theory" in found))


def _draw(runs: Runs, whole: PanelRuns, *, theory: bool) -> list[Drawn]:
    """The figures of a panel; none where the study has too many panels."""
    if len(runs.sweep.panels) > FIGURED:
        return []
    stem = runs.folder / whole.panel.name
    figures = [draw_panel(whole, stem)]
    if theory:
        figures.append(draw_theory(whole, stem.with_name(f"{stem.name}-theory")))
    return figures


def _grids(runs: Runs, entries: Mapping[str, JsonObject]) -> list[tuple[str, Drawn]]:
    """Draw the grids of a study, as far as their runs are finished; ``entries``: by panel."""
    drawn = []
    for grid in grids(runs.sweep.panels)[:MOST]:
        mine = [entries[panel.name] for panel in grid.panels if panel.name in entries]
        if len(mine) > 1:
            drawn.append((grid.title, draw_grid(grid, mine, runs.folder / grid.name)))
    return drawn


def _write_numbers(path: Path, entries: Sequence[JsonObject], panels: Sequence[Panel]) -> None:
    """A row for each panel and agent, for any program that reads tables."""
    axes = list(dict.fromkeys(axis for panel in panels for axis in panel.place))
    measures = dict.fromkeys(
        name for entry in entries for agent in entry["agents"] for name in agent if name != "name"
    )
    heads = [f"{measure}_{of}" for measure in measures for of in _OF_MEASURE]
    with replacing(path) as scratch, scratch.open("w", encoding="utf-8", newline="") as file:
        table: Any = csv.writer(file, lineterminator="\n")
        table.writerow(["problem", *axes, "agent", "horizon", "runs", *heads])
        for entry in entries:
            place = [entry["problem"], *(entry.get(axis, "") for axis in axes)]
            for agent in entry["agents"]:
                cells = [cell for one in measures for cell in _cells(agent.get(one))]
                row = [*place, agent["name"], entry["horizon"], entry["runs"], *cells]
                table.writerow(row)


def _cells(values: JsonObject | None) -> list[Any]:
    """One measure; empty where there is none, and no interval where the runs are too few."""
    if values is None:
        return [""] * len(_OF_MEASURE)
    low, high = values["interval"] or ("", "")
    return [values["mean"], low, high, values["min"], values["max"]]
