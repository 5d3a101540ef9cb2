"""The rows of a log as arrays: their moments, shuffled and redrawn copies, tables to play on.

Everything is in units of the log and ordered by arm, the default's rows last; within an arm the
order is the log's.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from surefoot._exact import Unit
from surefoot.environments._table import TableRecord
from surefoot.errors import InvalidInput

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

TENTHS = 10
"""Parts of a log, in its own order, within which shares are held to be constant."""
SMOOTHING = 10
"""So many paying rows' worth of the whole log is mixed into an arm's variance (ours)."""
ENOUGH = 30
"""An arm with fewer paying rows is redrawn with one paying row's worth of the whole log (ours)."""
_FINE = 4_096


class Moments(NamedTuple):
    """What the rows of a log, or of a copy of it, say of each arm; the default is the last."""

    means: Floats
    squares: Floats
    """The variance of each mean: s_i^2 / n_i."""


class Rows:
    """A log's rows by arm.

    ``codes``, ``amounts``: the number of its arm and the reward in units of each row of the log.
    ``propensities``: of each row, the probability with which its arm
    was chosen; None: all rows count alike. ``has_default``: False where no row is the default's.

    >>> rows = Rows(np.array([1, 0, 1]), np.array([1, 0, 0]), Unit(0))
    >>> rows.moments(rows.amounts).means.tolist(), rows.sizes.tolist()
    ([0.0, 0.5], [1, 2])
    """

    def __init__(
        self,
        codes: Ints,
        amounts: Ints,
        unit: Unit,
        propensities: Floats | None = None,
        *,
        has_default: bool = True,
    ) -> None:
        self.order: Ints = np.argsort(codes, kind="stable")
        """Where each row is in the log."""
        self.amounts: Ints = amounts[self.order]
        self.arm: Ints = codes[self.order]
        self.sizes: Ints = np.bincount(self.arm)
        self.starts: Ints = np.cumsum(self.sizes) - self.sizes
        self.unit, self.has_default = unit, has_default
        self.n_arms = len(self.sizes) - has_default
        self.count = len(self.order)
        self.propensities = propensities
        self.weights: Floats | None = None
        """Relative to the arm's own rows: only these matter."""
        if propensities is not None:
            raw = 1 / propensities[self.order]
            self.weights = raw / (np.add.reduceat(raw, self.starts) / self.sizes)[self.arm]

    def halves(self, rng: np.random.Generator) -> tuple[Rows, Rows]:
        """Each arm's rows, dealt at random into two logs; an arm needs two rows or more."""
        dealt = np.lexsort((rng.random(self.count), self.arm))
        second = (np.arange(self.count) - self.starts[self.arm]) % 2 == 1
        return self._part(dealt[~second]), self._part(dealt[second])

    def _part(self, rows: Ints) -> Rows:
        shares = None if self.propensities is None else self.propensities[self.order][rows]
        return Rows(
            self.arm[rows], self.amounts[rows], self.unit, shares, has_default=self.has_default
        )

    @cached_property
    def paying(self) -> Ints:
        """How many rows of each arm pay anything."""
        found: Ints = np.add.reduceat((self.amounts != 0).astype(np.int64), self.starts)
        return found

    @cached_property
    def worth(self) -> float:
        """How many rows of the whole log hold one that pays; 0 where none does."""
        paying = int(self.paying.sum())
        return self.count / paying if paying else 0.0

    @cached_property
    def variance(self) -> float:
        """Of a row of the whole log."""
        return float(self.amounts.var())

    def moments(self, amounts: Ints, weights: Floats | None = None) -> Moments:
        """Means and their variances, of these rewards in place of the log's.

        ``weights``: of the rewards, where they are not the log's own. The mean of an arm is
        sum(w r) / sum(w), which is SNIPS (Swaminathan, Joachims 2015) for w = 1/propensity. Its
        variance is s^2/n with n = sum(w)^2 / sum(w^2), and s^2 the arm's, into which ten paying
        rows' worth of the whole log is mixed: fifty zeros have no variance, but their arm has.
        """
        w = self.weights if weights is None else weights
        x = amounts.astype(np.float64)
        if w is None:
            n = self.sizes.astype(np.float64)
            means = np.add.reduceat(x, self.starts) / n
            spread = np.add.reduceat((x - means[self.arm]) ** 2, self.starts) / n
        else:
            total = np.add.reduceat(w, self.starts)
            n = total**2 / np.add.reduceat(w * w, self.starts)
            means = np.add.reduceat(w * x, self.starts) / total
            spread = np.add.reduceat(w * (x - means[self.arm]) ** 2, self.starts) / total
        mixed = SMOOTHING * self.worth
        smooth = (n * spread + mixed * self.variance) / (n + mixed)
        return Moments(means, smooth / n)

    def shuffled(self, rng: np.random.Generator) -> Ints:
        """A copy in which no arm is better: the rewards shuffled over the rows; the arms stay.

        With propensities they are shuffled within each tenth of the log, since shares and rewards
        may both have moved between them.
        """
        logged = np.empty_like(self.amounts)
        logged[self.order] = self.amounts
        if self.weights is None:
            logged = rng.permutation(logged)
        else:
            ends = [-(-part * self.count // TENTHS) for part in range(TENTHS + 1)]
            for first, last in pairwise(ends):
                logged[first:last] = rng.permutation(logged[first:last])
        found: Ints = logged[self.order]
        return found

    def redrawn(self, rng: np.random.Generator) -> tuple[Ints, Floats | None]:
        """The log drawn again arm by arm, with replacement: rewards, and the weights they bring.

        Where an arm has fewer than 30 paying rows, one paying row's worth of the whole log is
        drawn from with its own: a handful of rows is not all that the arm may pay.
        """
        sizes = self.sizes.astype(np.float64)
        others = np.where(self.paying < ENOUGH, self.worth, 0.0)
        at = rng.random(self.count) * (sizes + others)[self.arm]
        own = at < sizes[self.arm]
        among = np.minimum(at.astype(np.int64), self.sizes[self.arm] - 1) + self.starts[self.arm]
        over = np.maximum(at - sizes[self.arm], 0.0) / max(self.worth, 1.0)
        anywhere = np.minimum((over * self.count).astype(np.int64), self.count - 1)
        rows = np.where(own, among, anywhere)
        return self.amounts[rows], None if self.weights is None else self.weights[rows]

    def record(self, amounts: Ints, weights: Floats | None = None, *, joined: bool) -> TableRecord:
        """The table a run draws from; ``joined``: the default is one of its arms, the last.

        With weights a row is there as often as its weight says, to one part in 4,096 or finer.
        """
        sizes, starts = self.sizes, self.starts
        w = self.weights if weights is None else weights
        if w is not None:
            total = np.add.reduceat(w, self.starts)
            fine = np.maximum(_FINE, 2 * self.sizes)
            ends = np.rint(np.cumsum(w * (fine / total)[self.arm])).astype(np.int64)
            counts = np.diff(ends, prepend=0)
            amounts = np.repeat(amounts, counts)
            sizes = np.add.reduceat(counts, self.starts)
            starts = np.cumsum(sizes) - sizes
        n = len(sizes) if joined else self.n_arms
        return TableRecord(amounts, starts[:n].astype(np.uint64), sizes[:n].astype(np.uint64))


def propensities(given: object, count: int) -> Floats:
    """The propensities of a log's rows; InvalidInput, which names the row, unless they are such.

    >>> propensities([0.5, 1], 2).tolist()
    [0.5, 1.0]
    """
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("the propensities of the log are not numbers; give probabilities") from (
            None
        )
    if found.shape != (count,):
        raise InvalidInput(f"the log has {count} rows but {len(found)} propensities")
    for row in np.flatnonzero(~((found > 0) & (found <= 1)))[:1]:
        raise InvalidInput(
            f"the propensity in row {row + 1} of the log is {found[row]:g}; it is the probability "
            "of what was chosen: above 0, at most 1"
        )
    return found
