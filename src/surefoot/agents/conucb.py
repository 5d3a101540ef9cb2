"""ConUCB: Wu, Shariff, Lattimore, Szepesvari 2016, "Conservative Bandits", known default."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

from surefoot._exact import exact, shown
from surefoot.agents._agent import Agent
from surefoot.agents.play import Choice, Play, Reason
from surefoot.errors import InvalidInput
from surefoot.floors import RewardFloor, Terms
from surefoot.policies._index import IndexPolicy
from surefoot.policies._kernels import NANO, IndexKernels, add, register
from surefoot.policies.base import Label, arm_labels

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


def _init(policy: ConUCBRecord, n_arms: int) -> Any:
    """Counts, exact sums, and the two bounds of each arm, which change with its plays only."""
    return [0] * n_arms, [0] * n_arms, [math.inf] * n_arms, [0.0] * n_arms


def _scale(policy: ConUCBRecord, m: int) -> Any:
    return 0.0


def _index(policy: ConUCBRecord, state: Any, k: int, s: float, best: float) -> Any:
    return state[2][k]


def _update(policy: ConUCBRecord, state: Any, k: int, reward: float) -> None:
    add(policy, state, k, reward)
    plays = state[0][k]
    mean = float(state[1][k]) / NANO / plays
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


class ConUCB(Agent):
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
        if default is None:
            raise InvalidInput("default is missing; ConUCB needs the default's known reward")
        record = _record(len(arm_labels(n_arms, arms)), delta, radius, scale)
        self.delta, self.radius, self.scale = float(delta), radius, scale
        self.bounds = IndexPolicy(record, n_arms, arms)
        super().__init__(self.bounds, RewardFloor(default, alpha, reward_range), seed)

    def select(
        self, context: Any = None, allowed: Iterable[Label] | None = None, default: Any = None
    ) -> Play:
        """Decide one play, see ``Agent.select``; the default is constant here."""
        if default is not None:
            raise InvalidInput(
                f"default = {shown(default)}: ConUCB knows one constant default; give it to ConUCB"
            )
        return super().select(context, allowed)

    def _decide(self, context: Any, allowed: Sequence[int] | None, terms: Terms) -> Play:
        arm, score = self.bounds.peek(self.turns + 1, allowed)
        choice = Choice(self.arms[arm], score, self._rival(terms))
        if choice.loses:
            return self._play_default(terms, Reason.DEFAULT_BEST, choice)
        margin = self._margin(arm, terms)
        choice = choice._replace(margin=margin)
        if margin < 0:
            return self._play_default(terms, Reason.SLACK_SHORT, choice)
        self.turns += 1
        return self._explore(arm, choice, Reason.SLACK_OK, terms, context)

    def _margin(self, arm: int, terms: Terms) -> int:
        """xi: the proved mean reward, this play included, minus the floor; in units."""
        books = self._books
        low, width = books.low, books.high - books.low
        pledged = math.floor(self.bounds.pledge(arm) * width)
        proved = pledged + low * (books.explorations + 1) + books.default_plays * terms.value
        return proved - terms.floor * (books.explorations + books.default_plays + 1)


def _record(n_arms: int, delta: Any, radius: str, scale: str) -> ConUCBRecord:
    failure = float(exact(delta, "delta"))
    if not 1e-200 < failure < 1:  # below, 1/delta leaves the floats
        raise InvalidInput(f"delta = {delta} must lie strictly between 0 and 1, e.g. 1/horizon")
    if radius not in RADII:
        raise InvalidInput(f"radius = {shown(radius)} is none of {', '.join(map(repr, RADII))}")
    if scale not in tuple(SCALES):
        raise InvalidInput(f"scale = {shown(scale)} is none of {', '.join(map(repr, SCALES))}")
    zeta = (n_arms + 1 if radius == "libbandit" else n_arms) / failure
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
