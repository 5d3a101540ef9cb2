"""A default whose mean nobody knows: where it lies, and what a play asks as a function of it.

    f(mu) = mu - e(mu),   e(mu) = alpha*|mu| + margin,   h(mu) = max(0, f(mu) - r_min)

Everything is in whole units of the books. mu runs over multiples of ``LATTICE`` units and alpha has
four decimals at most, so f and e are whole and nothing is rounded at any play: rounded one by one,
f would not be linear, and an account that is enough at two points could fail between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from surefoot._exact import exact_range, fraction, shown
from surefoot._types import JsonObject, Number
from surefoot.errors import InvalidInput
from surefoot.floors.events import Terms

if TYPE_CHECKING:
    from surefoot.floors.general import GeneralFloor

WHOLE = 10_000
"""alpha is counted in ten-thousandths."""
LATTICE = WHOLE
"""The ends of what the mean may be are multiples of so many units."""


@dataclass(frozen=True, slots=True, init=False)
class LearnedDefault:
    """A default that pays at random, with a constant mean nobody knows: ``default=`` of a floor.

    ``between``: (lo, hi), where the mean surely lies, lo < hi, within the range of the rewards (of
    a ``CostCeiling``: of the costs). ``delta``: the probability with which the promise may fail,
    in (0, 1). Raises InvalidInput for anything else; the floor refuses lo < 0 < hi unless alpha
    is 0, and an alpha of more than four decimals.

    >>> from surefoot import GenCB, LearnedDefault, RewardFloor, UCB1
    >>> floor = RewardFloor(default=LearnedDefault(between=(0.2, 0.6)), alpha=0.1)
    >>> agent = GenCB(UCB1(n_arms=2), floor)
    >>> for _ in range(40):  # each default play is told with what it paid
    ...     outcome = agent.update(agent.select(), reward=0.3)
    >>> agent.account.default
    (Decimal('0.200000000'), Decimal('0.398630000'))

    Holds when: given all that was known when a default play was decided, what it pays, rounded
    down to the unit (a cost: up), has the mean mu0, the same at each; mu0 lies in lo..hi. Then with
    probability 1 - delta at least, at every moment, explorations received + mu0 per default play >=
    sum of f(mu0) - reserve. Does not hold when: the default's mean drifts, or the caller plays,
    pauses or voids by what a play would pay. Nothing is said about the money the default draws: it
    may be less by its own luck. Our own; proof and cost: "A default nobody knows" in the docs.
    """

    between: tuple[Decimal, Decimal]
    delta: Decimal

    def __init__(self, between: tuple[Number, Number], delta: Number = 0.05) -> None:
        hint = "0.05 lets the promise fail in at most one of twenty runs"
        object.__setattr__(self, "between", _between(between))
        object.__setattr__(self, "delta", fraction(delta, "delta", hint, Decimal))

    def config(self) -> JsonObject:
        """JSON-able settings, numbers as text."""
        return {"between": [str(end) for end in self.between], "delta": str(self.delta)}

    @classmethod
    def from_config(cls, config: JsonObject) -> LearnedDefault:
        """The inverse of ``config``."""
        low, high = map(Decimal, config["between"])
        return cls((low, high), Decimal(config["delta"]))

    def __repr__(self) -> str:
        low, high = self.between
        return f"LearnedDefault(between=({low}, {high}), delta={self.delta})"


def _between(between: Any) -> tuple[Decimal, Decimal]:
    """lo and hi, if they are a pair of numbers lo < hi."""
    try:
        low, high = exact_range(between)
    except InvalidInput as error:
        raise InvalidInput(
            f"between = {shown(between)} must be a pair lo < hi, where the default's mean surely "
            "lies; a mean that is known is default=0.7"
        ) from error
    return low, high


class Curve(NamedTuple):
    """What a play asks as a function of the default's mean; fixed when it is decided.

    Pure in ``mu``: units of the books, a multiple of ``LATTICE``.

    >>> curve = Curve(alpha=500, margin=0, low=0)
    >>> curve.floor(70_000), curve.given_up(70_000), curve.hold(70_000)
    (66500, 3500, 66500)
    """

    alpha: int
    """In ten-thousandths."""
    margin: int
    low: int
    """r_min."""

    def given_up(self, mu: int) -> int:
        """e(mu): what a default play posts."""
        return self.alpha * abs(mu) // WHOLE + self.margin

    def floor(self, mu: int) -> int:
        """f(mu): what a play must earn."""
        return mu - self.given_up(mu)

    def hold(self, mu: int) -> int:
        """h(mu): the most that an exploration can lose."""
        return max(0, self.floor(mu) - self.low)

    def terms(self, mu: int, value: int) -> Terms:
        """A play's terms with the mean taken for ``mu``; its default competes at ``value``."""
        known = value, self.floor(mu), self.hold(mu), self.given_up(mu)
        return Terms(*known, None, self.alpha, WHOLE, self.margin * WHOLE)


