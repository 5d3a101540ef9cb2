"""Environments: where rewards come from; they alone know the regret."""

from surefoot.environments.base import Environment
from surefoot.environments.bernoulli import BernoulliArms
from surefoot.environments.replay import ReplayLog

__all__ = ["BernoulliArms", "Environment", "ReplayLog"]
