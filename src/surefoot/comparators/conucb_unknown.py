"""ConUCB whose default is not known: Wu, Shariff, Lattimore, Szepesvari 2016."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from surefoot._labels import arm_labels
from surefoot.agents.actions import Action
from surefoot.comparators.base import UnknownDefault, failure
from surefoot.comparators.conucb import record_of
from surefoot.floors import Terms
from surefoot.kernels import registry
from surefoot.kernels.policy import IndexPolicy


class ConUCBUnknown(UnknownDefault):
    """ConUCB with bounds on the default's mean too, from its own plays.

        xi = sum_{i>=1} N_i*lambda_i + lambda_J + (N_0 - (1-alpha)*t)*theta_0 >= 0

    J is the arm of the largest theta_i, the default among them. N_0 - (1-alpha)*t is below zero
    where it matters, so the upper bound theta_0 is the cautious one.

    Source: Wu et al. 2016 (unknown mu0), as in the author's public C++; ``radius`` and ``scale``
    as in ``ConUCB``. Choices of ours: K counts the default in every radius, as its bounds may fail
    too; in xi theta_0 is cut at r_max, and lambda_0 stands in for it where the factor is above 0
    (with rewards >= 0 the test passes there anyway); and those of ``ConUCB``.

    ``default_range``: (l, u), within which the default surely pays, None for ``reward_range``: for
    the account alone, which measures against the default's own draws. A default play is reported
    with its reward.

    >>> agent = ConUCBUnknown(n_arms=2, alpha=0.5, delta=0.01)
    >>> play = agent.select()
    >>> play.is_default
    True
    >>> agent.update(play, reward=0.5)
    <Outcome.BOOKED: 'booked'>

    Holds when: rewards, the default's too, are independent and in range: with probability
    1 - delta the sum of the played means keeps the floor. Does not hold when: one asks it of
    received reward: the account is measured here, not kept.
    """

    default_competes = True

    def __init__(
        self,
        n_arms: int | None = None,
        alpha: Any = 0.05,
        delta: float = 0.001,
        radius: str = "iterated",
        scale: str = "paper",
        *,
        arms: Sequence[Any] | None = None,
        default_range: tuple[Any, Any] | None = None,
        reward_range: tuple[Any, Any] = (0, 1),
        seed: Any = None,
    ) -> None:
        count = len(arm_labels(n_arms, arms))
        known = count if radius == "libbandit" else count + 1
        record = record_of(known, delta, radius, scale)
        self.settings = {"delta": failure(delta), "radius": radius, "scale": scale}
        self.bounds = _WithDefault(record, n_arms, arms)
        super().__init__(self.bounds, default_range, alpha, reward_range, seed)

    def _default_paid(self, reward: Any) -> None:
        self.bounds.observe_default(self.books.unit_reward(reward))

    def default_score(self, terms: Terms) -> float:
        return self.bounds.default[0]

    def _margin(self, action: Action, terms: Terms, context: Any) -> int:
        books = self.books
        low, width = books.low, books.high - books.low
        upper, least = self.bounds.default
        times = self._coefficient()
        default = min(upper, 1.0) if times < 0 else least
        proved = self.bounds.pledge(action) * width + times * (low + width * default)  # type: ignore[arg-type]
        return math.floor(proved) + low * (books.explorations + 1)


class _WithDefault(IndexPolicy):
    """The index policy of ConUCB, and what is known of the default's mean."""

    def __init__(self, record: Any, n_arms: int | None, arms: Sequence[Any] | None) -> None:
        self._default = registry.init(record, 1)
        super().__init__(record, n_arms, arms)

    @property
    def default(self) -> tuple[float, float]:
        """theta_0 and lambda_0."""
        return self._default[2][0], self._default[3][0]

    def observe_default(self, reward: float) -> None:
        """Learn one reward in [0, 1] of the default."""
        registry.update(self.record, self._default, 0, reward)

    def _rescaled(self, rows: Any, unit: float) -> Any:
        self._default = super()._rescaled(self._default, unit)
        return super()._rescaled(rows, unit)

    def state(self) -> dict[str, Any]:
        """JSON-able state."""
        return {**super().state(), "default": [list(row) for row in self._default]}

    def restore(self, state: dict[str, Any]) -> None:
        """The inverse of ``state``."""
        self._default = tuple(list(row) for row in state["default"])
        super().restore(state)
