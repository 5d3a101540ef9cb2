"""Agents: a policy and a floor together; GenCB is the one that keeps the floor."""

from surefoot.agents.gencb import GenCB
from surefoot.agents.paper import gencb_cccb, gencb_clb, gencb_cmab, mv_cucb
from surefoot.agents.plain import Plain
from surefoot.agents.play import Play, Reason
from surefoot.agents.saving import load
from surefoot.agents.tally import ArmStanding
from surefoot.agents.uplift import Uplift

__all__ = [
    "ArmStanding",
    "GenCB",
    "Plain",
    "Play",
    "Reason",
    "Uplift",
    "gencb_cccb",
    "gencb_clb",
    "gencb_cmab",
    "load",
    "mv_cucb",
]
