"""What a policy is: the protocol any learner, yours or ours, must follow to be guarded."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from surefoot.errors import InvalidInput

Label = Hashable
"""An arm as the user names it: an index or any JSON-able label."""


@runtime_checkable
class Policy(Protocol):
    """A standard bandit algorithm, the paper's A_S: it never sees default plays or the slack.

    Arms are 0..n_arms-1; ``select`` is called once for each of the policy's own turns and
    ``update`` once for each reward that arrives, in any order. ``state`` must be JSON-able and
    ``restore`` its inverse; only ``save`` and ``load`` call them.

    Optional attributes: ``arms``, labels for the user; ``unit_rewards = True``, to be told
    rewards scaled to [0, 1]; and the method of ``Scoring``.
    """

    n_arms: int

    def select(self, context: Any, rng: np.random.Generator) -> int: ...

    def update(self, arm: int, reward: float, context: Any) -> None: ...

    def state(self) -> dict[str, Any]: ...

    def restore(self, state: dict[str, Any]) -> None: ...


@runtime_checkable
class Scoring(Policy, Protocol):
    """A policy that can score its choice, so that the default may compete with it.

    ``best`` does what ``select`` does and also returns the score (an index or a posterior
    sample, on the scale of the rewards it is told); ``allowed`` restricts it to some arms.
    """

    def best(
        self, context: Any, rng: np.random.Generator, allowed: Sequence[int] | None = None
    ) -> tuple[int, float]: ...


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
            f"got n_arms = {n_arms!r} and arms = {arms!r}; give exactly one: "
            "n_arms=24 for arms 0..23, or arms=[...] for your own labels"
        )
    if arms is None:
        if isinstance(n_arms, bool) or not isinstance(n_arms, int | np.integer) or n_arms < 1:
            raise InvalidInput(f"n_arms = {n_arms!r} must be an int >= 1, the default not counted")
        return tuple(range(int(n_arms)))
    if isinstance(arms, str):
        raise InvalidInput(f"arms = {arms!r} is one string; give a list of labels: [{arms!r}]")
    labels = tuple(arms)
    if not labels:
        raise InvalidInput("arms is empty; give at least one arm besides the default")
    for label in labels:
        if not isinstance(label, str | int) or isinstance(label, bool):
            raise InvalidInput(
                f"arm label {label!r} must be a string or an int, so it can be saved"
            )
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise InvalidInput(f"arm label {twice!r} is given twice; labels must differ")
    return labels
