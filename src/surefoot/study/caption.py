"""What stands under a CMAB panel: its setting, whose choices they are, and how to read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from surefoot.study.panel import Panel
from surefoot.study.summary import curves

if TYPE_CHECKING:
    import polars as pl

_CHOSEN = {
    "horizon": "horizon T = {0.horizon:,}",
    "seed": "seed {0.seed}",
    "delta": "ConUCB's δ = {0.delta}",
    "radius": "its radius “{0.radius}”",
    "scale": "its scale “{0.scale}”",
    "ties": "ties to the {0.ties}",
}
_LEFT = (
    "Left: pseudo-regret against {rival}, mean over the runs, with the least and the most as "
    "edges. The baseline t·(μ* - (1-α)·μ0) is the "
    "regret of one who earns exactly the floor. Rewards scatter about their means, so a curve may "
    "lie above the baseline although the floor was kept."
)
_RIGHT = (
    "Right: reward received minus the floor (1-α)·μ0·t, the least of all runs at each play; the "
    "default counts at its known value {mu0:g}. Whether the "
    "floor was kept is read off the account, in exact numbers, after every play of every run. "
    "Plays that ended below it, over all runs: {verdict}."
)


def caption(panel: Panel, frame: pl.DataFrame, names: Sequence[str]) -> str:
    """Three paragraphs for the tidy rows of one panel."""
    return "\n".join([
        f"{_setting(panel, frame)} {_choices(panel)}",
        _LEFT.format(rival=_rival(panel)),
        _RIGHT.format(mu0=panel.mu0, verdict=_verdict(frame, names)),
    ])  # fmt: skip


def _setting(panel: Panel, frame: pl.DataFrame) -> str:
    origin = (
        f"Setting of {panel.source}" if panel.source else "A setting that the paper does not show"
    )
    runs = frame.get_column("run").n_unique()
    stopped = f" (stopped: {panel.runs} were asked for)" if runs < panel.runs else ""
    return (
        f"{origin}: K = {panel.K} Bernoulli arms with means evenly spaced from {panel.best:g} to "
        f"{panel.worst:g}, a default that pays μ0 = {panel.mu0:g}, α = {panel.alpha:g}; "
        f"{_count(runs, 'run')}{stopped}. GenCB is the algorithm as printed: the default does not "
        "compete with the arms."
    )


def _choices(panel: Panel) -> str:
    chosen = [_CHOSEN[field].format(panel) for field in type(panel).ours]
    return (
        f"Choices of ours, on which the paper is silent: {', '.join(chosen)}. The gap to ConUCB "
        "depends strongly on its radius and scale."
    )


def _rival(panel: Panel) -> str:
    if panel.mu0 > max(panel.best, panel.worst):
        return "the default, which is better than every arm (μ* stands for it)"
    return "the best regular arm, whose mean is μ*"


def _verdict(frame: pl.DataFrame, names: Sequence[str]) -> str:
    parts = []
    for name in names:
        below = int(curves(frame, name, "violating_rounds")[:, -1].sum())
        least = float(curves(frame, name, "minimum_slack").min())
        parts.append(f"{name} {below:,}" + (f" (up to {amount(-least)} short)" if below else ""))
    return ", ".join(parts)


def amount(value: float) -> str:
    """A reward in full, with a real minus sign.

    >>> amount(-1378.305), amount(0.0)
    ('\N{MINUS SIGN}1,378.305', '0')
    """
    return f"{value:,.10g}".replace("-", "\N{MINUS SIGN}")


def _count(number: int, what: str) -> str:
    """A number and its noun.

    >>> _count(1, "run"), _count(50, "run")
    ('1 run', '50 runs')
    """
    return f"{number:,} {what}" + ("" if number == 1 else "s")
