"""Your own oracle: any callable, and a check of what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from surefoot._exact import shown
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.oracles.base import Structure, SuperArm, Weights, base_arms, pair, read_only, whole


@dataclass(frozen=True, init=False)
class Called(Structure):
    """What ``as_oracle`` makes of a callable."""

    function: Callable[[Weights], Iterable[int]]
    n_base: int
    size: tuple[int, int]

    def __init__(self, function: Any, n_base: Any, size: Any) -> None:
        if n_base is None:
            raise InvalidInput(
                f"n_base of {shown(function)} is not known; pass as_oracle(..., n_base=...)"
            )
        n_base = whole(n_base, "n_base", 1)
        self._settle(function=function, n_base=n_base, size=_size(size, n_base))

    def config(self) -> JsonObject:
        """InvalidInput: a function cannot be saved."""
        raise InvalidInput(
            f"the oracle {shown(self.function)} cannot be saved as JSON; "
            "build it anew when you load"
        )

    def _best(self, w: Weights) -> SuperArm:
        arm = base_arms(self.function(read_only(w)), "the oracle's answer", self.n_base)
        fewest, most = self.size
        if not fewest <= len(arm) <= most:
            raise InvalidInput(
                f"the oracle's answer {shown(arm)} has {len(arm)} base arms; its size was given as "
                f"{fewest} to {most}, which the range of rewards is built on"
            )
        return arm


def as_oracle(
    oracle: Callable[[Weights], Iterable[int]],
    n_base: int | None = None,
    size: tuple[int, int] | None = None,
) -> Structure:
    """Any callable from weights to base-arm indices as an oracle whose answers are checked.

    One of ours is returned as it is. ``n_base``: the number of base arms; ``size``: the fewest and
    the most of them in a super arm, (1, n_base) unless given; attributes of these names are read
    where the callable has them. It gets the weights as one read-only float64 array, and may
    answer in any order and container. Raises InvalidInput if n_base is not known, and on a call
    whose answer is empty, repeats an index, holds one out of range or is of another size; what
    the callable itself raises is passed on.

    >>> ends = as_oracle(lambda w: [w.argmax(), w.argmin()], n_base=3, size=(2, 2))
    >>> ends([0.5, 0.1, 0.9])
    (1, 2)
    >>> ends([0.5, 0.5, 0.5])
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: the oracle's answer holds base arm 0 twice; name each once

    Holds when: the callable maximises f, and answers the same weights alike. Does not hold when:
    it only comes near the maximum: C2UCB's regret is then bounded against that fraction of the
    best alone (Qin, Chen, Zhu 2014); what a floor promises stands whatever it answers.
    """
    if isinstance(oracle, Structure):
        return oracle
    if not callable(oracle):
        raise InvalidInput(
            f"oracle = {shown(oracle)} must be callable: weights in, base-arm indices out"
        )
    n_base = getattr(oracle, "n_base", None) if n_base is None else n_base
    size = getattr(oracle, "size", None) if size is None else size
    return Called(oracle, n_base, size)


def _size(size: Any, n_base: int) -> tuple[int, int]:
    if size is None:
        return 1, n_base
    bounds = pair(size, "size", " (fewest, most)")
    fewest = whole(bounds[0], "the fewest base arms of size", 1)
    most = whole(bounds[1], "the most base arms of size", fewest)
    if most > n_base:
        raise InvalidInput(f"size = {shown(size)} allows {most} base arms, but there are {n_base}")
    return fewest, most
