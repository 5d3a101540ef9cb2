"""Mean-variance arms: Theorem 5 for MV-CUCB, and the bound on MV-UCB it quotes.

Letters: MV_i = rho mu_i - sigma_i^2, Delta_i = MV_* - MV_i, MV0 = rho mu0, Delta0 = MV_* - MV0,
c = Delta0 + alpha MV0. H1 = sum 1/Delta_i, H2 = sum 1/Delta_i^2, H3 = sum over i != j of
1/(Delta_i Delta_j)^2, all over i, j > 1. Regret is eq. (4), normalised: per play.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot._types import Number
from surefoot.errors import InvalidInput
from surefoot.theory.bound import DEFAULT, REGULAR, Bound, Term
from surefoot.theory.inputs import Floats, alpha_of, arms_of, gap0, gaps_of, positive


def mv_cucb(
    means: Any,
    variances: Any,
    default: Any,
    alpha: Number,
    rho: Number,
    cumulative: bool = False,
) -> Bound:
    """MV-CUCB, Theorem 5: what stands inside its O~(), normalised; T times it if ``cumulative``.

        O~( rho^2 ln(K T)/T * (H1 + H2 + rho^2 ln(K T)/T * H3)
            + [rho^3 K^2 (H1 + 4 H2) + (rho^4 K H3 + rho K) c] / ((alpha MV0 - 2) c T) * Delta0 )

    Source: Du, Wang, Huang 2021, Theorem 5; O~ omits logarithms that do not depend on T.
    ``means`` in 0..1 and ``variances`` in 0..1/4, shape (K,); ``default``: mu0, of variance 0.
    The paper's figures are cumulative. Raises InvalidInput for alpha outside (0, 1), rho or
    mu0 <= 0, MV0 >= MV_*, no worse arm, and alpha rho mu0 <= 2, where the theorem is void (two of
    the paper's own panels: alpha = .05, rho = 10 and 30).

    >>> bound = mv_cucb([0.8, 0.6], [0.16, 0.24], default=0.7, alpha=0.05, rho=60)
    >>> bound.trusted, bound.parts(100)["default arm"] > 9 * bound.parts(1000)["default arm"]
    (False, True)

    Holds when: rewards lie in [0, 1] and are independent over time; up to a constant and
    logarithms: not trusted, because the proof uses Lemma 2 with other constants than it is stated
    for (c1 = 40 K (5+rho) for 2 (5+rho) sqrt(2K)), ln(12 K m^4) where the algorithm has m^3, and
    its last line drops the exploration risk of the default (of the order of E[N0]/T, so the rate
    survives). Does not hold when: the default's mean-variance is the best.
    """
    weight, best, K, H1, H2, H3, _ = _spread(means, variances, rho)
    drift, gap = _floor(weight, best, default, alpha)
    c = gap + drift
    cost = (weight**3 * K**2 * (H1 + 4 * H2) + (weight**4 * K * H3 + weight * K) * c) * gap
    cost /= (drift - 2) * c

    def regular(T: Floats) -> Floats:
        rate = weight**2 * np.log(K * T) / T
        return rate * (H1 + H2 + rate * H3)

    return _normalised(
        "MV-CUCB",
        (
            Term(REGULAR, "rho^2 ln(K T)/T * (H1 + H2 + rho^2 ln(K T)/T * H3)", regular),
            Term(
                DEFAULT,
                "[rho^3 K^2 (H1 + 4 H2) + (rho^4 K H3 + rho K) c] / ((alpha MV0 - 2) c T) * Delta0",
                lambda T: cost / T,
            ),
        ),
        cumulative,
        "Du, Wang, Huang 2021, Theorem 5",
        "order only, up to logarithms: the proof's constants do not follow from its lemmas",
    )


def mv_ucb(means: Any, variances: Any, rho: Number, cumulative: bool = False) -> Bound:
    """MV-UCB's own mean-variance regret, as the proof of Theorem 5 quotes it.

        T R_T <= 12 (5+rho)^2 (H1 + 4 H2) ln(6 K T) + 288 (5+rho)^4 H3 [ln(6 K T)]^2 / T
                 + 9 K + K Delta_max

    Source: Du, Wang, Huang 2021, supplement, after Sani, Lazaric, Munos 2012. Arguments and errors
    as in ``mv_cucb``; Delta_max is the largest gap.

    >>> mv_ucb([0.8, 0.6], [0.16, 0.24], rho=60).trusted
    False

    Holds when: as ``mv_cucb``, if the quotation is right: it has ln(6 K m) where the confidence
    level of the algorithm, 1/(12 K m^3), gives ln(12 K m^3): not trusted by that factor of 3.
    """
    weight, _, K, H1, H2, H3, widest = _spread(means, variances, rho)
    width = 5 + weight

    def regular(T: Floats) -> Floats:
        log = np.log(6 * K * T)
        most = 12 * width**2 * (H1 + 4 * H2) * log + 288 * width**4 * H3 * log**2 / T
        return (most + 9 * K + K * widest) / T

    formula = (
        "[12 (5+rho)^2 (H1 + 4 H2) ln(6 K T) + 288 (5+rho)^4 H3 [ln(6 K T)]^2 / T + 9 K + "
        "K Delta_max] / T"
    )
    return _normalised(
        "MV-UCB",
        (Term(REGULAR, formula, regular),),
        cumulative,
        "Du, Wang, Huang 2021, supplement, after Sani, Lazaric, Munos 2012",
        "as quoted: ln(6 K m) where the algorithm's level gives ln(12 K m^3)",
    )


def _floor(rho: float, best: float, default: Any, alpha: Number) -> tuple[float, float]:
    """alpha MV0, which must exceed 2, and Delta0 = MV_* - MV0."""
    mu0 = positive(default, "default", "shift the rewards so that the default earns")
    MV0, gap = gap0(rho * mu0, best, "rho * default")
    drift = alpha_of(alpha) * MV0
    if not drift > 2:
        raise InvalidInput(
            f"alpha * rho * default = {drift:g} must be > 2 for Theorem 5, which divides by its "
            "excess over 2; the floor may be kept all the same, but no regret bound is claimed"
        )
    return drift, gap


def _spread(
    means: Any, variances: Any, rho: Number
) -> tuple[float, float, int, float, float, float, float]:
    """rho, MV_*, K, H1, H2, H3 and the largest gap."""
    weight = positive(rho, "rho", "it weighs the mean against the variance")
    mu, var = arms_of(means, "means", 0, 1), arms_of(variances, "variances", 0, 0.25)
    if mu.shape != var.shape:
        raise InvalidInput(
            f"variances has {len(var)} arms, means {len(mu)}; give one of each for every arm"
        )
    best, gaps = gaps_of(weight * mu - var, "rho * means - variances")
    H1, H2 = float((1 / gaps).sum()), float((gaps**-2.0).sum())
    H3 = H2**2 - float((gaps**-4.0).sum())
    return weight, best, len(mu), H1, H2, H3, float(gaps.max())


def _normalised(
    name: str, terms: tuple[Term, ...], cumulative: bool, source: str, note: str
) -> Bound:
    if cumulative:
        terms = tuple(Term(t.name, f"T * ({t.formula})", _times_plays(t)) for t in terms)
    return Bound(name, terms, "E", source, trusted=False, note=note)


def _times_plays(term: Term) -> Any:
    def curve(T: Floats) -> Floats:
        return T * term.curve(T)

    return curve
