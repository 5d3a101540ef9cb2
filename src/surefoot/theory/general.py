"""Theorem 1: a conservative policy costs what its policy costs, and a constant."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot._types import Number
from surefoot.errors import InvalidInput
from surefoot.theory.bound import DEFAULT, REGULAR, Bound, Term, constant, order
from surefoot.theory.inputs import Curve, gap0, number, positive, stakes

_LAST = 1e18
"""Where the search for the largest excess of a curve over a line ends."""


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
    return order(
        "GenCB", "E", "Du, Wang, Huang 2021, Theorem 1", "as good as the B and the C it was given",
        Term(REGULAR, "B(T)", regret), Term(DEFAULT, "C Delta0", constant(C * gap)),
    )  # fmt: skip


def at_most(
    curve: Curve, excess: Any, default: Any, best: Any, alpha: Number, width: Any = 1
) -> float:
    """A proved bound on E[N0(T)], the same for every T: the C of Theorem 1, with its number.

        a C = a + (1-alpha) mu0 + sup_m [curve(m) - (c-e) m]^+ + excess + width^2/(8e)

    for any 0 < e < c, a = alpha mu0, c = Delta_0 + a; the best of a grid of e. Ours. Proof: GenCB
    goes from turn m to m+1 once a N0 >= (1-alpha) mu0 + r_m - c m, with r_m the realised regret,
    which is pseudo-regret plus noise. Pseudo-regret is at most curve(m) + Z for all m at once,
    E[Z] <= ``excess``. The noise is a martingale whose steps have range ``width``, so
    exp(8e/width^2 (noise_m - e m)) is a supermartingale (Hoeffding's lemma), sup_m [noise_m - e m]
    exceeds x with probability <= exp(-8 e x/width^2) (Ville), and its mean is at most
    width^2/(8e).

    ``curve``: a function of an array of turns m >= 1, non-decreasing, curve(m)/m falling in the
    end. ``width``: the range of one play's reward, in the units of mu0 (K for a sum of K base
    rewards). Raises InvalidInput for mu0 >= mu_*, alpha outside (0, 1), a negative ``excess``, and
    a curve above every line.

    >>> round(at_most(lambda m: 0 * m, 0, default=0.5, best=0.8, alpha=0.1), 1)
    17.2

    Holds when: rewards lie in [0, width] and, given the arm, are independent of the past;
    feedback is immediate; the default does not compete. Does not hold when: only the *expected*
    regret is bounded, as Theorem 1 has it: see ``gencb``.
    """
    mu0, _, a, c = stakes(default, best, alpha)
    extra, span = number(excess, "excess"), positive(width, "width", "1 for rewards in 0..1")
    if extra < 0:
        raise InvalidInput(f"excess = {excess} must be >= 0; take 0 for a bound without one")
    spent = min(
        _most_above(curve, c - e) + span**2 / (8 * e) for e in c * np.geomspace(1e-4, 0.999, 60)
    )
    return float(1 + ((mu0 - a) + spent + extra) / a)


def _most_above(curve: Curve, slope: float) -> float:
    """An upper bound on sup_m [curve(m) - slope m]^+, at most one thousandth of the line above.

    Between two points of the grid a rising curve is below its right end, and the line above its
    left end.
    """
    grid = np.unique(np.floor(np.geomspace(1, _LAST, 42_000)))
    values = curve(grid)
    if not values[-1] <= slope * grid[-1]:
        raise InvalidInput(
            f"the regret curve is still above {slope:.3g} m at m = {_LAST:.0e}: it is not "
            "sublinear enough for a finite number of default plays; check its constants"
        )
    return max(0.0, float((values[1:] - slope * grid[:-1]).max()), float(values[0] - slope))


def gencb(
    curve: Curve,
    excess: Any,
    default: Any,
    best: Any,
    alpha: Number,
    width: Any = 1,
    formula: str = "B(T)",
    name: str = "GenCB",
) -> Bound:
    """Theorem 1 with a C that is computed and proved: GenCB over any policy.

        E[R_T(GenCB)] <= curve(T) + excess + C Delta_0,   C from ``at_most``

    Ours. The paper asks only for E[R_T] <= B(T), and bounds E[R_m] by E[B(m)] at the turn m of
    the last default play. That turn depends on the path, so the step is not valid, and Theorem 1
    as printed has a counter-example: a policy that first plays a worthless arm W times,
    P(W = w) ~ 1/w^2, then the best one for ever. Its expected regret is of order ln T, but each
    run needs about W (1-alpha)/alpha default plays, and E[W] is infinite: E[N0(T)] grows like
    ln T. So the regret has to be bounded at all turns at once: at most curve(m) + Z on every path
    for every m, E[Z] <= ``excess``. UCB1, LinUCB and C2UCB are of that kind (``cmab.ucb1``,
    ``clb.linucb``, ``cccb.c2ucb``).

    Arguments and errors as in ``at_most``; ``formula`` and ``name`` are for legends.

    >>> import numpy as np
    >>> bound = gencb(lambda m: 80 * np.log(m), 4.0, default=0.7, best=0.8, alpha=0.05)
    >>> bound.trusted, bound.parts(1e3)["default arm"] == bound.parts(1e9)["default arm"]
    (True, True)

    Holds when: as ``at_most``. Does not hold when: the curve bounds the regret in
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
        note=f"C = {C:.4g} default plays, proved (general.at_most), not tight",
    )
