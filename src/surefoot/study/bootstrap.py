"""How far the mean over the runs may be off by chance: the studentised bootstrap, seeded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from surefoot.study.numbers import Array
from surefoot.study.verdict import CONFIDENCE, few, margin

RESAMPLES = 2_000
LEAST = 10
"""Of fewer runs the bootstrap's intervals may be many times as wide as Student's."""
MANY = 10_000
"""From so many runs on the bootstrap would say what Student's interval says."""
_SEED = 15
_ROOM = 2**20  # draws that are held at a time


def intervals(columns: Array) -> list[tuple[float, float] | None]:
    """Of each column a 95 % interval of its mean; None where the runs are too few to say.

    ``columns``: a row for each run. With mean m and standard error s of the n runs, m_b and s_b of
    a resample of n runs with replacement, and a and b the 2.5 % and 97.5 % quantiles of
    (m_b - m) / s_b over 2,000 resamples, the interval is [m - b*s, m - a*s].

    Source: Efron, Tibshirani 1993, An Introduction to the Bootstrap, section 12.5. All columns
    share the resamples, and equal ones have equal intervals, always.

    >>> import numpy as np
    >>> runs = np.column_stack([np.arange(12.0) ** 2, np.full(12, 7.0)])
    >>> first, second = intervals(runs)
    >>> first[0] < 42.2 < first[1], second
    (True, (7.0, 7.0))
    >>> intervals(runs[:4])
    [None, None]

    Of fewer than 10 runs, and of 10,000 or more, it is Student's interval. Holds when: the runs are
    independent. In simulations of 600 sets of 20 runs and more it held the mean in 92 to 95 %,
    where Student's held it in 84 to 96 % and percentiles of the means in 82 to 96 %. Does not hold
    when: most runs are equal and few are far away; where more than 2.5 % of the resamples have no
    spread, Student's interval is given instead.
    """
    runs = len(columns)
    if few(runs):
        return [None] * columns.shape[1]
    middle, error = columns.mean(axis=0), columns.std(axis=0, ddof=1) / np.sqrt(runs)
    if runs < LEAST or runs >= MANY:
        return [_student(column) for column in columns.T]
    centred = columns - middle
    together = np.concatenate(list(_resampled(centred)))
    tail = (1 - CONFIDENCE) / 2
    found: list[tuple[float, float] | None] = []
    for number, column in enumerate(columns.T):
        if column.min() == column.max():
            found.append((float(column[0]), float(column[0])))
            continue
        ratios = together[:, number]
        ratios = ratios[np.isfinite(ratios)]
        if len(ratios) < (1 - tail) * RESAMPLES:
            found.append(_student(column))
            continue
        low, high = np.quantile(ratios, (tail, 1 - tail)) * error[number]
        found.append((float(middle[number] - high), float(middle[number] - low)))
    return found


def _student(column: Array) -> tuple[float, float]:
    mean, width = float(column.mean()), margin(column)
    return mean - width, mean + width


def _resampled(centred: Array) -> Iterator[Array]:
    """(m_b - m) / s_b of each column, some resamples at a time; NaN where s_b is 0."""
    runs, rng = len(centred), np.random.default_rng(_SEED)
    at_once = max(1, min(RESAMPLES, _ROOM // runs))
    for start in range(0, RESAMPLES, at_once):
        count = min(at_once, RESAMPLES - start)
        drawn = rng.integers(0, runs, (count, runs)) + runs * np.arange(count)[:, None]
        times = np.bincount(drawn.ravel(), minlength=count * runs).reshape(count, runs)
        mean, square = times @ centred / runs, times @ centred**2 / runs
        spread = square - mean**2
        spread[spread <= 1e-12 * square] = np.nan
        yield mean / np.sqrt(spread / (runs - 1))
