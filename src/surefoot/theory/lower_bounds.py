"""What no conservative algorithm can beat: Table 1's lower bound, later ones, and a sure one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot.theory._inputs import alpha_of, gap0, whole
from surefoot.theory.bound import DEFAULT, REGULAR, Bound, Term, constant
from surefoot.theory.self_funding import first_exploration

WORST_CASE = "worst case over problems: an algorithm may do better on an easy one; order only"


def sure(default: Any, best: Any, alpha: Any) -> Bound:
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
    first = first_exploration(default, alpha) - 1
    return Bound(
        name="any sure floor",
        terms=(
            Term(
                DEFAULT,
                "Delta0 min(T, ceil((1-alpha)/alpha))",
                lambda T: gap * np.minimum(T, first),
            ),
        ),
        kind="E",
        source="ours, from eq. (2) of Du, Wang, Huang 2021",
        trusted=True,
        note="on every path",
    )


def cmab_table(K: Any, alpha: Any) -> Bound:
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
    return _lower(
        "Wu et al. 2016",
        (
            Term(
                "both",
                "max{K/alpha, sqrt(K T)}",
                lambda T: np.maximum(arms / share, np.sqrt(arms * T)),
            ),
        ),
        "Du, Wang, Huang 2021, Table 1, after Wu et al. 2016",
        WORST_CASE,
    )


def cmab(K: Any, default: Any, best: Any, alpha: Any) -> Bound:
    """K arms with every factor: as Theorem 2's upper bound up to logarithms.

        Omega( sqrt(K T) + K Delta0 / (a c) ),   a = alpha mu0, c = Delta0 + a

    Source: Yang et al., ICLR 2022 (arXiv 2106.11692), recalled. Raises InvalidInput for K < 1,
    alpha outside (0, 1), mu0 <= 0 or mu0 >= mu_*.

    >>> bound = cmab(K=24, default=0.7, best=0.8, alpha=0.05)
    >>> {name: round(value) for name, value in bound.parts(10_000).items()}
    {'regular arms': 490, 'default arm': 508}

    Holds when: as ``cmab_table``.
    """
    arms = whole(K, "K", "the number of regular arms")
    return _yang(arms, "K", arms, "sqrt(K T)", math.sqrt(arms), (default, best, alpha))


def clb(d: Any, default: Any, best: Any, alpha: Any) -> Bound:
    """Linear arms: as Theorem 3's upper bound up to logarithms.

        Omega( d sqrt(T) + d^2 Delta0 / (a c) ),   a = alpha mu0, c = Delta0 + a

    Source and errors as ``cmab``; ``d``: the dimension.

    >>> clb(d=5, default=0.7, best=0.8, alpha=0.01).parts(10_000)["regular arms"]
    500.0

    Holds when: as ``cmab_table``.
    """
    n = whole(d, "d", "the features' dimension")
    return _yang(n**2, "d^2", n, "d sqrt(T)", n, (default, best, alpha))


def _yang(
    size: int, letter: str, n: int, regular: str, rate: float, problem: tuple[Any, Any, Any]
) -> Bound:
    default, best, alpha = problem
    mu0, gap = gap0(default, best)
    a = alpha_of(alpha) * mu0
    return _lower(
        "Yang et al. 2022",
        (
            Term(REGULAR, regular, lambda T: rate * np.sqrt(T)),
            Term(DEFAULT, f"{letter} Delta0 / (a c)", constant(size * gap / (a * (gap + a)))),
        ),
        "Yang et al., ICLR 2022",
        f"recalled, not read in the original; {WORST_CASE}",
    )


def _lower(name: str, terms: tuple[Term, ...], source: str, note: str) -> Bound:
    return Bound(f"lower bound, {name}", terms, "E", source, trusted=False, note=note)
