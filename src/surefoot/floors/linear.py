"""What every floor on a sum of rewards shares; a floor of your own starts here."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError
from decimal import Decimal
from types import MemberDescriptorType
from typing import Any, ClassVar, Self

from surefoot._exact import Unit, exact, exact_range, finest_places, fits, negated, reach, shown
from surefoot._types import JsonObject, Number
from surefoot.errors import InvalidInput
from surefoot.floors.events import Terms
from surefoot.floors.plays import Plays, checked_keep
from surefoot.floors.reward_books import Account, RewardBooks


class Fixed:
    """What a constructor sets once, and what nobody changes: books and plays were made by it."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        """Set what is not set yet; FrozenInstanceError for what is."""
        slot = isinstance(getattr(type(self), name, None), MemberDescriptorType)
        if hasattr(self, name) if slot else name in getattr(self, "__dict__", ()):
            raise FrozenInstanceError(
                f"cannot assign to {name!r}: a {type(self).__name__} stays as it was made; make "
                "another, or let the agent change its own: agent.change(...)"
            )
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        """FrozenInstanceError."""
        raise FrozenInstanceError(f"cannot delete {name!r}: a {type(self).__name__} stays as it is")


class LinearFloor(Fixed):
    """A promise on the sum of rewards: each play has to earn its f, all together, at any moment.

    A class of your own says in ``terms`` what a play is worth (``known_terms`` does the rounding),
    and in ``config`` its settings as JSON, numbers as text. The account, the books, range, unit
    and reserve are here. ``reward_range``, ``reserve``, ``places``: as ``RewardFloor`` takes them.

    >>> class MarginFloor(LinearFloor):
    ...     def __init__(self, default, margin, reward_range=(0, 1), reserve=0, places=None):
    ...         super().__init__(reward_range, reserve, places)
    ...         self.default, self.margin = exact(default, "default"), exact(margin, "margin")
    ...
    ...     def terms(self, default=None):
    ...         return self.known_terms(self.default, self.default - self.margin)
    >>> MarginFloor(default=0.5, margin=0.1).terms()
    Terms(value=500000000, floor=400000000, hold=400000000, deposit=100000000)

    Holds when: rewards are >= r_min, the default is worth what ``terms`` says, and what is reported
    as played was played; under any delay, order or loss. Does not hold when: ``terms`` depends on
    rewards, or on what was decided before.
    """

    __slots__ = ("places", "reserve", "reward_range", "unit")

    default: Any
    checkpoint: int | None = None
    rho: ClassVar[Decimal | None] = None
    even: ClassVar[float | None] = None
    asks_beyond: ClassVar[str] = ""
    costs: ClassVar[bool] = False
    """Whether its users speak of costs, which the books keep as negative rewards."""
    measure: ClassVar[str] = "reward"
    """What it guards, in a word; the name of its account where it is the only floor."""
    ends: ClassVar[str] = "reward_range"
    """The name of the range's argument."""
    max_slack: Decimal | None = None
    """The most slack that is kept at a decision; None: all."""

    def __init__(
        self,
        reward_range: tuple[Number, Number] = (0, 1),
        reserve: Number = 0,
        places: int | None = None,
    ) -> None:
        self.reward_range = exact_range(reward_range)
        self.reserve = exact(reserve, "reserve")
        if self.reserve < 0:
            raise InvalidInput(
                f"reserve = {shown(reserve)} must be >= 0; it is what may be lost on top"
            )
        self.places = self._places(places)
        self.unit = Unit(self.places)
        low, high = self.reward_range
        if not self.unit.floor(low) < self.unit.floor(high):
            low, high = self.told_range
            raise InvalidInput(
                f"{self.ends} = ({low}, {high}) spans no whole unit of the books, "
                f"10**{-self.places}; pass more places"
            )

    def _places(self, places: int | None) -> int:
        if places is None:
            return finest_places(self._reach(), self.reserve)
        if type(places) is not int or not -100 <= places <= 100:
            raise InvalidInput(
                f"places = {shown(places)} must be an int in -100..100; 9 counts billionths"
            )
        return places

    @property
    def told_range(self) -> tuple[Decimal, Decimal]:
        """Bounds of what is told: of rewards, or of costs."""
        given: tuple[Decimal, Decimal] = self.to_books(self.reward_range)
        return given

    def to_books(self, value: Any) -> Any:
        """An exact amount as the books count it, and back: a cost is minus that reward.

        A pair keeps its ends in order; None stays None.
        """
        if not self.costs or value is None:
            return value
        if isinstance(value, tuple):
            return tuple(negated(end, self.measure) for end in reversed(value))
        return negated(value, self.measure)

    def check_explores(self) -> None:
        """InvalidInput where no play could ever explore; a class of your own may know when."""

    def terms(self, default: Any = None) -> Terms:
        """What the next play is worth; ``default`` is its own."""
        raise NotImplementedError

    def known_terms(self, value: Decimal, asked: Decimal) -> Terms:
        """The terms of a play whose default is worth ``value`` and which has to earn ``asked``.

        Rounded so that the books never overstate; InvalidInput where even the default could not
        earn what is asked.
        """
        low, high = self.reward_range
        if not low <= value <= high:
            raise InvalidInput(
                f"the default of a play is worth {value}, outside reward_range ({low}, {high}); "
                "widen the range or correct the default"
            )
        worth, floor = self.unit.floor(value), self.unit.ceil(asked)
        if floor > worth:
            raise InvalidInput(
                f"a play asks {asked} and its default is worth {value}: even the default could "
                "break the promise; ask for no more than it brings"
            )
        return Terms(worth, floor, max(0, floor - self.unit.floor(low)), worth - floor)

    def read(self, reward: Any, what: str) -> int:
        """A reward in units, rounded down; ``what`` names it in the error."""
        return self.unit.read(reward, what)

    @property
    def plain(self) -> bool:
        """Whether the compiled engine may keep it: True where ``terms()`` never changes."""
        return False

    @property
    def asked(self) -> int:
        """f of a play with the constant default, in units."""
        return self.terms().floor

    @property
    def fits_int64(self) -> bool:
        """Whether 10**9 plays fit the compiled engine's and the database's 64-bit integers."""
        return fits(self._reach(), self.reserve, self.places)

    def _reach(self) -> Decimal:
        """The most that a play can move a sum of the books by."""
        return reach(*self.reward_range)

    def open(self, keep: int = 100_000) -> RewardBooks:
        """Fresh books for one agent; ``keep``: closed plays remembered (see ``Plays``)."""
        account = Account(reserve=self.unit.floor(self.reserve))
        return RewardBooks(self, account, Plays(checked_keep(keep)))

    def changed(self, **settings: Any) -> Self:
        """Refused, unless a class says what may change while the books go on."""
        raise InvalidInput(
            f"{', '.join(settings) or type(self).__name__} cannot change while the books go on; "
            "start a new agent"
        )

    def with_reserve(self, reserve: Decimal) -> Self:
        """The same floor with another reserve."""
        return self.from_config({**self.config(), "reserve": str(reserve)})

    def config(self) -> JsonObject:
        """The arguments of the class as JSON, exact numbers as text, ``reserve`` among them."""
        kind = type(self).__name__
        raise NotImplementedError(
            f"{kind} has no config(): return its arguments as JSON, numbers as text, e.g. "
            '{"default": str(self.default), "reserve": str(self.reserve)}'
        )

    @classmethod
    def from_config(cls, config: JsonObject) -> Self:
        """The inverse of ``config``: its values are the arguments, text of a number a Decimal.

        Write your own where a text that looks like a number is to stay text.
        """
        return cls(**{name: _read(value) for name, value in config.items()})

    def __repr__(self) -> str:
        if type(self).config is LinearFloor.config:
            return f"{type(self).__name__}(...)"
        said = ", ".join(f"{name}={value}" for name, value in self.config().items())
        return f"{type(self).__name__}({said})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LinearFloor) and (type(self), self.config()) == (
            type(other), other.config(),
        )  # fmt: skip

    def __hash__(self) -> int:
        return hash(repr(self.config()))


def checked_within(value: Decimal, given: Any, ends: str, bounds: tuple[Decimal, Decimal]) -> None:
    """InvalidInput for a default outside the range ``ends``; ``given``: it, as it was said."""
    low, high = bounds
    if not low <= value <= high:
        raise InvalidInput(
            f"default = {shown(given)} lies outside {ends} ({low}, {high}); "
            "widen the range or correct the default"
        )


_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
"""A Decimal as ``str`` writes it."""


def _read(value: Any) -> Any:
    """A value of ``config`` with its numbers as Decimals again, and lists as tuples."""
    if isinstance(value, str):
        return Decimal(value) if _NUMBER.fullmatch(value) else value
    if isinstance(value, list):
        return tuple(map(_read, value))
    if isinstance(value, dict):
        return {key: _read(one) for key, one in value.items()}
    return value
