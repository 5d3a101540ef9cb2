"""Policies: standard bandit algorithms, which know nothing of floors."""

from surefoot.policies.base import Policy, Scoring
from surefoot.policies.klucb import KLUCB
from surefoot.policies.mvucb import MVUCB
from surefoot.policies.ucb1 import UCB1

__all__ = ["KLUCB", "MVUCB", "UCB1", "Policy", "Scoring"]
