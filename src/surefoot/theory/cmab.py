"""K arms: Theorem 2 for GenCB-CMAB, the same with proved constants, and ConUCB beside it.

Letters: Delta_i = mu_* - mu_i, H = sum over i > 1 of 1/Delta_i (Table 1 prints i = 1 as its first
index, which is infinite), Delta0 = mu_* - mu0, a = alpha mu0, c = Delta0 + a.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot._types import Number
from surefoot.theory.bound import DEFAULT, REGULAR, TABLE, Bound, Term, constant, order
from surefoot.theory.general import gencb as gencb_over
from surefoot.theory.inputs import Curve, Floats, alpha_of, arms_of, delta_of, gap0, gaps_of, stakes


def ucb1(means: Any) -> Bound:
    """UCB1's own regret, the first term of Theorem 2 with its constants.

        E[R_T] <= 8 H ln T + (1 + pi^2/3) sum_i Delta_i

    Source: Auer, Cesa-Bianchi, Fischer 2002, Theorem 1, the sums over Delta_i > 0; the paper's
    proof of Theorem 2 rounds it to 8 H ln(m+1) + 5 K. ``means``: of the regular arms, in 0..1,
    shape (K,). Raises InvalidInput for other means, or if no arm is worse than the best.

    >>> round(ucb1([0.8, 0.6])(100), 2)
    185.06

    Holds when: rewards lie in [0, 1] and are independent over time. It also holds at all T at
    once, but for a part whose mean is the second term: beyond 8 ln(m)/Delta_i^2 plays arm i is
    chosen only where a confidence bound fails. Does not hold when: rewards drift or come late.
    """
    curve, excess, _ = _ucb1(means)
    return Bound(
        name="UCB1",
        terms=(
            Term(REGULAR, "8 H ln T", curve),
            Term("failed bounds", "(1 + pi^2/3) sum Delta_i", constant(excess)),
        ),
        kind="E",
        source="Auer, Cesa-Bianchi, Fischer 2002, Theorem 1",
        trusted=True,
        note="proved, not tight",
    )


def _ucb1(means: Any) -> tuple[Curve, float, float]:
    """The curve, the mean excess over it, and mu_*."""
    best, gaps = gaps_of(arms_of(means, "means", 0, 1), "means")
    H = float((1 / gaps).sum())

    def curve(T: Floats) -> Floats:
        return 8 * H * np.log(T)

    return curve, (1 + math.pi**2 / 3) * float(gaps.sum()), best


def gencb(means: Any, default: Any, alpha: Number) -> Bound:
    """GenCB-CMAB, Theorem 2: what stands inside its O().

        O( H ln T + H Delta0 / (a c) * [ln(H / (a c))]^2 ),   a = alpha mu0, c = Delta0 + a

    Source: Du, Wang, Huang 2021, Theorem 2. ``means``: of the regular arms, in 0..1, shape (K,),
    those as good as the best left out of H; ``default``: mu0. Raises InvalidInput for alpha
    outside (0, 1), mu0 <= 0, mu0 >= mu_* (the theorem is void) or no worse arm.

    >>> bound = gencb([0.8, 0.6], default=0.7, alpha=0.05)
    >>> {name: round(value, 1) for name, value in bound.parts(1000).items()}
    {'regular arms': 34.5, 'default arm': 5132.5}

    Holds when: rewards lie in [0, 1] and are independent over time, feedback is immediate; up to
    a constant: not trusted, because the explicit numbers of its proof (5981) rest on Lemma 1
    outside of its assumptions (c1 = 2, used with 4 sqrt 2), on sqrt(2m ln 2m^3) <= 4 sqrt(m ln m),
    false at m = 1, and on E[R_m] <= E[B(m)] at a path-dependent m (see ``general``). Does not
    hold when: H/(a c) is near 1, where the squared logarithm means nothing; rewards drift.
    ``gencb_proved`` is a number one may rely on.
    """
    best, gaps = gaps_of(arms_of(means, "means", 0, 1), "means")
    _, gap, a, c = stakes(default, best, alpha)
    H = float((1 / gaps).sum())
    x = H / (a * c)
    cost = constant(x * gap * math.log(x) ** 2)
    return order(
        "GenCB-CMAB", "E", "Du, Wang, Huang 2021, Theorem 2",
        "order only: the proof's constants do not follow from its lemmas",
        Term(REGULAR, "H ln T", lambda T: H * np.log(T)),
        Term(DEFAULT, "H Delta0 / (a c) * [ln(H / (a c))]^2", cost),
    )  # fmt: skip


def gencb_proved(means: Any, default: Any, alpha: Number) -> Bound:
    """GenCB-CMAB with constants that are proved: ``general.gencb`` over UCB1.

        8 H ln T + (1 + pi^2/3) sum Delta_i + C Delta0,
        a C = a + (1-alpha) mu0 + sup_m [8 H ln m - (c-e) m] + (1 + pi^2/3) sum Delta_i + 1/(8e)

    Ours: ``general.at_most`` with UCB1's curve. Its default term is of order
    H Delta0 / a * ln(H/c), below Theorem 2's by a factor of order ln(H/c)/c. Arguments and errors
    as in ``gencb``.

    >>> bound = gencb_proved([0.8, 0.6], default=0.7, alpha=0.05)
    >>> bound.trusted, round(bound.parts(1000)["default arm"])
    (True, 577)

    Holds when: rewards lie in [0, 1] and are independent over time, feedback is immediate, UCB1's
    index is the paper's (2 ln m under the root), the default does not compete. It is far from
    tight: at K = 24, alpha = 0.05 it allows some hundred times the default plays that are made.
    """
    curve, excess, best = _ucb1(means)
    return gencb_over(
        curve, excess, default, best, alpha,
        formula="8 H ln T + (1 + pi^2/3) sum Delta_i", name="GenCB-CMAB",
    )  # fmt: skip


def conucb(means: Any, default: Any, alpha: Number, delta: Number | None = None) -> Bound:
    """ConUCB as the paper's Table 1 has it: its default term grows with T.

        O( H ln(T/delta) + sum_i ln(T/delta) / (alpha max{Delta_i, Delta0 - Delta_i}) ),  i = 1..K

    Source: Du, Wang, Huang 2021, Table 1, after Wu et al. 2016; H over i > 1. ``delta``: the
    failure probability; None is the convention 1/T, where ln(T/delta) is 2 ln T. Other
    arguments and errors as in ``gencb``.

    >>> bound = conucb([0.8, 0.6], default=0.7, alpha=0.05)
    >>> bound.kind, bound.parts(100)["default arm"] < bound.parts(10_000)["default arm"]
    ('H', True)

    Holds when: rewards are independent and the radius is valid for their noise, with probability
    1 - delta; the table drops the factors Delta0 and mu0.
    """
    best, gaps = gaps_of(arms_of(means, "means", 0, 1), "means")
    _, gap = gap0(default, best)
    share, level = alpha_of(alpha), delta_of(delta)
    H = float((1 / gaps).sum())
    every = best - arms_of(means, "means", 0, 1)  # the default's sum is over all K arms
    W = float((1 / np.maximum(every, gap - every)).sum()) / share
    formula = "sum_i ln(T/delta) / (alpha max{Delta_i, Delta0 - Delta_i})"
    return order(
        "ConUCB", "H", "Du, Wang, Huang 2021, Table 1, after Wu et al. 2016", TABLE,
        Term(REGULAR, "H ln(T/delta)", lambda T: H * np.log(T / level(T))),
        Term(DEFAULT, formula, lambda T: W * np.log(T / level(T))),
    )  # fmt: skip
