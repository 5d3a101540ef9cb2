"""The mean-variance account: exact moments of all rewards, and what pending ones could do to them.

    S_n = n*MV_n - (1-alpha)*rho*mu0*n,   MV_n = rho*mean - population variance of the n rewards

must never go below zero. Everything is decided in integers: with U units to 1, rho = a/b,
alpha = p/q, mu0 = m/U, and R, Q the sums of the rewards and of their squares in units,

    n*S_n * U^2*q*b = n*(a*q*U*R - q*b*Q) + q*b*R^2 - (q-p)*a*m*U*n^2.

Source: Du, Wang, Huang 2021, eq. (5) and Algorithm MV-CUCB; the integer form, the checks other
than the paper's and the treatment of pending rewards are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from surefoot.floors.events import AS_DEFAULT, CONFIRMED, HELD, LATE, REWARDED, VOIDED, Move


class Moments(NamedTuple):
    """How many rewards, their sum and the sum of their squares, in units and squared units."""

    n: int
    total: int
    squares: int

    def plus(self, count: int, reward: int) -> Moments:
        """With ``count`` more rewards of the same size."""
        return Moments(
            self.n + count,
            self.total + count * reward,
            self.squares + count * reward * reward,
        )


NOTHING = Moments(0, 0, 0)


class Constants(NamedTuple):
    """What one promise asks, as integers; ``low`` and ``high`` bound every reward."""

    unit: int
    """U."""
    rho: tuple[int, int]
    alpha: tuple[int, int]
    value: int
    """mu0 in units."""
    low: int
    high: int

    @property
    def asked(self) -> tuple[int, int]:
        """(1-alpha)*rho*mu0 in units, as a fraction."""
        (a, b), (p, q) = self.rho, self.alpha
        return (q - p) * a * self.value, q * b

    def scaled_slack(self, moments: Moments) -> int:
        """n*S_n * U^2*q*b."""
        (a, b), (p, q) = self.rho, self.alpha
        n, total, squares = moments
        gained = n * (a * q * self.unit * total - q * b * squares) + q * b * total * total
        return gained - (q - p) * a * self.value * self.unit * n * n

    def slack(self, moments: Moments) -> int:
        """S_n in units, rounded down; 0 before the first reward."""
        if not moments.n:
            return 0
        scale = moments.n * self.unit * self.alpha[1] * self.rho[1]
        return self.scaled_slack(moments) // scale

    def kept(self, moments: Moments) -> bool:
        """The promise: S_n >= 0."""
        return self.scaled_slack(moments) >= 0

    def viable(self, moments: Moments) -> bool:
        """Whether the default, played for ever from here, keeps the promise.

        S_n >= n * max(0, |mean - mu0| - sqrt(alpha*rho*mu0))^2, with the root squared out.
        """
        (a, b), (p, q) = self.rho, self.alpha
        n, total, _ = moments
        slack = self.scaled_slack(moments)
        off = q * b * (total - n * self.value) ** 2  # (n |mean - mu0|)^2, scaled
        free = p * a * self.value * self.unit * n * n  # (n sqrt(alpha rho mu0))^2, scaled
        if off <= free:
            return slack >= 0
        short = off + free - slack
        return short <= 0 or 4 * off * free >= short * short

    def passes_paper(self, moments: Moments) -> bool:
        """The printed test, after n = t-1 rewards: n*MV_n - 2 >= (1-alpha)*rho*mu0*(n+1)."""
        (a, b), (p, q) = self.rho, self.alpha
        risk = 2 * self.unit * self.unit * q * b + (q - p) * a * self.value * self.unit
        return moments.n > 0 and self.scaled_slack(moments) >= moments.n * risk


@dataclass(slots=True)
class MeanVarianceAccount:
    """The books of one mean-variance promise.

    The same books drive it as ``Account``: here a play's floor is 0, a default's deposit is mu0,
    and what a hold holds is that its reward is pending. An expired play stays pending until its
    reward arrives.

    >>> account = MeanVarianceAccount(Constants(10, (1, 1), (1, 2), 5, 0, 10), "viable")
    >>> for _ in range(4):
    ...     account.add(5)
    >>> account.available, account.risk, account.affords(account.risk)
    (10, 5, True)

    Holds when: every reward lies within low..high: the gate asks what each set of pending rewards
    could do, so the promise is kept whichever of them arrive, in any order. Does not hold when:
    one lies outside; it is booked as it is.
    """

    constants: Constants
    check: str
    moments: Moments = NOTHING
    pending: int = 0
    """Explorations whose reward is not known, expired ones included."""

    def affords(self, hold: int) -> bool:
        """The gate: whether one more exploration passes the check, whatever all of them pay.

        To look at all of them together is enough: smaller sets passed when they were all.
        """
        if self.check == "viable":
            return all(map(self.constants.viable, self._corners(self.pending + 1)))
        if self.check == "exact":
            return all(map(self.constants.kept, self._corners(self.pending + 1)))
        return all(map(self.constants.passes_paper, self._corners(self.pending)))

    def _corners(self, unknown: int) -> list[Moments]:
        """The worst cases: every check is concave in the unknown rewards, so each is at an end."""
        low, high = self.constants.low, self.constants.high
        return [self.moments.plus(unknown - k, low).plus(k, high) for k in range(unknown + 1)]

    def _worst(self, unknown: int) -> int:
        """The least slack once so many unknown rewards have come, or before; units, down."""
        return min(self.posted, *map(self.constants.slack, self._corners(unknown)))

    @property
    def reserve(self) -> int:
        """A mean-variance promise has none."""
        return 0

    @property
    def posted(self) -> int:
        """The slack by the rewards that are known; units, down."""
        return self.constants.slack(self.moments)

    @property
    def available(self) -> int:
        """The slack if every pending reward is at its worst; units, down."""
        return self._worst(self.pending)

    @property
    def held(self) -> int:
        """What the pending rewards could still cost."""
        return self.posted - self.available

    @property
    def risk(self) -> int:
        """What one more exploration could cost: the hold of the next play."""
        return max(0, self.available - self._worst(self.pending + 1))

    @property
    def asked(self) -> int:
        """(1-alpha)*rho*mu0 times the rewards known; units, up."""
        over, under = self.constants.asked
        return -(-self.moments.n * over // under)

    def book(self, move: Move) -> None:
        """Count the reward that an event brings; an expired play stays pending until it has one."""
        event = move.event
        if event is HELD:
            self.pending += 1
        elif event is REWARDED or event is LATE:
            assert move.reward is not None
            self.add(move.reward)
            self.pending -= 1
        elif event is AS_DEFAULT or event is CONFIRMED:
            self.add(move.posted)  # the default's known value
            self.pending -= event is AS_DEFAULT
        elif event is VOIDED:
            self.pending -= move.explores

    def add(self, reward: int) -> None:
        """One more reward is known."""
        self.moments = self.moments.plus(1, reward)

    def numbers(self) -> list[int]:
        """All there is to it beside its constants: n, R, Q and how many are pending."""
        return [*self.moments, self.pending]
