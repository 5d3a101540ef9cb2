"""Called: any two functions as a policy."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from surefoot._exact import first_few, shown
from surefoot.adapters.base import Adapter
from surefoot.errors import InvalidInput


class Called(Adapter):
    """Play what a function says: a model behind a network, a rule, a few lines of your own.

        arm = choose(context, rng)          learn(arm, reward, context)

    ``choose`` returns one of the labels (with ``n_arms``, a number); an exception, a NaN or an
    unknown arm is a fault. ``learn``: None for a rule that learns nothing. If they are methods of
    one object, what it has learned is saved and copied with the policy.

    >>> import surefoot as sf
    >>> rule = sf.adapters.Called(lambda context, rng: "new" if context["age"] < 30 else "old",
    ...                           arms=["old", "new"])
    >>> floor = sf.RewardFloor(default=0.5, alpha=0.1, reserve=5)
    >>> sf.GenCB(rule, floor).select({"age": 25}).arm
    'new'

    Holds when: the functions draw from the ``rng`` they are given, and keep what they learn in the
    object that they are methods of. Does not hold when: they keep it anywhere else: then copies, as
    ``simulate`` makes of every agent, share it, and a saved agent lacks it.
    """

    def __init__(
        self,
        choose: Callable[[Any, np.random.Generator], Any],
        learn: Callable[[Any, float, Any], object] | None = None,
        n_arms: int | None = None,
        arms: Iterable[Any] | None = None,
        time_limit: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        for what, given in (("choose", choose), ("learn", learn or choose)):
            if not callable(given):
                raise InvalidInput(f"{what} = {shown(given)} must be a function")
        super().__init__([choose, learn], n_arms, arms, time_limit, clock)

    def choose(self, context: Any, rng: np.random.Generator) -> Any:
        """The number of the arm whose label the function returns."""
        label = self.learner[0](context, rng)
        number = None if isinstance(label, bool | np.bool_) else _place(label, self.arms)
        if number is None:  # as a number it might be another arm's
            raise InvalidInput(
                f"choose returned {shown(label)}, and the arms are {first_few(self.arms)}"
            )
        return number

    def teach(self, arm: int, reward: float, context: Any) -> None:
        """Tell the function one reward, by the arm's label."""
        if self.learner[1] is not None:
            self.learner[1](self.arms[arm], reward, context)


def _place(label: Any, arms: tuple[Any, ...]) -> int | None:
    try:
        return arms.index(label)
    except ValueError:  # it is none of them, or an array
        return None
