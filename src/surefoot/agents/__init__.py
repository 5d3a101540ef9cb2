"""Agents: policy and floor together; GenCB and what it is compared with."""

from surefoot.agents.conucb import ConUCB
from surefoot.agents.gencb import GenCB
from surefoot.agents.paper import gencb_cmab, mv_cucb
from surefoot.agents.plain import Plain
from surefoot.agents.play import Play, Reason
from surefoot.agents.saving import load

__all__ = ["ConUCB", "GenCB", "Plain", "Play", "Reason", "gencb_cmab", "load", "mv_cucb"]
