"""What in a log makes its evidence weaker than its numbers: each is named, some bar a verdict."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from scipy.stats import chi2, norm

from surefoot.study.logs.rows import TENTHS, Floats, Ints, Rows

FEW_ROWS: Final = 30
FEW_PAYING: Final = 10
"""Fewer rows, or fewer that pay, show the handful, not the arm."""
TOP: Final = 10
HEAVY: Final = 0.2
"""So many rows hold more than this share of an arm's reward: it hangs on them."""
SURELY: Final = 0.001
"""Shares that move by chance as much as these do so less often."""
MISFIT: Final = 1e-6
"""The same of sums of 1/propensity, whose tails are heavier than the test's."""
POWER: Final = 0.8
LEVEL: Final = 0.05
LIFTS: Final = (0.05, 0.1, 0.2)
_LEAST_EXPECTED = 5


class Flag(NamedTuple):
    """One weakness of a log."""

    name: str
    """"few", "heavy", "shares move", "propensities", "sorted", "short", "beyond the log", "default
    unsure" or "default unlogged".
    """
    why: str
    arms: tuple[int, ...] = ()
    """The numbers of the arms it is about, the default's the last; none: of the whole log."""
    bars: bool = False
    """Whether no verdict but "cannot tell" is drawn."""


def few(rows: Rows) -> Ints:
    """The arms with under 30 rows, or under 10 that pay."""
    return np.flatnonzero((rows.sizes < FEW_ROWS) | (rows.paying < FEW_PAYING))


def heavy(rows: Rows) -> Ints:
    """The arms of whose reward ten rows hold more than a fifth, sizes taken without sign."""
    found = []
    for arm, (start, size) in enumerate(zip(rows.starts, rows.sizes, strict=True)):
        sizes = np.abs(rows.amounts[start : start + size].astype(np.float64))
        top = np.partition(sizes, -min(TOP, size))[-min(TOP, size) :]
        if top.sum() > HEAVY * sizes.sum():
            found.append(arm)
    return np.array(found, dtype=np.int64)


def moved(codes: Ints) -> float:
    """Pearson's chi-square test of the arms' shares between the tenths of a log: its p.

    Arms too rare for the test, with fewer than five rows expected in a tenth, count as one.

    >>> bool(moved(np.arange(1000) % 4) > 0.999), moved(np.arange(1000) // 500) < 1e-9
    (True, True)
    """
    counts = np.zeros((TENTHS, int(codes.max()) + 1))
    np.add.at(counts, (np.arange(len(codes)) * TENTHS // len(codes), codes), 1)
    rare = counts.sum(axis=0) < _LEAST_EXPECTED * TENTHS
    table = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(codes)
    if table.shape[1] < 2 or expected.min() == 0:
        return 1.0
    square = float(((table - expected) ** 2 / expected).sum())
    return float(chi2.sf(square, (TENTHS - 1) * (table.shape[1] - 1)))


def uniform(codes: Ints) -> float:
    """Pearson's chi-square test that all arms have equal shares of a log: its p.

    >>> uniform(np.arange(1000) % 4), uniform(np.minimum(np.arange(100) % 4, 1)) < 1e-6
    (1.0, True)
    """
    counts = np.bincount(codes)
    expected = len(codes) / len(counts)
    return float(chi2.sf(float(((counts - expected) ** 2).sum() / expected), len(counts) - 1))


def fit(rows: Rows) -> tuple[Floats, float]:
    """What 1/propensity adds up to over each arm's rows, and a chi-square test of its equality.

        S_a = sum of 1/p_i over the rows of arm a, its variance sum of 1/p_i^2

    Each S_a estimates one number, the decisions that the log is of: also where rows were dropped
    with a known probability. Arms with under 30 rows are not tested. Ours.

    >>> from surefoot._exact import Unit
    >>> arms = np.arange(1000) % 4 // 3
    >>> for said in (np.array([0.75, 0.25]), np.array([0.5, 0.5])):
    ...     sums, p = fit(Rows(arms, arms, Unit(0), said[arms]))
    ...     print(sums, p > 0.99, p < 1e-9)
    [1000. 1000.] True False
    [1500.  500.] False True
    """
    assert rows.propensities is not None
    raw = 1 / rows.propensities[rows.order]
    sums = np.add.reduceat(raw, rows.starts)
    seen = rows.sizes >= FEW_ROWS
    if seen.sum() < 2:
        return sums, 1.0
    squares = np.add.reduceat(raw * raw, rows.starts)[seen]
    own = sums[seen]
    count = float((own / squares).sum() / (1 / squares).sum())
    squares = np.maximum(squares, count * own / rows.sizes[seen])  # too few of an arm show too few
    return sums, float(chi2.sf(float(((own - count) ** 2 / squares).sum()), len(own) - 1))


def in_blocks(codes: Ints) -> bool:
    """Whether each arm's rows stand together, as in a file that was sorted by arm.

    >>> in_blocks(np.array([1, 1, 0, 0])), in_blocks(np.array([1, 0, 1]))
    (True, False)
    """
    return int((np.diff(codes) != 0).sum()) + 1 == len(np.unique(codes)) < len(codes)


def rows_needed(lift: float, square: float, mean: float, n_arms: int) -> int | None:
    """Rows of an arm that pays ``lift`` more than the default, to find it in 8 of 10 logs.

        (z + .84)^2 s^2 / d^2,   d = lift * mean

    z is the quantile of a one-sided test at 5 %, of which there is one for each arm (Sidak 1967):
    2.23 for 4 arms. ``square``: the variance of a reward; the default is taken as well known.

    >>> rows_needed(0.2, 0.03 * 0.97, 0.03, 4), rows_needed(0.1, 0.25, 0.5, 4)
    (7647, 946)
    """
    if mean <= 0:
        return None
    z = norm.ppf((1 - LEVEL) ** (1 / n_arms)) + norm.ppf(POWER)
    return int(np.ceil(z**2 * square / (lift * mean) ** 2))


def shares(plays: Floats) -> Floats:
    """Each arm's share of some plays; zeros where there are none."""
    total = float(plays.sum())
    return plays / total if total else np.zeros(len(plays))
