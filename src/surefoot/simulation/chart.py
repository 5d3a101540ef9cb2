"""The figure of a simulation: regret, what was above the floor, and who was played how often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from surefoot._drawing import style
from surefoot._drawing.numbers import Array, brief, counted
from surefoot._exact import one_of, shown
from surefoot.errors import InvalidInput
from surefoot.simulation import loop

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from surefoot.simulation.result import Result

PANELS = ("regret", "slack", "arms")
_BINS = 20
_NAMED = 6
"""Arms that have a colour of their own; the others share one."""
_NOTHING = 1e-9
"""What rounding leaves of a share."""
_ACROSS = 3
_HEIGHT = 3.3  # inches of a row
_OTHERS, _DEFAULT = style.Curve(style.HAIR, "-"), style.Curve(style.QUIET, "-")


class Shares(NamedTuple):
    """Which share of an agent's plays went where, in stretches of plays one after the other."""

    edges: Array
    """The plays before the first stretch and at the end of each: checkpoints."""
    default: Array
    """Share of default plays in each stretch, over all runs: counted."""
    arms: dict[int, Array]
    """arm -> its share in each stretch: the explorations, split as those at the checkpoints are.
    Empty for super arms and points."""


def draw(result: Result, panels: Sequence[str] = PANELS) -> Figure:
    """The figure of a result; see ``Result.plot``."""
    if isinstance(panels, str) or not isinstance(panels, Sequence) or not panels:
        raise InvalidInput(f"panels = {shown(panels)} must be a list of some of {list(PANELS)}")
    for panel in panels:
        one_of(panel, "panels: a panel", PANELS)
    curves = dict(zip(result.agents, style.curves(len(result.agents)), strict=True))
    guarded = [name for name in curves if result.plan.agents[name].measured]
    kinds: list[tuple[str, str]] = [("regret", "")] if "regret" in panels else []
    if "slack" in panels:
        kinds += [("slack", floor) for floor in _floors(result, guarded)]
    if "arms" in panels:
        kinds += [("arms", name) for name in curves]
    across = 2 if len(kinds) == 4 else min(_ACROSS, len(kinds))
    rows = -(-len(kinds) // across)
    title = (
        f"{counted(len(curves), 'agent')}, {counted(len(result.runs), 'run')} of "
        f"{counted(result.plan.horizon, 'play')}"
    )
    shares = {name: shares_of(result, name) for kind, name in kinds if kind == "arms"}
    size = (max(6.5, 5.6 * across), 0.6 + rows * (_HEIGHT + 0.4))
    words = "".join(curves) + _labels(result)
    with style.sheet(title, _caption(result, shares), across, size, words, rows) as (
        figure,
        places,
    ):
        for axes, (kind, name) in zip(places, kinds, strict=False):
            axes.set_xlabel("play")
            if kind == "regret":
                _regret(axes, result, curves)
            elif kind == "slack":
                _slack(axes, result, name, {one: curves[one] for one in guarded})
            else:
                _arms(axes, result, name, shares)
        spares = places[len(kinds) :]
        for spare in spares:
            spare.set_axis_off()
        for row in range(rows):
            style.fit(places[row * across : (row + 1) * across])
        for spare in spares:
            spare.remove()
        return figure


def _labels(result: Result) -> str:
    arms = (agent.actions.arms for agent in result.plan.agents.values())
    return "".join(str(label) for labels in arms for label in labels[:100])


def _caption(result: Result, shares: dict[str, Shares]) -> str:
    lines = [style.READ]
    if shares:
        noted = len(result.plan.checkpoints)
        words = (
            f"Shares: default plays are counted; explorations are split as those of the "
            f"{noted:,} plays noted in each run."
        )
        if noted == result.plan.horizon:
            words = "Shares: all plays are counted."
        lines.append(words)
    return " ".join(lines)


def _regret(axes: Axes, result: Result, curves: dict[str, style.Curve]) -> None:
    axes.set_title("Cumulative regret")
    axes.set_ylabel("pseudo-regret")
    _bands(axes, result, "regret", curves)


def _floors(result: Result, guarded: Sequence[str]) -> list[str]:
    """The names of all floors, each a panel: amounts of two measures are not of one unit."""
    return list(dict.fromkeys(floor for name in guarded for floor in result.plan.guards[name]))


def _slack(axes: Axes, result: Result, floor: str, curves: dict[str, style.Curve]) -> None:
    plan = result.plan
    mine = {name: curve for name, curve in curves.items() if floor in plan.guards[name]}
    moments = any(plan.agents[name].floor.rho is not None for name in mine)
    costs = any(plan.guards[name][floor].costs for name in mine)
    of = f": {floor}" if any(map(plan.several, mine)) else ""
    axes.set_title(f"{'Below the ceiling' if costs else 'Above the floor'}{of}")
    said = f"{floor if of else 'cost'} below the ceiling" if costs else "reward above the floor"
    if of and not costs:
        said = f"{floor} above the floor"
    axes.set_ylabel("t·MV above the floor" if moments else said)
    _bands(axes, result, "slack", mine, floor)
    low, high = axes.get_ylim()
    if low < 0:
        axes.axhspan(low, 0, color=style.HAIR, alpha=0.45, linewidth=0)
    axes.axhline(0, color=style.FLOOR.colour, linewidth=1)
    axes.set_ylim(low, high)


def _bands(
    axes: Axes, result: Result, measure: str, curves: dict[str, style.Curve],
    floor: str | None = None,
) -> None:  # fmt: skip
    t, ends = result.plan.checkpoints, []
    for name, curve in curves.items():
        values = result.measure(name, measure, floor)
        style.band(axes, t, values, curve)
        end = float(values[:, -1].mean())
        ends.append((end, f"{name}\n{brief(end)}", curve))
    axes.set_xlim(0, t[-1])
    if measure == "regret" and min(end for end, _, _ in ends) >= 0:
        axes.set_ylim(bottom=0)
    style.label_ends(axes, ends)


def shares_of(result: Result, name: str) -> Shares:
    """How an agent's plays were shared, in at most 20 stretches that end at checkpoints.

    Holds when: ``default``, always; ``arms``, exactly where every play is a checkpoint. Does not
    hold when: a policy plays its arms in a rhythm that the checkpoints fall in with.
    """
    t = result.plan.checkpoints
    ends = np.arange(len(t))
    if len(t) > _BINS:
        ends = np.unique(np.searchsorted(t, np.linspace(0, t[-1], _BINS + 1)[1:]))
    edges = np.concatenate([[0], t[ends]])
    books = np.stack([run[name].books for run in result.runs.values()])
    made = books[:, ends, loop.DEFAULTS].sum(axis=0)
    plays = np.diff(edges) * len(books)
    default = np.diff(np.concatenate([[0], made])) / plays
    actions = result.plan.agents[name].actions
    if not actions.numbered:
        return Shares(edges, default, {})
    arms, stretch = books[:, :, loop.ARM], np.searchsorted(ends, np.arange(len(t)))
    counts = {}
    for arm in np.unique(arms[arms >= 0]).tolist():
        counts[arm] = np.bincount(stretch, (arms == arm).sum(axis=0), len(ends))
    total: Any = sum(counts.values()) if counts else np.zeros(len(ends))
    # Where no noted play explores, what the runs explored there is nobody's: "other arms".
    scale = (1 - default) / np.maximum(total, 1)
    return Shares(edges, default, {arm: count * scale for arm, count in counts.items()})


def _arms(axes: Axes, result: Result, name: str, shares: dict[str, Shares]) -> None:
    """Stacked shares: the default, the arms most played by any agent, all others."""
    mine, actions = shares[name], result.plan.agents[name].actions
    axes.set_title(f"{name}: share of plays")
    axes.set_ylabel("share of plays")
    axes.grid(visible=False)
    named = _most_played(shares)
    layers = [("default", mine.default, _DEFAULT)]
    for arm, curve in zip(named, style.curves(len(named)), strict=True):
        if arm in mine.arms:
            label = actions.arms[arm] if actions.arms else arm
            layers.append((f"arm {label}", mine.arms[arm], curve))
    rest = np.clip(1 - sum(share for _, share, _ in layers), 0, 1)
    layers.append(("other arms" if mine.arms else "explorations", rest, _OTHERS))
    bottom = np.zeros(len(mine.default))
    plays, ends = np.diff(mine.edges), []
    for words, share, curve in layers:
        if share.max() < _NOTHING:
            continue
        axes.stairs(
            bottom + share, mine.edges, baseline=bottom, fill=True, facecolor=curve.colour,
            edgecolor="white", linewidth=0.4,
        )  # fmt: skip
        middle = float(bottom[-1] + share[-1] / 2)
        percent = 100 * float((share * plays).sum() / mine.edges[-1])
        counted_all = curve is _DEFAULT or len(result.plan.checkpoints) == result.plan.horizon
        whole = (
            f"{percent:.3g} %" if counted_all else f"{round(percent)} %" if percent >= 1 else "<1 %"
        )
        ink = curve if curve is not _OTHERS else style.Curve(style.QUIET, "-")
        ends.append((middle, f"{words}: {whole}", ink))
        bottom = bottom + share
    axes.set_xlim(0, mine.edges[-1])
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    style.label_ends(axes, ends)


def _most_played(shares: dict[str, Shares]) -> list[int]:
    """The arms with colours of their own: those with the largest share in all agents together."""
    plays: dict[int, float] = {}
    for one in shares.values():
        for arm, share in one.arms.items():
            plays[arm] = plays.get(arm, 0.0) + float((share * np.diff(one.edges)).sum())
    return sorted(sorted(plays, key=lambda arm: -plays[arm])[:_NAMED])
