"""Environments: where rewards come from; they alone know the regret."""

from surefoot.environments.base import Environment
from surefoot.environments.batched import Batched
from surefoot.environments.bernoulli import BernoulliArms
from surefoot.environments.beta import BetaArms
from surefoot.environments.combinatorial import CombinatorialArms
from surefoot.environments.contextual import ContextualArms
from surefoot.environments.delayed import Delayed
from surefoot.environments.drifting import Drifting
from surefoot.environments.empirical import EmpiricalArms
from surefoot.environments.gaussian import GaussianArms
from surefoot.environments.linear import LinearArms
from surefoot.environments.mean_variance import (
    MeanVarianceRegrets,
    best_mean_variance,
    mean_variance_regrets,
    realised_regret,
)
from surefoot.environments.measured import MeasuredArms
from surefoot.environments.replay import ReplayLog

__all__ = [
    "Batched",
    "BernoulliArms",
    "BetaArms",
    "CombinatorialArms",
    "ContextualArms",
    "Delayed",
    "Drifting",
    "EmpiricalArms",
    "Environment",
    "GaussianArms",
    "LinearArms",
    "MeanVarianceRegrets",
    "MeasuredArms",
    "ReplayLog",
    "best_mean_variance",
    "mean_variance_regrets",
    "realised_regret",
]
