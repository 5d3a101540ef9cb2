"""The regret curves of a panel beside the theorems about them, on logarithmic axes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from surefoot.study import style
from surefoot.study.bounds import Spoken, foretold, spoken
from surefoot.study.caption import setting
from surefoot.study.figure import roles
from surefoot.study.panel import Panel
from surefoot.study.summary import curves, plays

if TYPE_CHECKING:
    import polars as pl

_DOTS = (0, (1, 2.2))
_READ = (
    "Thick: mean regret over the runs. Dotted: the theorems. One marked proved is a number that "
    "expected regret stays below; one marked order is the theorem's shape, scaled to end where its "
    "curve does, since its constants cannot be trusted: compare slopes, not heights."
)


def draw(panel: Panel, frame: pl.DataFrame, stem: Path) -> str:
    """Write ``stem`` as PNG, SVG and PDF from the tidy rows of one panel; return the caption."""
    found, t = spoken(panel, frame), plays(frame)
    below = "\n".join(
        [setting(panel, frame), f"{_READ} {_plays(panel, frame)}", *map(_said, found)]
    )
    title = f"{panel.title}: the theorems"
    with style.sheet(title, below, size=(9.5, 4.4)) as (figure, (axes,)):
        dress = roles(panel)
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_minor_formatter("")
        style.group_digits(axes)
        axes.set_title("Cumulative regret and its bounds")
        axes.set_xlabel("play")
        axes.set_ylabel("pseudo-regret")
        late = t[t >= 10] if t[-1] >= 100 else t
        ends, top = [], 1.0
        for name, curve in dress.items():
            mean = curves(frame, name, "regret").mean(axis=0)
            style.line(axes, t, np.maximum(mean, 1e-3), curve)
            ends.append((float(mean[-1]), name, curve))
            top = max(top, float(mean[-1]))
        for said in found:
            if said.bound is None:
                continue
            curve = dress[said.agent]._replace(dash=_DOTS, width=1.4)
            heights = np.asarray(said.bound(late))
            style.line(axes, late, heights, curve)
            top = max(top, float(heights[-1]))
            if said.bound.trusted:
                ends.append((float(heights[-1]), f"{said.agent}: proved", curve))
        axes.set_xlim(late[0], t[-1])
        axes.set_ylim(max(0.1, 1e-6 * top), 2 * top)
        style.label_ends(axes, [end for end in ends if end[0] > axes.get_ylim()[0]])
        style.fit([axes])
        style.save(figure, stem)
    return below


def _plays(panel: Panel, frame: pl.DataFrame) -> str:
    """What the default plays should be, beside what they are."""
    count = foretold(panel, frame)
    if count is None:
        return "No formula foretells the default plays here."
    made = curves(frame, panel.guarded, "default_plays")[:, -1].mean()
    return (
        f"Default plays foretold from {panel.unguarded}'s realised regret: {count['mean']:,.0f} in "
        f"the mean; made: {made:,.0f}."
    )


def _said(said: Spoken) -> str:
    """A theorem in one line."""
    bound = said.bound
    if bound is None:
        return f"{said.agent}: void here. {said.void[0].upper()}{said.void[1:]}."
    kind = "proved" if bound.trusted else "order"
    expected = "expected regret" if bound.kind == "E" else "regret with high probability"
    note = f" ({bound.note})" if bound.note else ""
    return f"{said.agent}, {kind}: {expected}, {bound.source}{note}."
