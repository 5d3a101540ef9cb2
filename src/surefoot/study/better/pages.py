"""The figure and the page of ``surefoot study better``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from surefoot._drawing import style
from surefoot._drawing.inline import Drawn, pieces
from surefoot._types import JsonObject
from surefoot.study.better.findings import TARGETS, Share, said
from surefoot.study.better.rivals import NAMED, OTHER, PRINTED, PROVED
from surefoot.study.better.runs import AGAIN
from surefoot.study.files import replacing
from surefoot.study.markup import claims_table, document, figure, footer, number, spread, table
from surefoot.study.numbers import brief
from surefoot.study.verdict import EACH, tally

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEAN = "geometric mean"
_TITLE = "Regret under the same floor, as a share of the printed algorithm's"
_SHORT = (
    "A mark is a policy's mean regret over that of the printed algorithm, on the same noise, with "
    "its 95 % interval. Hollow: chance alone. Short black lines: what is to be reached."
)
_NAMES = {
    "cmab": "K arms (CMAB)",
    "clb": "linear arms (CLB)",
    "cccb": "linear super arms (CCCB)",
    "mv": "mean-variance (MV)",
}


_LETTERS = {"alpha": "α", "rho": "ρ"}


class Mark(NamedTuple):
    """How a role is drawn: told apart by shape and filling, without colour as well."""

    colour: str
    shape: str
    size: float
    filled: bool = True


MARKS = {
    NAMED: Mark(style.BLUE, "o", 7.5),
    PROVED: Mark(style.GREEN, "s", 6),
    NAMED + AGAIN: Mark(style.BLUE, "o", 9, filled=False),
    PRINTED + AGAIN: Mark(style.BLACK, "D", 6, filled=False),
}
_OTHERS = [
    Mark(style.VERMILION, "^", 5.5),
    Mark(style.ORANGE, "v", 5.5),
    Mark(style.PURPLE, "P", 6),
    Mark(style.SKY, "X", 6),
    Mark(style.QUIET, "*", 7),
]


class Row(NamedTuple):
    """A line of the figure: a panel, or the geometric mean of a problem's."""

    problem: str
    name: str
    shares: dict[str, tuple[str, Share]]
    """policy -> its role, its share."""


def rows_of(summary: JsonObject) -> Iterator[Row]:
    """The lines of the figure, those of a problem together, its mean last."""
    for family in summary["families"]:
        problem = family["problem"]
        for panel in summary["panels"]:
            if panel["problem"] == problem:
                yield Row(problem, place(panel["panel"]), _shares(panel["policies"], "share"))
        yield Row(problem, MEAN, _shares(family["policies"], "geometric_mean"))


def place(panel: str) -> str:
    """Where a panel stands, from its name.

    >>> place("mv-K24-alpha0.05-rho10")
    'K = 24, α = 0.05, ρ = 10'
    """
    found = re.findall(r"-([a-zA-Z]+)([\d.]+)", panel)
    return ", ".join(f"{_LETTERS.get(axis, axis)} = {value}" for axis, value in found)


def _shares(policies: list[JsonObject], of: str) -> dict[str, tuple[str, Share]]:
    return {one["name"]: (one["role"], Share(**one[of])) for one in policies}


def draw(summary: JsonObject, stem: Path) -> Drawn:
    """Write ``stem`` as PNG, SVG and PDF."""
    rows, below = list(rows_of(summary)), caption(summary)
    size = (11.5, 1.4 + 0.27 * (len(rows) + 1.2 * len(summary["families"])))
    with style.sheet(_TITLE, _SHORT, size=size) as (sheet, (axes,)):
        axes.set_xscale("log")
        _lines(axes, rows)
        _legend(axes, rows)
        style.fit([axes])
        style.save(sheet, stem)
        return Drawn(below, pieces(sheet, [axes], _TITLE))


def _lines(axes: Axes, rows: list[Row]) -> None:
    """One line a row from the top, a heading above each problem."""
    places, labels, y, last = [], [], 0.0, ""
    marks = marks_of(rows)
    lowest = min(share.low for row in rows for _, share in row.shares.values())
    axes.set_xlim(min(0.02, 0.8 * lowest), 1.6)
    for row in rows:
        if row.problem != last:
            y, last = y - 1.2, row.problem
            axes.text(
                0.004, y + 0.15, _NAMES[row.problem], transform=axes.get_yaxis_transform(),
                weight="bold", va="center",
            )  # fmt: skip
        y -= 1
        whole = row.name == MEAN
        places.append(y)
        labels.append(row.name)
        if whole:
            axes.axhspan(y - 0.5, y + 0.5, color=style.HAIR, alpha=0.45, linewidth=0)
        target = TARGETS[row.problem]
        limit = 1 / (target.mean if whole else target.panel)
        axes.plot([limit] * 2, [y - 0.5, y + 0.5], color=style.BLACK, linewidth=1.3, zorder=1)
        for name, (role, share) in row.shares.items():
            if role == PRINTED:
                continue
            _mark(axes, share, y, marks[name])
    axes.axvline(1, color=style.QUIET, linewidth=1, linestyle=style.FLOOR.dash, zorder=1)
    axes.set_ylim(y - 0.7, 0)
    axes.set_yticks(places, labels)
    axes.grid(visible=False, axis="y")
    ticks = [1 / 50, 1 / 30, 1 / 20, 1 / 15, 1 / 10, 1 / 6, 1 / 4, 1 / 2, 1]
    axes.set_xticks(ticks, ["1/50", "1/30", "1/20", "1/15", "1/10", "1/6", "1/4", "1/2", "1"])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("regret / regret of the printed algorithm")


