"""The chart of a plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from surefoot._drawing import style
from surefoot.study.logs import self_funding
from surefoot.study.logs.axes import SIZE, short_ticks
from surefoot.study.logs.outlook import PLAUSIBLE, POOR, OutlookFindings
from surefoot.study.numbers import Array, amount, percent, tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCENARIO_CURVES = {PLAUSIBLE: style.GUARDED, POOR: style.UNGUARDED}
CALLED = {PLAUSIBLE: "as planned", POOR: "no arm as good"}
CALLED_OF_A_LOG = {PLAUSIBLE: "as the log has it", POOR: "at the lower ends"}


def draw_outlook(prospects: OutlookFindings, stem: Path) -> list[Path]:
    """Write ``stem`` as PNG, SVG and PDF.

    Left: the share of default plays so far, predicted, and the most that the gate can force.
    Right: reward above playing the default alone, predicted, and the exact floor below it. Both:
    mean, 5 % to 95 % and least and most over the runs; the poor scenario is hatched, so that two
    bands that cross are told apart in a grey print.
    """
    title, caption = prospects.headline(), "\n".join(prospects.notes())
    with style.sheet(title, caption, 2, SIZE) as (figure, (left, right)):
        traffic = prospects.outlook.traffic
        for axes in (left, right):
            axes.set_xlabel("play" if traffic is None else f"play ({traffic:,} a day)")
        _shares(left, prospects)
        _gains(right, prospects)
        style.fit((left, right))
        return style.save(figure, stem)


def _called(prospects: OutlookFindings, name: str) -> str:
    return (CALLED if prospects.outlook.seen is None else CALLED_OF_A_LOG)[name]


def forced(prospects: OutlookFindings) -> Array:
    """The most default plays that can be forced among the first t, as a share."""
    outlook = prospects.outlook
    floor = outlook.floor
    problem = outlook.value, floor.alpha, floor.reward_range, floor.reserve
    t = prospects.t.tolist()
    return np.array([1 - self_funding.fewest_explorations(at, *problem) / at for at in t])


def _shares(axes: Axes, prospects: OutlookFindings) -> None:
    t, most = prospects.t, forced(prospects)
    axes.set_title("Share of default plays so far, predicted")
    axes.set_ylabel("share of plays")
    if t[-1] > 1:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: tick(value, value))
    axes.set_xlim(1, max(2, t[-1]))
    axes.set_ylim(-0.06, 1.03)
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    labels = [(most[-1], f"forced at most\n{percent(most[-1])}", style.FLOOR)]
    for name in prospects.outlook.results:
        share = prospects.share(name)
        style.band(axes, t, share, SCENARIO_CURVES[name], hatched=name == POOR)
        end = float(share[:, -1].mean())
        labels.append((end, f"{_called(prospects, name)}\n{percent(end)}", SCENARIO_CURVES[name]))
    style.line(axes, t, most, style.FLOOR)
    style.label_ends(axes, labels)


def _gains(axes: Axes, prospects: OutlookFindings) -> None:
    t, outlook = prospects.t, prospects.outlook
    axes.set_title("What can be lost, and what is expected")
    axes.set_ylabel("reward above always the default")
    floor = -(float(outlook.floor.alpha * outlook.value) * t + float(outlook.floor.reserve))
    gains = {name: prospects.gain(name) for name in outlook.results}
    deepest = float(floor[-1])
    highest = max(float(gain.max()) for gain in gains.values())
    top = max(-0.3 * deepest, min(highest, -6 * deepest))  # a gain must not flatten the floor
    axes.set_xlim(0, t[-1])
    axes.set_ylim(1.08 * deepest - 0.06 * (top - deepest), 1.08 * top)
    for axis in (axes.xaxis, axes.yaxis):
        short_ticks(axis)
    labels = [
        (0.0, "always the default", style.DEFAULT),
        (deepest, f"floor: never below\n{amount(deepest)}", style.FLOOR),
    ]
    for name, gain in gains.items():
        style.band(axes, t, gain, SCENARIO_CURVES[name], hatched=name == POOR)
        end = float(gain[:, -1].mean())
        where = ", off the chart" if end > 1.08 * top else ""
        words = f"{_called(prospects, name)}{where}\n{amount(end, signed=True)}"
        labels.append((min(end, top), words, SCENARIO_CURVES[name]))
    style.line(axes, t, np.zeros(len(t)), style.DEFAULT)
    style.line(axes, t, floor, style.FLOOR)
    style.label_ends(axes, labels)
