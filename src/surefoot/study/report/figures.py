"""The figures of a panel: the paper's curves and the promise; the theorems; the words below."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from surefoot._drawing import style
from surefoot._drawing.inline import Drawn, pieces
from surefoot.study.numbers import Array, brief, counted, plain
from surefoot.study.panel import Panel, column
from surefoot.study.report.findings import Theorem, beyond, predicted_default_plays, theorems
from surefoot.study.report.panel_runs import PanelRuns
from surefoot.study.runs import FIRST_PLAYS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Where an inset may be; it is drawn where it hides no curve, or not at all.
REGRET_INSET: style.Box = (0.16, 0.56, 0.32, 0.36)
PROMISE_INSETS: tuple[style.Box, ...] = tuple(
    (left, bottom, 0.3, 0.25) for left, bottom in [(0.68, 0.11), (0.68, 0.67), (0.08, 0.67)]
)
_INSIDE = 4  # curves that are named inside a panel, where they are lowest or leave it
_DEPTH, _HEIGHT = 1.35, 1.2  # of the right panel, in units of the deepest fall


def dress(panel: Panel) -> dict[str, style.Curve]:
    """How each agent is drawn.

    >>> from surefoot.study.sweep import read
    >>> list(dress(read("mv-K24-alpha0.05-rho10")))
    ['MV-CUCB', 'MV-UCB']
    """
    names = panel.names()
    return dict(zip(names, style.curves(len(names)), strict=True))


def draw_panel(runs: PanelRuns, stem: Path) -> Drawn:
    """Write ``stem`` as PNG, SVG and PDF from the tidy rows of one panel.

    Left, as in the paper: cumulative regret, its mean, quantiles, least and most over the runs,
    with the early phase in an inset. Right: what the worst run had above the floor after each
    play, until well after the unguarded policies are above it for good. If it is not so in time,
    all of it is the early phase, and there is no inset on the left. Of several floors by name
    each has a panel.
    """
    panel = runs.panel
    back = _back_above(runs)
    recovers = 1.5 * back <= panel.horizon
    early = max(2, _round(min(back, panel.horizon // 4))) if recovers else None
    end = 1.5 * back if recovers else panel.horizon
    short = f"{counted(runs.count, 'run')} of {panel.horizon:,} plays. {style.READ}"
    count = 1 + len(panel.guards)
    size = (5.75 * count, 4.1)
    with style.sheet(panel.title, short, columns=count, size=size) as (figure, panels):
        _regret(panels[0], runs, early)
        for axes, guard in zip(panels[1:], panel.guards, strict=True):
            _promise(axes, runs, end, guard)
        style.fit(panels)
        style.save(figure, stem)
        return Drawn(caption(runs), pieces(figure, panels, panel.title))


def _back_above(runs: PanelRuns) -> int:
    """The play from which the unguarded policies stay above the floor in every run."""
    t, below = runs.t, 0
    roles = runs.panel.roles()
    falling = [name for name, role in roles.items() if role == "unguarded"] or list(roles)
    for name in falling:
        for guard in runs.panel.guards:
            under = t[runs.shape(name, column("slack", guard)).least < 0]
            below = max(below, int(under[-1]) if len(under) else 0)
    return below or int(t[-1])


def _round(plays: int) -> int:
    """Two leading digits, for a title.

    >>> _round(18_334), _round(7)
    (18000, 7)
    """
    step = int(f"1{'0' * (len(str(plays)) - 2)}")
    return plays // step * step


def _regret(axes: Axes, runs: PanelRuns, early: int | None) -> None:
    """``early``: the plays of the inset, if there is to be one."""
    axes.set_title("Cumulative regret")
    axes.set_xlabel("play")
    axes.set_ylabel("pseudo-regret")
    panel, t, curves = runs.panel, runs.t, dress(runs.panel)
    _bands(axes, runs, curves, len(t))
    # The baseline, a diagonal at most, passes below the inset.
    tops = [(t, runs.shape(name, "regret").most) for name in curves]
    if early is not None and style.first_free(axes, [REGRET_INSET], tops, margin=0.03):
        inset = style.inset(axes, REGRET_INSET, f"first {early:,} plays")
        _bands(inset, runs, curves, int((t <= early).sum()))
    ends = [(float(runs.shape(name, "regret").mean[-1]), name, curves[name]) for name in curves]
    if panel.slope is not None:
        ends.insert(0, (panel.slope * panel.horizon, "baseline\n(the floor)", style.FLOOR))
    style.label_ends(axes, ends)


def _bands(axes: Axes, runs: PanelRuns, curves: dict[str, style.Curve], end: int) -> None:
    """Every curve, and the baseline, at the first checkpoints up to ``end``."""
    t = runs.t[:end]
    for name, curve in curves.items():
        whole = runs.shape(name, "regret")
        style.shape(axes, t, style.Shape(*(one[:end] for one in whole)), curve)
    if runs.panel.slope is not None:
        style.line(axes, t, runs.panel.slope * t, style.FLOOR)
    axes.set_xlim(0, t[-1])
    axes.set_ylim(bottom=0)


def _promise(axes: Axes, runs: PanelRuns, end: float, guard: str) -> None:
    """``end``: the play at which the panel ends."""
    panel, t, unit = runs.panel, runs.t, runs.panel.width(guard)
    what = "Reward received" if panel.promises_reward else "t·MV"
    axes.set_title(_heading(panel, guard) or f"{what} minus the floor, in the worst run")
    axes.set_xlabel("play")
    said = f"{'reward' if panel.promises_reward else what} above the floor"
    axes.set_ylabel(f"slack in {guard}" if guard else said)
    slack, least = column("slack", guard), column("minimum_slack", guard)
    worst = {name: runs.shape(name, slack).least for name in panel.names()}
    reach = max(unit, *(-runs.last(name, least).min() for name in worst))
    if guard:  # costs are small beside what a ceiling saves: the curves would leave at once
        reach = max(reach, *(float(slack.max()) / 4 for slack in worst.values()))
    axes.set_xlim(0, end)
    axes.set_ylim(-_DEPTH * reach, _HEIGHT * reach)
    _slacks(axes, panel, worst, t)
    paths = [(t, slack) for slack in worst.values()]
    box = style.first_free(axes, PROMISE_INSETS, paths)
    if box and end > 2 * FIRST_PLAYS:
        inset = style.inset(axes, box, f"first {FIRST_PLAYS} plays")
        inset.set_xlim(0, FIRST_PLAYS)
        first = t <= FIRST_PLAYS
        guarded = [name for name, role in panel.roles().items() if role == "guarded"]
        highest = [float(worst[name][first].max()) for name in guarded if first.any()]
        high = max([2 * unit, *(1.1 * one for one in highest)])
        inset.set_ylim(-high / 2, high)
        _slacks(inset, panel, {name: slack[first] for name, slack in worst.items()}, t[first])
    places = [(0.71, _DEPTH / (_DEPTH + _HEIGHT) - 0.08, 0.27, 0.06)]  # right under the floor
    if box != PROMISE_INSETS[0]:
        places.append((0.71, 0.02, 0.27, 0.06))
    place = style.first_free(axes, places, paths, margin=0.01)
    if place:
        axes.text(
            place[0], place[1] + 0.03, beyond(panel, guard),
            transform=axes.transAxes, va="center", color=style.QUIET, style="italic",
        )  # fmt: skip
    _name_curves(axes, runs, worst, guard)


def _heading(panel: Panel, guard: str) -> str:
    """The title of a floor by name; "" for one that needs none."""
    if not guard:
        return ""
    kind = "what the ceiling allows, less what was spent" if panel.is_ceiling(guard) else ""
    return f"{guard}: {kind or 'what came in, less the floor'}, in the worst run"


def _slacks(axes: Axes, panel: Panel, worst: dict[str, Array], t: Array) -> None:
    """The worst run of every agent, and the floor; call it when the limits are final."""
    axes.axhspan(axes.get_ylim()[0], 0, color=style.HAIR, alpha=0.45, linewidth=0)
    axes.axhline(0, color=style.BLACK, linewidth=1)
    curves = dress(panel)
    for name, slack in worst.items():
        style.line(axes, t, slack, curves[name])


def _name_curves(axes: Axes, runs: PanelRuns, worst: dict[str, Array], guard: str) -> None:
    """Name each curve, and tell the least it ever had over all runs and all plays.

    A curve is named at its lowest point if that is below the floor, else where it ends or leaves.
    Where there are many, each is named at the right.
    """
    t, end, top = runs.t, axes.get_xlim()[1], axes.get_ylim()[1]
    ends, curves = [], dress(runs.panel)
    crowded = len(curves) > _INSIDE
    for name, curve in curves.items():
        lowest = float(runs.last(name, column("minimum_slack", guard)).min())
        words = f"{name}: least {brief(lowest)}"
        if lowest < 0 and not crowded:
            least = runs.of(name, column("minimum_slack", guard)).min(axis=0)
            spot = int((least > least[-1]).sum())
            axes.plot(t[spot], least[-1], marker="o", color=curve.colour, markersize=5)
            align = "right" if t[spot] > 0.7 * end else "left" if t[spot] < 0.25 * end else "center"
            style.note(axes, words, (t[spot], least[-1]), (0, -13), curve, align)
            continue
        last = float(np.interp(end, t, worst[name]))
        if last < top or crowded or guard:
            height = min(max(last, axes.get_ylim()[0]), top)
            ends.append((height, words if crowded else words.replace(": ", ":\n"), curve))
            continue
        spot = max(0, int((worst[name] >= 0.9 * top).argmax()) - 1)
        shift, align = ((-9, 0), "right") if t[spot] > 0.4 * end else ((10, -8), "left")
        style.note(axes, words, (t[spot], worst[name][spot]), shift, curve, align)
    style.label_ends(axes, ends)


_DOTS = (0, (1, 2.2))
_SHORT = "Thick: mean over the runs. Dotted: the theorems."
_READ_THEORY = (
    "Thick: mean regret over the runs. Dotted: the theorems. One marked proved is a number that "
    "expected regret stays below; one marked order is the theorem's shape, scaled to end where its "
    "curve does, since its constants cannot be trusted: compare slopes, not heights."
)


def draw_theory(runs: PanelRuns, stem: Path) -> Drawn:
    """Write ``stem`` as PNG, SVG and PDF from the tidy rows of one panel."""
    panel, t, found = runs.panel, runs.t, theorems(runs)
    read = f"{_READ_THEORY} {_default_plays(runs)}"
    below = "\n".join([setting(runs), read, *map(_said, found)])
    title = f"{panel.title}: the theorems"
    with style.sheet(title, _SHORT, size=(7.2, 4.4)) as (figure, (axes,)):
        curves = dress(panel)
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
        for name, curve in curves.items():
            mean = runs.shape(name, "regret").mean
            style.line(axes, t, np.maximum(mean, 1e-3), curve)
            ends.append((float(mean[-1]), name, curve))
            top = max(top, float(mean[-1]))
        for said in found:
            if said.bound is None:
                continue
            curve = curves[said.agent]._replace(dash=_DOTS, width=1.4)
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
        return Drawn(below, pieces(figure, [axes], title))


def _default_plays(runs: PanelRuns) -> str:
    """What the default plays should be, beside what they are."""
    panel, count = runs.panel, predicted_default_plays(runs)
    if count is None:
        return "No formula predicts the default plays here."
    made = runs.last(panel.guarded, "default_plays").mean()
    return (
        f"Default plays predicted from {panel.unguarded}'s realised regret: {count['mean']:,.0f} "
        f"in the mean; made: {made:,.0f}."
    )


def _said(said: Theorem) -> str:
    """A theorem in one line."""
    bound = said.bound
    if bound is None:
        return f"{said.agent}: void here. {said.void[0].upper()}{said.void[1:]}."
    kind = "proved" if bound.trusted else "order"
    expected = "expected regret" if bound.kind == "E" else "regret with high probability"
    note = f" ({bound.note})" if bound.note else ""
    return f"{said.agent}, {kind}: {expected}, {bound.source}{note}."


_LEFT = (
    "Left: {0.regret} against {1}. Lines are means over the runs, bands lie between the 5 % and "
    "95 % quantiles, thin lines are the least and the most."
)
_BASELINE = (
    " The baseline {0.baseline} is the regret of one who earns exactly the floor. Rewards scatter "
    "about their means, so a curve may lie above the baseline although the floor was kept."
)
_RIGHT = (
    "Right: {0.earned} minus the floor {0.floor}, the least of all runs at each play drawn; the "
    "default counts at its known value {1:g}. Whether the "
    "floor was kept is read off the account, in exact numbers, after every play of every run. "
    "Plays that ended below it, over all runs: {2}."
)
_EACH = (
    "The others, a floor each: its slack, the least of all runs at each play drawn. A default "
    "counts at its known value; one that is learned at its true mean, at which a promise may be "
    "broken in a share of the runs of up to its delta. Whether it was is read off the account, in "
    "exact numbers, after every play of every run. Plays that ended with it broken, over all runs: "
    "{0}."
)


def caption(runs: PanelRuns) -> str:
    """Three paragraphs for the runs of one panel."""
    panel = runs.panel
    chosen, rival, kept = ", ".join(panel.choices), panel.words.rival, []
    if panel.worth > panel.top:
        rival = "the default, which is better than every arm (μ* stands for it)"
    of_ours, remark = "Choices of ours, on which the paper is silent", panel.words.remark
    if panel.entries is not None:
        of_ours, remark = "Further settings", ""
    for guard, name in product(panel.guards, panel.names()):
        below = int(runs.last(name, column("violating_rounds", guard)).sum())
        least = float(runs.last(name, column("minimum_slack", guard)).min())
        short = f" (up to {plain(-least)} short)" if below else ""
        kept.append(f"{guard and f'{guard}, '}{name} {below:,}{short}")
    left = _LEFT if panel.slope is None else _LEFT + _BASELINE
    if panel.guards == ("",) and not panel.learns:
        right = _RIGHT.format(panel.words, panel.pays, ", ".join(kept))
    else:
        right = _EACH.format("; ".join(kept))
    return (
        f"{setting(runs)} {of_ours}: {chosen}. {remark}\n{left.format(panel.words, rival)}\n{right}"
    )


def setting(runs: PanelRuns) -> str:
    """Whose setting it is, what it is, and how many runs of it there are."""
    panel, count = runs.panel, runs.count
    origin = "A setting that the paper does not show"
    if panel.entries is not None:
        origin = "A setting of a study file"
    if panel.source:
        origin = f"Setting of {panel.source}"
    stopped = f" (stopped: {panel.runs} were asked for)" if count < panel.runs else ""
    who = (
        f"{panel.guarded} is the algorithm as printed: the default does not compete with the arms."
    )
    if panel.entries is not None:
        who = f"The agents are those of the study file: {', '.join(panel.names())}."
    return f"{origin}: {panel.setting}; {counted(count, 'run')}{stopped}. {who}"
