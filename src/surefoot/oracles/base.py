"""What an oracle is: one weight for each base arm in, the best super arm out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import fields
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from surefoot._exact import shown
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput

Weights = npt.NDArray[np.float64]
SuperArm = tuple[int, ...]
"""The indices of a super arm's base arms, ascending; never empty."""

# Far from the largest float64, so that no sum of weights can overflow.
MOST_WEIGHT = 1e300


@runtime_checkable
class Oracle(Protocol):
    """argmax over A in X of f(A, w): the step of C2UCB that knows the combinatorial structure.

    Source: Du, Wang, Huang 2021, section "Application to Conservative Contextual Combinatorial
    Bandits"; Qin, Chen, Zhu 2014. Base arms are 0..n_base-1, and f is the sum of the weights
    unless an oracle says otherwise.

    ``n_base``: how many base arms there are; None if any number will do. ``size``: the fewest
    and the most base arms a super arm can hold, so that rewards in [0, 1] of base arms give
    super-arm rewards in [0, size[1]].
    """

    @property
    def n_base(self) -> int | None: ...

    @property
    def size(self) -> tuple[int, int]: ...

    def __call__(self, weights: Weights) -> SuperArm: ...


class Structure(ABC):
    """What the oracles here share: settings that cannot change, and weights that are checked.

    Subclasses are frozen dataclasses whose compared fields are their settings: two with equal ones
    are equal, and ``type(oracle)(**oracle.config())`` is the oracle again. The same weights always
    give the same super arm; each class says which one of equal ones.
    """

    n_base: int | None
    size: tuple[int, int]

    def __call__(self, weights: npt.ArrayLike) -> SuperArm:
        """The best super arm; InvalidInput for a NaN, an infinite or a missing weight."""
        return self._best(checked_weights(weights, self.n_base))

    @abstractmethod
    def _best(self, w: Weights) -> SuperArm: ...

    def config(self) -> JsonObject:
        """The JSON-able constructor arguments."""
        settings: Any = self
        return {one.name: getattr(self, one.name) for one in fields(settings) if one.compare}

    def _settle(self, **values: Any) -> None:
        """Set attributes once, in ``__init__``: the dataclass itself is frozen."""
        for name, value in values.items():
            object.__setattr__(self, name, value)


def checked_weights(weights: npt.ArrayLike, n_base: int | None = None) -> Weights:
    """The weights as one float64 array; ``n_base``: how many there must be, None for any number.

    >>> checked_weights([0.5, float("nan")])
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: the weight of base arm 1 is nan; weights must be finite numbers
    >>> checked_weights([0.5], n_base=2)
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: got 1 weights for 2 base arms; give one weight for each
    """
    try:
        array = np.asarray(weights)
    except ValueError:
        raise InvalidInput(f"weights = {shown(weights)} must be one flat list of numbers") from None
    if array.ndim != 1:
        raise InvalidInput(f"weights has shape {array.shape}; give one number for each base arm")
    if n_base is not None and len(array) != n_base:
        raise InvalidInput(
            f"got {len(array)} weights for {n_base} base arms; give one weight for each"
        )
    if not len(array):
        raise InvalidInput("weights is empty; give one weight for each base arm")
    if array.dtype.kind not in "fiu":
        _refuse_kind(array)
    w = array.astype(np.float64, copy=False)
    if not np.abs(w).max() <= MOST_WEIGHT:  # true for a NaN as well
        _refuse_value(w)
    return w


def _refuse_kind(array: npt.NDArray[Any]) -> None:
    for arm, value in enumerate(array.tolist()):
        if isinstance(value, bool) or not isinstance(value, float | int):
            raise InvalidInput(
                f"the weight of base arm {arm} is {shown(value)} ({type(value).__name__}); "
                "weights must be floats"
            )
    raise InvalidInput(f"weights has dtype {array.dtype}; weights must be floats")


def _refuse_value(w: Weights) -> None:
    arm = int(np.flatnonzero(~(np.abs(w) <= MOST_WEIGHT))[0])
    if np.isfinite(w[arm]):
        raise InvalidInput(
            f"the weight of base arm {arm} is {w[arm]}, beyond ±{MOST_WEIGHT}; rescale the weights"
        )
    raise InvalidInput(f"the weight of base arm {arm} is {w[arm]}; weights must be finite numbers")


def listed(value: Any, what: str, of: str) -> list[Any]:
    """What a user gave as a list; InvalidInput if it is none."""
    if not isinstance(value, Iterable) or isinstance(value, str):
        raise InvalidInput(f"{what} = {shown(value)} must be a list of {of}")
    return list(value)


def pair(value: Any, what: str, of: str) -> tuple[Any, Any]:
    """What a user gave as a pair; InvalidInput if it is none."""
    if not isinstance(value, Iterable) or isinstance(value, str) or len(two := tuple(value)) != 2:
        raise InvalidInput(f"{what} = {shown(value)} must be a pair{of}")
    return two


def read_only(w: Weights) -> Weights:
    """The same weights, for a user's function that must not change them."""
    view = w.view()
    view.flags.writeable = False
    return view


def whole(value: Any, what: str, least: int) -> int:
    """A number of things as an int; InvalidInput if it is none or below ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidInput(f"{what} = {shown(value)} must be an int >= {least}")
    return int(value)


def base_arms(indices: Any, what: str, n_base: int | None = None) -> SuperArm:
    """A set of base arms, in whatever order and container it came, as an ascending tuple.

    ``what`` names it in the error; ``n_base``: the number of base arms, None if not known.

    >>> base_arms([3, 1], "super_arms[0]")
    (1, 3)
    >>> base_arms([3, 3], "super_arms[0]")
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: super_arms[0] holds base arm 3 twice; name each once
    """
    if not isinstance(indices, Iterable) or isinstance(indices, str | bytes | dict):
        raise InvalidInput(f"{what} is {shown(indices)}; it must be a list of base-arm indices")
    arms = list(indices)
    if not arms:
        raise InvalidInput(f"{what} is empty; it must hold at least one base arm")
    for arm in arms:
        if isinstance(arm, bool | np.bool) or not isinstance(arm, int | np.integer):
            raise InvalidInput(
                f"{what} holds {shown(arm)} ({type(arm).__name__}); base arms are named by ints"
            )
        if arm < 0 or (n_base is not None and arm >= n_base):
            last = "" if n_base is None else f"..{n_base - 1}"
            raise InvalidInput(f"{what} holds {shown(arm)}; base arms are numbered 0{last}")
    found = sorted(map(int, arms))
    for one, other in pairwise(found):
        if one == other:
            raise InvalidInput(f"{what} holds base arm {shown(one)} twice; name each once")
    return tuple(found)
