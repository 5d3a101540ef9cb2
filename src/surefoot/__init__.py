"""Surefoot makes any bandit policy conservative.

On every sample path, at every moment, the reward received is at least (1-alpha) of what the
default arm would have earned.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

_HOMES = {
    "BernoulliArms": "surefoot.environments",
    "ConUCB": "surefoot.agents",
    "GenCB": "surefoot.agents",
    "KLUCB": "surefoot.policies",
    "MVUCB": "surefoot.policies",
    "MeanVarianceFloor": "surefoot.floors",
    "Outcome": "surefoot.floors",
    "Plain": "surefoot.agents",
    "Play": "surefoot.agents",
    "Reason": "surefoot.agents",
    "ReplayLog": "surefoot.environments",
    "Result": "surefoot.simulation",
    "RewardFloor": "surefoot.floors",
    "UCB1": "surefoot.policies",
    "gencb_cmab": "surefoot.agents",
    "load": "surefoot.agents",
    "mv_cucb": "surefoot.agents",
    "simulate": "surefoot.simulation",
}

__all__ = [
    "BernoulliArms",
    "ConUCB",
    "GenCB",
    "KLUCB",
    "MVUCB",
    "MeanVarianceFloor",
    "Outcome",
    "Plain",
    "Play",
    "Reason",
    "ReplayLog",
    "Result",
    "RewardFloor",
    "UCB1",
    "gencb_cmab",
    "load",
    "mv_cucb",
    "simulate",
    "__version__",
]

if TYPE_CHECKING:
    from surefoot.agents import ConUCB, GenCB, Plain, Play, Reason, gencb_cmab, load, mv_cucb
    from surefoot.environments import BernoulliArms, ReplayLog
    from surefoot.floors import MeanVarianceFloor, Outcome, RewardFloor
    from surefoot.policies import KLUCB, MVUCB, UCB1
    from surefoot.simulation import Result, simulate


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'surefoot' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
