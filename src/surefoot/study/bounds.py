"""The theorems beside a panel: its regret bounds, and the default plays that are foretold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.simulation.result import spread
from surefoot.study.panel import Panel
from surefoot.study.summary import curves, plays
from surefoot.theory import Bound, default_plays

if TYPE_CHECKING:
    import polars as pl


class Spoken(NamedTuple):
    """What a theorem says about a curve."""

    agent: str
    bound: Bound | None
    """As it is drawn: an order is scaled to end where the curve does. None for a void one."""
    void: str
    """Why it says nothing, "" if it does."""


def spoken(panel: Panel, frame: pl.DataFrame) -> list[Spoken]:
    """The bounds of a panel, each scaled if its constants cannot be trusted, or why it is void."""
    found = []
    for agent, ask in panel.bounds():
        try:
            bound = ask()
            if not bound.trusted:
                end = float(curves(frame, agent, "regret")[:, -1].mean())
                bound = bound.through(panel.horizon, end)
            found.append(Spoken(agent, bound, ""))
        except InvalidInput as error:
            found.append(Spoken(agent, None, str(error)))
    return found


def foretold(panel: Panel, frame: pl.DataFrame) -> dict[str, float] | None:
    """The guarded agent's default plays by the horizon, foretold from the unguarded policy alone.

    Its realised regret mu_* m - R_m, at the checkpoints of each run, is what
    ``theory.default_plays.predicted`` asks for; mean, least and most over the runs. None for a
    floor that is not on reward, and where the default is the best.

    Holds when: as ``predicted``. It knows the regret at the checkpoints only, so it may foretell
    a little too little.
    """
    if not panel.promises_reward:
        return None
    t = plays(frame)
    received = curves(frame, panel.unguarded, "received")
    try:
        counts = [
            default_plays.predicted(panel.top * t - run, panel.pays, panel.top, panel.alpha, t).by(
                panel.horizon
            )
            for run in received
        ]
    except InvalidInput:
        return None
    return spread(np.array(counts))


def told(panel: Panel, frame: pl.DataFrame) -> dict[str, Any]:
    """The part of ``summary.json`` about the theorems."""
    return {
        "default_plays": foretold(panel, frame),
        "bounds": [_entry(panel, said) for said in spoken(panel, frame)],
    }


def _entry(panel: Panel, said: Spoken) -> dict[str, Any]:
    bound = said.bound
    if bound is None:
        return {"agent": said.agent, "void": said.void}
    return {
        "agent": said.agent,
        "source": bound.source,
        "trusted": bound.trusted,
        "note": bound.note,
        "regret": bound(panel.horizon),
    }
