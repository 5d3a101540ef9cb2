"""Theorem 1: a conservative policy costs what its policy costs, and a constant."""

from __future__ import annotations

from typing import Any

from surefoot.errors import InvalidInput
from surefoot.theory._inputs import Curve, gap0, number
from surefoot.theory.bound import DEFAULT, REGULAR, Bound, Term, constant
from surefoot.theory.default_plays import at_most


def template(regret: Curve, default_plays: Any, default: Any, best: Any) -> Bound:
    """Theorem 1 as printed, with a C of your own: measured, predicted or assumed.

        E[R_T(GenCB)] <= B(T) + C Delta_0

    Source: Du, Wang, Huang 2021, Theorem 1. ``regret``: B, a function of an array of plays;
    ``default_plays``: C, an upper bound on E[N0(T)] for every T; ``default``: mu0; ``best``:
    mu_*. Raises InvalidInput for mu0 >= mu_* or C < 0.

    >>> bound = template(lambda T: T**0.5, default_plays=100, default=0.7, best=0.8)
    >>> round(bound(400), 9)
    30.0

    Holds when: B is a non-decreasing bound on the policy's expected regret after T turns of its
    own (GenCB gives it m_T <= T turns) and C is what it claims. Does not hold when: C is taken
    from the proof of Theorem 1, see ``gencb``.
    """
    _, gap = gap0(default, best)
    C = number(default_plays, "default_plays")
    if C < 0:
        raise InvalidInput(f"default_plays = {default_plays} must be >= 0; it counts plays")
    return Bound(
        name="GenCB",
        terms=(Term(REGULAR, "B(T)", regret), Term(DEFAULT, "C Delta0", constant(C * gap))),
        kind="E",
        source="Du, Wang, Huang 2021, Theorem 1",
        trusted=False,
        note="as good as the B and the C it was given",
    )


def gencb(
    curve: Curve,
    excess: Any,
    default: Any,
    best: Any,
    alpha: Any,
    width: Any = 1,
    formula: str = "B(T)",
    name: str = "GenCB",
) -> Bound:
    """Theorem 1 with a C that is computed and proved: GenCB over any policy.

        E[R_T(GenCB)] <= curve(T) + excess + C Delta_0,   C from ``default_plays.at_most``

    Ours. The paper asks only for E[R_T] <= B(T), and bounds E[R_m] by E[B(m)] at the turn m of
    the last default play. That turn depends on the path, so the step is not valid, and Theorem 1
    as printed has a counter-example: a policy that first plays a worthless arm W times,
    P(W = w) ~ 1/w^2, then the best one for ever. Its expected regret is of order ln T, but each
    run needs about W (1-alpha)/alpha default plays, and E[W] is infinite: E[N0(T)] grows like
    ln T. So the regret has to be bounded at all turns at once: at most curve(m) + Z on every path
    for every m, E[Z] <= ``excess``. UCB1, LinUCB and C2UCB are of that kind (``cmab.ucb1``,
    ``clb.linucb``, ``cccb.c2ucb``).

    Arguments and errors as in ``default_plays.at_most``; ``formula`` and ``name`` are for legends.

    >>> import numpy as np
    >>> bound = gencb(lambda m: 80 * np.log(m), 4.0, default=0.7, best=0.8, alpha=0.05)
    >>> bound.trusted, bound.parts(1e3)["default arm"] == bound.parts(1e9)["default arm"]
    (True, True)

    Holds when: as ``default_plays.at_most``. Does not hold when: the curve bounds the regret in
    expectation only.
    """
    _, gap = gap0(default, best)
    C = at_most(curve, excess, default, best, alpha, width)
    extra = number(excess, "excess")
    return Bound(
        name=name,
        terms=(
            Term(REGULAR, formula, lambda T: curve(T) + extra),
            Term(DEFAULT, "C Delta0", constant(C * gap)),
        ),
        kind="E",
        source="ours, in the shape of Du, Wang, Huang 2021, Theorem 1",
        trusted=True,
        note=f"C = {C:.4g} default plays, proved (default_plays.at_most), not tight",
    )
