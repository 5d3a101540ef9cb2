"""Who gets what: a matching of rows to columns, such as users to servers or ads to slots."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from surefoot._exact import shown
from surefoot.errors import InvalidInput
from surefoot.oracles.base import Structure, SuperArm, Weights, listed, pair, whole

Cover = Literal["full", "most", "any"]
Shape = tuple[int, int]
Pairs = tuple[tuple[int, int], ...]
Permitted = npt.NDArray[np.bool_]


@dataclass(frozen=True, init=False)
class Matching(Structure):
    """The matching of rows to columns of largest weight; base arm r*columns + c is the pair (r, c).

        X = {A : each row and each column is in at most one pair of A},   |A| as ``cover`` says

    Source: Crouse 2016, the algorithm of scipy's ``linear_sum_assignment``; as an oracle of
    GenCB-CCCB (matchings): Du, Wang, Huang 2021.

    ``shape``: (rows, columns). ``forbidden``: pairs (r, c) that are never matched; they keep their
    place in the numbering, and their weights count for nothing. ``cover``: how many pairs:

    - "full": each row, or each column if these are fewer, is matched, whatever the weights;
    - "most": as many as the forbidden pairs leave possible, whatever the weights;
    - "any": only what pays; pairs whose weight is not positive are left out, save that the best
      single pair is played where none is.

    The weight is the largest to within the rounding of float64 sums. The choice among equal
    matchings is fixed for a version of scipy, but by no simple rule. O(n^3) a call; the first
    imports scipy.optimize, which takes a second. Raises InvalidInput for a pair outside the shape,
    if every pair is forbidden, and under "full" if forbidden pairs make it impossible, naming the
    rows (columns) that have too few partners.

    >>> Matching((2, 3))([0.9, 0.8, 0.1,
    ...                   0.8, 0.1, 0.2])
    (1, 3)
    >>> Matching((2, 2), forbidden=[(0, 0), (1, 0)])
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: forbidden leaves rows 0, 1 only column 1, and each needs its
    own; permit another pair, or pass cover="most"

    Holds when: f is the sum of the weights. Does not hold when: a row may take several columns;
    give it as many rows, with equal features.
    """

    shape: Shape
    forbidden: Pairs
    cover: Cover
    _permitted: Permitted = field(repr=False, compare=False)
    _pairs: int = field(repr=False, compare=False)

    def __init__(
        self, shape: Shape, forbidden: Iterable[tuple[int, int]] = (), cover: Cover = "full"
    ) -> None:
        rows, columns = _shape(shape)
        if cover not in ("full", "most", "any"):
            raise InvalidInput(f"cover = {shown(cover)} must be 'full', 'most' or 'any'")
        never = _forbidden(forbidden, rows, columns)
        permitted = np.ones((rows, columns), dtype=np.bool_)
        for never_matched in never:
            permitted[never_matched] = False
        if not permitted.any():
            raise InvalidInput("forbidden holds every pair; permit at least one")
        pairs = min(rows, columns)
        if never:
            widest = _assign(permitted.astype(np.float64))
            pairs = int(permitted[widest].sum())
            if cover == "full" and pairs < min(rows, columns):
                raise InvalidInput(_too_few_partners(permitted, *widest))
        self._settle(
            shape=(rows, columns), forbidden=never, cover=cover, _permitted=permitted,
            _pairs=pairs, n_base=rows * columns, size=(1 if cover == "any" else pairs, pairs),
        )  # fmt: skip

    @property
    def assignment(self) -> tuple[int, int, int, list[int]] | None:
        """(rows, columns, pairs, 1 for each permitted pair), for a policy that is to be compiled.

        None under "any", where super arms have no one size, and from a subclass.
        """
        if self.cover == "any" or type(self) is not Matching:
            return None
        return *self.shape, self._pairs, self._permitted.ravel().astype(int).tolist()

    def _best(self, w: Weights) -> SuperArm:
        values = w.reshape(self.shape)
        if self.cover == "any":
            return self._best_that_pays(values)
        if self.forbidden:
            values = np.where(self._permitted, values, -np.inf)
        rows, columns = _assign(self._padded(values))
        return self._super_arm(rows, columns, (rows < self.shape[0]) & (columns < self.shape[1]))

    def _best_that_pays(self, values: Weights) -> SuperArm:
        gains = np.where(self._permitted, np.maximum(values, 0.0), 0.0)
        if not gains.any():
            return (int(np.where(self._permitted, values, -np.inf).argmax()),)
        rows, columns = _assign(gains)
        return self._super_arm(rows, columns, gains[rows, columns] > 0)

    def _padded(self, values: Weights) -> Weights:
        """With blanks of weight 0, one for each row and column that must stay unmatched.

        Too few rows find a blank for less than ``_pairs`` of them to be matched for real, and
        more cannot be: no large penalty has to swamp the weights.
        """
        rows, columns = self.shape
        if self._pairs == min(rows, columns):
            return values
        side = rows + columns - self._pairs
        padded = np.zeros((side, side))
        padded[:rows, :columns] = values
        return padded

    def _super_arm(self, rows: Any, columns: Any, kept: Any) -> SuperArm:
        arms = rows[kept] * self.shape[1] + columns[kept]
        return tuple(sorted(arms.tolist()))


def _assign(values: Weights) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The rows and the columns of an assignment of largest sum, of the smaller side in full."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(values, maximize=True)
    return rows, columns


def _too_few_partners(permitted: Permitted, rows: Any, columns: Any) -> str:
    """Name some rows that share fewer columns than they are (Hall 1935), found from a matching."""
    side, other = "row", "column"
    if permitted.shape[0] > permitted.shape[1]:
        permitted, rows, columns, side, other = permitted.T, columns, rows, other, side
    partner = {int(c): int(r) for r, c in zip(rows, columns, strict=True) if permitted[r, c]}
    lone = min(set(range(len(permitted))) - set(partner.values()))
    crowd, shared = [lone], set[int]()
    for row in crowd:  # grows while it is read
        fresh = set(np.flatnonzero(permitted[row]).tolist()) - shared
        shared |= fresh
        crowd += [partner[column] for column in sorted(fresh)]
    if not shared:
        return f'forbidden leaves {side} {lone} no {other}; permit one, or pass cover="most"'
    return (
        f"forbidden leaves {side}s {_named(crowd)} only {other}{'s' * (len(shared) > 1)} "
        f"{_named(shared)}, and each needs its own; permit another pair, or pass "
        'cover="most"'
    )


def _named(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))


def _shape(shape: Any) -> Shape:
    sides = pair(shape, "shape", ": (rows, columns)")
    return whole(sides[0], "the rows of shape", 1), whole(sides[1], "the columns of shape", 1)


def _forbidden(pairs: Any, rows: int, columns: int) -> Pairs:
    read = set()
    for i, given in enumerate(listed(pairs, "forbidden", "pairs (row, column)")):
        ends = pair(given, f"forbidden[{i}]", " (row, column)")
        row, column = (whole(end, f"a side of forbidden[{i}]", 0) for end in ends)
        if row >= rows or column >= columns:
            raise InvalidInput(
                f"forbidden[{i}] = {(row, column)} lies outside the shape {(rows, columns)}; "
                "rows and columns are numbered from 0"
            )
        read.add((row, column))
    return tuple(sorted(read))
