"""The mean-variance floor: rho*mean - variance of all rewards never below (1-alpha)*rho*mu0."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

from surefoot._exact import Unit, exact, exact_range, finest_places, fits, one_of, shown
from surefoot._types import JsonObject, Number
from surefoot.errors import InvalidInput
from surefoot.floors.events import Terms
from surefoot.floors.linear import Fixed
from surefoot.floors.mean_variance_account import Constants, MeanVarianceAccount
from surefoot.floors.mean_variance_books import MeanVarianceBooks
from surefoot.floors.plays import Plays, checked_keep
from surefoot.floors.reward import checked_alpha, checked_default

CHECKS = ("viable", "exact", "paper")


class MeanVarianceFloor(Fixed):
    """After every reward: rho*mean - population variance of all rewards >= (1-alpha)*rho*mu0.

    Source: Du, Wang, Huang 2021, eq. (5) and Algorithm MV-CUCB; default plays count among the
    rewards, with their known value mu0. With S = n*(rho*mean - variance) - (1-alpha)*rho*mu0*n
    the slack after n rewards, ``check`` says when a regular arm may be played:

    - "viable" (ours): whatever it pays, the default played for ever afterwards keeps the promise:
      S >= n*max(0, |mean - mu0| - sqrt(alpha*rho*mu0))^2 after it. Safe in every setting.
    - "exact" (ours): whatever it pays, S >= 0 after it.
    - "paper": S >= 2 + (1-alpha)*rho*mu0 before it, as printed; for rewards in (0, 1).

    Under "exact" and "paper" a later default play could break the promise unless
    alpha*rho*mu0 >= max(alpha*mu0, r_max-mu0)^2, or r_min >= 0, rho >= r_max and
    alpha*rho >= r_max-mu0: settings that meet neither are refused. Theorem 5 asks for
    alpha*rho*mu0 > 2 besides, for its regret bound; the promise does not need it.

    ``default``: mu0 > 0. ``alpha`` in (0, 1), ``rho`` > 0: exact decimals, as all numbers here.
    ``reward_range``: surely known bounds of every reward. ``places``: decimals of the books' unit;
    None takes as many as ``default`` and range need, and up to nine while the slack of 10**9
    plays fits an int64. Raises InvalidInput for anything else; ``read`` refuses a reward with
    more decimals, since rounding it has no safe direction.

    >>> floor = MeanVarianceFloor(default=0.7, alpha=0.05, rho=10)
    >>> books, plays = floor.open(), 0
    >>> while not books.affords(books.terms()):
    ...     _ = books.settle(books.default(books.terms()), None)
    ...     plays += 1
    >>> plays
    21
    >>> MeanVarianceFloor(default=0.3, alpha=0.05, rho=1, check="exact")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: check = 'exact' needs alpha*rho*mu0 = 0.015 >= max(alpha*mu0, ...

    Holds when: no reward leaves the range, the default is worth mu0, and what is reported as
    played was played; on every path, whichever pending rewards arrive, in any order. Does not hold
    when: a reward leaves the range: from there on nothing is promised (``promise_void``).
    """

    __slots__ = (
        "_terms", "alpha", "check", "constants", "default", "places", "reward_range", "rho", "unit",
    )  # fmt: skip

    def __init__(
        self,
        default: Any,
        alpha: Number,
        rho: Number,
        reward_range: tuple[Number, Number] = (0, 1),
        check: str = "viable",
        places: int | None = None,
    ) -> None:
        self.alpha = checked_alpha(alpha)
        self.rho = exact(rho, "rho")
        if self.rho <= 0:
            raise InvalidInput(f"rho = {shown(rho)} must be > 0; it weighs the mean")
        self.reward_range = exact_range(reward_range)
        self.default: Decimal = checked_default(default, self.reward_range)
        self.check = one_of(check, "check", CHECKS)
        self._check_default_plays()
        self.places = self._places(places)
        self.unit = Unit(self.places)
        low, high = self.reward_range
        self.constants = Constants(
            10**self.places,
            self.rho.as_integer_ratio(),
            self.alpha.as_integer_ratio(),
            self.read(default, "default"),
            self.read(low, "r_min"),
            self.read(high, "r_max"),
        )
        self._terms = Terms(self.constants.value, 0, 0, self.constants.value)

    def _check_default_plays(self) -> None:
        """Refuse a check under which a default play could break the promise."""
        if self.check == "viable":
            return
        low, high = self.reward_range
        if self.check == "paper" and not (low == 0 and high == 1):
            raise InvalidInput(
                f"check = 'paper' is for rewards in (0, 1), not in ({low}, {high}); "
                "take check='viable'"
            )
        alpha, rho, mu0, top = map(Fraction, (self.alpha, self.rho, self.default, high))
        gain, loss = alpha * rho * mu0, max(alpha * mu0, top - mu0) ** 2
        if gain >= loss or (low >= 0 and rho >= top and alpha * rho >= top - mu0):
            return
        raise InvalidInput(
            f"check = {self.check!r} needs alpha*rho*mu0 = {float(gain):g} >= "
            f"max(alpha*mu0, r_max-mu0)^2 = {float(loss):g}, or r_min >= 0, rho >= r_max and "
            f"alpha*rho = {float(alpha * rho):g} >= r_max-mu0 = {float(top - mu0):g}; "
            "take check='viable', which needs neither"
        )

    def _places(self, places: int | None) -> int:
        if places is None:
            numbers = (self.default, *self.reward_range)
            return max(finest_places(self._reach, Decimal(0)), *map(_decimals, numbers))
        if type(places) is not int or not 0 <= places <= 100:
            raise InvalidInput(
                f"places = {shown(places)} must be an int in 0..100; 9 counts billionths"
            )
        return places

    @property
    def _reach(self) -> Decimal:
        """A whole number that one play cannot move the slack by more than."""
        low, high = map(Fraction, self.reward_range)
        farthest = max(abs(low), abs(high))
        return Decimal(math.ceil(2 * Fraction(self.rho) * farthest + (high - low) ** 2))

    @property
    def even(self) -> float | None:
        """The p at which an arm that pays r_max with probability p, else r_min, equals the default.

            rho*(r_min + D p) - D^2 p (1-p) = rho*mu0,   D = r_max - r_min

        Divided by D^2, with c = rho/D and q = (mu0 - r_min)/D in [0, 1]: p^2 + (c-1) p - c q = 0.
        The left side of the first, over D^2, has the slope c - 1 + 2p, which is >= 0 on [0, 1]
        exactly where c >= 1: then a larger p is never worth less, and an upper bound on p at or
        below this one proves the arm not better than the default. The root >= 0 is that below,
        written so that nothing cancels. It lies in [q, 1]: at q the left side is q^2 - q <= 0, at
        1 it is c - c q >= 0. None for rho < D: there a larger p may be worth less.

        >>> MeanVarianceFloor(0.5, 0.2, rho=1).even ** 2, MeanVarianceFloor(0.5, 0.2, 0.9).even
        (0.5000000000000001, None)
        """
        low, high = map(Fraction, self.reward_range)
        c, q = Fraction(self.rho) / (high - low), (Fraction(self.default) - low) / (high - low)
        if c < 1:
            return None
        if c == 1:
            return math.sqrt(q)
        rest = float(4 * c * q / (c - 1) ** 2)
        return min(1.0, float(2 * c * q / (c - 1)) / (1.0 + math.sqrt(1.0 + rest)))

    checkpoint: int | None = None
    plain = False  # the engine looks at its numbers, see simulation.checks

    @property
    def reserve(self) -> Decimal:
        """A mean-variance promise has none."""
        return Decimal(0)

    @property
    def fits_int64(self) -> bool:
        """Whether the slack of 10**9 plays fits the simulator's 64-bit integers."""
        return fits(self._reach, self.reserve, self.places)

    @property
    def asked(self) -> float:
        """(1-alpha)*rho*mu0, what each play adds to what the promise asks; in units."""
        over, under = self.constants.asked
        return over / under

    @property
    def asks_beyond(self) -> str:
        """What the check asks besides a slack that covers the worst reward, for explanations."""
        if self.check == "viable":
            return "after it even the default could break the floor"
        over, under = self.constants.asked
        asked = 2 + Fraction(over, under * self.constants.unit)
        return f"the paper's test asks for a slack of {float(asked):.6g}"

    def terms(self, default: Any = None) -> Terms:
        """What any play is worth, but for its hold, which is the books' to say."""
        if default is not None:
            raise InvalidInput(
                f"default = {shown(default)} of one play: a mean-variance floor has one constant "
                "default; give it to the floor"
            )
        return self._terms

    def read(self, reward: Any, what: str) -> int:
        """A reward in units; InvalidInput if it has more decimals than they."""
        value = exact(reward, what)
        units = self.unit.floor(value)
        if units != self.unit.ceil(value):
            raise InvalidInput(
                f"{what} = {shown(reward)} has more than the {self.places} decimals of a "
                "mean-variance floor's books, which cannot round; round it, or pass more places"
            )
        return units

    def open(self, keep: int = 100_000) -> MeanVarianceBooks:
        """Fresh books for one agent; ``keep``: closed plays remembered (see ``Plays``)."""
        account = MeanVarianceAccount(self.constants, self.check)
        return MeanVarianceBooks(self, account, Plays(checked_keep(keep)))

    def config(self) -> JsonObject:
        """JSON-able settings; decimals as strings, as ``from_config`` reads them."""
        low, high = self.reward_range
        return {
            "default": str(self.default),
            "alpha": str(self.alpha),
            "rho": str(self.rho),
            "reward_range": [str(low), str(high)],
            "check": self.check,
            "places": self.places,
        }

    @classmethod
    def from_config(cls, config: JsonObject) -> MeanVarianceFloor:
        """The inverse of ``config``."""
        low, high = config["reward_range"]
        return cls(
            Decimal(config["default"]),
            Decimal(config["alpha"]),
            Decimal(config["rho"]),
            (Decimal(low), Decimal(high)),
            config["check"],
            config["places"],
        )

    def __repr__(self) -> str:
        low, high = self.reward_range
        return (
            f"MeanVarianceFloor(default={self.default}, alpha={self.alpha}, rho={self.rho}, "
            f"reward_range=({low}, {high}), check={self.check!r}, places={self.places})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MeanVarianceFloor) and self._settings() == other._settings()

    def __hash__(self) -> int:
        return hash(self._settings())

    def _settings(self) -> tuple[Any, ...]:
        return self.default, self.alpha, self.rho, self.reward_range, self.check, self.places


def _decimals(value: Decimal) -> int:
    """How many decimals a number needs; 2.50 needs one.

    >>> _decimals(Decimal("2.50")), _decimals(Decimal("7e3"))
    (1, 0)
    """
    places = max(0, -int(value.as_tuple().exponent))
    while places and not Unit(places - 1).ratio(value)[0] % Unit(places - 1).ratio(value)[1]:
        places -= 1
    return places
