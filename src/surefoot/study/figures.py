"""The figures of a panel: the paper's curves and the promise; the theorems; the words below."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from surefoot._drawing import style
from surefoot.study.findings import Theorem, predicted_default_plays, theorems
from surefoot.study.numbers import Array, brief, counted, plain
from surefoot.study.panel import Panel
from surefoot.study.results import PanelRuns
from surefoot.study.runs import FIRST_PLAYS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_DRESSES = (style.GUARDED, style.UNGUARDED, style.COMPARATOR)

# Where an inset may be; it is drawn where it hides no curve, or not at all.
REGRET_INSET: style.Box = (0.16, 0.56, 0.32, 0.36)
PROMISE_INSETS: tuple[style.Box, ...] = tuple(
    (left, bottom, 0.3, 0.25) for left, bottom in [(0.68, 0.11), (0.68, 0.67), (0.08, 0.67)]
)
_DEPTH, _HEIGHT = 1.35, 1.2  # of the right panel, in units of the deepest fall


def roles(panel: Panel) -> dict[str, style.Curve]:
    """How each agent is drawn: the guarded one, the unguarded one, and the comparator.

    >>> from surefoot.study.sweep import read
    >>> list(roles(read("mv-K24-alpha0.05-rho10")))
    ['MV-CUCB', 'MV-UCB']
    """
    return dict(zip(panel.names(), _DRESSES, strict=False))


def draw_panel(runs: PanelRuns, stem: Path) -> str:
    """Write ``stem`` as PNG, SVG and PDF from the tidy rows of one panel; return the caption.

    Left, as in the paper: cumulative regret, its mean, least and most over the runs, with the
    early phase in an inset. Right: what the worst run had above the floor after each play, until
    well after the unguarded policy is above it for good. If it is not so in time, all of it is
    the early phase, and there is no inset on the left.
    """
    panel = runs.panel
    back = _back_above(runs)
    recovers = 1.5 * back <= panel.horizon
    early = max(2, _round(min(back, panel.horizon // 4))) if recovers else None
    end = 1.5 * back if recovers else panel.horizon
    below = caption(runs)
    with style.sheet(panel.title, below, columns=2) as (figure, (left, right)):
        _regret(left, runs, early)
        _promise(right, runs, end)
        style.fit((left, right))
        style.save(figure, stem)
    return below


def _back_above(runs: PanelRuns) -> int:
    """The play from which the unguarded policy stays above the floor in every run."""
    t = runs.t
    below = t[runs.of(runs.panel.unguarded, "slack").min(axis=0) < 0]
    return int(below[-1]) if len(below) else int(t[-1])


def _round(plays: int) -> int:
    """Two leading digits, for a title.

    >>> _round(18_334), _round(7)
    (18000, 7)
    """
    step = int(f"1{'0' * (len(str(plays)) - 2)}")
    return plays // step * step


def _regret(axes: Axes, runs: PanelRuns, early: int | None) -> None:
    """``early``: the plays of the inset, if there is to be one."""
    axes.set_title("Cumulative regret: mean, least, most")
    axes.set_xlabel("play")
    axes.set_ylabel("pseudo-regret")
    panel, t, dress = runs.panel, runs.t, roles(runs.panel)
    regrets = {name: runs.of(name, "regret") for name in dress}
    _bands(axes, panel, regrets, t)
    # The baseline, a diagonal at most, passes below the inset.
    tops = [(t, regret.max(axis=0)) for regret in regrets.values()]
    if early is not None and style.first_free(axes, [REGRET_INSET], tops, margin=0.03):
        first = t <= early
        inset = style.inset(axes, REGRET_INSET, f"first {early:,} plays")
        _bands(inset, panel, {name: regret[:, first] for name, regret in regrets.items()}, t[first])
    ends = [(float(regret.mean(axis=0)[-1]), name, dress[name]) for name, regret in regrets.items()]
    style.label_ends(
        axes, [(panel.slope * panel.horizon, "baseline\n(the floor)", style.FLOOR), *ends]
    )


def _bands(axes: Axes, panel: Panel, regrets: dict[str, Array], t: Array) -> None:
    """Every curve's mean, least and most, and the baseline."""
    for name, regret in regrets.items():
        style.band(axes, t, regret, roles(panel)[name])
    style.line(axes, t, panel.slope * t, style.FLOOR)
    axes.set_xlim(0, t[-1])
    axes.set_ylim(bottom=0)


