"""The reward floor: received reward never below (1-alpha) of what the default is worth."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from surefoot._exact import Unit, exact, exact_range, finest_places, fits, reach, shown
from surefoot.errors import InvalidInput
from surefoot.floors.account import Account
from surefoot.floors.books import RewardBooks
from surefoot.floors.plays import Plays, Terms


class RewardFloor:
    """At every moment, even if every open play pays its worst: reward >= sum of f_s - reserve.

        f_s = (1-alpha) * b_s,   b_s = the default's known value at play s (mu0 if constant)

    Source: Du, Wang, Huang 2021, eq. (2) and Algorithm 1; per-play defaults, ranges other than
    [0, 1] and the reserve are ours, by the same one-line induction.

    ``default``: the default's known reward, > 0; None if each ``select(default=...)`` brings its
    own. ``alpha``: the fraction one is willing to lose, in (0, 1). ``reward_range``: surely known
    bounds (r_min, r_max) of every reward. ``reserve``: what may be lost on top, >= 0. ``places``:
    decimals of the books' unit; None takes nine, or fewer if 10**9 plays would leave an int64.
    Numbers are exact decimals (a float by its repr); what is finer than the unit is rounded: f up,
    rewards, their bounds, deposits and the reserve down. Raises InvalidInput for anything else,
    and for a range that spans no whole unit.

    >>> floor = RewardFloor(default=0.7, alpha=0.05)
    >>> floor.terms()
    Terms(value=700000000, floor=665000000, hold=665000000, deposit=35000000)
    >>> RewardFloor(default=0.7, alpha=5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: alpha = 5 must lie strictly between 0 and 1; 0.05 gives up ...

    Holds when: rewards are >= r_min, the default is worth its known value, and what is reported
    as played was played; under any delay, order or loss. Does not hold when: the default really
    pays at random and one means money received: a default play counts as its known value.
    """

    __slots__ = (
        "_constant",
        "_share",
        "alpha",
        "default",
        "places",
        "reserve",
        "reward_range",
        "unit",
    )

    def __init__(
        self,
        default: Any,
        alpha: Any,
        reward_range: tuple[Any, Any] = (0, 1),
        reserve: Any = 0,
        places: int | None = None,
    ) -> None:
        self.alpha = checked_alpha(alpha)
        self.reward_range = exact_range(reward_range)
        self.reserve = exact(reserve, "reserve")
        if self.reserve < 0:
            raise InvalidInput(
                f"reserve = {shown(reserve)} must be >= 0; it is what may be lost on top"
            )
        self.places = self._places(places)
        self.unit = Unit(self.places)
        self._check_width()
        self._share = self.alpha.as_integer_ratio()
        self.default = None if default is None else checked_default(default, self.reward_range)
        self._constant = None if self.default is None else self._terms(self.default)

    def _places(self, places: int | None) -> int:
        if places is None:
            return finest_places(reach(*self.reward_range), self.reserve)
        if type(places) is not int or not -100 <= places <= 100:
            raise InvalidInput(
                f"places = {shown(places)} must be an int in -100..100; 9 counts billionths"
            )
        return places

    def _check_width(self) -> None:
        low, high = self.reward_range
        if not self.unit.floor(low) < self.unit.floor(high):
            raise InvalidInput(
                f"reward_range = ({low}, {high}) spans no whole unit of the books, "
                f"10**{-self.places}; pass more places"
            )

    def terms(self, default: Any = None) -> Terms:
        """What the next play is worth; ``default`` is its own known value, >= 0, if it has one."""
        if default is None:
            if self._constant is None:
                raise InvalidInput(
                    "this floor has no constant default; pass the play's own: select(default=...)"
                )
            return self._constant
        value = exact(default, "default")
        if value < 0:
            raise InvalidInput(
                f"default = {shown(default)} must be >= 0 at each play; shift the rewards"
            )
        return self._terms(_in_range(value, default, self.reward_range))

    def _terms(self, value: Decimal) -> Terms:
        lost, whole = self._share
        p, q = self.unit.ratio(value)
        deposit = lost * p // (whole * q)
        floor = -((lost - whole) * p // (whole * q))
        worst = self.unit.floor(self.reward_range[0])
        return Terms(self.unit.floor(value), floor, max(0, floor - worst), deposit)

    def read(self, reward: Any, what: str) -> int:
        """A reward in units, rounded down; ``what`` names it in the error."""
        return self.unit.read(reward, what)

    @property
    def asked(self) -> int:
        """f of a play with the constant default, in units."""
        return self.terms().floor

    @property
    def asks_beyond(self) -> str:
        """What the gate asks besides a slack that covers the hold: nothing."""
        return ""

    @property
    def fits_int64(self) -> bool:
        """Whether 10**9 plays fit the compiled engine's and the database's 64-bit integers."""
        return fits(reach(*self.reward_range), self.reserve, self.places)

    def open(self, keep: int = 100_000) -> RewardBooks:
        """Fresh books for one agent; ``keep``: closed plays remembered (see ``Plays``)."""
        account = Account(reserve=self.unit.floor(self.reserve))
        return RewardBooks(self, account, Plays(checked_keep(keep)))

    def config(self) -> dict[str, Any]:
        """JSON-able settings; decimals as strings, as ``from_config`` reads them."""
        low, high = self.reward_range
        return {
            "default": None if self.default is None else str(self.default),
            "alpha": str(self.alpha),
            "reward_range": [str(low), str(high)],
            "reserve": str(self.reserve),
            "places": self.places,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> RewardFloor:
        """The inverse of ``config``."""
        low, high = config["reward_range"]
        default = config["default"]
        return cls(
            None if default is None else Decimal(default),
            Decimal(config["alpha"]),
            (Decimal(low), Decimal(high)),
            Decimal(config["reserve"]),
            config["places"],
        )

    def __repr__(self) -> str:
        low, high = self.reward_range
        return (
            f"RewardFloor(default={self.default}, alpha={self.alpha}, "
            f"reward_range=({low}, {high}), reserve={self.reserve}, places={self.places})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RewardFloor) and self._settings() == other._settings()

    def __hash__(self) -> int:
        return hash(self._settings())

    def _settings(self) -> tuple[Any, ...]:
        return self.default, self.alpha, self.reward_range, self.reserve, self.places


def checked_alpha(alpha: Any) -> Decimal:
    """The fraction one is willing to lose, if it is one."""
    value = exact(alpha, "alpha")
    if not 0 < value < 1:
        raise InvalidInput(
            f"alpha = {shown(alpha)} must lie strictly between 0 and 1; "
            "0.05 gives up at most 5 % of the default's reward"
        )
    return value


def checked_default(default: Any, reward_range: tuple[Decimal, Decimal]) -> Decimal:
    """A constant default's known reward, if it is positive and within the range."""
    value = exact(default, "default")
    if value <= 0:
        raise InvalidInput(
            f"default = {shown(default)} must be > 0; shift the rewards so that the default earns"
        )
    return _in_range(value, default, reward_range)


def _in_range(value: Decimal, given: Any, reward_range: tuple[Decimal, Decimal]) -> Decimal:
    low, high = reward_range
    if not low <= value <= high:
        raise InvalidInput(
            f"default = {shown(given)} lies outside reward_range ({low}, {high}); "
            "widen the range or correct the default"
        )
    return value


def checked_keep(keep: Any) -> int:
    """How many closed plays to remember, if it is a number of them."""
    if type(keep) is not int or keep < 0:
        raise InvalidInput(f"keep = {shown(keep)} must be an int >= 0")
    return keep
