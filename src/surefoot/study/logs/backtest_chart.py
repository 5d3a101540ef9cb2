"""The chart of a backtest: the gain, the danger without a guard, the arms, and the evidence."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from surefoot._drawing import style
from surefoot.study.logs.axes import SIZE, short_ticks
from surefoot.study.logs.backtest import Backtest
from surefoot.study.logs.backtest_words import called, signed
from surefoot.study.logs.worlds import (
    AGENTS,
    COPIES,
    GUARDED,
    JOINED,
    LOG,
    REDRAWN,
    SHUFFLED,
    UNGUARDED,
)
from surefoot.study.numbers import Array, amount, full, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


AGENT_CURVES = {GUARDED: style.GUARDED, UNGUARDED: style.UNGUARDED, JOINED: style.COMPARATOR}
_BAR = style.GUARDED._replace(width=2.2, dash="-")
_ROOM = 1.09  # of the horizon: beside the curves stands the interval
_BEYOND = 1.045
_SHOWN = 12


def draw_backtest(findings: Backtest, stem: Path) -> list[Path]:
    """Write ``stem`` as PNG, SVG and PDF.

    Gain over all of the horizon, its interval and the luck beside it; how far the unguarded agents
    fall below the floor, over the redrawn logs; each arm's mean and interval; and where the log
    stands among its shuffled copies, or with several alphas the gain under each of them.
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
    labels = "".join(str(label) for label in findings.runs.labels)
    size = SIZE[0], 2 * SIZE[1] - 0.5
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # style.sheet has warned of it
        with style.sheet(title, caption, 2, size, labels, rows=2) as (figure, panels):
            _gain(panels[0], findings)
            _danger(panels[1], findings)
            _arms(panels[2], findings)
            (_sweep if len(findings.runs.alphas) > 1 else _copies)(panels[3], findings)
            style.fit(panels[:2])
            style.fit(panels[2:])
            yield figure


def _gain(axes: Axes, findings: Backtest) -> None:
    """The gain of each agent along the plays, and what it comes to at the end."""
    runs, t, gain = findings.runs, findings.t, findings.gain
    reward, always = runs.subject.reward, f"always {runs.shown}"
    axes.set_title(f"Gain over {runs.horizon:,} {runs.subject.play}s")
    axes.set_ylabel(f"{reward} above {always}")
    axes.set_xlabel(runs.subject.play)
    for axis in (axes.xaxis, axes.yaxis):
        short_ticks(axis)
    gains = {name: findings.measure(name, "gain") for name in AGENTS}
    stake = -float(runs.value - runs.least) * t
    low, high = _limits(findings, gains, float(stake[-1]))
    axes.set_xlim(0, _ROOM * t[-1])
    axes.set_ylim(low, high)
    labels = [(0.0, always, style.DEFAULT)]
    labels.append((stake[-1], f"most lost, surely\n{signed(stake[-1])}", style.FLOOR))
    for name in (JOINED, UNGUARDED):
        curve, middle = AGENT_CURVES[name], gains[name].mean(axis=0)
        style.line(axes, t, middle, curve._replace(width=1.2))
        where = ", off the chart" if middle[-1] < low else ""
        text = f"{called(findings, name)}{where} {signed(middle[-1])}"
        labels.append((max(float(middle[-1]), low), text, curve))
    style.band(axes, t, gains[GUARDED], style.GUARDED)
    style.line(axes, t, np.zeros(len(t)), style.DEFAULT)
    style.line(axes, t, stake, style.FLOOR)
    at = _BEYOND * t[-1]
    axes.plot([at, at], [gain.low, gain.high], color=_BAR.colour, linewidth=_BAR.width)
    axes.plot([at], [gain.mean], marker="o", color=_BAR.colour, markersize=6)
    axes.plot([at], [gain.luck], marker="D", color=style.QUIET, markersize=5)
    ends = f"{signed(gain.low)} to {signed(gain.high)}"
    labels += [
        (gain.in_sample, f"guarded, in the log {signed(gain.in_sample)}", style.GUARDED),
        (gain.mean, f"less luck {signed(gain.mean)}\n{ends}", style.GUARDED),
        (gain.luck, f"luck {signed(gain.luck)}", style.DEFAULT),
    ]
    style.label_ends(axes, labels)


