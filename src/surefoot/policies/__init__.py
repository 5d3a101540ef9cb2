"""Policies: standard bandit algorithms, which know nothing of floors."""

from surefoot.policies.base import Policy, Scoring
from surefoot.policies.klucb import KLUCB
from surefoot.policies.ucb1 import UCB1

__all__ = ["KLUCB", "UCB1", "Policy", "Scoring"]
