"""How arms are named: by their numbers, or by the user's own labels."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from surefoot._exact import shown
from surefoot.errors import InvalidInput

Label = Hashable
"""An arm as the user names it: an index, or a label that is a string or an int."""
MAX_ARMS = 10_000_000


def arm_labels(n_arms: Any, arms: Any) -> tuple[Label, ...]:
    """The labels of the arms from either form a user may give.

    >>> arm_labels(2, None), arm_labels(None, ["UA", "AA"])
    ((0, 1), ('UA', 'AA'))
    >>> arm_labels(None, [])
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: arms is empty; give at least one arm besides the default
    """
    if (n_arms is None) == (arms is None):
        raise InvalidInput(
            f"got n_arms = {shown(n_arms)} and arms = {shown(arms)}; give exactly one: "
            "n_arms=24 for arms 0..23, or arms=[...] for your own labels"
        )
    if arms is None:
        whole = isinstance(n_arms, int | np.integer) and not isinstance(n_arms, bool)
        if not whole or not 1 <= n_arms <= MAX_ARMS:
            raise InvalidInput(
                f"n_arms = {shown(n_arms)} must be an int in 1..{MAX_ARMS}, the default not "
                "counted; labels go to arms=[...]"
            )
        return tuple(range(int(n_arms)))
    if isinstance(arms, str | bytes):
        raise InvalidInput(f"arms = {shown(arms)} is one string; give a list of labels")
    if isinstance(arms, set | frozenset):
        raise InvalidInput(
            f"arms = {shown(arms)} is a set, which has no lasting order; give a list"
        )
    if isinstance(arms, Mapping):
        raise InvalidInput(f"arms = {shown(arms)} is a dict; give its labels: list(arms)")
    try:
        labels = tuple(int(arm) if isinstance(arm, np.integer) else arm for arm in arms)
    except TypeError:
        raise InvalidInput(
            f"arms = {shown(arms)} must be a list of labels; for numbered arms give n_arms"
        ) from None
    if not labels:
        raise InvalidInput("arms is empty; give at least one arm besides the default")
    for label in labels:
        if not isinstance(label, str | int) or isinstance(label, bool):
            raise InvalidInput(
                f"arm label {shown(label)} must be a string or an int, so it can be saved"
            )
    # Enums and numpy strings are strings or ints of a class that a file would not bring back.
    labels = tuple(str.__str__(x) if isinstance(x, str) else int(x) for x in labels)
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise InvalidInput(f"arm label {twice!r} is given twice; labels must differ")
    return labels
