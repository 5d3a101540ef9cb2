"""Any k base arms: the oracle of every ranking, list or shortlist."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot._top_k import top_k
from surefoot.errors import InvalidInput
from surefoot.oracles.base import Structure, SuperArm, Weights, whole


@dataclass(frozen=True, init=False)
class TopK(Structure):
    """Exactly k base arms, those of the largest weights, negative ones too.

        X = {A : |A| = k},   argmax over A in X of sum_{e in A} w_e

    Source: Qin, Chen, Zhu 2014 (a list of k items); as an oracle of GenCB-CCCB: Du, Wang, Huang
    2021. ``k``: an int >= 1. Any number of base arms from k on will do. Exact, as weights are only
    compared; of equal super arms the lexicographically smallest, so ties go to the lowest arms.
    Raises InvalidInput for another k, and on a call with fewer than k weights.

    >>> TopK(2)([0.1, 0.9, 0.5, 0.9, 0.9])
    (1, 3)
    >>> TopK(2)([0.5])
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: TopK(k=2) got 1 weights; give at least 2

    Holds when: a super arm's value grows with each of its arms' weights and treats them alike, as
    the sum does. Does not hold when: arms of one list stand in each other's way (diversity,
    positions): use ``Enumerated`` with your f, or ``Matching`` for positions.
    """

    k: int

    def __init__(self, k: int) -> None:
        k = whole(k, "k", 1)
        self._settle(k=k, n_base=None, size=(k, k))

    def _best(self, w: Weights) -> SuperArm:
        if len(w) < self.k:
            raise InvalidInput(f"{self} got {len(w)} weights; give at least {self.k}")
        out = [0] * self.k
        top_k(w.tolist(), self.k, out)
        return tuple(out)