def _limits(findings: Backtest, gains: dict[str, Array], stake: float) -> tuple[float, float]:
    """Room for all but a fall so deep that the rest would be flat."""
    gain, guarded = findings.gain, gains[GUARDED]
    least = min(stake, gain.low, gain.luck, float(guarded.min()))
    most = max(-0.2 * least, gain.high, gain.luck, float(guarded.max()))
    others = [gains[name].mean(axis=0) for name in (UNGUARDED, JOINED)]
    deepest = min(float(middle.min()) for middle in others)
    least = max(min(least, deepest), least - 1.5 * (most - least))
    most = max(most, *(float(middle.max()) for middle in others))
    room = 0.06 * (most - least or 1.0)
    return least - room, most + room


def _danger(axes: Axes, findings: Backtest) -> None:
    """In how many of the redrawn logs an unguarded agent falls so far below the floor."""
    runs = findings.runs
    axes.set_title("Below the floor, over redrawn logs (optimistic)")
    axes.set_ylabel("share of redrawn logs")
    axes.set_xlabel(f"falls so far below, in {runs.subject.reward}")
    short_ticks(axes.xaxis)
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    unit = float(runs.floor.unit.decimal(1))
    labels = [(0.0, "guarded\nnever", style.GUARDED)]
    dips = {
        name: np.sort([one.dips[name] for one in runs.of_kind(REDRAWN)]) * unit
        for name in (UNGUARDED, JOINED)
    }
    reach = max(float(each[-1]) for each in dips.values()) or 1.0
    axes.set_xlim(0, 1.05 * reach)
    axes.set_ylim(-0.03, 1.03)
    for name, deep in dips.items():
        share = 1 - np.arange(len(deep)) / len(deep)
        steps = np.append(np.append(0, deep), 1.05 * reach)
        axes.step(
            steps, np.append(np.append((deep > 0).mean(), share), 0), where="pre",
            color=AGENT_CURVES[name].colour, linestyle=AGENT_CURVES[name].dash, linewidth=1.6,
        )  # fmt: skip
        half = float(np.quantile(deep, 0.5))
        words = f"in half of them by\n{amount(half)} or more" if half else "never in half of them"
        labels.append((0.85 if name == UNGUARDED else 0.45,
                       f"{called(findings, name)}\n{percent(float((deep > 0).mean()))}, {words}",
                       AGENT_CURVES[name]))  # fmt: skip
    style.line(axes, np.array([0, 1.05 * reach]), np.zeros(2), style.GUARDED)
    style.label_ends(axes, labels)


def _arms(axes: Axes, findings: Backtest) -> None:
    """Each arm's mean and interval, the default above the others."""
    default, *others = findings.arms
    others.sort(key=lambda arm: -arm["mean"])
    shown, left_out = [default, *others[: _SHOWN - 1]], max(0, len(others) - _SHOWN + 1)
    places = np.arange(len(shown))[::-1]
    rest = f", {left_out:,} more left out" if left_out else ""
    axes.set_title(f"Each arm in the log: mean, 95 % interval, rows{rest}")
    axes.set_xlabel(findings.runs.subject.reward + f" a {findings.runs.subject.play}")
    short_ticks(axes.xaxis)
    for place, arm in zip(places, shown, strict=True):
        curve = style.DEFAULT if arm["is_default"] else style.GUARDED
        axes.plot([arm["low"], arm["high"]], [place, place], color=curve.colour, linewidth=2.2)
        axes.plot([arm["mean"]], [place], marker="o", color=curve.colour, markersize=5.5)
    axes.axvline(default["mean"], color=style.DEFAULT.colour, linewidth=0.8)
    axes.axvline(float(findings.runs.value), color=style.FLOOR.colour, linewidth=0.8, linestyle=":")
    axes.set_ylim(-0.7, len(shown) - 0.3)
    axes.set_yticks(places, [_short(arm["arm"]) for arm in shown])
    labels = []
    for place, arm in zip(places, shown, strict=True):
        marks = "".join(f", {mark}" for mark in ("few", "heavy") if arm[mark])
        curve = style.DEFAULT if arm["is_default"] else style.GUARDED
        words = f"{full(arm['mean'], figures=3)} ({arm['rows']:,}{marks})"
        labels.append((float(place), words, curve))
    style.label_ends(axes, labels, leading=11)


