"""The account: the sample-path constraint kept as a prepaid account with holds.

    available = reserve + posted - held   must never go below zero

Source: Du, Wang, Huang 2021, Algorithm 1, line 3. With floor f = (1-alpha)*mu0, worst reward
r_min and hold h = max(0, f - r_min), the paper's test r_S + N0*mu0 >= (1-alpha)*mu0*t is
``affords(h)`` when rewards are immediate, r_min = 0 and the reserve is empty. Holds that are not
settled yet are what make it true under delay, loss and reordering as well (ours).

All amounts are integers of one unit. Only a hold can lower what is available, so only a hold needs
asking first; every other event commutes. What each event moves is said in ``events``.
"""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.floors.events import Move


@dataclass(slots=True)
class Account:
    """The books of one promise: three integers, what is asked of them, and how they move.

    >>> from surefoot.floors.events import Record, Terms, decided, step
    >>> terms = Terms(value=7, floor=6, hold=5, deposit=1)
    >>> account = Account(reserve=5)
    >>> account.affords(terms.hold)
    True
    >>> account.book(decided(True, terms))
    >>> account.available, account.affords(terms.hold)
    (0, False)
    >>> account.book(step(Record(True, terms), "settle", 8, low=1, high=10))
    >>> account.available
    7

    Holds when: no reward is below r_min and each play is reported at most once (``events.step``
    sees to that). Does not hold when: r_min is wrong; then the truth is booked, and available can
    fall below zero.
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

    @property
    def spare(self) -> int:
        """The most of the reserve that can be withdrawn: open plays may still lose the rest."""
        return max(0, min(self.available, self.reserve))

    def book(self, move: Move) -> None:
        """Let an event move the money."""
        # In this order an interrupt books too little: what is released is released last.
        self.posted += move.posted
        self.held += move.held

    def numbers(self) -> list[int]:
        """All there is to it, to be written down; ``Account(*numbers)`` is its equal."""
        return [self.reserve, self.posted, self.held]
