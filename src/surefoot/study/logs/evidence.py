"""What runs on a log, on shuffled and on redrawn copies of it say together: the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from surefoot.study.logs.copies import Gain

PAYS: Final = "pays"
DOES_NOT_PAY: Final = "does not pay"
CANNOT_TELL: Final = "cannot tell"

LEVEL: Final = 0.05
"""A shuffled copy, in which no arm is better, looks like this log at most so often."""
_ENDS = (0.025, 0.975)


class Evidence(NamedTuple):
    """Gain over the horizon above always playing the default, and the verdict on it."""

    mean: float
    """The log's gain less luck, within low..high."""
    low: float
    high: float
    in_sample: float
    """What the log itself shows, at the logged means of its arms."""
    luck: float
    """What the same backtest gains on shuffled copies of the log, in which no arm is better."""
    p: float
    """Of how many copies, the log one of them, the gain is as clear as the log's, or clearer."""
    verdict: str


def weigh(
    in_sample: float,
    t: float,
    shuffled: Sequence[Gain],
    redrawn: Sequence[float],
    worth: float,
    *,
    barred: bool = False,
) -> Evidence:
    """The evidence of a log; ours, after the permutation test and the bootstrap.

        p = (1 + #{t_shuffled >= t}) / (1 + #shuffled),   luck = mean(gain_shuffled)
        pays iff p <= .05 and b2.5 > 0; else does not pay iff high < worth; else cannot tell
        low = b2.5 if it pays, else min(0, b2.5 - max(0, luck));   high = b97.5

    ``t``: of the log, from as many runs as each of the shuffled has. ``redrawn``: the gain in each
    redrawn log, whose quantiles b are. ``barred``: a flag of the log forbids a verdict.

    >>> alike, apart = [Gain(1.0, 1.0)] * 99, [5.0, 6.0, 7.0]
    >>> weigh(6.5, 4.0, alike, apart, worth=1.0)  # doctest: +NORMALIZE_WHITESPACE
    Evidence(mean=5.5, low=5.05, high=6.95, in_sample=6.5, luck=1.0, p=0.01, verdict='pays')
    >>> weigh(6.5, 1.0, alike, apart, worth=1.0).verdict
    'cannot tell'

    Holds when: the rows of an arm are independent draws of one law. Under the hypothesis that no
    arm differs in anything the test is exact; the interval needs rows enough for a bootstrap.
    Does not hold when: shares and rewards both moved while the log grew, or its arms were chosen
    by what they had paid.
    """
    luck = float(np.mean([one.value for one in shuffled]))
    p = (1 + sum(one.t >= t for one in shuffled)) / (1 + len(shuffled))
    least, high = (float(end) for end in np.quantile(redrawn, _ENDS))
    pays = p <= LEVEL and least > 0 and not barred
    low = least if pays else min(0.0, least - max(0.0, luck))
    verdict = PAYS if pays else CANNOT_TELL if barred or high >= worth else DOES_NOT_PAY
    mean = min(max(in_sample - luck, low), max(low, high))
    return Evidence(mean, low, high, in_sample, luck, p, verdict)
