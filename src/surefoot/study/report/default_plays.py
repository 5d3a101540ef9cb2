"""How often GenCB plays the default, predicted from a regret curve.

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

from surefoot._types import Number
from surefoot.errors import InvalidInput
from surefoot.theory.inputs import Floats, plays, stakes


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


def predicted(regret: Any, default: Any, best: Any, alpha: Number, turns: Any = None) -> Prediction:
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
    mu0, _, a, c = stakes(default, best, alpha)
    loss, m = _curve(regret, turns)
    needed = ((mu0 - a) + loss - c * m) / a
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
