"""The account at every mean that the default may have.

    A(mu) = B + posted before + sum settled (r - f(mu)) - sum open, expired h(mu)
            + sum defaults reported e(mu) - forfeited in proportion to mu

What is kept are sums and counts per distinct curve, so A is exact at any mu, and all that was ever
decided can be valued anew when an end moves. A is concave where f and e are linear (lo >= 0, or
hi <= 0, or alpha = 0): nonnegative at two ends, it is nonnegative between them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from surefoot.floors.events import CAPPED, EXPIRED, FELL_BACK, OPEN, VOID, State
from surefoot.floors.learned import LATTICE, Curve


class Sums(NamedTuple):
    """What the plays of one curve add up to.

    Replaced as a whole: no interrupt leaves a play in two of the counts, or a reward without its
    play.
    """

    open: int = 0
    expired: int = 0
    settled: int = 0
    defaults: int = 0
    received: int = 0
    """What the settled ones paid."""

    def plus(self, other: Sums) -> Sums:
        """Both together."""
        return Sums(*map(int.__add__, self, other))

    def minus(self, other: Sums) -> Sums:
        """The rest without the other."""
        return Sums(*map(int.__sub__, self, other))

    def covers(self, live: Sums) -> bool:
        """Whether plays that can still change are in these sums, as they stand or as they stood.

        An interrupted report leaves a play in the count it was in, which is never worth more.
        """
        return all(sum(self[:last]) >= sum(live[:last]) for last in (1, 2, 3))


NOTHING = Sums()


def counted(explores: bool, state: State | None, reward: int | None, high: int) -> Sums:
    """What a play is in the sums of its curve; ``high``: r_max in units, None: not decided yet.

    >>> counted(True, State.SETTLED, 7, 10)
    Sums(open=0, expired=0, settled=1, defaults=0, received=7)
    """
    if state is None or state is VOID:
        return NOTHING
    if not explores:
        return NOTHING if state is OPEN or state is EXPIRED else Sums(defaults=1)
    if state is OPEN:
        return Sums(open=1)
    if state is EXPIRED:
        return Sums(expired=1)
    if state is FELL_BACK:
        return Sums(defaults=1)
    assert reward is not None
    return Sums(settled=1, received=high if state is CAPPED else reward)


class Standing(NamedTuple):
    """The account at one mean, in units."""

    available: int
    held: int
    required: int
    """What the plays booked so far had to earn."""


class LearnedAccount:
    """The books of one promise at every mean, and the ends of what the mean may be.

    ``ends``: those in use; the one with the least available is the binding one, and what is shown
    is what the account is there.

    >>> account = LearnedAccount(reserve=0, ends=(60_000,))
    >>> curve = Curve(alpha=500, margin=0, low=0)
    >>> account.move(curve, Sums(), Sums(defaults=20))
    >>> account.available, account.at(40_000).available
    (60000, 40000)
    """

    __slots__ = ("before", "ends", "reserve", "sums", "taken")

    def __init__(self, reserve: int, ends: tuple[int, ...]) -> None:
        self.reserve = reserve
        self.before = 0
        """What was posted under another default, less what was forfeited at every mean alike."""
        self.taken = 0
        """What was forfeited for each step of the lattice that the mean lies above 0."""
        self.ends = ends
        self.sums: dict[Curve, Sums] = {}

    def at(self, mu: int) -> Standing:
        """The account with the default's mean taken for ``mu``."""
        available, held, required = self.reserve + self.before, 0, 0
        available -= self.taken * (mu // LATTICE)
        for curve, (opened, expired, settled, defaults, received) in self.sums.items():
            given_up = curve.given_up(mu)
            floor = mu - given_up
            hold = max(0, floor - curve.low)
            held += opened * hold
            required += (settled + expired) * floor + defaults * floor
            available += received - settled * floor - (opened + expired) * hold
            available += defaults * given_up
        return Standing(available, held, required)

    def move(self, curve: Curve, before: Sums, after: Sums) -> None:
        """A play was ``before`` in the sums and is ``after``."""
        if before != after:
            self.sums[curve] = self.sums.get(curve, NOTHING).minus(before).plus(after)

    def affords(self, curve: Curve) -> bool:
        """The gate: at each end in use, what is available covers the hold there.

        Not the least available against the largest hold: they may sit at different ends.
        """
        return all(self.at(mu).available >= curve.hold(mu) for mu in self.ends)

    def tightest(self, curve: Curve) -> int:
        """The end at which an exploration would leave the least."""
        if len(self.ends) == 1:
            return self.ends[0]
        return min(self.ends, key=lambda mu: self.at(mu).available - curve.hold(mu))

    @property
    def binding(self) -> int:
        """The end at which the least is available."""
        if len(self.ends) == 1:
            return self.ends[0]
        return min(self.ends, key=lambda mu: self.at(mu).available)

    @property
    def available(self) -> int:
        """What may still be lost if every open play pays its worst, at the binding end."""
        return min(self.at(mu).available for mu in self.ends)

    @property
    def held(self) -> int:
        """What the open explorations could still lose, at the binding end."""
        return self.at(self.binding).held

    @property
    def posted(self) -> int:
        """What the plays brought and cost, at the binding end."""
        available, held, _ = self.at(self.binding)
        return available + held - self.reserve

    def forfeit(self, most: int) -> int:
        """Give up what the least account has above ``most``; returns how much at every mean alike.

        Where U decides alone because A(0) >= 0, in proportion to the mean instead, since nothing
        may be taken at 0; in whole steps, which leaves up to U/LATTICE units more.
        """
        over = self.available - most
        steps = self.ends[0] // LATTICE if len(self.ends) == 1 else 0
        if over <= 0:
            return 0
        if steps > 0:
            self.taken += over // steps
            return 0
        self.before -= over
        return over

    @property
    def spare(self) -> int:
        """The most of the reserve that can be withdrawn."""
        return max(0, min(self.available, self.reserve))

    def numbers(self) -> list[int]:
        """What is shown of it: reserve, posted and held."""
        return [self.reserve, self.posted, self.held]

    def rows(self) -> list[list[Any]]:
        """The sums, to be written down."""
        return [[*curve, *sums] for curve, sums in self.sums.items()]
