"""Linear arms: Theorem 3 for GenCB-CLB, the same with proved constants, CLUCB and CLUCB2.

Letters: d the dimension, ||x|| <= L, ||theta*|| <= S, lambda >= max(1, L^2) the ridge;
Delta0 = mu_* - mu0, a = alpha mu0, c = Delta0 + a.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot._types import Number
from surefoot.errors import InvalidInput
from surefoot.theory.bound import DEFAULT, REGULAR, TABLE, Bound, Term, constant, order
from surefoot.theory.general import gencb as gencb_over
from surefoot.theory.inputs import Curve, Floats, alpha_of, delta_of, positive, stakes, whole

UNCHECKED = "order only: the proof's constants cannot be checked"
FAILURES = math.pi**2 / 12
"""Mean number of turns at which the ellipsoid of level 1/(2 m^2) misses theta*, at most."""


def linucb(d: Any, L: Any = 1, S: Any = 1, lam: Any = None, widest_gap: Any = 1) -> Bound:
    """LinUCB's own regret with the paper's radius: the first term of Theorem 3, with constants.

        E[R_T] <= 2 beta(T) sqrt(g d T ln(1 + T L^2/(lambda d))) + (pi^2/12) Delta_max
        beta(T) = sqrt(d ln(2 T^2 (1 + T L^2/lambda))) + sqrt(lambda) S
        g = k / ln(1+k),  k = L^2/lambda     (g <= 1.45 for lambda >= L^2)

    Source: the supplement's bound on E[R_m(LinUCB)] (proof of Theorem 3), after Abbasi-Yadkori et
    al. 2011, which has 4 for 2 sqrt(g) and 1 for pi^2/12: ours is the elliptical-potential lemma
    with its sharp constant, u <= g ln(1+u) on 0 <= u <= k, so it needs no lambda >= L^2.
    ``widest_gap``: Delta_max, the largest gap of an arm. Raises InvalidInput for d < 1, or L, S,
    lambda, Delta_max <= 0; lambda = None is max(1, L^2).

    >>> round(linucb(d=5)(10_000))
    19106

    Holds when: rewards lie in [0, 1], their noise is independent of the past given the arm, and
    the bounds L and S are true. It holds at all T at once, but for a part whose mean is the
    second term. Does not hold when: rewards drift or come late.
    """
    curve, excess = ellipsoid(d, L, S, lam, widest_gap)
    return Bound(
        name="LinUCB",
        terms=(
            Term(REGULAR, "2 beta(T) sqrt(g d T ln(1 + T L^2/(lambda d)))", curve),
            Term("failed bounds", "(pi^2/12) Delta_max", constant(excess)),
        ),
        kind="E",
        source="Du, Wang, Huang 2021, supplement, proof of Theorem 3; constants ours",
        trusted=True,
        note="proved, not tight",
    )


def ellipsoid(
    d: Any, L: Any, S: Any, lam: Any, widest_gap: Any, K: int = 1, P: float = 1.0
) -> tuple[Curve, float]:
    """The curve of ``linucb``, and its mean excess; for K base arms that of ``cccb.c2ucb``."""
    n, length, size, ridge = features(d, L, S, lam)
    k = K * length**2 / ridge
    g = k / math.log1p(k)

    def curve(T: Floats) -> Floats:
        beta: Floats = np.sqrt(n * np.log(2 * T**2 * (1 + T * k))) + math.sqrt(ridge) * size
        return 2 * P * beta * np.sqrt(g * n * T * np.log1p(T * k / n))

    return curve, FAILURES * positive(widest_gap, "widest_gap", "1 for means in 0..1")


def features(d: Any, L: Any, S: Any, lam: Any) -> tuple[int, float, float, float]:
    """The dimension, L, S and lambda (None: max(1, L^2)), checked."""
    n, length = whole(d, "d", "the features' dimension"), positive(L, "L", "bounds ||x||")
    size = positive(S, "S", "bounds ||theta*||")
    ridge = max(1.0, length**2) if lam is None else positive(lam, "lam", "max(1, L^2) is usual")
    return n, length, size, ridge


def theorem_ridge(lam: float, L: float) -> None:
    """Refuse a lambda the printed theorem does not cover."""
    lowest = max(1.0, L**2)
    if lam < lowest:
        raise InvalidInput(
            f"lam = {lam:g} is below max(1, L^2) = {lowest:g}, which the theorem assumes; "
            "raise lam, or take gencb_proved, which holds for every lam > 0"
        )


def gencb(
    d: Any, default: Any, best: Any, alpha: Number, L: Any = 1, S: Any = 1, lam: Any = None
) -> Bound:
    """GenCB-CLB, Theorem 3: what stands inside its O().

        O( d ln(L T/lambda) sqrt(T)
           + d^2 S^2 lambda Delta0 / (a c) * [ln(d S sqrt(lambda) / (a c))]^2 )

    Source: Du, Wang, Huang 2021, Theorem 3. ``default``: mu0; ``best``: mu_*, the best regular
    mean. Raises InvalidInput for alpha outside (0, 1), mu0 <= 0, mu0 >= mu_*, d < 1, L or S <= 0,
    lambda < max(1, L^2) (None takes it).

    >>> bound = gencb(d=5, default=0.7, best=0.8, alpha=0.01)
    >>> bound.trusted, bound.parts(10)["default arm"] == bound.parts(1e6)["default arm"]
    (False, True)

    Holds when: as ``linucb``, feedback is immediate; up to a constant: not trusted, because the
    numbers of its proof (38, 2568, 294) absorb terms without showing how and E[R_m] <= E[B(m)] is
    used at a path-dependent m (see ``general``). Does not hold when: L T < lambda or d S
    sqrt(lambda) is near a c, where the logarithms mean nothing; rewards drift.
    """
    n, length, size, ridge = features(d, L, S, lam)
    theorem_ridge(ridge, length)
    _, gap, a, c = stakes(default, best, alpha)
    u = a * c
    cost = n**2 * size**2 * ridge * gap / u * math.log(n * size * math.sqrt(ridge) / u) ** 2
    first, formula = "d ln(L T/lambda) sqrt(T)", "d^2 S^2 lambda Delta0 / (a c)"
    return order(
        "GenCB-CLB", "E", "Du, Wang, Huang 2021, Theorem 3", UNCHECKED,
        Term(REGULAR, first, lambda T: n * np.log(length * T / ridge) * np.sqrt(T)),
        Term(DEFAULT, f"{formula} * [ln(d S sqrt(lambda) / (a c))]^2", constant(cost)),
    )  # fmt: skip


def gencb_proved(
    d: Any, default: Any, best: Any, alpha: Number,
    L: Any = 1, S: Any = 1, lam: Any = None, widest_gap: Any = 1,
) -> Bound:  # fmt: skip
    """GenCB-CLB with constants that are proved: ``general.gencb`` over LinUCB.

        the bound of ``linucb`` + C Delta0,   C = ``general.at_most`` of its curve

    Ours. C is of order d^2 ln^2 / (a c), as in Theorem 3. Arguments and errors as in ``gencb``
    and ``linucb``; any lambda > 0.

    >>> gencb_proved(d=5, default=0.7, best=0.8, alpha=0.01).trusted
    True

    Holds when: as ``linucb``, feedback is immediate, the radius is the paper's, the default does
    not compete. It is very far from tight: its value is that it does not depend on T.
    """
    curve, excess = ellipsoid(d, L, S, lam, widest_gap)
    return gencb_over(
        curve, excess, default, best, alpha, formula="the bound of LinUCB", name="GenCB-CLB"
    )


def clucb(d: Any, alpha: Number, delta: Number | None = None) -> Bound:
    """CLUCB as the paper's Table 1 has it: with delta = 1/T its default term grows with T.

        O( d ln(T/delta) sqrt(T) + d^2/alpha * [ln(d/(alpha delta))]^2 )

    Source: Du, Wang, Huang 2021, Table 1, after Kazerouni et al. 2017. ``delta``: the failure
    probability; None is the convention 1/T. Raises InvalidInput for d < 1, or alpha or delta
    outside (0, 1).

    >>> bound = clucb(d=5, alpha=0.01, delta=0.001)
    >>> bound.parts(10)["default arm"] == bound.parts(1e6)["default arm"]
    True

    Holds when: with probability 1 - delta, under that paper's assumptions; the table drops every
    other factor.
    """
    return _table_row("CLUCB", d, alpha, delta, 1, "Kazerouni et al. 2017")


def clucb2(d: Any, alpha: Number, delta: Number | None = None) -> Bound:
    """CLUCB2 of Garcelon et al. 2020, as the paper's Table 1 has it.

        O( d ln(T/delta) sqrt(T) + d^2/alpha^2 * [ln(d/(alpha delta))]^2 )

    Source: Du, Wang, Huang 2021, Table 1. Arguments, errors and limits as in ``clucb``. (The name
    also means a variant of Kazerouni et al. 2017, which this is not.)

    >>> first, second = clucb(d=5, alpha=0.1, delta=0.1), clucb2(d=5, alpha=0.1, delta=0.1)
    >>> round(second.parts(10)["default arm"] / first.parts(10)["default arm"], 9)
    10.0

    Holds when: as ``clucb``.
    """
    return _table_row("CLUCB2", d, alpha, delta, 2, "Garcelon et al. 2020")


def _table_row(
    name: str, d: Any, alpha: Number, delta: Number | None, power: int, paper: str
) -> Bound:
    n, share, level = whole(d, "d", "the features' dimension"), alpha_of(alpha), delta_of(delta)
    below = "alpha" if power == 1 else f"alpha^{power}"

    def cost(T: Floats) -> Floats:
        return np.asarray(n**2 / share**power * np.log(n / (share * level(T))) ** 2)

    return order(
        name, "H", f"Du, Wang, Huang 2021, Table 1, after {paper}", TABLE,
        Term(REGULAR, "d ln(T/delta) sqrt(T)", lambda T: n * np.log(T / level(T)) * np.sqrt(T)),
        Term(DEFAULT, f"d^2/{below} * [ln(d/(alpha delta))]^2", cost),
    )  # fmt: skip
