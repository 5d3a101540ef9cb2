"""Policies: standard bandit algorithms, which know nothing of floors."""

from surefoot.policies.adaucb import AdaUCB
from surefoot.policies.base import Policy, Scoring
from surefoot.policies.c2ucb import C2UCB
from surefoot.policies.cost_subsidy import CostSubsidy
from surefoot.policies.discounted import DiscountedThompson, DiscountedUCB1
from surefoot.policies.epsilon_greedy import EpsilonGreedy
from surefoot.policies.gaussian_thompson import GaussianThompson
from surefoot.policies.klms import KLMS
from surefoot.policies.klucb import KLUCB
from surefoot.policies.lints import CombLinTS, LinTS
from surefoot.policies.linucb import LinUCB
from surefoot.policies.mvucb import MVUCB
from surefoot.policies.options import Ridge
from surefoot.policies.sets import Ball, Polytope
from surefoot.policies.sliding import SlidingThompson, SlidingUCB1
from surefoot.policies.thompson import Thompson
from surefoot.policies.ucb1 import UCB1

__all__ = [
    "C2UCB",
    "KLMS",
    "KLUCB",
    "MVUCB",
    "UCB1",
    "AdaUCB",
    "Ball",
    "CombLinTS",
    "CostSubsidy",
    "DiscountedThompson",
    "DiscountedUCB1",
    "EpsilonGreedy",
    "LinTS",
    "GaussianThompson",
    "LinUCB",
    "Policy",
    "Polytope",
    "Ridge",
    "Scoring",
    "SlidingThompson",
    "SlidingUCB1",
    "Thompson",
]
