"""What the account says of itself, in exact decimals."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Self, cast

from surefoot._exact import shown
from surefoot._forms import REMEDY, checked_form
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput

if TYPE_CHECKING:
    from surefoot.floors.books import Books


class _Form:
    """What every statement can do: be plain JSON, and be read from it."""

    __slots__ = ()

    def to_json(self) -> JsonObject:
        """Its fields as plain JSON: amounts as decimal strings, no floats.

        >>> from surefoot.floors import RewardFloor
        >>> form = statement(RewardFloor(default=0.5, alpha=0.2, reserve=2).open()).to_json()
        >>> form["slack"], form["plays"], form["promise_void"]
        ('2.000000000', 0, False)
        """
        return {
            name: f"{value:f}" if isinstance(value, Decimal) else value
            for name, value in asdict(cast(Any, self)).items()
        }

    @classmethod
    def from_json(cls, form: Any) -> Self:
        """The inverse of ``to_json``; InvalidInput for anything that it cannot have returned."""
        kinds = {field.name: _KINDS[field.type] for field in fields(cast(Any, cls))}
        read: JsonObject = dict(checked_form(form, "statement", kinds))
        for name in (name for name, kind in kinds.items() if kind is str):
            try:
                read[name] = Decimal(read[name])
                written = len(form[name]) >= abs(
                    read[name].adjusted()
                )  # else its zeros fill memory
                same = written and f"{read[name]:f}" == form[name] and read[name].is_finite()
            except InvalidOperation:
                same = False
            if not same:
                raise InvalidInput(
                    f"statement: {name} = {shown(form[name])} must be a decimal; {REMEDY}"
                )
        return cls(**read)


@dataclass(frozen=True, slots=True)
class Statement(_Form):
    """The account at one moment; amounts are exact, in the unit of the rewards.

        slack = reserve + earned - required - held - forfeited

    An expired play counts as earned at min(r_min, f) until its reward arrives; a default play
    counts at its known value, whatever it really paid, and only once it was reported. Where a
    default or its f is finer than the unit, slack is rounded down; earned and required are, per
    default play, less than one unit too high.

    A default play of an interval (l, u) counts at what it paid, at most u, and at l while that is
    not known. Against "realised" it requires that same amount less what it gives up, and an
    exploration u less that; against "fixed" both require the level less that.

    Of a mean-variance floor over n plays, earned is n*MV and required (1-alpha)*rho*mu0*n, both
    less than one unit too high; held counts expired plays until their reward arrives.
    """

    earned: Decimal
    """Reward booked so far."""
    required: Decimal
    """What the plays booked so far had to earn: the sum of their f_s, as each was decided."""
    held: Decimal
    """What the pending explorations could still lose."""
    reserve: Decimal
    slack: Decimal
    """What may still be lost if every pending exploration pays its worst. Between checkpoints it
    may be below zero."""
    forfeited: Decimal
    """What was above ``max_slack`` at decisions."""
    plays: int
    """Decisions, void ones not counted."""
    default_plays: int
    explorations: int
    pending: int
    """Explorations with neither reward nor end; of a mean-variance floor also expired ones, until
    their reward arrives."""
    unreported: int
    """Default plays decided but not yet reported, so not yet credited."""
    expired: int
    """Explorations that ever expired, those whose reward came later included."""
    voided: int
    breaches: int
    """Rewards below r_min, of a default outside its interval, or for a mean-variance floor outside
    the range: each may have broken the promise."""
    capped: int
    """Rewards above r_max, credited as r_max until acknowledged."""
    mismatches: int
    """Default plays that reported another reward than the known value."""
    promise_void: bool
    """Whether nothing is promised any more: a mean-variance floor saw a reward out of its range."""


@dataclass(frozen=True, slots=True)
class CostStatement(_Form):
    """The account of a ceiling on costs at one moment; amounts are exact, in the unit of the costs.

        slack = reserve + allowed - spent - held - forfeited

    An expired play counts as spent at max(c_max, g) until its cost arrives; a default play counts
    at its known cost, whatever it really cost, and only once it was reported; one of an interval
    (l, u) at what it cost, at least l, and at u while that is not known.
    """

    spent: Decimal
    """Cost booked so far."""
    allowed: Decimal
    """What the plays booked so far were allowed to cost: the sum of their g_s, as each was
    decided."""
    held: Decimal
    """By what the pending explorations could still cost more than they are allowed."""
    reserve: Decimal
    slack: Decimal
    """What may still be spent above the ceiling if every pending exploration costs its worst.
    Between checkpoints it may be below zero."""
    forfeited: Decimal
    """What was above ``max_slack`` at decisions."""
    plays: int
    """Decisions, void ones not counted."""
    default_plays: int
    explorations: int
    pending: int
    """Explorations with neither cost nor end."""
    unreported: int
    """Default plays decided but not yet reported, so not yet credited."""
    expired: int
    """Explorations that ever expired, those whose cost came later included."""
    voided: int
    breaches: int
    """Costs above c_max, or of a default outside its interval: each may have broken the promise."""
    capped: int
    """Costs below c_min, counted as c_min until acknowledged."""
    mismatches: int
    """Default plays that reported another cost than the known one."""
    promise_void: bool
    """Whether nothing is promised any more: never, of a ceiling."""


_KINDS: dict[Any, type] = {"Decimal": str, "int": int, "bool": bool}
"""What a field's type is in JSON."""


def statement(books: Books) -> Statement | CostStatement:
    """Draw up the statement of some books, in the words of their floor."""
    amount, account = books.floor.unit.decimal, books.account
    earned, required = account.posted + books.forfeited + books.asked, books.asked
    costs = getattr(books.floor, "costs", False)
    made: Any = CostStatement if costs else Statement
    first = (-earned, -required) if costs else (earned, required)
    drawn: Statement | CostStatement = made(
        *map(amount, first),
        held=amount(account.held),
        reserve=amount(account.reserve),
        slack=amount(account.available),
        forfeited=amount(books.forfeited),
        plays=books.explorations + books.default_plays,
        default_plays=books.default_plays,
        explorations=books.explorations,
        pending=books.waiting,
        unreported=books.unreported,
        expired=books.expired,
        voided=books.voided,
        breaches=books.breaches,
        capped=books.capped,
        mismatches=books.mismatches,
        promise_void=books.promise_void,
    )
    return drawn