def _promise(axes: Axes, runs: PanelRuns, end: float) -> None:
    """``end``: the play at which the panel ends."""
    panel, t = runs.panel, runs.t
    what = "Reward received" if panel.promises_reward else "t·MV"
    axes.set_title(f"{what} minus the floor, in the worst run")
    axes.set_xlabel("play")
    axes.set_ylabel(f"{'reward' if panel.promises_reward else what} above the floor")
    worst = {name: runs.of(name, "slack").min(axis=0) for name in panel.names()}
    reach = max(1.0, *(-runs.of(name, "minimum_slack").min() for name in worst))
    axes.set_xlim(0, end)
    axes.set_ylim(-_DEPTH * reach, _HEIGHT * reach)
    _slacks(axes, panel, worst, t)
    paths = [(t, slack) for slack in worst.values()]
    box = style.first_free(axes, PROMISE_INSETS, paths)
    if box and end > 2 * FIRST_PLAYS:
        inset = style.inset(axes, box, f"first {FIRST_PLAYS} plays")
        inset.set_xlim(0, FIRST_PLAYS)
        first = t <= FIRST_PLAYS
        high = max(2.0, 1.1 * float(worst[panel.guarded][first].max()))
        inset.set_ylim(-high / 2, high)
        _slacks(inset, panel, {name: slack[first] for name, slack in worst.items()}, t[first])
    places = [(0.71, _DEPTH / (_DEPTH + _HEIGHT) - 0.08, 0.27, 0.06)]  # right under the floor
    if box != PROMISE_INSETS[0]:
        places.append((0.71, 0.02, 0.27, 0.06))
    place = style.first_free(axes, places, paths, margin=0.01)
    if place:
        axes.text(
            place[0], place[1] + 0.03, "below the floor",
            transform=axes.transAxes, va="center", color=style.QUIET, style="italic",
        )  # fmt: skip
    _name_curves(axes, runs, worst)


def _slacks(axes: Axes, panel: Panel, worst: dict[str, Array], t: Array) -> None:
    """The worst run of every agent, and the floor; call it when the limits are final."""
    axes.axhspan(axes.get_ylim()[0], 0, color=style.HAIR, alpha=0.45, linewidth=0)
    axes.axhline(0, color=style.BLACK, linewidth=1)
    for name, slack in worst.items():
        style.line(axes, t, slack, roles(panel)[name])


def _name_curves(axes: Axes, runs: PanelRuns, worst: dict[str, Array]) -> None:
    """Name each curve, and tell the least it ever had over all runs and all plays.

    A curve is named at its lowest point if that is below the floor, else where it ends or leaves.
    """
    t, end, top = runs.t, axes.get_xlim()[1], axes.get_ylim()[1]
    ends = []
    for name, curve in roles(runs.panel).items():
        least = runs.of(name, "minimum_slack").min(axis=0)
        words = f"{name}: least {brief(least[-1])}"
        if least[-1] < 0:
            spot = int((least > least[-1]).sum())
            axes.plot(t[spot], least[-1], marker="o", color=curve.colour, markersize=5)
            align = "right" if t[spot] > 0.7 * end else "left" if t[spot] < 0.25 * end else "center"
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


_DOTS = (0, (1, 2.2))
_READ_THEORY = (
    "Thick: mean regret over the runs. Dotted: the theorems. One marked proved is a number that "
    "expected regret stays below; one marked order is the theorem's shape, scaled to end where its "
    "curve does, since its constants cannot be trusted: compare slopes, not heights."
)


def draw_theory(runs: PanelRuns, stem: Path) -> str:
    """Write ``stem`` as PNG, SVG and PDF from the tidy rows of one panel; return the caption."""
    panel, t, found = runs.panel, runs.t, theorems(runs)
    read = f"{_READ_THEORY} {_default_plays(runs)}"
    below = "\n".join([setting(runs), read, *map(_said, found)])
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
            mean = runs.of(name, "regret").mean(axis=0)
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
    "Left: {0.regret} against {1}, mean over the runs, with the least and the most as "
    "edges. The baseline {0.baseline} is the "
    "regret of one who earns exactly the floor. Rewards scatter about their means, so a curve may "
    "lie above the baseline although the floor was kept."
)
_RIGHT = (
    "Right: {0.earned} minus the floor {0.floor}, the least of all runs at each play drawn; the "
    "default counts at its known value {1:g}. Whether the "
    "floor was kept is read off the account, in exact numbers, after every play of every run. "
    "Plays that ended below it, over all runs: {2}."
)


def caption(runs: PanelRuns) -> str:
    """Three paragraphs for the runs of one panel."""
    panel = runs.panel
    chosen, rival, kept = ", ".join(panel.choices), panel.words.rival, []
    if panel.worth > panel.top:
        rival = "the default, which is better than every arm (μ* stands for it)"
    for name in panel.names():
        below = int(runs.last(name, "violating_rounds").sum())
        least = float(runs.of(name, "minimum_slack").min())
        kept.append(f"{name} {below:,}" + (f" (up to {plain(-least)} short)" if below else ""))
    return (
        f"{setting(runs)} Choices of ours, on which the paper is silent: {chosen}. "
        f"{panel.words.remark}\n{_LEFT.format(panel.words, rival)}\n"
        f"{_RIGHT.format(panel.words, panel.pays, ', '.join(kept))}"
    )


def setting(runs: PanelRuns) -> str:
    """Whose setting it is, what it is, and how many runs of it there are."""
    panel, count = runs.panel, runs.count
    origin = "A setting that the paper does not show"
    if panel.source:
        origin = f"Setting of {panel.source}"
    stopped = f" (stopped: {panel.runs} were asked for)" if count < panel.runs else ""
    return (
        f"{origin}: {panel.setting}; {counted(count, 'run')}{stopped}. {panel.guarded} is the "
        "algorithm as printed: the default does not compete with the arms."
    )
