"""What no conservative algorithm can beat: Table 1's lower bound, and one that is sure."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from surefoot._exact import exact
from surefoot._types import Number
from surefoot.theory.bound import DEFAULT, Bound, Term, order
from surefoot.theory.inputs import alpha_of, gap0, whole


def sure(default: Any, best: Any, alpha: Number) -> Bound:
    """The least any algorithm pays that keeps the floor surely: it must begin with the default.

        R_T >= Delta0 min(T, ceil((1-alpha)/alpha))

    Ours. An exploration at play t may pay 0, and (t-1) mu0 >= (1-alpha) mu0 t only from
    t = ceil((1-alpha)/alpha) + 1 on. On every path, not in expectation. Raises InvalidInput for
    alpha outside (0, 1), mu0 <= 0 or mu0 >= mu_*.

    >>> bound = sure(default=0.7, best=0.8, alpha=0.05)
    >>> bound([1, 19, 1000]).round(9).tolist(), bound.trusted
    ([0.1, 1.9, 1.9], True)

    Holds when: every arm may pay 0, there is no reserve, and the floor is to hold on every path.
    Does not hold when: r_min > 0 or a reserve lets one explore earlier; the floor may fail with
    probability delta.
    """
    _, gap = gap0(default, best)
    alpha_of(alpha)
    share = Fraction(exact(alpha, "alpha"))
    first, formula = ceil((1 - share) / share), "Delta0 min(T, ceil((1-alpha)/alpha))"
    return Bound(
        name="any sure floor",
        terms=(Term(DEFAULT, formula, lambda T: gap * np.minimum(T, first)),),
        kind="E",
        source="ours, from eq. (2) of Du, Wang, Huang 2021",
        trusted=True,
        note="on every path",
    )


def cmab_table(K: Any, alpha: Number) -> Bound:
    """K arms, as in the paper's Table 1 (printed with O() for what is an Omega()).

        Omega( max{ K/alpha, sqrt(K T) } )

    Source: Du, Wang, Huang 2021, Table 1 and Remark 2, after Wu et al. 2016: for the floor on
    means, and so for the stricter one on received reward. ``K``: regular arms. Raises InvalidInput
    for K < 1 or alpha outside (0, 1).

    >>> cmab_table(K=24, alpha=0.05)([1, 1e6]).round().tolist()
    [480.0, 4899.0]

    Holds when: T is large enough for K/alpha to be lost at all; for the worst problem of that
    size, with mu0 and Delta0 constants. It may lie above a curve measured on an easy problem.
    """
    arms, share = whole(K, "K", "the number of regular arms"), alpha_of(alpha)
    return order(
        "lower bound, Wu et al. 2016", "E", "Du, Wang, Huang 2021, Table 1, after Wu et al. 2016",
        "worst case over problems: an algorithm may do better on an easy one; order only",
        Term(
            "both", "max{K/alpha, sqrt(K T)}",
            lambda T: np.maximum(arms / share, np.sqrt(arms * T)),
        ),
    )  # fmt: skip