def _short(label: object) -> str:
    text = " ".join(str(label).split())
    return text if len(text) <= 16 else f"{text[:15]}…"


def _copies(axes: Axes, findings: Backtest) -> None:
    """Where the log stands among its shuffled copies."""
    runs, gain = findings.runs, findings.gain
    own = np.mean([one.plays[0] for one in runs.of_kind(LOG)[: runs.worlds.pair]], axis=0)
    t = runs.worlds.logged.gain(own).t
    shuffled = np.array([one.gains[0].t for one in runs.of_kind(SHUFFLED)])
    axes.set_title("The log among its shuffled copies, in which no arm is better")
    axes.set_ylabel("copies")
    axes.set_xlabel("gain, in its standard errors")
    ends = min(t, float(shuffled.min())), max(t, float(shuffled.max()))
    room = 0.05 * (ends[1] - ends[0] or 1.0)
    axes.hist(shuffled, bins=24, range=ends if ends[0] < ends[1] else None, color=style.HAIR,
              edgecolor=style.QUIET, linewidth=0.6)  # fmt: skip
    axes.axvline(t, color=style.GUARDED.colour, linewidth=2.2)
    axes.set_xlim(ends[0] - room, ends[1] + room)
    top = axes.get_ylim()[1]
    alike = int((shuffled >= t).sum())
    said = f"this log\nas clear: {alike} of {COPIES}\np = {gain.p:.3f}"
    labels = [(0.8 * top, said, style.GUARDED), (0.2 * top, "shuffled", style.DEFAULT)]
    style.label_ends(axes, labels)


def _sweep(axes: Axes, findings: Backtest) -> None:
    """The gain under each alpha, its interval, and what is surely staked for it."""
    reward = findings.runs.subject.reward
    swept = sorted(findings.sweep, key=lambda one: one["alpha"])
    places = np.arange(len(swept))
    axes.set_title("Gain under each alpha, and the most that can be lost for it")
    axes.set_ylabel(f"{reward} above always {findings.runs.shown}")
    axes.set_xlabel("alpha")
    short_ticks(axes.yaxis)
    for place, one in zip(places, swept, strict=True):
        ends = [one["gain"]["low"], one["gain"]["high"]]
        axes.plot([place, place], ends, color=style.GUARDED.colour, linewidth=2.2)
        axes.plot([place], [one["gain"]["mean"]], marker="o", color=style.GUARDED.colour)
        axes.plot(
            [place - 0.25, place + 0.25], [-one["stake"]] * 2, color=style.FLOOR.colour,
            linestyle=style.FLOOR.dash,
        )  # fmt: skip
    axes.set_xticks(places, [f"{one['alpha']:g}" for one in swept])
    axes.set_xlim(-0.6, len(swept) - 0.4)
    style.line(axes, np.array([-0.6, len(swept) - 0.4]), np.zeros(2), style.DEFAULT)
    last = swept[-1]
    labels = [
        (last["gain"]["mean"], "gain\nless luck", style.GUARDED),
        (-last["stake"], "most lost,\nsurely", style.FLOOR),
    ]
    style.label_ends(axes, labels)
