"""Surefoot makes any bandit policy conservative.

On every sample path, at every moment, the reward received is at least (1-alpha) of what the
default is known to be worth over the plays made, less the reserve, if one is given.
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

_HOMES = {
    "AdaUCB": "surefoot.policies",
    "Ball": "surefoot.policies",
    "Batched": "surefoot.environments",
    "Backtest": "surefoot.study.logs.backtest",
    "BernoulliArms": "surefoot.environments",
    "BetaArms": "surefoot.environments",
    "C2UCB": "surefoot.policies",
    "C3UCB": "surefoot.comparators",
    "CLUCB": "surefoot.comparators",
    "CLUCB2": "surefoot.comparators",
    "CombinatorialArms": "surefoot.environments",
    "ContextualArms": "surefoot.environments",
    "ConUCB": "surefoot.comparators",
    "CostCeiling": "surefoot.floors",
    "CostSubsidy": "surefoot.policies",
    "Delayed": "surefoot.environments",
    "Drifting": "surefoot.environments",
    "EmpiricalArms": "surefoot.environments",
    "Enumerated": "surefoot.oracles",
    "EpsilonGreedy": "surefoot.policies",
    "Floor": "surefoot.floors",
    "GaussianArms": "surefoot.environments",
    "GaussianThompson": "surefoot.policies",
    "GenCB": "surefoot.agents",
    "KLMS": "surefoot.policies",
    "KLUCB": "surefoot.policies",
    "LearnedDefault": "surefoot.floors",
    "LinTS": "surefoot.policies",
    "LinUCB": "surefoot.policies",
    "LinearArms": "surefoot.environments",
    "Live": "surefoot.live.live",
    "Log": "surefoot.study.logs.log",
    "MVUCB": "surefoot.policies",
    "Matching": "surefoot.oracles",
    "MeanVarianceFloor": "surefoot.floors",
    "MeasuredArms": "surefoot.environments",
    "Outcome": "surefoot.floors",
    "PartitionMatroid": "surefoot.oracles",
    "Plain": "surefoot.agents",
    "Play": "surefoot.agents",
    "Polytope": "surefoot.policies",
    "Reason": "surefoot.agents",
    "ReplayLog": "surefoot.environments",
    "Result": "surefoot.simulation",
    "RewardFloor": "surefoot.floors",
    "Ridge": "surefoot.policies",
    "ShortestPath": "surefoot.oracles",
    "SpanningTree": "surefoot.oracles",
    "Thompson": "surefoot.policies",
    "TopK": "surefoot.oracles",
    "UCB1": "surefoot.policies",
    "as_oracle": "surefoot.oracles",
    "backtest": "surefoot.study.logs.backtest",
    "gencb_cccb": "surefoot.agents",
    "gencb_clb": "surefoot.agents",
    "gencb_cmab": "surefoot.agents",
    "load": "surefoot.agents",
    "mv_cucb": "surefoot.agents",
    "read_log": "surefoot.study.logs.log",
    "recommend": "surefoot.choosing",
    "run_study": "surefoot.study.run_study",
    "simulate": "surefoot.simulation",
    "warmup": "surefoot._warmup",
}

_PACKAGES = ("adapters", "comparators")
"""Packages that ``import surefoot`` makes attributes of, when they are asked for."""

_MOVED = dict.fromkeys(
    ("BudgetFirst", "C3UCBUnknown", "CLUCBUnknown", "ConUCBUnknown", "UnbalancedMOSS"),
    "surefoot.comparators",
)
"""Names that have a new place; the old one goes with the next version."""

__all__ = [
    "AdaUCB",
    "Ball",
    "Batched",
    "Backtest",
    "BernoulliArms",
    "BetaArms",
    "C2UCB",
    "C3UCB",
    "CLUCB",
    "CLUCB2",
    "CombinatorialArms",
    "ContextualArms",
    "ConUCB",
    "CostCeiling",
    "CostSubsidy",
    "Delayed",
    "Drifting",
    "EmpiricalArms",
    "Enumerated",
    "EpsilonGreedy",
    "Floor",
    "GaussianArms",
    "GaussianThompson",
    "GenCB",
    "KLMS",
    "KLUCB",
    "LearnedDefault",
    "LinTS",
    "LinUCB",
    "LinearArms",
    "Live",
    "Log",
    "MVUCB",
    "Matching",
    "MeanVarianceFloor",
    "MeasuredArms",
    "Outcome",
    "PartitionMatroid",
    "Plain",
    "Play",
    "Polytope",
    "Reason",
    "ReplayLog",
    "Result",
    "RewardFloor",
    "Ridge",
    "ShortestPath",
    "SpanningTree",
    "Thompson",
    "TopK",
    "UCB1",
    "as_oracle",
    "backtest",
    "gencb_cccb",
    "gencb_clb",
    "gencb_cmab",
    "load",
    "mv_cucb",
    "read_log",
    "recommend",
    "run_study",
    "simulate",
    "warmup",
    "__version__",
]

if TYPE_CHECKING:
    from surefoot import adapters as adapters
    from surefoot import comparators as comparators
    from surefoot._warmup import warmup
    from surefoot.agents import (
        GenCB,
        Plain,
        Play,
        Reason,
        gencb_cccb,
        gencb_clb,
        gencb_cmab,
        load,
        mv_cucb,
    )
    from surefoot.choosing import recommend
    from surefoot.comparators import C3UCB, CLUCB, CLUCB2, ConUCB
    from surefoot.environments import (
        Batched,
        BernoulliArms,
        BetaArms,
        CombinatorialArms,
        ContextualArms,
        Delayed,
        Drifting,
        EmpiricalArms,
        GaussianArms,
        LinearArms,
        MeasuredArms,
        ReplayLog,
    )
    from surefoot.floors import (
        CostCeiling,
        Floor,
        LearnedDefault,
        MeanVarianceFloor,
        Outcome,
        RewardFloor,
    )
    from surefoot.live.live import Live
    from surefoot.oracles import (
        Enumerated,
        Matching,
        PartitionMatroid,
        ShortestPath,
        SpanningTree,
        TopK,
        as_oracle,
    )
    from surefoot.policies import (
        C2UCB,
        KLMS,
        KLUCB,
        MVUCB,
        UCB1,
        AdaUCB,
        Ball,
        CostSubsidy,
        EpsilonGreedy,
        GaussianThompson,
        LinTS,
        LinUCB,
        Polytope,
        Ridge,
        Thompson,
    )
    from surefoot.simulation import Result, simulate
    from surefoot.study.logs.backtest import Backtest, backtest
    from surefoot.study.logs.log import Log, read_log
    from surefoot.study.run_study import run_study


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    if name in _PACKAGES:
        return importlib.import_module(f"surefoot.{name}")
    if name in _MOVED:
        place = f"{_MOVED[name]}.{name}"
        warnings.warn(f"surefoot.{name} is now {place}", DeprecationWarning, stacklevel=2)
        return getattr(importlib.import_module(_MOVED[name]), name)
    raise AttributeError(f"module 'surefoot' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
