"""The reward floor: received reward never below (1-alpha) of what the default is worth."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from surefoot._exact import exact, fraction, shown
from surefoot._types import JsonObject, Number
from surefoot.errors import InvalidInput
from surefoot.floors.checkpoint import checked_checkpoint
from surefoot.floors.events import Terms
from surefoot.floors.interval import (
    Interval,
    checked_against,
    checked_interval,
    is_interval,
    terms_fixed,
    terms_realised,
)
from surefoot.floors.linear import LinearFloor

CHANGEABLE = ("default", "alpha", "reward_range", "against", "target", "checkpoint")
"""The settings that may change while the books go on."""


class RewardFloor(LinearFloor):
    """At every moment, even if every open play pays its worst: reward >= sum of f_s - reserve.

        f_s = (1-alpha) * b_s,   b_s = the default's known value at play s (mu0 if constant)

    Source: Du, Wang, Huang 2021, eq. (2) and Algorithm 1; per-play and interval defaults, ranges
    other than [0, 1], checkpoints and the reserve are ours, by the same one-line induction.

    ``default``: the default's known reward, > 0; a pair (l, u), 0 <= l <= u, if it pays at random,
    surely within that; None if each ``select(default=...)`` brings its own of either kind.
    ``alpha``: the fraction one is willing to lose, in (0, 1). ``reward_range``: surely known
    bounds (r_min, r_max) of every reward. ``reserve``: what may be lost on top, >= 0. ``places``:
    decimals of the books' unit; None takes nine, or fewer if 10**9 plays would leave an int64.
    ``against``: what an interval promises: (1-alpha) of the default's own draws ("realised"), or of
    a "fixed" level: ``target``, or u without one. ``checkpoint``: n to hold only after every n-th
    play made; the default plays until then are spent beforehand, so slack may be below zero.
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
    >>> RewardFloor(default=(0.5, 0.8), alpha=0.25).terms().floor  # (1-alpha)*u
    600000000

    Holds when: rewards are >= r_min, the default is worth its known value (an interval: pays within
    it, where it is played and where it would have been), and what is reported as played was played;
    under any delay, order or loss. With a checkpoint: at its multiples. Does not hold when: a
    default of one known value really pays at random and one means money received: a default play
    counts as its known value. An interval's counts as what was reported, as l before.
    """

    __slots__ = (
        "_constant",
        "_share",
        "against",
        "alpha",
        "checkpoint",
        "default",
        "target",
    )

    def __init__(
        self,
        default: Any,
        alpha: Number,
        reward_range: tuple[Number, Number] = (0, 1),
        reserve: Number = 0,
        places: int | None = None,
        against: str = "realised",
        target: Any = None,
        checkpoint: int | None = None,
    ) -> None:
        self.alpha = checked_alpha(alpha)
        super().__init__(reward_range, reserve, places)
        self._share = self.alpha.as_integer_ratio()
        self.target = checked_against(against, target)
        self.against = against
        self.checkpoint = checked_checkpoint(checkpoint, default is not None)
        self.default: Decimal | Interval | None
        self._constant: Terms | None
        if default is None:
            self.default = self._constant = None
        elif is_interval(default):
            self.default = checked_interval(default, self.reward_range)
            self._constant = self._interval_terms(self.default)
        else:
            self.default = checked_default(default, self.reward_range)
            self._constant = self._terms(self._known(self.default))

    def terms(self, default: Any = None) -> Terms:
        """What the next play is worth; ``default`` is its own: a known value >= 0, or (l, u)."""
        if default is None:
            if self._constant is None:
                raise InvalidInput(
                    "this floor has no constant default; pass the play's own: select(default=...)"
                )
            return self._constant
        if self.checkpoint is not None:
            raise InvalidInput(
                f"default = {shown(default)} of one play: a checkpointed floor has one constant "
                "default; give it to the floor"
            )
        if is_interval(default):
            return self._interval_terms(checked_interval(default, self.reward_range))
        value = exact(default, "default")
        if value < 0:
            raise InvalidInput(
                f"default = {shown(default)} must be >= 0 at each play; shift the rewards"
            )
        return self._terms(self._known(_in_range(value, default, self.reward_range)))

    def _known(self, value: Decimal) -> Decimal:
        """A default of known value, if the promise is about such."""
        if self.against == "fixed":
            raise InvalidInput(
                f"default = {shown(value)} of known value leaves nothing to promise "
                "against='fixed'; give an interval (l, u), or leave against out"
            )
        return value

    def _terms(self, value: Decimal) -> Terms:
        lost, whole = self._share
        p, q = self.unit.ratio(value)
        deposit = lost * p // (whole * q)
        return Terms(self.unit.floor(value), *self._floor_and_hold(value), deposit)

    def _interval_terms(self, default: Interval) -> Terms:
        if self.against == "realised":
            asked = self._floor_and_hold(default[1])
            return terms_realised(self.unit, self._share, default, *asked)
        level = default[1] if self.target is None else self.target
        return terms_fixed(self.unit, default, level, *self._floor_and_hold(level))

    def _floor_and_hold(self, value: Decimal) -> tuple[int, int]:
        """(1-alpha)*value, rounded up, and how far a reward can fall short of it."""
        lost, whole = self._share
        p, q = self.unit.ratio(value)
        floor = -((lost - whole) * p // (whole * q))
        return floor, max(0, floor - self.unit.floor(self.reward_range[0]))

    @property
    def plain(self) -> bool:
        """Whether the default is constant and known and the promise holds at every play."""
        return isinstance(self.default, Decimal) and self.checkpoint is None

    def changed(self, **settings: Any) -> RewardFloor:
        """The same floor but for some settings; the unit stays, since all books are kept in it."""
        for name, value in settings.items():
            if name not in CHANGEABLE:
                raise InvalidInput(
                    f"{name} = {shown(value)} cannot change while the books go on: they "
                    f"take {', '.join(CHANGEABLE)}; a reserve is added or withdrawn"
                )
        kept = {name: getattr(self, name) for name in (*CHANGEABLE, "reserve", "places")}
        return type(self)(**{**kept, **settings})

    def with_reserve(self, reserve: Decimal) -> RewardFloor:
        """The same floor with another reserve."""
        kept = {name: getattr(self, name) for name in (*CHANGEABLE, "places")}
        return type(self)(**kept, reserve=reserve)

    def config(self) -> JsonObject:
        """JSON-able settings; decimals as strings, as ``from_config`` reads them."""
        return {
            "default": _written(self.default),
            "alpha": str(self.alpha),
            "reward_range": _written(self.reward_range),
            "reserve": str(self.reserve),
            "places": self.places,
            "against": self.against,
            "target": _written(self.target),
            "checkpoint": self.checkpoint,
        }

    @classmethod
    def from_config(cls, config: JsonObject) -> RewardFloor:
        """The inverse of ``config``."""
        return cls(
            _read(config["default"]),
            _read(config["alpha"]),
            _read(config["reward_range"]),
            _read(config["reserve"]),
            config["places"],
            config.get("against", "realised"),
            _read(config.get("target")),
            config.get("checkpoint"),
        )

    def __repr__(self) -> str:
        low, high = self.reward_range
        default = self.default
        text = f"({default[0]}, {default[1]})" if isinstance(default, tuple) else str(default)
        rest = "" if self.against == "realised" else f", against={self.against!r}"
        rest += "" if self.target is None else f", target={self.target}"
        rest += "" if self.checkpoint is None else f", checkpoint={self.checkpoint}"
        return (
            f"RewardFloor(default={text}, alpha={self.alpha}, "
            f"reward_range=({low}, {high}), reserve={self.reserve}, places={self.places}{rest})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RewardFloor) and self._settings() == other._settings()

    def __hash__(self) -> int:
        return hash(self._settings())

    def _settings(self) -> tuple[Any, ...]:
        kept = (self.reserve, self.places, self.against, self.target, self.checkpoint)
        return self.default, self.alpha, self.reward_range, *kept


def _written(value: Decimal | Interval | None) -> str | list[str] | None:
    if value is None:
        return None
    return [str(end) for end in value] if isinstance(value, tuple) else str(value)


def _read(value: Any) -> Any:
    if value is None:
        return None
    return tuple(map(Decimal, value)) if isinstance(value, list) else Decimal(value)


def checked_alpha(alpha: Number) -> Decimal:
    """The fraction one is willing to lose, if it is one."""
    return fraction(alpha, "alpha", "0.05 gives up at most 5 % of the default's reward", Decimal)


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
