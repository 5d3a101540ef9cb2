"""The theorems as code: regret bounds, lower bounds, default plays, and when exploring pays.

One module for each family; each bound is a function of explicit numbers that returns a ``Bound``.

>>> from surefoot.theory import cmab
>>> bound = cmab.gencb([0.8, 0.6], default=0.7, alpha=0.05)
>>> bound.trusted, [term.formula for term in bound.terms]
(False, ['H ln T', 'H Delta0 / (a c) * [ln(H / (a c))]^2'])
"""

from surefoot.theory import (
    cccb,
    clb,
    cmab,
    default_plays,
    general,
    lower_bounds,
    mean_variance,
    self_funding,
    sequential,
)
from surefoot.theory.bound import Bound, Term

__all__ = [
    "Bound",
    "Term",
    "cccb",
    "clb",
    "cmab",
    "default_plays",
    "general",
    "lower_bounds",
    "mean_variance",
    "self_funding",
    "sequential",
]