def curve_of(terms: Terms, low: int) -> Curve:
    """The inverse of ``Curve.terms``; ``low``: the r_min that the play was decided with."""
    return Curve(terms.lost, terms.extra // WHOLE, low)


def curve_now(floor: GeneralFloor) -> Curve:
    """What the next play asks."""
    low, unit = floor.reward_range[0], floor.unit
    return Curve(_ten_thousandths(floor.alpha), unit.floor(floor.margin), unit.floor(low))


class Start(NamedTuple):
    """Where the ends begin, and how delta is shared out between them.

    With r_min >= 0 nothing received is negative, so A(0) >= 0 always; with hi <= 0 A falls in mu.
    Either way A is enough on all of lo..U where it is at U, and U has all of delta.
    """

    low: int
    high: int
    both: bool
    """Whether both ends are learned; else the lower stays, and the upper one decides alone."""
    delta: Fraction
    """Of each end in use."""


def start_of(floor: GeneralFloor) -> Start:
    """Where the ends of a floor's learned default begin, in rewards, on the lattice."""
    default, unit = floor.default, floor.unit
    assert isinstance(default, LearnedDefault)
    first, last = floor.to_books(default.between)
    low = unit.floor(first) // LATTICE * LATTICE
    high = -(-unit.ceil(last) // LATTICE) * LATTICE
    both = floor.reward_range[0] < 0 < last
    return Start(low, high, both, Fraction(default.delta) / (2 if both else 1))


def first_terms(floor: GeneralFloor) -> Terms:
    """What the first play is worth, at the upper end."""
    high = start_of(floor).high
    return curve_now(floor).terms(high, high)


def last_terms(floor: GeneralFloor) -> Terms:
    """What a play comes to be worth if the mean turns out to be lo."""
    low = start_of(floor).low
    return curve_now(floor).terms(low, low)


def checked_learned(
    default: LearnedDefault, floor: GeneralFloor, bounds: tuple[Decimal, Decimal]
) -> LearnedDefault:
    """A learned default, if a floor as far as it is made can keep a promise about it.

    ``bounds``: the declared range, in the words of the user.
    """
    _ten_thousandths(floor.alpha)
    for name, value, usual in (
        ("against", floor.against, "realised"),
        ("target", floor.target, None),
        ("checkpoint", floor.checkpoint, None),
    ):
        if value != usual:
            raise InvalidInput(
                f"{name} = {shown(value)} does not go with a LearnedDefault, whose promise is "
                f"about its mean at every play; leave {name} out"
            )
    (low, high), (least, most) = default.between, bounds
    if not least <= low < high <= most:
        raise InvalidInput(
            f"default = {default} lies outside {floor.ends} ({least}, {most}); widen the range or "
            "correct between"
        )
    if low < 0 < high and floor.alpha:
        raise InvalidInput(
            f"default = {default} straddles 0, where alpha*|mu| bends the wrong way: what is "
            "enough at both ends may be too little between; take alpha=0 with a margin, or shift "
            "the range"
        )
    return default


def check_steps(floor: GeneralFloor) -> None:
    """InvalidInput where the unit is too coarse for the mean to be learned."""
    default, unit = floor.default, floor.unit
    assert isinstance(default, LearnedDefault)
    low, high = default.between
    if unit.floor(high) - unit.floor(low) < LATTICE:
        raise InvalidInput(
            f"default = {default} is learned in steps of {unit.decimal(LATTICE):f}, {LATTICE} "
            "units of the books, which is wider than between; pass more places"
        )


def own_default(default: Any) -> InvalidInput:
    """The error for a default of a single play."""
    return InvalidInput(
        f"default = {shown(default)} of one play: a LearnedDefault has one mean at every play; "
        "give one to the floor, and leave this out"
    )


def _ten_thousandths(alpha: Decimal) -> int:
    """alpha in ten-thousandths, if it is a whole number of them."""
    counted, whole = (Fraction(alpha) * WHOLE).as_integer_ratio()
    if whole != 1:
        raise InvalidInput(
            f"alpha = {alpha} under a LearnedDefault must have at most four decimals, so that "
            "nothing is rounded whatever the mean; round it down"
        )
    return counted
