"""Combinatorial arms: Theorem 4 for GenCB-CCCB, the same with proved constants, and C3UCB.

Letters: K base arms of dimension d, ||x_e|| <= L, ||theta*|| <= S, lambda the ridge, P the
Lipschitz constant of f in the Euclidean norm of the weights (sqrt(k) for the sum of k weights);
Delta0 = mu_* - mu0, a = alpha mu0, c = Delta0 + a, all on the scale of a whole super arm.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot._types import Number
from surefoot.theory.bound import DEFAULT, REGULAR, TABLE, Bound, Term, constant, order
from surefoot.theory.clb import UNCHECKED, ellipsoid, features, theorem_ridge
from surefoot.theory.general import gencb as gencb_over
from surefoot.theory.inputs import Curve, Floats, alpha_of, delta_of, positive, stakes, whole


def c2ucb(
    d: Any, K: Any, P: Any = 1, L: Any = 1, S: Any = 1, lam: Any = None, widest_gap: Any = None
) -> Bound:
    """C2UCB's own regret with the paper's radius: the first term of Theorem 4, with constants.

        E[R_T] <= 2 P beta(T) sqrt(g d T ln(1 + T K L^2/(lambda d))) + (pi^2/12) Delta_max
        beta(T) = sqrt(d ln(2 T^2 (1 + T K L^2/lambda))) + sqrt(lambda) S
        g = k / ln(1+k),  k = K L^2/lambda

    Source: the supplement's bound on E[R_m(C2UCB)] (proof of Theorem 4), after Qin, Chen, Zhu
    2014, which has g = 2 and 1 for pi^2/12. g = 2 needs k <= 2.5, so lambda of order K L^2, while
    the paper allows lambda = max(1, L^2): ours is right for every lambda > 0.
    ``widest_gap``: Delta_max, None for K. Raises InvalidInput for d or K < 1, or P, L, S, lambda,
    Delta_max <= 0; lambda = None is max(1, L^2).

    >>> round(c2ucb(d=5, K=10)(10_000))
    38448

    Holds when: base rewards lie in [0, 1] and are independent of the past and of each other given
    the super arm, f is monotone and P-Lipschitz, its maximiser is found. Does not hold when: the
    base rewards of one turn depend on each other: the ellipsoid is then not proved.
    """
    curve, excess, _ = _c2ucb(d, K, P, L, S, lam, widest_gap)
    return Bound(
        name="C2UCB",
        terms=(
            Term(REGULAR, "2 P beta(T) sqrt(g d T ln(1 + T K L^2/(lambda d)))", curve),
            Term("failed bounds", "(pi^2/12) Delta_max", constant(excess)),
        ),
        kind="E",
        source="Du, Wang, Huang 2021, supplement, proof of Theorem 4; constants ours",
        trusted=True,
        note="proved, not tight",
    )


def _c2ucb(
    d: Any, K: Any, P: Any, L: Any, S: Any, lam: Any, widest_gap: Any
) -> tuple[Curve, float, int]:
    arms, lipschitz = _arms(K, P)
    widest = float(arms) if widest_gap is None else positive(widest_gap, "widest_gap", "None: K")
    return *ellipsoid(d, L, S, lam, widest, arms, lipschitz), arms


def _arms(K: Any, P: Any) -> tuple[int, float]:
    arms = whole(K, "K", "the number of base arms")
    return arms, positive(P, "P", "sqrt(k) for the sum of k weights")


def gencb(
    d: Any, K: Any, default: Any, best: Any, alpha: Number,
    P: Any = 1, L: Any = 1, S: Any = 1, lam: Any = None,
) -> Bound:  # fmt: skip
    """GenCB-CCCB, Theorem 4: what stands inside its O(), with the Delta0 its print has lost.

        O( P d ln(K L T/lambda) sqrt(T) + D^2 Delta0 / (a c) * [ln(D / (a c))]^2 ),
        D = K + P sqrt(lambda) S d

    Source: Du, Wang, Huang 2021, Theorem 4. The statement lacks the factor Delta0; its proof ends
    with E[N0] Delta0, and for sums Delta0 may exceed 1, so the factor is kept here. ``default``:
    mu0 and ``best``: mu_* are rewards of a whole super arm, in 0..K. Raises InvalidInput for
    alpha outside (0, 1), mu0 <= 0, mu0 >= mu_*, d or K < 1, P, L or S <= 0, lambda < max(1, L^2)
    (None takes it).

    >>> bound = gencb(d=5, K=10, default=2.0, best=3.0, alpha=0.01)
    >>> bound.trusted, bound.parts(10)["default arm"] == bound.parts(1e6)["default arm"]
    (False, True)

    Holds when: as ``c2ucb``, feedback is immediate; up to a constant: not trusted, for the reasons
    given in ``clb.gencb``, and because its first term is proved only for lambda of order K L^2.
    """
    n, length, size, ridge = features(d, L, S, lam)
    theorem_ridge(ridge, length)
    arms, lipschitz = _arms(K, P)
    _, gap, a, c = stakes(default, best, alpha)
    D, u = arms + lipschitz * math.sqrt(ridge) * size * n, a * c
    cost = constant(D**2 * gap / u * math.log(D / u) ** 2)

    def regular(T: Floats) -> Floats:
        return np.asarray(lipschitz * n * np.log(arms * length * T / ridge) * np.sqrt(T))

    return order(
        "GenCB-CCCB", "E", "Du, Wang, Huang 2021, Theorem 4, with the factor Delta0 of its proof",
        UNCHECKED,
        Term(REGULAR, "P d ln(K L T/lambda) sqrt(T)", regular),
        Term(DEFAULT, "D^2 Delta0 / (a c) * [ln(D / (a c))]^2", cost),
    )  # fmt: skip


def gencb_proved(
    d: Any, K: Any, default: Any, best: Any, alpha: Number,
    P: Any = 1, L: Any = 1, S: Any = 1, lam: Any = None, widest_gap: Any = None,
) -> Bound:  # fmt: skip
    """GenCB-CCCB with constants that are proved: ``general.gencb`` over C2UCB.

        the bound of ``c2ucb`` + C Delta0,   C = ``general.at_most``, rewards in 0..K

    Ours. Arguments and errors as in ``gencb`` and ``c2ucb``; any lambda > 0.

    >>> gencb_proved(d=5, K=10, default=2.0, best=3.0, alpha=0.01).trusted
    True

    Holds when: as ``c2ucb``, feedback is immediate, the radius is the paper's, the default does
    not compete. It is very far from tight: its value is that it does not depend on T.
    """
    curve, excess, arms = _c2ucb(d, K, P, L, S, lam, widest_gap)
    return gencb_over(
        curve, excess, default, best, alpha,
        width=arms, formula="the bound of C2UCB", name="GenCB-CCCB",
    )  # fmt: skip


def c3ucb(d: Any, K: Any, alpha: Number, delta: Number | None = None) -> Bound:
    """C3UCB as the paper's Table 1 has it: its default term grows with T.

        O( d ln(K T) sqrt(T) + d/alpha * sqrt(d/K * ln(K T/delta)) )

    Source: Du, Wang, Huang 2021, Table 1, after Zhang et al. 2019. ``delta``: the failure
    probability; None is the convention 1/T. Raises InvalidInput for d or K < 1, or alpha or delta
    outside (0, 1).

    >>> bound = c3ucb(d=5, K=10, alpha=0.01)
    >>> bound.kind, bound.parts(10)["default arm"] < bound.parts(1e6)["default arm"]
    ('H', True)

    Holds when: with probability 1 - delta, under that paper's assumptions; the table drops every
    other factor.
    """
    n, arms = whole(d, "d", "the features' dimension"), whole(K, "K", "the number of base arms")
    share, level = alpha_of(alpha), delta_of(delta)

    def cost(T: Floats) -> Floats:
        return np.asarray(n / share * np.sqrt(n / arms * np.log(arms * T / level(T))))

    return order(
        "C3UCB", "H", "Du, Wang, Huang 2021, Table 1, after Zhang et al. 2019", TABLE,
        Term(REGULAR, "d ln(K T) sqrt(T)", lambda T: n * np.log(arms * T) * np.sqrt(T)),
        Term(DEFAULT, "d/alpha * sqrt(d/K * ln(K T/delta))", cost),
    )  # fmt: skip
