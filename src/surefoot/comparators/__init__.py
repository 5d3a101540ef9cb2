"""The algorithms that GenCB is compared with; what they promise is about means."""

from surefoot.comparators.budget_first import BudgetFirst
from surefoot.comparators.c3ucb import C3UCB
from surefoot.comparators.c3ucb_unknown import C3UCBUnknown
from surefoot.comparators.clucb import CLUCB
from surefoot.comparators.clucb2 import CLUCB2
from surefoot.comparators.clucb_unknown import CLUCBUnknown
from surefoot.comparators.conucb import ConUCB
from surefoot.comparators.conucb_unknown import ConUCBUnknown
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
