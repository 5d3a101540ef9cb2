"""What the paper says of its experiments, held against our runs.

Each claim is decided by a rule stated with it, from the checkpoints of all finished runs. A claim
that does not hold here may hold at another horizon or instance: the paper names neither. What
these runs are too few or too short to tell is said to be undecided, not to hold.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from surefoot.study.caption import brief
from surefoot.study.panel import Panel
from surefoot.study.summary import curves, plays

if TYPE_CHECKING:
    import polars as pl

LAST = 0.8
"""The last part of the horizon begins here: the last fifth."""
SHARE = 0.05
"""Growth below this share of the whole over the last fifth is called none; a line grows a fifth."""
CHANCE = 2.0
"""A deficit of the mean over n runs above this times w*sqrt(t/n), w what one reward can move, has
probability exp(-8) at most where the expectation is not below the floor (Hoeffding)."""


class Claim(NamedTuple):
    """A claim of the paper, and what our runs say."""

    key: str
    """"kept", "flat", "lower", "constant" or "early"."""
    claim: str
    holds: bool | None
    """None: these runs do not decide it."""
    found: str
    """The numbers it is decided by."""


RULES = {
    "kept": "no play of any run ends below the floor, in exact numbers",
    "flat": "no run plays the default in the last fifth of the plays",
    "lower": "the mean over the runs of the difference at the horizon is negative by more than two "
    "standard errors; runs of equal number share their noise",
    "constant": "the difference of regrets moves in the last fifth of the plays by at most a "
    "twentieth of itself, up or down, two standard errors included; one that grows with the plays "
    "would grow by a fifth of itself. Not decided: it moves by no more than two standard errors, "
    "but they allow for more than a twentieth, or there is a single run",
    "early": "at some checkpoint t the unguarded policy is below the floor in the mean over the n "
    "runs, by more than 2w√(t/n), w being the most that one reward can move its account; where its "
    "expectation is not below the floor, chance does that at a checkpoint in less than one study "
    "of 2,900. Not decided: runs fall below the floor, but by no more than that",
}
"""When a claim is said to hold, and when it is not decided: ours, the paper has words only."""


def claims(panel: Panel, frame: pl.DataFrame) -> list[Claim]:
    """The paper's claims about one panel, from its rows; no comparator, no claim about it.

    Source: Du, Wang, Huang 2021, Experiments. The rules are ours, see ``RULES``.
    """
    found = [_kept(panel, frame), _flat(panel, frame)]
    if panel.comparator is not None:
        found.append(_lower(panel, frame, panel.comparator))
    return [*found, _constant(panel, frame), _early(panel, frame)]


def _kept(panel: Panel, frame: pl.DataFrame) -> Claim:
    name = panel.guarded
    below = int(curves(frame, name, "violating_rounds")[:, -1].sum())
    least = float(curves(frame, name, "minimum_slack").min())
    return Claim(
        "kept", f"{name} never violates the constraint", below == 0 and least >= 0,
        f"{below:,} plays below the floor; least slack {least:,.4g}",
    )  # fmt: skip


def _flat(panel: Panel, frame: pl.DataFrame) -> Claim:
    t, made = plays(frame), curves(frame, panel.guarded, "default_plays")
    last = since(t, made)
    mean = float(made[:, -1].mean())
    holds = last <= LAST * t[-1]
    said = (
        f"flat from play {last:,} on in every run" if holds
        else f"not flat within the horizon: a run plays the default as late as play {last:,}"
    )  # fmt: skip
    claim = f"{panel.guarded}'s default plays stop within the horizon"
    return Claim("flat", claim, bool(holds), f"{said}; {mean:,.0f} in the mean")


def since(t: Any, made: Any) -> int:
    """The first checkpoint after which no run plays the default.

    >>> import numpy as np
    >>> since(np.array([1, 5, 9]), np.array([[1, 3, 3], [1, 2, 2]]))
    5
    """
    return int(t[(made < made[:, -1:]).any(axis=0).sum()])


def _lower(panel: Panel, frame: pl.DataFrame, rival: str) -> Claim:
    gap = _end(frame, panel.guarded) - _end(frame, rival)
    error = _error(gap)
    wins = int((gap < 0).sum())
    return Claim(
        "lower", f"{panel.guarded} has lower regret than {rival}",
        bool(gap.mean() < -2 * error),
        f"difference {gap.mean():,.0f} ± {error:,.2g} at the horizon; lower in {wins} of "
        f"{len(gap)} runs",
    )  # fmt: skip


def _constant(panel: Panel, frame: pl.DataFrame) -> Claim:
    t, name, rival = plays(frame), panel.guarded, panel.unguarded
    extra = curves(frame, name, "regret") - curves(frame, rival, "regret")
    before = max(0, int((t <= LAST * t[-1]).sum()) - 1)
    growth = extra[:, -1] - extra[:, before]
    whole, moved = float(extra[:, -1].mean()), float(growth.mean())
    error = _error(growth) if len(growth) > 1 else inf  # one run tells nothing of the others
    holds = abs(moved) + 2 * error <= SHARE * abs(whole)
    return Claim(
        "constant", f"{name}'s extra regret over {rival} is constant in the end",
        True if holds else None if abs(moved) <= 2 * error else False,
        f"extra regret {whole:,.0f}; {moved:+,.3g} ± {error:,.2g} in the last fifth",
    )  # fmt: skip


def _early(panel: Panel, frame: pl.DataFrame) -> Claim:
    name = panel.unguarded
    below = curves(frame, name, "violating_rounds")[:, -1]
    fallen = int((below > 0).sum())
    least = float(curves(frame, name, "minimum_slack").min())
    t, mean = plays(frame), curves(frame, name, "slack").mean(axis=0)
    chance = CHANCE * panel.swing * np.sqrt(t / len(below))
    worst = int((mean / chance).argmin())
    holds = bool(mean[worst] < -chance[worst])
    return Claim(
        "early", f"{name} falls below the floor while it explores, by more than chance",
        True if holds else None if fallen else False,
        f"{fallen} of {len(below)} runs fall below the floor, for {below.mean():,.0f} plays in the "
        f"mean, by at most {max(0.0, -least):,.0f}; at play {t[worst]:,} the mean "
        f"slack is {brief(mean[worst])}, chance makes {brief(chance[worst])}",
    )  # fmt: skip


def _end(frame: pl.DataFrame, name: str) -> Any:
    return curves(frame, name, "regret")[:, -1]


def _error(values: Any) -> float:
    """The standard error of the mean; 0 for a single run."""
    return float(values.std(ddof=1) / sqrt(len(values))) if len(values) > 1 else 0.0
