"""What stands under a panel: its setting, whose choices they are, and how to read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.study.panel import Panel
from surefoot.study.summary import curves

if TYPE_CHECKING:
    import polars as pl

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


def caption(panel: Panel, frame: pl.DataFrame) -> str:
    """Three paragraphs for the tidy rows of one panel."""
    return "\n".join([
        f"{setting(panel, frame)} {_choices(panel)}",
        _LEFT.format(panel.words, _rival(panel)),
        _RIGHT.format(panel.words, panel.pays, _verdict(panel, frame)),
    ])  # fmt: skip


def setting(panel: Panel, frame: pl.DataFrame) -> str:
    """Whose setting it is, what it is, and how many runs of it there are."""
    origin = (
        f"Setting of {panel.source}" if panel.source else "A setting that the paper does not show"
    )
    runs = frame.get_column("run").n_unique()
    stopped = f" (stopped: {panel.runs} were asked for)" if runs < panel.runs else ""
    return (
        f"{origin}: {panel.setting}; {counted(runs, 'run')}{stopped}. {panel.guarded} is the "
        "algorithm as printed: the default does not compete with the arms."
    )


def _choices(panel: Panel) -> str:
    chosen = ", ".join(panel.choices)
    return f"Choices of ours, on which the paper is silent: {chosen}. {panel.words.remark}"


def _rival(panel: Panel) -> str:
    if panel.worth > panel.top:
        return "the default, which is better than every arm (μ* stands for it)"
    return panel.words.rival


def _verdict(panel: Panel, frame: pl.DataFrame) -> str:
    parts = []
    for name in panel.names():
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


def brief(value: float) -> str:
    """A reward to three digits, or whole: for a label.

    >>> brief(-1378.305), brief(0.0123456)
    ('\N{MINUS SIGN}1,378', '0.0123')
    """
    return amount(round(value) if abs(value) >= 100 else float(f"{value:.3g}"))


def counted(number: int, what: str) -> str:
    """A number and its noun.

    >>> counted(1, "run"), counted(50, "run")
    ('1 run', '50 runs')
    """
    return f"{number:,} {what}" + ("" if number == 1 else "s")
