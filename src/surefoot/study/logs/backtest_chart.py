"""The chart of a backtest."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from surefoot._drawing import style
from surefoot.study.logs.axes import SIZE, short_ticks
from surefoot.study.logs.backtest import AGENTS, GUARDED, JOINED, UNGUARDED, Backtest
from surefoot.study.logs.backtest_words import called
from surefoot.study.logs.evidence import CANNOT_TELL, DOES_NOT_PAY, PAYS
from surefoot.study.numbers import Array, amount, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


AGENT_CURVES = {GUARDED: style.GUARDED, UNGUARDED: style.UNGUARDED, JOINED: style.COMPARATOR}
_VERBS = {PAYS: "bought", DOES_NOT_PAY: "cost", CANNOT_TELL: "changed"}
_CLEAR = 0.6  # of the left panel's height: what is not the inset's


def draw_backtest(findings: Backtest, stem: Path) -> list[Path]:
    """Write ``stem`` as PNG, SVG and PDF.

    Left: reward above always playing the default, its mean, least and most over the runs, and the
    floor; the inset shows the reward in full. Right: what the worst run had above the floor after
    each play, until no run is below it any more.
    """
    with _drawn(findings) as figure:
        return style.save(figure, stem)


def figure_of(findings: Backtest) -> Figure:
    """The same as a figure."""
    with _drawn(findings) as figure:
        return figure


@contextmanager
def _drawn(findings: Backtest) -> Iterator[Figure]:
    title, caption = findings.headline(), "\n".join(findings.notes())
    shown = findings.runs.shown
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # style.sheet has warned of it
        with style.sheet(title, caption, 2, SIZE, shown) as (figure, (left, right)):
            for axes in (left, right):
                axes.set_xlabel(findings.runs.subject.play)
                short_ticks(axes.yaxis)
            _bought(left, findings)
            _risked(right, findings)
            style.fit((left, right))
            yield figure


def _bought(axes: Axes, findings: Backtest) -> None:
    backtest, t = findings.runs, findings.t
    reward, always = backtest.subject.reward, f"always {backtest.shown}"
    gains = {name: findings.measure(name, "gain") for name in AGENTS}
    rising = float(gains[GUARDED].mean()) > 0
    axes.set_title(f"What exploring {_VERBS[findings.verdict]}")
    axes.set_ylabel(f"{reward} above {always}")
    floor = float(backtest.least - backtest.value) * t
    low, high = _limits(t, gains, floor, rising)
    axes.set_xlim(0, t[-1])
    axes.set_ylim(low, high)
    labels = [(0.0, always, style.DEFAULT), (floor[-1], "floor", style.FLOOR)]
    for name in reversed(AGENTS):
        curve, gain = AGENT_CURVES[name], gains[name]
        middle, least, most = gain.mean(axis=0), gain.min(axis=0), gain.max(axis=0)
        if name == GUARDED:
            style.band(axes, t, gain, curve)
        else:
            style.line(axes, t, middle, curve)
        if name == UNGUARDED:
            for edge in (least, most):
                style.line(axes, t, edge, curve._replace(width=0.7))
            axes.fill_between(
                t, least, np.clip(floor, least, most), color=curve.colour, alpha=0.3, linewidth=0
            )
        ends = (middle[-1], least[-1], most[-1])
        mean, worst, best = (amount(end, max(map(abs, ends)), signed=True) for end in ends)
        where = ", off the chart" if middle[-1] < low else ""
        spread = "" if worst == best else f" ({worst} to {best})"
        text = f"{called(findings, name)}{where}\n{mean}{spread}"
        labels.append((max(float(middle[-1]), low), text, curve))
    style.line(axes, t, np.zeros(len(t)), style.DEFAULT)
    style.line(axes, t, floor, style.FLOOR)
    style.label_ends(axes, labels)
    _in_full(axes, findings, rising)


def _limits(t: Array, gains: dict[str, Array], floor: Array, rising: bool) -> tuple[float, float]:
    """Room for all, and for the inset, but not for a fall so deep that the rest would be flat."""
    guarded, joined = gains[GUARDED], gains[JOINED].mean(axis=0)
    kept = np.minimum(np.minimum(guarded.min(axis=0), joined), floor)
    tops = np.maximum.reduce([gain.max(axis=0) for gain in gains.values()])
    low = min(max(gains[UNGUARDED].min(), 2.2 * kept.min()), kept.min())
    high = max(tops.max(), -0.1 * low)
    if rising:
        high = max(high, low + (tops[t <= max(t[0], 0.45 * t[-1])].max() - low) / _CLEAR)
    else:
        low = min(low, high - (high - kept[t <= max(t[0], 0.65 * t[-1])].min()) / _CLEAR)
    return 1.06 * low, 1.06 * high


def _in_full(axes: Axes, findings: Backtest, rising: bool) -> None:
    """The reward itself, where all of this looks small."""
    backtest, t = findings.runs, findings.t
    box = (0.17, 0.62, 0.27, 0.27) if rising else (0.44, 0.1, 0.27, 0.22)
    inset = style.inset(axes, box, "received in all")
    for axis in (inset.xaxis, inset.yaxis):
        short_ticks(axis)
    inset.locator_params(axis="x", nbins=2)
    inset.locator_params(axis="y", nbins=3)
    for name in (UNGUARDED, GUARDED):
        received = findings.measure(name, "received").mean(axis=0)
        style.line(inset, t, received, AGENT_CURVES[name]._replace(width=1.5))
    style.line(inset, t, float(backtest.value) * t, style.DEFAULT)
    style.line(inset, t, float(backtest.least) * t, style.FLOOR)
    inset.set_xlim(0, t[-1])


def _risked(axes: Axes, findings: Backtest) -> None:
    backtest, t = findings.runs, findings.t
    reward, runs = backtest.subject.reward, backtest.runs
    axes.set_title(f"What it risked: the worst of {runs:,} runs")
    axes.set_ylabel(f"{reward} above the floor")
    worst = {name: findings.measure(name, "slack").min(axis=0) for name in AGENTS}
    end, depth, top = _window(t, worst)
    axes.set_xlim(0, end)
    axes.set_ylim(-depth, top)
    axes.axhspan(-depth, 0, color=style.HAIR, alpha=0.45, linewidth=0)
    labels = []
    for name in reversed(AGENTS):
        curve, agent = AGENT_CURVES[name], findings.agent(name)
        style.line(axes, t, worst[name], curve)
        text = f"{called(findings, name)}\nnever below"
        shortfall = agent["worst_shortfall"]
        if shortfall > 0:
            least = findings.measure(name, "minimum_slack").min(axis=0)
            axes.plot(
                t[(least > least[-1]).sum()], least[-1],
                marker="o", color=curve.colour, markersize=5,
            )  # fmt: skip
            text = (
                f"{called(findings, name)}\nup to {amount(shortfall)} below,\n"
                f"{round(runs * agent['runs_below_floor']):,} of {runs:,} runs,\n"
                f"{percent(agent['plays_below_floor'])} of plays"
            )
        height = float(np.interp(end, t, worst[name]))
        labels.append((min(max(height, -0.92 * depth), 0.85 * top), text, curve))
    style.line(axes, t, np.zeros(len(t)), style.FLOOR)
    style.label_ends(axes, labels)


def _window(t: Array, worst: dict[str, Array]) -> tuple[float, float, float]:
    """Plays until no run is below the floor any more, half as many again; depth and height."""
    lowest = np.minimum(worst[UNGUARDED], worst[JOINED])
    below = t[lowest < 0]
    end = min(float(t[-1]), 1.5 * float(below[-1])) if len(below) else float(t[-1])
    depth = -float(lowest.min())
    if worst[JOINED].min() < 0:
        depth = min(depth, -4 * float(worst[JOINED].min()))
    heights = [float(np.interp(end, t, slack)) for slack in worst.values()]
    top = max(0.6 * depth, min(max(heights), 2 * depth if depth > 0 else max(heights)))
    return end, 1.1 * max(depth, 0.1 * top), 1.4 * top
