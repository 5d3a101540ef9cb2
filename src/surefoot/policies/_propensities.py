"""The arms that a question about propensities is about."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot._exact import shown
from surefoot.errors import InvalidInput


def arms_asked(n_arms: int, allowed: Sequence[int] | None) -> list[int]:
    """The arms that the next turn may choose, ascending; InvalidInput where there is none.

    >>> arms_asked(3, None), arms_asked(3, [2, 0])
    ([0, 1, 2], [0, 2])
    """
    arms = list(range(n_arms)) if allowed is None else sorted({*allowed})
    if not arms or not 0 <= arms[0] <= arms[-1] < n_arms:
        raise InvalidInput(
            f"allowed = {shown(allowed)} must hold at least one arm, each an int in 0..{n_arms - 1}"
        )
    return arms
