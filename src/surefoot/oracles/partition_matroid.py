"""So many base arms from each group: one carrier for each route, two articles from each topic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot._top_k import top_k
from surefoot.errors import InvalidInput
from surefoot.oracles.base import Structure, SuperArm, Weights, base_arms, listed, whole


@dataclass(frozen=True, init=False)
class PartitionMatroid(Structure):
    """The best base arms of each group, as many as its capacity.

        X = {A : |A ∩ G_j| = c_j for each group j},   or <= c_j, A not empty, if not ``exactly``

    Source: Edmonds 1971 (the greedy choice is exact on a matroid); as an oracle of GenCB-CCCB: Du,
    Wang, Huang 2021.

    ``groups``: lists of base arms that together hold each of 0..n_base-1 once. ``capacity``: c_j,
    one int >= 0 for all groups or one for each. ``exactly``: False leaves out arms whose weight is
    not positive, save that the best single arm is played where none is. Exact, as weights are
    only compared; of equal super arms the one of fewest base arms, of these the lexicographically
    smallest. Raises InvalidInput for groups that overlap or leave a base arm out, and, if
    ``exactly``, for a capacity above its group's size.

    >>> PartitionMatroid([[0, 1], [2, 3, 4]], capacity=[1, 2])([0.2, 0.7, -0.5, -0.1, 0.3])
    (1, 3, 4)
    >>> PartitionMatroid([[0, 1], [2, 3, 4]], [1, 2], exactly=False)([0.2, 0.7, -0.5, -0.1, 0.3])
    (1, 4)

    Holds when: f is the sum of the weights. Does not hold when: a base arm belongs to two groups,
    or limits cross (by carrier and by route): one of each kind is a ``Matching``.
    """

    groups: tuple[SuperArm, ...]
    capacity: tuple[int, ...]
    exactly: bool

    def __init__(
        self, groups: Iterable[Iterable[int]], capacity: int | Iterable[int] = 1,
        exactly: bool = True,
    ) -> None:  # fmt: skip
        groups = _partition(groups)
        capacity = _capacities(capacity, len(groups))
        for j, (group, c) in enumerate(zip(groups, capacity, strict=True)):
            if exactly and c > len(group):
                raise InvalidInput(
                    f"groups[{j}] has {len(group)} base arms but capacity {c}; lower the "
                    "capacity, or pass exactly=False to take at most so many"
                )
        most = sum(min(c, len(group)) for group, c in zip(groups, capacity, strict=True))
        self._settle(
            groups=groups, capacity=capacity, exactly=bool(exactly),
            n_base=sum(map(len, groups)), size=(most if exactly else 1, most),
        )  # fmt: skip

    def _best(self, w: Weights) -> SuperArm:
        weights = w.tolist()
        chosen: list[int] = []
        for group, c in zip(self.groups, self.capacity, strict=True):
            arms = group if self.exactly else [arm for arm in group if weights[arm] > 0]
            chosen += _largest(weights, arms, min(c, len(arms)))
        return tuple(sorted(chosen or self._best_single(weights)))

    def _best_single(self, weights: list[float]) -> list[int]:
        limits = zip(self.groups, self.capacity, strict=True)
        return _largest(weights, sorted(arm for group, c in limits if c for arm in group), 1)


def _largest(weights: list[float], arms: Sequence[int], k: int) -> list[int]:
    """The k arms of the largest weights; ``arms`` is ascending, so ties go to the lowest."""
    if not k:
        return []
    out = [0] * k
    top_k([weights[arm] for arm in arms], k, out)
    return [arms[place] for place in out]


def _partition(groups: Any) -> tuple[SuperArm, ...]:
    given = listed(groups, "groups", "lists of base arms")
    read = tuple(base_arms(group, f"groups[{j}]") for j, group in enumerate(given))
    home: dict[int, int] = {}
    for j, group in enumerate(read):
        for arm in group:
            if arm in home:
                raise InvalidInput(
                    f"base arm {arm} is in groups[{home[arm]}] and in groups[{j}]; "
                    "each belongs to one group"
                )
            home[arm] = j
    if not home:
        raise InvalidInput("groups is empty; give at least one group of base arms")
    for arm in range(len(home)):
        if arm not in home:
            raise InvalidInput(
                f"base arm {arm} is in no group, but {max(home)} is; number base arms without "
                "gaps, and give one that is never played a group of capacity 0"
            )
    return read


def _capacities(capacity: Any, n_groups: int) -> tuple[int, ...]:
    if not isinstance(capacity, Iterable):
        return (whole(capacity, "capacity", 1),) * n_groups
    read = tuple(whole(c, f"capacity[{j}]", 0) for j, c in enumerate(capacity))
    if len(read) != n_groups:
        raise InvalidInput(f"got {len(read)} capacities for {n_groups} groups; give one for each")
    if not any(read):
        raise InvalidInput("capacity is 0 for every group; let at least one give a base arm")
    return read