def _mark(axes: Axes, share: Share, y: float, mark: Mark) -> None:
    axes.plot([share.low, share.high], [y, y], color=mark.colour, linewidth=1.1, zorder=2)
    axes.plot(
        share.value, y, marker=mark.shape, markersize=mark.size, color=mark.colour,
        markerfacecolor=mark.colour if mark.filled else "none", linestyle="", zorder=3,
    )  # fmt: skip


def marks_of(rows: list[Row]) -> dict[str, Mark]:
    """How each policy is drawn; those for comparison by the order in which they come."""
    found: dict[str, Mark] = {}
    others: dict[str, Mark] = {}
    for row in rows:
        for name, (role, _) in row.shares.items():
            if role == OTHER:
                found[name] = others.setdefault(name, _OTHERS[len(others) % len(_OTHERS)])
            elif role != PRINTED:
                found[name] = MARKS[role]
    return found


def _legend(axes: Axes, rows: list[Row]) -> None:
    """Names beside their marks, one line for all that share a mark."""
    together: dict[Mark, list[str]] = {}
    for name, mark in marks_of(rows).items():
        together.setdefault(mark, []).append(name)
    for mark, names in together.items():
        axes.plot(
            [], [], marker=mark.shape, markersize=mark.size, color=mark.colour, linestyle="",
            markerfacecolor=mark.colour if mark.filled else "none", label="\n".join(names),
        )  # fmt: skip
    axes.plot([], [], color=style.BLACK, linewidth=1.3, label="what is to be\nreached")
    axes.legend(
        loc="upper left", bbox_to_anchor=(1.005, 1.0), frameon=False, fontsize=8.5, labelspacing=0.9
    )


def caption(summary: JsonObject) -> str:
    """Two paragraphs."""
    asked = summary["settings"]
    own = "its own horizon" if asked["horizon"] is None else f"{asked['horizon']:,} plays"
    return (
        f"The paper's panels, each with {own} and at most {asked['runs']} runs of seed "
        f"{asked['seed']}, the arms shuffled anew in each run. A mark is the mean regret of a "
        "policy over that of the printed algorithm, in the same runs, on the same noise; lines are "
        "95 % intervals of the paired bootstrap, smaller than the mark where none is seen. Every "
        "policy is under the printed floor, and the default does not compete.\n"
        f"Hollow marks are of the same algorithm a second time, with other orders of the arms, "
        "other noise and other draws: how far they lie from 1, or from their filled mark, is "
        "chance. Short black lines are the shares to be reached, by each panel and, on grey, by "
        "the geometric mean."
    )


def write_page(summary: JsonObject, stem: Path, drawn: Drawn) -> None:
    """Write ``stem``.html: verdicts, figure and tables, which need no other file."""
    asked, held = summary["settings"], [claim["holds"] for claim in summary["claims"]]
    title, heads = "What was to be reached", ["claim", "in these runs", "found"]
    body = [
        "<header><h1>Better policies under the same floors</h1></header>",
        f"<p><strong>{title}: {tally(held)}.</strong> {EACH}</p>",
        figure(drawn.pieces, _SHORT, drawn.caption),
        claims_table(title, heads, summary["claims"]),
        *map(_family_table, summary["families"]),
        *map(_instances_table, summary["instances"]),
        *map(_panel_table, summary["panels"]),
        footer(asked["seed"], summary["versions"]),
    ]
    page = stem.with_name(f"{stem.name}.html")
    with replacing(page) as scratch:
        scratch.write_text(document("Better policies", "\n".join(body)), encoding="utf-8")


def _family_table(family: JsonObject) -> str:
    rows = [
        [
            escape(one["name"]),
            number(one["role"]),
            number(said(Share(**one["geometric_mean"]))),
            number(said(Share(**one["worst_panel"]["share"]))),
            number(place(one["worst_panel"]["panel"])),
            number(f"{one['worst_run']:.3f}"),
        ]
        for one in family["policies"]
    ]
    heads = ["policy", "role", "geometric mean", "worst panel", "which", "worst run"]
    return table(f"{_NAMES[family['problem']]}: share of the printed regret", heads, rows)


def _instances_table(at: JsonObject) -> str:
    rows = [
        [
            escape(one["name"]),
            number(said(Share(**one["geometric_mean"]))),
            number(f"{one['worst_instance']:.3f}"),
            number(f"{one['worst_run']:.3f}"),
            number(f"{one['runs_above']:,}"),
            number(f"{one['violating_rounds']:,}"),
        ]
        for one in at["policies"]
    ]
    where = f"{at['problem'].upper()}, {place(at['panel'])}"
    title = f"{where}: {at['instances']} fresh instances, {at['runs']} runs of each"
    heads = [
        "policy", "geometric mean", "worst instance", "worst run", "runs above the printed mean",
        "plays below the floor",
    ]  # fmt: skip
    return table(title, heads, rows)


def _panel_table(panel: JsonObject) -> str:
    rows = [
        [
            escape(one["name"]),
            number(said(Share(**one["share"]))),
            number(spread(one["regret"])),
            number(spread(one["default_plays"])),
            number(f"{one['violating_rounds']:,}"),
            number(brief(one["minimum_slack"])),
        ]
        for one in panel["policies"]
    ]
    heads = [
        "policy", "share of the printed regret", "regret", "default plays",
        "plays below the floor", "least slack",
    ]  # fmt: skip
    where = f"{panel['problem'].upper()}, {place(panel['panel'])}"
    return table(f"{where}: {panel['runs']} runs; mean, least and most", heads, rows)
