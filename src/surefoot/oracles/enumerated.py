"""A list of super arms, and any f: the oracle for what has no structure, or none we know."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot._exact import shown
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.oracles.base import (
    Structure,
    SuperArm,
    Weights,
    base_arms,
    listed,
    read_only,
    whole,
)  # fmt: skip

_EPS = 2.0**-52


@dataclass(frozen=True, init=False)
class Enumerated(Structure):
    """The best of the given super arms, each looked at.

        argmax over A in super_arms of f(A, w),   f = sum_{e in A} w_e unless given

    Source: Du, Wang, Huang 2021, section "Application to Conservative Contextual Combinatorial
    Bandits", for f: it must be monotone, w <= w' implying f(A, w) <= f(A, w'), and Lipschitz.

    ``super_arms``: lists of base-arm indices; kept in lexicographic order. ``f``: your
    ``f(super_arm, weights) -> float``, of an ascending tuple and all weights, read-only.
    ``n_base``: the number of base arms; None takes one more than the largest index. Sums are
    compared correctly rounded; of equal super arms the lexicographically smallest. O(total size)
    a call. Raises InvalidInput for an empty list, a super arm that is empty, repeated or out of
    range, and on a call where f returns anything but a finite number.

    >>> Enumerated([[2], [0, 1]])([0.1, 0.2, 0.25])
    (0, 1)
    >>> Enumerated([[2], [0, 1]], f=lambda arm, w: max(w[e] for e in arm))([0.1, 0.2, 0.25])
    (2,)

    Holds when: the list is all of X, and f is monotone. Does not hold when: f is not: the best
    super arm for upper bounds of the weights is then no upper bound of the best. An oracle with an
    f has no ``config``: a function cannot be saved.
    """

    super_arms: tuple[SuperArm, ...]
    f: Callable[[SuperArm, Weights], float] | None
    n_base: int
    _flat: npt.NDArray[np.intp] = field(repr=False, compare=False)
    _starts: npt.NDArray[np.intp] = field(repr=False, compare=False)

    def __init__(
        self,
        super_arms: Iterable[Iterable[int]],
        f: Callable[[SuperArm, Weights], float] | None = None,
        n_base: int | None = None,
    ) -> None:
        if f is not None and not callable(f):
            raise InvalidInput(f"f = {shown(f)} must be a function of (super_arm, weights)")
        n_base = None if n_base is None else whole(n_base, "n_base", 1)
        arms = _listed(super_arms, n_base)
        sizes = [len(arm) for arm in arms]
        self._settle(
            super_arms=arms, f=f, size=(min(sizes), max(sizes)),
            n_base=n_base or 1 + max(arm[-1] for arm in arms),
            _flat=np.concatenate([np.array(arm, dtype=np.intp) for arm in arms]),
            _starts=np.cumsum([0, *sizes[:-1]], dtype=np.intp),
        )  # fmt: skip

    def config(self) -> JsonObject:
        """The JSON-able constructor arguments; InvalidInput if an f was given."""
        if self.f is not None:
            raise InvalidInput(
                f"f = {shown(self.f)} cannot be saved as JSON; build the oracle anew when you load"
            )
        return super().config()

    def _best(self, w: Weights) -> SuperArm:
        if self.f is None:
            return self._largest_sum(w)
        weights = read_only(w)
        values = [_finite(self.f(arm, weights), arm) for arm in self.super_arms]
        return self.super_arms[values.index(max(values))]

    def _largest_sum(self, w: Weights) -> SuperArm:
        """Filter by fast sums, within a bound on their rounding; then correctly rounded ones."""
        sums = np.add.reduceat(w[self._flat], self._starts)
        doubt = self.size[1] ** 2 * _EPS * np.abs(w).max()
        near = [self.super_arms[i] for i in np.flatnonzero(sums >= sums.max() - doubt)]
        if len(near) == 1:
            return near[0]
        weights = w.tolist()
        return max(near, key=lambda arm: math.fsum([weights[e] for e in arm]))


def _listed(super_arms: Any, n_base: int | None) -> tuple[SuperArm, ...]:
    places: dict[SuperArm, int] = {}
    for i, given in enumerate(listed(super_arms, "super_arms", "lists of base arms")):
        arm = base_arms(given, f"super_arms[{i}]", n_base)
        if arm in places:
            raise InvalidInput(
                f"super_arms[{i}] is super_arms[{places[arm]}] again, {arm}; list each once"
            )
        places[arm] = i
    if not places:
        raise InvalidInput("super_arms is empty; give at least one super arm")
    return tuple(sorted(places))


def _finite(value: Any, arm: SuperArm) -> float:
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    raise InvalidInput(
        f"f returned {shown(value)} for super arm {arm}; it must return a finite number"
    )
