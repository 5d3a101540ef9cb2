"""The problems that can be studied: each is one file, a class of panels, and a name here."""

from __future__ import annotations

from surefoot.study.cccb import CCCB
from surefoot.study.clb import CLB
from surefoot.study.cmab import CMAB
from surefoot.study.mv import MV
from surefoot.study.panel import Panel

PROBLEMS: dict[str, type[Panel]] = {"cmab": CMAB, "clb": CLB, "cccb": CCCB, "mv": MV}
MAIN = {
    "cmab": "cmab-K72-alpha0.05",
    "clb": "clb-d7-alpha0.01",
    "cccb": "cccb-d7-alpha0.01",
    "mv": "mv-K24-alpha0.05-rho10",
}
"""The panels in the paper's main text, and the defaults of the commands."""
