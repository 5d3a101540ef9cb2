"""The books of a mean-variance floor: the same plays and reports, on an account of moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surefoot._exact import shown
from surefoot._types import Number
from surefoot.errors import InvalidInput
from surefoot.floors.books import Books
from surefoot.floors.events import Terms
from surefoot.floors.mean_variance_account import MeanVarianceAccount, Moments

if TYPE_CHECKING:
    from surefoot.floors.mean_variance import MeanVarianceFloor


class MeanVarianceBooks(Books):
    """The books one agent keeps of a MeanVarianceFloor.

    A reward outside the range, on either side, is a breach: it is booked as it is, and from there
    on nothing is promised.
    """

    account: MeanVarianceAccount
    caps = False

    def terms(self, default: Any = None) -> Terms:
        """What the next play is worth: its hold is what it could cost as the books stand."""
        return self.floor.terms(default)._replace(hold=self.account.risk)

    @property
    def asked(self) -> int:
        """What the rewards booked so far had to earn, in units."""
        return self.account.asked

    @property
    def waiting(self) -> int:
        """How many explorations may still move the account for the worse, expired ones included."""
        return self.account.pending

    @property
    def two_valued(self) -> bool:
        """Whether each exploration so far paid r_min or r_max.

        The moments tell: the sum of (r - r_min)(r_max - r) has no term below zero without a
        breach, and what the default plays add to it is known.
        """
        (n, total, squares), numbers = self.account.moments, self.account.constants
        low, high, value = numbers.low, numbers.high, numbers.value
        inside = (low + high) * total - squares - n * low * high
        defaults = self.default_plays - self.unreported
        return self.breaches == 0 and inside == defaults * (value - low) * (high - value)

    @property
    def promise_void(self) -> bool:
        """Whether a breach has ended the promise for good."""
        return self.breaches > 0

    def change(self, **settings: Any) -> None:
        """Refused: one bound is promised over all rewards, so new terms would judge past plays."""
        raise InvalidInput(
            f"{', '.join(settings) or 'a mean-variance floor'} cannot change while the books go "
            "on: the promise is one bound on the mean and variance of all rewards, past ones "
            "included, and under other terms it may be broken already; start a new agent"
        )

    def add_reserve(self, amount: Number) -> None:
        """Refused, see ``_no_reserve``."""
        raise _no_reserve(amount)

    def withdraw_reserve(self, amount: Number) -> None:
        """Refused, see ``_no_reserve``."""
        raise _no_reserve(amount)

    @classmethod
    def _account(cls, floor: MeanVarianceFloor, numbers: list[int]) -> MeanVarianceAccount:
        *moments, pending = numbers
        return MeanVarianceAccount(floor.constants, floor.check, Moments(*moments), pending)

    def _covers_pending(self) -> bool:
        return self.account.pending >= self.plays.unknown()


def _no_reserve(amount: Number) -> InvalidInput:
    """The error for a reserve: a mean-variance promise is about a rate, not about a sum."""
    return InvalidInput(
        f"amount = {shown(amount)} of reserve: a mean-variance promise has none, it bounds the "
        "mean and variance of rewards, not their sum"
    )
