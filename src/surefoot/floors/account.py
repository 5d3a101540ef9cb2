"""The account: the sample-path constraint kept as a prepaid account with holds.

    available = reserve + posted - held   must never go below zero

Source: Du, Wang, Huang 2021, Algorithm 1, line 3. With floor f = (1-alpha)*mu0, worst reward
r_min and hold h = max(0, f - r_min), the paper's test r_S + N0*mu0 >= (1-alpha)*mu0*t is
``affords(h)`` when rewards are immediate, r_min = 0 and the reserve is empty. Holds that are not
settled yet are what make it true under delay, loss and reordering as well (ours).

All amounts are integers of one unit. Only ``hold`` can lower what is available, so only ``hold``
needs asking first; every other event commutes.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Account:
    """The books of one promise: three integers, and the events that may change them.

    ``gain`` is r - f, what a reward r brings above the floor of its play; ``hold`` is the most
    the play can lose.

    >>> account = Account()
    >>> account.deposit(35)  # a default play: alpha * mu0
    >>> account.affords(36)
    False
    >>> account.hold(35)
    >>> account.available
    0
    >>> account.settle(gain=5, hold=35)
    >>> account.available
    40

    Holds when: no reward is below r_min and each play is reported at most once (``Plays`` sees
    to that). Does not hold when: r_min is wrong; then ``settle`` books the truth, and available
    can fall below zero.
    """

    reserve: int = 0
    posted: int = 0
    held: int = 0

    @property
    def available(self) -> int:
        """What may still be lost if every open play pays its worst."""
        return self.reserve + self.posted - self.held

    def affords(self, hold: int) -> bool:
        """Whether an exploration that can lose ``hold`` may be decided; a tie is allowed."""
        return self.reserve + self.posted - self.held >= hold

    def hold(self, hold: int) -> None:
        """An exploration is decided: its worst loss is set aside."""
        self.held += hold

    def settle(self, gain: int, hold: int) -> None:
        """Its reward is known."""
        self.posted += gain
        self.held -= hold

    def expire(self, hold: int) -> None:
        """Its reward did not come in time: the worst is booked, nothing is refunded."""
        self.posted -= hold
        self.held -= hold

    def settle_late(self, gain: int, hold: int) -> None:
        """Its reward came after it expired: what had been booked too low is restored."""
        self.posted += gain + hold

    def void(self, hold: int) -> None:
        """It was never played."""
        self.held -= hold

    def fall_back(self, deposit: int, hold: int) -> None:
        """It was decided, but the client played the default instead."""
        self.posted += deposit
        self.held -= hold

    def deposit(self, deposit: int) -> None:
        """A default play is reported as played: it earned alpha times its value above the floor."""
        self.posted += deposit

    def acknowledge(self, rest: int) -> None:
        """What a reward brought above r_max is confirmed."""
        self.posted += rest

    def numbers(self) -> list[int]:
        """All there is to it, to be written down; ``Account(*numbers)`` is its equal."""
        return [self.reserve, self.posted, self.held]
