"""How often GenCB plays the default: predicted from a regret curve, and bounded by proof.

GenCB moves from turn m to turn m+1 of its policy once it has made N default plays with
R_m + N mu0 >= (1-alpha) mu0 (m+N+1), R_m the reward received in m turns. With the realised
regret r_m = mu_* m - R_m, a = alpha mu0 and c = Delta_0 + a this is a N >= (1-alpha) mu0 + r_m
- c m. Hence, on every path and exactly,

    N0 = max over m >= 0 of ceil( ((1-alpha) mu0 + r_m - c m) / a ).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.errors import InvalidInput
from surefoot.theory._inputs import Curve, Floats, alpha_of, gap0, number, plays, positive

_LAST = 1e18
"""Where the search for the largest excess of a curve over a line ends."""


@dataclass(frozen=True, eq=False, slots=True)
class Prediction:
    """The default plays that a regret curve foretells."""

    count: float
    """In the long run; at least this many, if not ``settled``."""
    turn: int
    """The policy's turn after which no default play is needed: the account funds itself."""
    settled: bool
    """Whether the curve goes on after that turn; if not, a longer one may foretell more."""
    _calendar: Floats
    _needed: Floats

    def by(self, T: Any) -> Any:
        """The default plays among the first T plays; T a number or an array, >= 1."""
        horizon = plays(T)
        made = np.interp(horizon, self._calendar, self._needed)
        return made if horizon.ndim else float(made)


def predicted(regret: Any, default: Any, best: Any, alpha: Any, turns: Any = None) -> Prediction:
    """Foretell N0 from the regret of the policy alone, before GenCB is ever run.

        N0 ~ sup_m [ (1-alpha) mu0 + regret(m) - (alpha mu0 + Delta_0) m ] / (alpha mu0)

    Source: the budget of Yang et al. 2022 (arXiv 2106.11692), N0 ~ B/(alpha mu0) with
    B = sup_m [regret(m) - (alpha mu0 + Delta_0) m]; the summand (1-alpha) mu0, the play at stake,
    is ours and makes it exact (see this module).

    ``regret``: cumulative regret of the unguarded policy after each of ``turns`` (1, 2, ... if
    None), shape (M,). ``default``: mu0; ``best``: mu_*, the mean of the best regular arm.
    Raises InvalidInput for mu0 >= mu_*, alpha outside (0, 1), or turns that do not increase.

    >>> play_nothing_good = 0.8 * np.arange(1, 5)  # four turns that paid 0
    >>> foretold = predicted(play_nothing_good, default=0.5, best=0.8, alpha=0.1)
    >>> foretold.count, foretold.turn, foretold.settled
    (45.0, 4, False)
    >>> foretold.by([9, 20, 50]).round(6).tolist()
    [9.0, 18.0, 45.0]

    Holds when: rewards are >= 0, feedback is immediate, the default does not compete. With the
    realised regret of one run, mu_* m minus the reward received, it is that run's N0 but for the
    rounding up. A curve without the rewards' noise (pseudo-regret), or the mean of many runs,
    foretells too little, because a mean of maxima is at least the maximum of the mean: by a fifth
    for the paper's arms at K = 12, by little at K = 72. So predict run by run, realised, and
    average. Does not hold when: the default is the best arm: N0 then grows for ever.
    """
    mu0, gap = gap0(default, best)
    a = alpha_of(alpha) * mu0
    loss, m = _curve(regret, turns)
    needed = ((mu0 - a) + loss - (gap + a) * m) / a
    so_far = np.maximum.accumulate(needed)
    where = int(np.argmax(needed))
    # Between turn m and turn m+1 come the default plays, and then one play that is none.
    ready = m + so_far
    calendar = np.column_stack([ready, ready + 1]).ravel()
    return Prediction(
        count=float(so_far[-1]),
        turn=int(m[where]),
        settled=where < len(m) - 1,
        _calendar=np.concatenate([[0.0], calendar]),
        _needed=np.concatenate([[0.0], np.repeat(so_far, 2)]),
    )


def _curve(regret: Any, turns: Any) -> tuple[Floats, Floats]:
    """The regret curve and its turns, with the origin in front."""
    loss = np.asarray(regret, dtype=np.float64)
    m = np.arange(1.0, loss.size + 1) if turns is None else np.asarray(turns, dtype=np.float64)
    if loss.ndim != 1 or not loss.size or m.shape != loss.shape:
        raise InvalidInput(
            f"regret has shape {loss.shape} and turns {m.shape}; give one run's curve, shape "
            "(M,), and as many turns"
        )
    if not np.isfinite(loss).all():
        raise InvalidInput("regret must be finite at every turn; cut the curve where it ends")
    if m[0] < 1 or not (np.diff(m) > 0).all():
        raise InvalidInput("turns must increase and start at 1 or later; sort the curve by turn")
    return np.concatenate([[0.0], loss]), np.concatenate([[0.0], m])


def at_most(
    curve: Curve, excess: Any, default: Any, best: Any, alpha: Any, width: Any = 1
) -> float:
    """A proved bound on E[N0(T)], the same for every T: the C of Theorem 1, with its number.

        a C = a + (1-alpha) mu0 + sup_m [curve(m) - (c-e) m]^+ + excess + width^2/(8e)

    for any 0 < e < c, a = alpha mu0, c = Delta_0 + a; the best of a grid of e. Ours. Proof: in the
    identity of this module the realised regret is pseudo-regret plus noise. Pseudo-regret is at
    most curve(m) + Z for all m at once, E[Z] <= ``excess``. The noise is a martingale whose steps
    have range ``width``, so exp(8e/width^2 (noise_m - e m)) is a supermartingale (Hoeffding's
    lemma), sup_m [noise_m - e m] exceeds x with probability <= exp(-8 e x/width^2) (Ville), and
    its mean is at most width^2/(8e).

    ``curve``: a function of an array of turns m >= 1, non-decreasing, curve(m)/m falling in the
    end. ``width``: the range of one play's reward, in the units of mu0 (K for a sum of K base
    rewards). Raises InvalidInput as ``predicted`` does, and for a curve above every line.

    >>> round(at_most(lambda m: 0 * m, 0, default=0.5, best=0.8, alpha=0.1), 1)
    17.2

    Holds when: rewards lie in [0, width] and, given the arm, are independent of the past;
    feedback is immediate; the default does not compete. Does not hold when: only the *expected*
    regret is bounded, as Theorem 1 has it: see ``general``.
    """
    mu0, gap = gap0(default, best)
    a = alpha_of(alpha) * mu0
    extra, span = number(excess, "excess"), positive(width, "width", "1 for rewards in 0..1")
    if extra < 0:
        raise InvalidInput(f"excess = {excess} must be >= 0; take 0 for a bound without one")
    c = gap + a
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
