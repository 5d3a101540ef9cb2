"""The general floor: what floors on rewards and ceilings on costs share, to the last unit."""

from __future__ import annotations

from decimal import Decimal
from math import lcm
from typing import Any, Self

from surefoot._exact import EXACT, exact, exact_range, reach, short, shown
from surefoot._types import JsonObject, Number
from surefoot.errors import InvalidInput
from surefoot.floors.checkpoint import checked_checkpoint
from surefoot.floors.events import Terms
from surefoot.floors.interval import (
    Interval,
    checked_against,
    checked_interval,
    is_interval,
    least_given_up,
)
from surefoot.floors.learned import (
    LearnedDefault,
    check_steps,
    checked_learned,
    first_terms,
    last_terms,
    own_default,
)
from surefoot.floors.learned_books import LearnedBooks
from surefoot.floors.linear import LinearFloor, checked_within
from surefoot.floors.plays import checked_keep
from surefoot.floors.reward_books import RewardBooks


class GeneralFloor(LinearFloor):
    """A promise against what the default is worth, but for what each play gives up:

        f_s = v_s - e_s,   e_s = alpha*|v_s| + margin

    v_s is what the default is worth at play s: its reward, or minus its cost. A ceiling on costs is
    to the unit the floor on the negated costs, since -floor(x) = ceil(-x): signs are turned here,
    at the border, and the books know rewards only.

    ``default``, ``target`` and the range are kept as they were given, in rewards or in costs;
    ``worth`` and ``reward_range`` are what the books make of them.
    """

    __slots__ = (
        "_constant",
        "_least",
        "_share",
        "against",
        "alpha",
        "checkpoint",
        "default",
        "margin",
        "max_slack",
        "target",
        "worth",
    )

    def __init__(
        self,
        default: Any,
        alpha: Number,
        ends: Any,
        reserve: Number,
        places: int | None,
        against: str,
        target: Any,
        checkpoint: int | None,
        margin: Number,
        max_slack: Number | None,
    ) -> None:
        bounds = exact_range(ends, self.ends, self.measure)
        self.alpha = self._checked_alpha(alpha)
        self.margin = _amount(margin, "margin", "it is what each play may give up besides alpha")
        kept = "it is the most slack that is kept"
        self.max_slack = None if max_slack is None else _amount(max_slack, "max_slack", kept)
        self.target = checked_against(against, target)
        self.against = against
        self.checkpoint = checked_checkpoint(checkpoint, default is not None)
        if self.checkpoint is not None and max_slack is not None:
            raise InvalidInput(
                f"max_slack = {shown(max_slack)} and checkpoint = {checkpoint} do not go together: "
                "between checkpoints the slack that counts is not yet there; leave one of them out"
            )
        self.default: Decimal | Interval | LearnedDefault | None = self._checked(default, bounds)
        learned = isinstance(self.default, LearnedDefault)
        self.worth: Decimal | Interval | None
        self.worth = self.to_books(self.default.between if learned else self.default)
        super().__init__(self.to_books(bounds), reserve, places)
        (lost, parts), (extra, of) = self.alpha.as_integer_ratio(), self.unit.ratio(self.margin)
        whole = lcm(parts, of)
        self._share = lost * (whole // parts), whole, extra * (whole // of)
        self._least = self.unit.floor(self.reward_range[0])
        if learned:
            check_steps(self)
        self._constant = None if self.worth is None else self._terms(self.worth)

    def _checked_alpha(self, alpha: Number) -> Decimal:
        """The share that is given up, if it is one."""
        raise NotImplementedError

    def _checked(self, default: Any, bounds: Interval) -> Any:
        """A default as the user says it, in exact decimals; InvalidInput if it cannot be one."""
        if default is None:
            return None
        value: Decimal | Interval
        if isinstance(default, LearnedDefault):
            self._check_sign(default.between)
            return checked_learned(default, self, bounds)
        if is_interval(default):
            value = checked_interval(default, bounds, self.ends)
        else:
            value = exact(default, "default")
            checked_within(value, default, self.ends, bounds)
            if self.against == "fixed":
                raise InvalidInput(
                    f"default = {shown(value)} of known value leaves nothing to promise "
                    "against='fixed'; give an interval (l, u), or leave against out"
                )
        self._check_sign(value)
        return value

    def _check_sign(self, default: Decimal | Interval) -> None:
        """InvalidInput for a default of a sign for which alpha is too large."""

    def open(self, keep: int = 100_000) -> RewardBooks:
        """Fresh books for one agent; ``keep``: closed plays remembered (see ``Plays``)."""
        if isinstance(self.default, LearnedDefault):
            return LearnedBooks.opened(self, checked_keep(keep))
        return super().open(keep)

    def terms(self, default: Any = None) -> Terms:
        """What the next play is worth; ``default`` is its own: a known value, or (l, u)."""
        if default is None:
            if self._constant is None:
                raise InvalidInput(
                    "this floor has no constant default; pass the play's own: select(default=...)"
                )
            return self._constant
        if isinstance(self.default, LearnedDefault) or isinstance(default, LearnedDefault):
            raise own_default(default)
        if self.checkpoint is not None:
            raise InvalidInput(
                f"default = {shown(default)} of one play: a checkpointed floor has one constant "
                "default; give it to the floor"
            )
        bounds = self.told_range if self.costs else self.reward_range
        return self._terms(self.to_books(self._checked(default, bounds)))

    def _terms(self, worth: Decimal | Interval) -> Terms:
        if isinstance(self.default, LearnedDefault):
            return first_terms(self)
        if isinstance(worth, tuple):
            return self._interval_terms(worth)
        p, q = self.unit.ratio(worth)
        lost, whole, extra = self._share
        deposit = (lost * abs(p) + extra * q) // (whole * q)
        return Terms(p // q, *self._floor_and_hold(worth), deposit)

    def _interval_terms(self, worth: Interval) -> Terms:
        low, high = map(self.unit.floor, worth)
        fixed = self.against == "fixed"
        level = worth[1] if self.target is None else self.to_books(self.target)
        floor, hold = self._floor_and_hold(level)
        if not fixed:
            high = high if worth[1] >= 0 else self.unit.ceil(worth[1])  # as its draws are read
            deposit = least_given_up((low, high), self._share)
            return Terms(low, floor, hold, deposit, high, *self._share)
        if low < floor:
            raise self._too_high(worth, level, low, floor)
        return Terms(low, floor, hold, low - floor, high, 1, 1, 0, fixed)

    def _too_high(self, worth: Interval, level: Decimal, low: int, floor: int) -> InvalidInput:
        said, decimal = sorted(self.to_books(worth)), self.unit.decimal
        least, asked = self.to_books(decimal(low)), self.to_books(decimal(floor))
        needs, end, beats, less = (
            ("u <= g + alpha*|g| + margin", "u", ">", "higher")
            if self.costs
            else ("l >= g - alpha*|g| - margin", "l", "<", "lower")
        )
        return InvalidInput(
            f"default = ({said[0]}, {said[1]}) against a fixed level needs {needs}: {end} = "
            f"{least} {beats} {asked} with g = {self.to_books(level)}, so even the default could "
            f"break the promise; take a {less} target, or against='realised'"
        )

    def _floor_and_hold(self, worth: Decimal) -> tuple[int, int]:
        """v - e of a value, rounded up, and how far a reward can fall short of it."""
        lost, whole, extra = self._share
        p, q = self.unit.ratio(worth)
        floor = -((lost * abs(p) + extra * q - whole * p) // (whole * q))
        return floor, max(0, floor - self._least)

    def _reach(self) -> Decimal:
        """The most that a play can move a sum of the books by, whatever its default is worth."""
        low, high = self.reward_range
        worth = (low, high) if self.worth is None else self.worth
        values = worth if isinstance(worth, tuple) else (worth,)
        if self.target is not None:
            values = (*values, self.to_books(self.target))
        most = reach(low, high)
        for value in values:
            given_up = EXACT.add(EXACT.multiply(self.alpha, value.copy_abs()), self.margin)
            floor = EXACT.subtract(value, given_up)
            most = max(most, given_up, floor.copy_abs(), EXACT.subtract(high, floor))
        return most

    @property
    def plain(self) -> bool:
        """Whether the default is constant and known, the promise holds at every play, and no slack
        is forfeited."""
        constant = isinstance(self.default, Decimal)
        return constant and self.checkpoint is None and self.max_slack is None

    def check_explores(self) -> None:
        """InvalidInput where no play could ever explore, whatever is reported."""
        spared = self.unit.floor(self.reserve)
        terms, most = self._constant, 0
        if terms is None:
            level = self.against == "fixed" and self.target is not None
            if level or self.alpha or self.margin or self.reserve:
                return
            why = "alpha, margin and reserve are all 0"
        else:
            most = terms.deposit
            if isinstance(self.default, LearnedDefault):
                terms = last_terms(self)
                most = max(most, terms.deposit)
            if terms.high is not None:
                most = max(most, *(terms.paid(end)[0] for end in (terms.value, terms.high)))
            amount = self.unit.decimal
            loss = short(amount(terms.hold))
            loss = f"cost {loss} more than allowed" if self.costs else f"lose {loss}"
            self._check_kept(terms, loss)
            if most > 0 or spared >= terms.hold:
                return
            why = (
                f"an exploration may {loss}, a default play brings 0 and the reserve is "
                f"{short(amount(spared))}"
            )
        remedy = "alpha, a margin or a reserve above 0"
        if self.worth == 0:
            remedy = "a margin or a reserve above 0"  # alpha of nothing is nothing
        elif terms is not None and (self.alpha or self.margin):
            remedy = "more places, or a reserve"
        raise InvalidInput(f"{self!r} would never let a play explore: {why}; give {remedy}")

    def _check_kept(self, terms: Terms, loss: str) -> None:
        """InvalidInput where the slack that is kept never covers an exploration."""
        most, learned = self.max_slack, isinstance(self.default, LearnedDefault)
        if most is not None and not learned and self.unit.floor(most) < terms.hold:
            raise InvalidInput(
                f"max_slack = {most} would never let a play explore: an exploration may {loss}; "
                "give at least as much, or leave max_slack out"
            )

    def changed(self, **settings: Any) -> Self:
        """The same floor but for some settings; the unit stays, since all books are kept in it."""
        changeable = self.changeable()
        for name, value in settings.items():
            if name not in changeable:
                raise InvalidInput(
                    f"{name} = {shown(value)} cannot change while the books go on: they "
                    f"take {', '.join(changeable)}; a reserve is added or withdrawn"
                )
        return type(self)(**{**self._settings(), **settings})

    def with_reserve(self, reserve: Decimal) -> Self:
        """The same floor with another reserve."""
        return type(self)(**{**self._settings(), "reserve": reserve})

    @classmethod
    def changeable(cls) -> list[str]:
        """The settings that may change while the books go on."""
        return [name for name in cls._names() if name not in ("reserve", "places")]

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        """The arguments, in the order of the constructor's."""
        return (
            "default", "alpha", cls.ends, "reserve", "places", "against", "target", "checkpoint",
            "margin", "max_slack",
        )  # fmt: skip

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._names()}

    def config(self) -> JsonObject:
        """JSON-able settings; decimals as strings, as ``from_config`` reads them."""
        said = {name: _written(value) for name, value in self._settings().items()}
        # Left out where they say nothing: releases without them read the rest.
        unsaid = {"margin": not self.margin, "max_slack": self.max_slack is None}
        return {name: value for name, value in said.items() if not unsaid.get(name, False)}

    @classmethod
    def from_config(cls, config: JsonObject) -> Self:
        """The inverse of ``config``."""
        given = {name: config[name] for name in cls._names() if name in config}
        return cls(**{name: v if name == "against" else _read(v) for name, v in given.items()})

    def __repr__(self) -> str:
        usual = {
            "against": "realised", "target": None, "checkpoint": None, "margin": 0,
            "max_slack": None,
        }  # fmt: skip
        said = self._settings().items()
        texts = [f"{name}={_said(v)}" for name, v in said if name not in usual or v != usual[name]]
        return f"{type(self).__name__}({', '.join(texts)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GeneralFloor) or other.costs != self.costs:
            return False
        return self._settings() == other._settings()

    def __hash__(self) -> int:
        return hash(tuple(self._settings().values()))


def _amount(value: Any, what: str, meaning: str) -> Decimal:
    number = exact(value, what)
    if number < 0:
        raise InvalidInput(f"{what} = {shown(value)} must be >= 0; {meaning}")
    return number


def _said(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({value[0]}, {value[1]})"
    return repr(value) if isinstance(value, str) else str(value)


def _written(value: Any) -> Any:
    if isinstance(value, tuple):
        return [str(end) for end in value]
    if isinstance(value, LearnedDefault):
        return value.config()
    return str(value) if isinstance(value, Decimal) else value


def _read(value: Any) -> Any:
    if isinstance(value, dict):
        return LearnedDefault.from_config(value)
    if isinstance(value, list):
        return tuple(map(Decimal, value))
    return Decimal(value) if isinstance(value, str) else value
