"""Agents: policy and floor together; GenCB and what it is compared with."""

from surefoot.agents._warmup import warmup
from surefoot.agents.budget_first import BudgetFirst
from surefoot.agents.c3ucb import C3UCB
from surefoot.agents.c3ucb_unknown import C3UCBUnknown
from surefoot.agents.clucb import CLUCB
from surefoot.agents.clucb2 import CLUCB2
from surefoot.agents.clucb_unknown import CLUCBUnknown
from surefoot.agents.conucb import ConUCB
from surefoot.agents.conucb_unknown import ConUCBUnknown
from surefoot.agents.gencb import GenCB
from surefoot.agents.moss import UnbalancedMOSS
from surefoot.agents.paper import gencb_cccb, gencb_clb, gencb_cmab, mv_cucb
from surefoot.agents.plain import Plain
from surefoot.agents.play import Play, Reason
from surefoot.agents.saving import load

__all__ = [
    "C3UCB",
    "C3UCBUnknown",
    "CLUCB",
    "CLUCB2",
    "CLUCBUnknown",
    "BudgetFirst",
    "ConUCB",
    "ConUCBUnknown",
    "GenCB",
    "Plain",
    "Play",
    "Reason",
    "UnbalancedMOSS",
    "gencb_cccb",
    "gencb_clb",
    "gencb_cmab",
    "load",
    "mv_cucb",
    "warmup",
]
