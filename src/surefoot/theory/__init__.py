"""The theorems as code: regret bounds of the paper, and of what it is compared with.

One module for each family; each bound is a function of explicit numbers that returns a ``Bound``.

>>> from surefoot.theory import cmab
>>> bound = cmab.gencb([0.8, 0.6], default=0.7, alpha=0.05)
>>> bound.trusted, [term.formula for term in bound.terms]
(False, ['H ln T', 'H Delta0 / (a c) * [ln(H / (a c))]^2'])
"""

from surefoot.theory import cccb, clb, cmab, general, lower_bounds, mean_variance
from surefoot.theory import default_plays as default_plays
from surefoot.theory import self_funding as self_funding
from surefoot.theory import sequential as sequential
from surefoot.theory.bound import Bound, Term

__all__ = ["Bound", "Term", "cccb", "clb", "cmab", "general", "lower_bounds", "mean_variance"]
