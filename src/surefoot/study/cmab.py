"""The paper's CMAB problem: who plays against whom, on which arms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from surefoot.agents import ConUCB, Plain, gencb_cmab
from surefoot.agents._agent import Agent
from surefoot.environments import BernoulliArms
from surefoot.floors import RewardFloor
from surefoot.policies import UCB1
from surefoot.simulation import Plan, Result
from surefoot.simulation.plan import grid
from surefoot.simulation.trace import Ints, Trace
from surefoot.study.panel import Panel, Sweep

if TYPE_CHECKING:
    import polars as pl

NAMES = ("GenCB", "UCB1", "ConUCB")
FIRST_PLAYS = 200
"""So many plays from the start are all noted: there a guarded agent's slack is smallest."""


def agents(panel: Panel) -> dict[str, Agent]:
    """The paper's three curves: GenCB-CMAB as printed, UCB1 unguarded, and ConUCB.

    UCB1's slack is measured against the floor the others are to keep.

    >>> from surefoot.study.panel import read
    >>> list(agents(read("cmab-K24-alpha0.05")))
    ['GenCB', 'UCB1', 'ConUCB']
    """
    K, mu0, alpha = panel.K, panel.mu0, panel.alpha
    return {
        "GenCB": gencb_cmab(K, mu0, alpha),
        "UCB1": Plain(UCB1(K), RewardFloor(mu0, alpha)),
        "ConUCB": ConUCB(K, mu0, alpha, panel.level, panel.radius, panel.scale),
    }


def environment(panel: Panel) -> BernoulliArms:
    """Bernoulli arms with means in arithmetic sequence from ``best`` to ``worst``."""
    return BernoulliArms(np.linspace(panel.best, panel.worst, panel.K))


def groups(sweep: Sweep) -> dict[str, list[Panel]]:
    """Panels that share base paths, by the name of their plan: those with the same arms.

    >>> from surefoot.study.panel import MAIN, read
    >>> sweep = Sweep.of(read(MAIN)).but(K=(24, 72), alpha=(0.05, 0.1))
    >>> {name: len(panels) for name, panels in groups(sweep).items()}
    {'cmab-K24': 2, 'cmab-K72': 2}
    """
    found: dict[str, list[Panel]] = {}
    for panel in sweep.panels():
        found.setdefault(f"{panel.problem}-K{panel.K}", []).append(panel)
    return found


def plan(panels: Sequence[Panel]) -> Plan:
    """One plan for panels that differ in alpha only: their agents share base paths.

    Agent ``name`` of panel ``p`` is ``key(name, p)`` in the plan.
    """
    first = panels[0]
    alike = {"alpha": first.alpha, "source": first.source}
    assert all(panel.model_copy(update=alike) == first for panel in panels)
    playing = {key(name, panel): agent for panel in panels for name, agent in agents(panel).items()}
    noted = checkpoints(first.horizon)
    return Plan(playing, environment(first), first.horizon, first.seed, noted)


def checkpoints(horizon: int) -> Ints:
    """The plays after which the books are noted: all of the first, for the figure's inset."""
    return grid(horizon, FIRST_PLAYS)


def frame(panels: Sequence[Panel], plan: Plan, run: int, traces: dict[str, Trace]) -> pl.DataFrame:
    """One run of a plan as a tidy table: problem, K, alpha, agent, run, t, and the measures."""
    import polars as pl

    tidy = Result(plan, {run: traces}).frame
    parts = [
        tidy.filter(agent=key(name, panel)).select(
            pl.lit(panel.problem).alias("problem"),
            pl.lit(panel.K, pl.Int64).alias("K"),
            pl.lit(panel.alpha, pl.Float64).alias("alpha"),
            pl.lit(name).alias("agent"),
            pl.exclude("agent"),
        )
        for panel in panels
        for name in NAMES
    ]
    return pl.concat(parts)


def key(name: str, panel: Panel) -> str:
    """An agent's name in a plan of several panels.

    >>> from surefoot.study.panel import read
    >>> key("GenCB", read("cmab-K72-alpha0.1"))
    'GenCB alpha=0.1'
    """
    return f"{name} alpha={panel.alpha!r}"
