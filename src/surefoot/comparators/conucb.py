"""ConUCB, known and unknown default: Wu, Shariff, Lattimore, Szepesvari 2016."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from surefoot._exact import one_of
from surefoot._labels import arm_labels
from surefoot._types import JsonObject, Number, Seed
from surefoot.agents.actions import Action
from surefoot.comparators.base import Comparator, UnknownDefault, failure
from surefoot.errors import InvalidInput
from surefoot.floors import Terms
from surefoot.kernels import registry
from surefoot.kernels.policy import IndexPolicy
from surefoot.kernels.registry import (
    NANO,
    IndexKernels,
    add_units,
    register,
)

SCALES = {"bounded": 0.5, "paper": 1.0, "libbandit": 2.0}
RADII = ("simple", "iterated", "libbandit")


class ConUCBRecord(NamedTuple):
    """Parameters of ConUCB: radius D(n) = sqrt(psi(n)/n), psi from one of three formulas."""

    simple: bool
    scale: float
    """Multiplies psi."""
    level: float
    """zeta = K/delta."""
    constant: float
    """The part of an iterated-logarithm psi that does not depend on n."""
    slope: float
    """The factor of its ln ln(1+n)."""
    unit: float = NANO
    """Into how many the range of rewards is divided for the sums, see ``kernels.unit_of``."""


def _init(
    policy: ConUCBRecord, n_arms: int
) -> tuple[list[int], list[int], list[float], list[float]]:
    """Counts, exact sums, and the two bounds of each arm, which change with its plays only."""
    return [0] * n_arms, [0] * n_arms, [math.inf] * n_arms, [0.0] * n_arms


def no_scale(policy: object, m: int) -> float:
    """``IndexKernels.scale`` of an index that does not change with the turn."""
    return 0.0


def kept_index(policy: object, state: Any, k: int, s: float, best: float) -> Any:
    """``IndexKernels.index`` of an index that is kept in the state."""
    return state[2][k]


def _update(policy: ConUCBRecord, state: Any, k: int, reward: float) -> None:
    add_units(policy, state, k, reward)
    plays = state[0][k]
    mean = float(state[1][k]) / policy.unit / plays
    if policy.simple:
        psi = 2.0 * (math.log(policy.level) + 3.0 * math.log(plays))
    else:
        psi = policy.constant + policy.slope * math.log(math.log(1.0 + plays))
    radius = math.sqrt(policy.scale * max(psi, 0.0) / plays)
    state[2][k] = mean + radius
    state[3][k] = max(0.0, mean - radius)


def _pledge(policy: ConUCBRecord, state: Any, k: int) -> Any:
    counts = state[0]
    lower = state[3]
    total = lower[k]
    for i in range(len(counts)):
        total += counts[i] * lower[i]
    return total


register(ConUCBRecord, IndexKernels(_init, no_scale, kept_index, _update, _pledge))


class ConUCB(Comparator):
    """Play the largest upper bound if lower bounds prove the floor on means; else the default.

        theta_i = mean_i + D(N_i), lambda_i = max(0, mean_i - D(N_i)), theta_0 = lambda_0 = mu0
        play J = argmax theta  iff  sum_i N_i*lambda_i + lambda_J >= (1-alpha)*mu0*t

    Source: Wu et al. 2016, Algorithm 1 (known mu0), as in the author's public C++; unplayed arms
    have theta = inf, lambda = 0. D(n) = sqrt(scale * psi(n) / n) with ``radius``

    - "simple":    psi = 2 ln(K n^3 / delta)
    - "iterated":  psi = ln max(3, ln z) + ln(2e^2 z) + z(1+ln z)/((z-1) ln z) * ln ln(1+n),
      z = K/delta: the printed radius, by secondary sources
    - "libbandit": the same with K+1 for K and x = ln z in the last factor, as the author ran it

    and ``scale``: "paper" 1, "bounded" 1/2 (the tightest for rewards in [0, 1]),
    "libbandit" 2 (as run, for unit variance). ``delta``: the failure probability; 1/T is the
    convention. All three are valid for rewards in [0, 1]; which one the paper printed we could not
    verify. Choices of ours: psi is cut at 0; the lower bounds' sum is rounded down to the books'
    unit, so ties are exact; rewards of another range are scaled to [0, 1]; a pending play counts at
    r_min.

    >>> agent = ConUCB(n_arms=2, default=0.5, alpha=0.5, delta=0.01)
    >>> agent.update(agent.select())
    <Outcome.BOOKED: 'booked'>
    >>> agent.explain(agent.select())  # doctest: +ELLIPSIS
    'Play 1 explores arm 0, which scores inf: the lower confidence bounds prove 0 more mean ...

    Holds when: rewards are independent and in range: with probability 1 - delta the sum of the
    played arms' means keeps the floor. Does not hold
    when: one asks it of received reward: the account is measured here, not kept.
    """

    gate: ClassVar[str] = "pledge"
    default_competes = True

    def __init__(
        self,
        n_arms: int | None = None,
        default: Number | None = None,
        alpha: Number = 0.05,
        delta: float = 0.001,
        radius: str = "iterated",
        scale: str = "paper",
        *,
        arms: Sequence[Any] | None = None,
        reward_range: tuple[Number, Number] = (0, 1),
        seed: Seed = None,
    ) -> None:
        record = record_of(len(arm_labels(n_arms, arms)), delta, radius, scale)
        self.settings = {"delta": failure(delta), "radius": radius, "scale": scale}
        self.bounds = IndexPolicy(record, n_arms, arms)
        super().__init__(self.bounds, default, alpha, reward_range, seed)

    def _proved(self, action: Action, context: Any) -> int:
        low, width = self.books.low, self.books.high - self.books.low
        pledged = math.floor(self.bounds.pledge(action) * width)  # type: ignore[arg-type]
        return pledged + low * (self.books.explorations + 1)


def record_of(n_arms: int, delta: Number, radius: str, scale: str) -> ConUCBRecord:
    """The record of a radius and scale; InvalidInput where their formula is not defined."""
    chance = failure(delta)
    one_of(radius, "radius", RADII)
    one_of(scale, "scale", SCALES)
    zeta = (n_arms + 1 if radius == "libbandit" else n_arms) / chance
    if radius == "simple":
        return ConUCBRecord(True, SCALES[scale], zeta, 0.0, 0.0)
    x = math.log(zeta) if radius == "libbandit" else zeta
    constant = math.log(max(3.0, math.log(zeta))) + math.log(2.0 * math.e**2 * zeta)
    if x <= 1.0 or (x - 1.0) * math.log(x) == 0.0:
        raise InvalidInput(
            f"delta = {delta} is too large for radius {radius!r} with {n_arms} arms: its formula "
            "has a pole there; take a smaller delta"
        )
    return ConUCBRecord(
        False, SCALES[scale], zeta, constant, x * (1.0 + math.log(x)) / ((x - 1.0) * math.log(x))
    )


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
        alpha: Number = 0.05,
        delta: float = 0.001,
        radius: str = "iterated",
        scale: str = "paper",
        *,
        arms: Sequence[Any] | None = None,
        default_range: tuple[Number, Number] | None = None,
        reward_range: tuple[Number, Number] = (0, 1),
        seed: Seed = None,
    ) -> None:
        count = len(arm_labels(n_arms, arms))
        known = count if radius == "libbandit" else count + 1
        record = record_of(known, delta, radius, scale)
        self.settings = {"delta": failure(delta), "radius": radius, "scale": scale}
        self.bounds = _WithDefault(record, n_arms, arms)
        super().__init__(self.bounds, default_range, alpha, reward_range, seed)

    def _default_paid(self, reward: Number | None) -> None:
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

    def __init__(
        self, record: ConUCBRecord, n_arms: int | None, arms: Sequence[Any] | None
    ) -> None:
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

    def state(self) -> JsonObject:
        """JSON-able state."""
        return {**super().state(), "default": [list(row) for row in self._default]}

    def restore(self, state: JsonObject) -> None:
        """The inverse of ``state``."""
        self._default = tuple(list(row) for row in state["default"])
        super().restore(state)
