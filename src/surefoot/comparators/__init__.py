"""The algorithms that GenCB is compared with; their floors are on means."""

from surefoot.comparators.budget_first import BudgetFirst
from surefoot.comparators.c3ucb import C3UCB, C3UCBUnknown
from surefoot.comparators.clucb import CLUCB, CLUCBUnknown
from surefoot.comparators.clucb2 import CLUCB2
from surefoot.comparators.conucb import ConUCB, ConUCBUnknown
from surefoot.comparators.moss import UnbalancedMOSS

__all__ = [
    "C3UCB",
    "C3UCBUnknown",
    "CLUCB",
    "CLUCB2",
    "CLUCBUnknown",
    "BudgetFirst",
    "ConUCB",
    "ConUCBUnknown",
    "UnbalancedMOSS",
]
