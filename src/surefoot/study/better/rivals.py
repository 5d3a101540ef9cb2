"""Who plays in ``surefoot study better``: on each problem the printed algorithm and its rivals.

All are guarded alike, by the floor of the printed algorithm and with ``default_competes=False``:
they differ in the policy alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import surefoot as sf
from surefoot.study.problems import LinearPanel

if TYPE_CHECKING:
    from surefoot.agents.agent import Agent
    from surefoot.study.panel import Panel

Maker: TypeAlias = Callable[[Any, Any], Any]
"""From a panel and its environment to a fresh policy. It reads neither means nor the horizon."""
PRINTED, NAMED, PROVED, OTHER = "printed", "named", "proved", "other"


class Rival(NamedTuple):
    """A policy that plays, and what it plays for."""

    name: str
    role: str
    """"printed": the paper's; "named": ours, named before measuring; "proved": the best that has a
    published guarantee; "other": for comparison."""
    make: Maker


def rivals(problem: str) -> list[Rival]:
    """Who plays on the panels of a problem, the printed algorithm first.

    >>> [rival.name for rival in rivals("mv") if rival.role == "printed"]
    ['MV-UCB']
    """
    return _RIVALS[problem]


def of_role(problem: str, role: str) -> Rival:
    """The one rival that plays for this on a problem.

    >>> of_role("cmab", "printed").name
    'UCB1'
    """
    (found,) = (rival for rival in rivals(problem) if rival.role == role)
    return found


def guarded(policy: Any, panel: Panel) -> Agent:
    """A policy under the floor of a panel, gated as the printed algorithm is."""
    return sf.GenCB(policy, panel.floor(), default_competes=False)


def _arms(kind: Callable[..., Any], **options: Any) -> Maker:
    """A policy that knows the number of arms alone."""
    return lambda panel, environment: kind(environment.n_arms, **options)


def _half(panel: LinearPanel) -> sf.Ridge:
    return replace(panel.fitted, noise=0.5, radius="determinant")


_BERNOULLI = [
    Rival("AdaUCB", NAMED, _arms(sf.AdaUCB)),
    Rival("Thompson", PROVED, _arms(sf.Thompson)),
    Rival("KL-UCB", OTHER, _arms(sf.KLUCB)),
]
_RIVALS = {
    "cmab": [
        Rival("UCB1", PRINTED, _arms(sf.UCB1)),
        *_BERNOULLI,
        Rival("Gaussian Thompson", OTHER, _arms(sf.GaussianThompson)),
        Rival("KL-MS", OTHER, _arms(sf.KLMS)),
        Rival("epsilon-greedy", OTHER, _arms(sf.EpsilonGreedy)),
    ],
    "clb": [
        Rival("LinUCB", PRINTED, lambda p, e: sf.LinUCB(e.X, ridge=p.fitted)),
        Rival("LinTS", NAMED, lambda p, e: sf.LinTS(e.X)),
        Rival("LinUCB, determinant", PROVED, lambda p, e: sf.LinUCB(e.X, ridge=_half(p))),
        Rival("LinUCB, tight", OTHER, lambda p, e: sf.LinUCB(e.X, ridge=_half(p), tight=True)),
        Rival("AdaUCB, no features", OTHER, _arms(sf.AdaUCB)),
    ],
    "cccb": [
        Rival("C2UCB", PRINTED, lambda p, e: sf.C2UCB(e.X, e.oracle, ridge=p.fitted)),
        Rival("LinTS", NAMED, lambda p, e: sf.LinTS(e.X, oracle=e.oracle)),
        Rival("C2UCB, determinant", PROVED, lambda p, e: sf.C2UCB(e.X, e.oracle, ridge=_half(p))),
        Rival(
            "C2UCB, tight",
            OTHER,
            lambda p, e: sf.C2UCB(e.X, e.oracle, ridge=_half(p), tight=True),
        ),
    ],
    "mv": [Rival("MV-UCB", PRINTED, lambda p, e: sf.MVUCB(e.n_arms, p.rho)), *_BERNOULLI],
}
