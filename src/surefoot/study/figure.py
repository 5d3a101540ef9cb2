"""The figure of a CMAB panel: the paper's regret curves, and beside them the promise itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.study import style
from surefoot.study.caption import amount, caption
from surefoot.study.cmab import FIRST_PLAYS
from surefoot.study.panel import Panel
from surefoot.study.summary import curves, slope

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

ROLES = {"GenCB": style.GUARDED, "UCB1": style.UNGUARDED, "ConUCB": style.COMPARATOR}

# Where an inset hides no curve: it depends on whether the unguarded policy recovers in time.
UPPER_LEFT, LOWER_RIGHT = (0.13, 0.54, 0.36, 0.38), (0.62, 0.1, 0.35, 0.26)
BELOW, ABOVE = (0.68, 0.11, 0.3, 0.25), (0.68, 0.67, 0.3, 0.25)


def draw(panel: Panel, frame: pl.DataFrame, stem: Path) -> list[Path]:
    """Write ``stem`` as PNG, SVG and PDF from the tidy rows of one panel.

    Left, as in the paper: cumulative regret, its mean, least and most over the runs, with the
    early phase in an inset. Right: what the worst run had above the floor after each play.
    """
    t = frame.get_column("t").unique().sort().to_numpy()
    back = _back_above(frame, t)
    early = max(2, _round(min(back, panel.horizon // 4)))
    recovers = 1.5 * back <= panel.horizon
    title = f"GenCB on {panel.K:,} arms: α = {panel.alpha:g}, the default pays {panel.mu0:g}"
    below = caption(panel, frame, list(ROLES), early)
    with style.sheet(title, below, columns=2) as (figure, (left, right)):
        _regret(left, panel, frame, t, (early, UPPER_LEFT if recovers else LOWER_RIGHT))
        end = 1.5 * back if recovers else panel.horizon
        _promise(right, frame, t, (end, BELOW if recovers else ABOVE))
        return style.save(figure, stem)


def _back_above(frame: pl.DataFrame, t: Any) -> int:
    """The play from which the unguarded policy stays above the floor in every run."""
    below = t[curves(frame, "UCB1", "slack").min(axis=0) < 0]
    return int(below[-1]) if len(below) else int(t[-1])


def _round(plays: int) -> int:
    """Two leading digits, for a title.

    >>> _round(18_334), _round(7)
    (18000, 7)
    """
    step = int(f"1{'0' * (len(str(plays)) - 2)}")
    return plays // step * step


def _regret(
    axes: Axes, panel: Panel, frame: pl.DataFrame, t: Any, early: tuple[int, style.Box]
) -> None:
    """``early``: the plays of the inset, and where it is."""
    plays, box = early
    axes.set_title("Cumulative regret: mean, least and most over the runs")
    axes.set_xlabel("play")
    axes.set_ylabel("pseudo-regret")
    first = t <= plays
    inset = style.inset(axes, box, f"first {plays:,} plays")
    labels = [(slope(panel) * panel.horizon, "baseline\n(the floor)", style.FLOOR)]
    for name, curve in ROLES.items():
        regret = curves(frame, name, "regret")
        middle, low, high = regret.mean(axis=0), regret.min(axis=0), regret.max(axis=0)
        style.band(axes, t, middle, low, high, curve)
        style.band(inset, t[first], middle[first], low[first], high[first], curve)
        labels.append((float(middle[-1]), name, curve))
    for each, x in ((axes, t), (inset, t[first])):
        style.line(each, x, slope(panel) * x, style.FLOOR)
        each.set_xlim(0, x[-1])
        each.set_ylim(bottom=0)
    style.label_ends(axes, labels)


def _promise(axes: Axes, frame: pl.DataFrame, t: Any, window: tuple[float, style.Box]) -> None:
    """``window``: the play at which the panel ends, and where its inset is."""
    end, box = window
    axes.set_title("Reward received minus the floor: the worst run after each play")
    axes.set_xlabel("play")
    axes.set_ylabel("reward above the floor")
    reach = max(1.0, *(-curves(frame, name, "minimum_slack").min() for name in ROLES))
    axes.set_xlim(0, end)
    axes.set_ylim(-1.2 * reach, 1.2 * reach)
    inset = style.inset(axes, box, f"first {FIRST_PLAYS} plays")
    inset.set_xlim(0, min(FIRST_PLAYS, end))
    inset.set_ylim(-1, 2)
    for each in (axes, inset):
        each.axhspan(each.get_ylim()[0], 0, color=style.HAIR, alpha=0.45, linewidth=0)
        each.axhline(0, color=style.BLACK, linewidth=1)
    axes.text(
        0.985, 0.48 if box == BELOW else 0.08, "below the floor",
        transform=axes.transAxes, ha="right", va="top", color=style.QUIET, style="italic",
    )  # fmt: skip
    first = t <= FIRST_PLAYS
    for name, curve in ROLES.items():
        worst = curves(frame, name, "slack").min(axis=0)
        style.line(axes, t, worst, curve)
        style.line(inset, t[first], worst[first], curve)
    _name_curves(axes, frame, t, end)


def _name_curves(axes: Axes, frame: pl.DataFrame, t: Any, end: float) -> None:
    """Name each curve, and tell the least it ever had over all runs and all plays."""
    top = axes.get_ylim()[1]
    kept: list[tuple[float, str, style.Curve, Any]] = []
    for name, curve in ROLES.items():
        least = curves(frame, name, "minimum_slack").min(axis=0)
        words = f"{name}: least {amount(least[-1])}"
        if least[-1] < 0:
            spot = int((least > least[-1]).sum())
            axes.plot(t[spot], least[-1], marker="o", color=curve.colour, markersize=5)
            style.note(axes, words, (t[spot], least[-1]), (0, -13), curve)
        else:
            worst = curves(frame, name, "slack").min(axis=0)
            kept.append((worst[_last(t <= 0.3 * end)], words, curve, worst))
    kept.sort(key=lambda each: each[0])
    for rank, (_, words, curve, worst) in enumerate(kept):
        # The lowest is named where it is flat; one that climbs, higher up, where there is room.
        spot = _last((t <= (0.75 if rank else 0.3) * end) & (worst < 0.8 * top))
        shift, align = (0.0, 9.0), "center"
        if rank:
            left = t[spot] > 0.45 * end
            shift, align = ((-7.0, 8.0), "right") if left else ((10.0, -8.0), "left")
        style.note(axes, words, (t[spot], worst[spot]), shift, curve, align)


def _last(where: Any) -> int:
    """The last index at which a condition holds; 0 if it never does."""
    found = where.nonzero()[0]
    return int(found[-1]) if len(found) else 0
