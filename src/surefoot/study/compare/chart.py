"""The chart of a comparison: how low each policy falls, unguarded and guarded."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot._drawing import style
from surefoot._types import JsonObject
from surefoot.study.compare.compare import GUARDED, UNGUARDED, ComparisonFindings
from surefoot.study.numbers import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CURVES = {UNGUARDED: style.UNGUARDED, GUARDED: style.GUARDED}


def draw_comparison(findings: ComparisonFindings, summary: JsonObject, stem: Path) -> list[Path]:
    """Write ``stem`` as PNG, SVG and PDF.

    A panel a case, a row a policy: the lowest that its account stood against the floor in a run,
    mean, least and most over the runs.
    """
    cases = summary["cases"]
    runs = counted(findings.comparison.runs, "run")
    title = f"How far below the floor policies fall in {runs}, unguarded and guarded"
    size = 6.5 * max(2, len(cases)), 1.6 + 0.34 * len(cases[0]["policies"])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # style.sheet has warned of it
        with style.sheet(title, "\n".join(summary["notes"]), len(cases), size) as (figure, panels):
            for axes, case in zip(panels, cases, strict=True):
                _lowest(axes, case)
            style.fit(panels)
            return style.save(figure, stem)


def _lowest(axes: Axes, case: JsonObject) -> None:
    policies = case["policies"]
    axes.set_title(case["title"])
    axes.set_xlabel("least reward above the floor in a run")
    axes.set_yticks(range(len(policies)), [one["name"] for one in policies])
    axes.invert_yaxis()
    axes.axvline(0, color=style.FLOOR.colour, linestyle=style.FLOOR.dash, linewidth=1)
    for y, one in enumerate(policies):
        for how, curve in _CURVES.items():
            lowest = one[how]["minimum_slack"]
            axes.plot([lowest["min"], lowest["max"]], [y, y], color=curve.colour, linewidth=2)
            axes.plot(lowest["mean"], y, marker="o", color=curve.colour, markersize=5)
    for height, (how, curve) in zip((0.98, 0.9), _CURVES.items(), strict=True):
        axes.text(
            1.028, height, how, transform=axes.transAxes, va="top",
            color=curve.colour, weight="bold", size=9,
        )  # fmt: skip
