"""The figure of a CMAB panel: the paper's regret curves, and beside them the promise itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.study import style
from surefoot.study.caption import amount, caption
from surefoot.study.cmab import FIRST_PLAYS
from surefoot.study.panel import Panel
from surefoot.study.summary import curves, slope

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

ROLES = {"GenCB": style.GUARDED, "UCB1": style.UNGUARDED, "ConUCB": style.COMPARATOR}

# Where an inset may be; it is drawn where it hides no curve, or not at all.
REGRET_INSET: style.Box = (0.13, 0.54, 0.36, 0.38)
PROMISE_INSETS: tuple[style.Box, ...] = tuple(
    (left, bottom, 0.3, 0.25) for left, bottom in [(0.68, 0.11), (0.68, 0.67), (0.08, 0.67)]
)
_DEPTH, _HEIGHT = 1.35, 1.2  # of the right panel, in units of the deepest fall


def draw(panel: Panel, frame: pl.DataFrame, stem: Path) -> list[Path]:
    """Write ``stem`` as PNG, SVG and PDF from the tidy rows of one panel.

    Left, as in the paper: cumulative regret, its mean, least and most over the runs, with the
    early phase in an inset. Right: what the worst run had above the floor after each play, until
    well after the unguarded policy is above it for good. If it is not so in time, all of it is
    the early phase, and there is no inset on the left.
    """
    t = frame.get_column("t").unique().sort().to_numpy()
    back = _back_above(frame, t)
    recovers = 1.5 * back <= panel.horizon
    early = max(2, _round(min(back, panel.horizon // 4))) if recovers else None
    end = 1.5 * back if recovers else panel.horizon
    title = f"GenCB on {panel.K:,} arms: α = {panel.alpha:g}, the default pays {panel.mu0:g}"
    below = caption(panel, frame, list(ROLES))
    with style.sheet(title, below, columns=2) as (figure, (left, right)):
        _regret(left, panel, frame, t, early)
        _promise(right, frame, t, end)
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


def _regret(axes: Axes, panel: Panel, frame: pl.DataFrame, t: Any, early: int | None) -> None:
    """``early``: the plays of the inset, if there is to be one."""
    axes.set_title("Cumulative regret: mean, least and most over the runs")
    axes.set_xlabel("play")
    axes.set_ylabel("pseudo-regret")
    regrets = {name: curves(frame, name, "regret") for name in ROLES}
    _bands(axes, panel, regrets, t)
    # The baseline, a diagonal at most, passes below the inset.
    tops = [(t, regret.max(axis=0)) for regret in regrets.values()]
    if early is not None and style.first_free(axes, [REGRET_INSET], tops, margin=0.03):
        first = t <= early
        inset = style.inset(axes, REGRET_INSET, f"first {early:,} plays")
        _bands(inset, panel, {name: regret[:, first] for name, regret in regrets.items()}, t[first])
    ends = [(float(regret.mean(axis=0)[-1]), name, ROLES[name]) for name, regret in regrets.items()]
    style.label_ends(
        axes, [(slope(panel) * panel.horizon, "baseline\n(the floor)", style.FLOOR), *ends]
    )


def _bands(axes: Axes, panel: Panel, regrets: dict[str, Any], t: Any) -> None:
    """Every curve's mean, least and most, and the baseline."""
    for name, regret in regrets.items():
        middle, low, high = regret.mean(axis=0), regret.min(axis=0), regret.max(axis=0)
        style.band(axes, t, middle, low, high, ROLES[name])
    style.line(axes, t, slope(panel) * t, style.FLOOR)
    axes.set_xlim(0, t[-1])
    axes.set_ylim(bottom=0)


def _promise(axes: Axes, frame: pl.DataFrame, t: Any, end: float) -> None:
    """``end``: the play at which the panel ends."""
    axes.set_title("Reward received minus the floor: the worst run after each play")
    axes.set_xlabel("play")
    axes.set_ylabel("reward above the floor")
    worst = {name: curves(frame, name, "slack").min(axis=0) for name in ROLES}
    reach = max(1.0, *(-curves(frame, name, "minimum_slack").min() for name in ROLES))
    axes.set_xlim(0, end)
    axes.set_ylim(-_DEPTH * reach, _HEIGHT * reach)
    _slacks(axes, worst, t)
    paths = [(t, slack) for slack in worst.values()]
    box = style.first_free(axes, PROMISE_INSETS, paths)
    if box and end > 2 * FIRST_PLAYS:
        inset = style.inset(axes, box, f"first {FIRST_PLAYS} plays")
        inset.set_xlim(0, FIRST_PLAYS)
        inset.set_ylim(-1, 2)
        first = t <= FIRST_PLAYS
        _slacks(inset, {name: slack[first] for name, slack in worst.items()}, t[first])
    places = [(0.71, _DEPTH / (_DEPTH + _HEIGHT) - 0.08, 0.27, 0.06)]  # right under the floor
    if box != PROMISE_INSETS[0]:
        places.append((0.71, 0.02, 0.27, 0.06))
    place = style.first_free(axes, places, paths, margin=0.01)
    if place:
        axes.text(
            place[0], place[1] + 0.03, "below the floor",
            transform=axes.transAxes, va="center", color=style.QUIET, style="italic",
        )  # fmt: skip
    _name_curves(axes, frame, t, worst)


def _slacks(axes: Axes, worst: dict[str, Any], t: Any) -> None:
    """The worst run of every agent, and the floor; call it when the limits are final."""
    axes.axhspan(axes.get_ylim()[0], 0, color=style.HAIR, alpha=0.45, linewidth=0)
    axes.axhline(0, color=style.BLACK, linewidth=1)
    for name, slack in worst.items():
        style.line(axes, t, slack, ROLES[name])


def _name_curves(axes: Axes, frame: pl.DataFrame, t: Any, worst: dict[str, Any]) -> None:
    """Name each curve, and tell the least it ever had over all runs and all plays.

    A curve is named at its lowest point if that is below the floor, else where it ends or leaves.
    """
    end, top = axes.get_xlim()[1], axes.get_ylim()[1]
    ends = []
    for name, curve in ROLES.items():
        least = curves(frame, name, "minimum_slack").min(axis=0)
        words = f"{name}: least {amount(least[-1])}"
        if least[-1] < 0:
            spot = int((least > least[-1]).sum())
            axes.plot(t[spot], least[-1], marker="o", color=curve.colour, markersize=5)
            align = "right" if t[spot] > 0.7 * end else "left" if t[spot] < 0.2 * end else "center"
            style.note(axes, words, (t[spot], least[-1]), (0, -13), curve, align)
            continue
        last = float(np.interp(end, t, worst[name]))
        if last < top:
            ends.append((last, words.replace(": ", ":\n"), curve))
            continue
        spot = max(0, int((worst[name] >= 0.9 * top).argmax()) - 1)
        shift, align = ((-9, 0), "right") if t[spot] > 0.4 * end else ((10, -8), "left")
        style.note(axes, words, (t[spot], worst[name][spot]), shift, curve, align)
    style.label_ends(axes, ends)
