"""When runs decide a question: how many it takes, and how far their mean may be off by chance."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt

from scipy.special import stdtrit

from surefoot.study.numbers import Array, counted

LEAST_RUNS = 5
"""No verdict is drawn from fewer: what happens in half of all runs, four may all miss."""
CONFIDENCE = 0.95
"""Of every interval shown. Each verdict is for itself: one in twenty may be wrong by chance."""

EACH = (
    "Each verdict stands for itself, at 95 %: of many that rest on an interval, a few may be "
    "wrong by chance."
)


def margin(values: Array) -> float:
    """Half the width of Student's interval of the mean over the runs: t * s / sqrt(n).

    t is the quantile of Student's distribution with n-1 degrees of freedom, 2.78 for 5 runs and
    2.01 for 50; infinite for a single run, which says nothing of the others.

    >>> import numpy as np
    >>> round(margin(np.array([1.0, 2.0, 3.0, 4.0, 5.0])), 3), margin(np.array([1.0]))
    (1.963, inf)

    Holds when: the runs are independent and their mean is about normal. Does not hold when: it is
    read of many intervals at once: each misses with probability 1/20.
    """
    runs = len(values)
    if runs < 2:
        return inf
    quantile = stdtrit(runs - 1, (1 + CONFIDENCE) / 2)
    return float(quantile * values.std(ddof=1) / sqrt(runs))


def side(values: Array) -> bool | None:
    """Whether the mean is above zero; None where these runs do not set it apart from zero.

    >>> import numpy as np
    >>> runs = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    >>> side(runs), side(-runs), side(runs - 3), side(runs[:4])
    (True, False, None, None)
    """
    mean = float(values.mean())
    if few(len(values)) or mean == 0 or abs(mean) <= margin(values):
        return None
    return mean > 0


def few(runs: int) -> str:
    """Why so few runs decide nothing; "" if they may.

    >>> few(1), few(5)
    ('1 run, at least 5 needed', '')
    """
    return "" if runs >= LEAST_RUNS else f"{counted(runs, 'run')}, at least {LEAST_RUNS} needed"


def tally(verdicts: Sequence[bool | None]) -> str:
    """How many of some verdicts are which.

    >>> tally([True, None, True, False])
    '2 hold, 1 not decided, 1 does not'
    """
    hold, fail = (sum(holds is wanted for holds in verdicts) for wanted in (True, False))
    return (
        f"{hold} {'holds' if hold == 1 else 'hold'}, {len(verdicts) - hold - fail} not decided, "
        f"{fail} {'does' if fail == 1 else 'do'} not"
    )
