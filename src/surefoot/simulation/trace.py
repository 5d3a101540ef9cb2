"""What one agent's run leaves behind: its books and its regret at the checkpoints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Columns of ``Trace.books``; the first six are also an agent's state between two blocks.
T, DEFAULTS, SLACK, LEAST, BELOW, NEXT, ARM = range(7)
COLUMNS = 7
# Columns of ``Trace.losses``, sums over the regular plays: how far the true mean is below the best
# one, the true mean, its square, and the variance.
GAP, MEAN, SQUARE, VARIANCE = range(4)
SUMS = 4


class Trace(NamedTuple):
    """One row for each checkpoint."""

    books: Ints
    """Shape (checkpoints, 7): play, default plays so far, slack, least slack so far, plays with
    slack below zero so far, row number, arm of this play (-1: the default, 0: a super arm)."""
    losses: Floats
    """Shape (checkpoints, 4): what the regrets are made of."""


def blank(checkpoints: int) -> Trace:
    """An empty trace to be filled.

    >>> blank(2).books.shape, blank(2).losses.shape
    ((2, 7), (2, 4))
    """
    return Trace(np.zeros((checkpoints, COLUMNS), np.int64), np.zeros((checkpoints, SUMS)))
