"""What a policy is asked with: contexts, as they are taken, and which of its methods is asked."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np

from surefoot._exact import shown
from surefoot.errors import InvalidInput

LOOKS = frozenset({0, *(2**k for k in range(11))})
"""After how many turns ``best`` is held against ``select``."""


def copied(context: Any) -> Any:
    """Plain containers and arrays anew, so that the caller may use theirs again; others as is.

    >>> row = np.ones(2)
    >>> taken = copied([row, {"hour": 9}])
    >>> row[0] = 5
    >>> taken
    [array([1., 1.]), {'hour': 9}]
    """
    try:
        return _copied(context)
    except RecursionError:
        raise InvalidInput(
            "context holds itself, or is too deep to be copied; flatten it"
        ) from None


def _copied(value: Any) -> Any:
    kind = type(value)
    if kind is list or kind is tuple:
        return kind([_copied(part) for part in value])
    if kind is dict:
        return {key: _copied(part) for key, part in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


def rows_of(context: Any) -> int | None:
    """How many rows a context has; None if it has none to count."""
    try:
        return len(context)
    except TypeError:
        return None


def doubted(policy: Any) -> bool:
    """Whether ``best`` may mean something else than ``select``.

    It may where its class is not of this library, or where the two come from different classes.
    """
    homes = [_home(policy, name) for name in ("best", "select")]
    return homes[0] is not homes[1] or not homes[0].__module__.startswith("surefoot.")


def _home(policy: Any, method: str) -> type:
    """The class that a policy's method is of."""
    line = type(policy).__mro__
    return next((one for one in line if method in vars(one)), type(policy))


def check_best(policy: Any, context: Any, rng: np.random.Generator) -> None:
    """Warn if ``best`` surely does not do what ``select`` does; copies are asked.

    An agent asks a policy that has ``best`` nothing else, so a ``select`` that explores at random
    would never be. Seen is what no luck explains: other arms after as many draws, or draws by one
    of the two alone.
    """
    try:
        twins = [copy.deepcopy((policy, context, rng)) for _ in range(2)]
        (one, given, ours), (other, same, theirs) = twins
        arm, _ = one.best(given, ours)
        chosen = other.select(same, theirs)
        before, after = rng.bit_generator.state, [ours.bit_generator.state]
        after.append(theirs.bit_generator.state)
        alike = bool(np.array_equal(arm, chosen))
    except Exception:  # noqa: BLE001  # the user's own code; what fails, fails when it is asked
        return
    still = [_same(before, state) for state in after]
    if still[0] == still[1] and (alike or not _same(*after)):
        return
    how = (
        f"best chose {shown(arm)} and select {shown(chosen)} in the same state"
        if still[0] == still[1]
        else f"only {'select' if still[0] else 'best'} draws at random"
    )
    warnings.warn(
        f"{type(policy).__name__} means different things by best and select: {how}. An agent asks "
        "best alone: let select return best(context, rng)[0], or leave best out",
        stacklevel=5,
    )


def _same(one: Any, other: Any) -> bool:
    """Whether two states of a generator are equal, arrays in them too."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return bool(np.array_equal(one, other))
