"""ConUCB: Wu, Shariff, Lattimore, Szepesvari 2016, "Conservative Bandits", known default."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from surefoot._exact import one_of
from surefoot._labels import arm_labels
from surefoot.agents.actions import Action
from surefoot.comparators.base import Comparator, failure
from surefoot.errors import InvalidInput
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


def _init(policy: ConUCBRecord, n_arms: int) -> Any:
    """Counts, exact sums, and the two bounds of each arm, which change with its plays only."""
    return [0] * n_arms, [0] * n_arms, [math.inf] * n_arms, [0.0] * n_arms


def _scale(policy: ConUCBRecord, m: int) -> Any:
    return 0.0


def _index(policy: ConUCBRecord, state: Any, k: int, s: float, best: float) -> Any:
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


register(ConUCBRecord, IndexKernels(_init, _scale, _index, _update, _pledge))


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
        default: Any = None,
        alpha: Any = 0.05,
        delta: float = 0.001,
        radius: str = "iterated",
        scale: str = "paper",
        *,
        arms: Sequence[Any] | None = None,
        reward_range: tuple[Any, Any] = (0, 1),
        seed: Any = None,
    ) -> None:
        record = record_of(len(arm_labels(n_arms, arms)), delta, radius, scale)
        self.settings = {"delta": failure(delta), "radius": radius, "scale": scale}
        self.bounds = IndexPolicy(record, n_arms, arms)
        super().__init__(self.bounds, default, alpha, reward_range, seed)

    def _proved(self, action: Action, context: Any) -> int:
        low, width = self.books.low, self.books.high - self.books.low
        pledged = math.floor(self.bounds.pledge(action) * width)  # type: ignore[arg-type]
        return pledged + low * (self.books.explorations + 1)


def record_of(n_arms: int, delta: Any, radius: str, scale: str) -> ConUCBRecord:
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
