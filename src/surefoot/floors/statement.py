"""What the account says of itself, in exact decimals."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Self, cast

from surefoot._exact import shown
from surefoot._forms import REMEDY, checked_form
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.floors.protocol import is_ceiling

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
            name: _written(value)
            for name, value in asdict(cast(Any, self)).items()
            if value is not None
        }

    @classmethod
    def from_json(cls, form: Any) -> Self:
        """The inverse of ``to_json``; InvalidInput for anything that it cannot have returned."""
        learned = isinstance(form, dict) and not _LEARNED.isdisjoint(form)
        kinds = {
            field.name: _KINDS[field.type]
            for field in fields(cast(Any, cls))
            if learned or field.name not in _LEARNED
        }
        read: JsonObject = dict(checked_form(form, "statement", kinds))
        for name in (name for name, kind in kinds.items() if kind is str):
            read[name] = _amount(name, form[name])
        if learned:
            ends = form["default"]
            if len(ends) != 2:
                raise InvalidInput(
                    f"statement: default = {shown(ends)} must be two decimals; {REMEDY}"
                )
            read["default"] = tuple(_amount("default", end) for end in ends)
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
    """Whether nothing is promised any more: a mean-variance floor saw a reward out of its range, or
    a default that is learned paid what is outside it, so that no probability is bounded."""
    default: tuple[Decimal, Decimal] | None = None
    """Where the mean of a ``LearnedDefault`` lies by now, as far as was learned."""
    at: Decimal | None = None
    """The mean of a ``LearnedDefault`` that the amounts are for: of the ends at which the account
    is asked the one with the least slack."""


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
    """Whether nothing is promised any more: of a ceiling, a default that is learned cost what is
    outside the range, so that no probability is bounded."""
    default: tuple[Decimal, Decimal] | None = None
    """Where the mean of a ``LearnedDefault`` lies by now, as far as was learned."""
    at: Decimal | None = None
    """The mean of a ``LearnedDefault`` that the amounts are for: of the ends at which the account
    is asked the one with the least slack."""


_KINDS: dict[Any, type] = {
    "Decimal": str,
    "int": int,
    "bool": bool,
    "Decimal | None": str,
    "tuple[Decimal, Decimal] | None": list,
}
"""What a field's type is in JSON."""
_LEARNED = frozenset({"default", "at"})
"""The fields that only the account of a learned default has."""


def _written(value: Any) -> Any:
    if isinstance(value, tuple):
        return [f"{end:f}" for end in value]
    return f"{value:f}" if isinstance(value, Decimal) else value


def _amount(name: str, text: Any) -> Decimal:
    """A decimal as ``_written`` writes it."""
    try:
        value = Decimal(text if type(text) is str else "nan")
        written = len(text) >= abs(value.adjusted())  # else its zeros fill memory
        same = written and f"{value:f}" == text and value.is_finite()
    except (InvalidOperation, TypeError):
        same = False
    if not same:
        raise InvalidInput(f"statement: {name} = {shown(text)} must be a decimal; {REMEDY}")
    return value


def statement(books: Books) -> Statement | CostStatement:
    """Draw up the statement of some books, in the words of their floor."""
    amount, account = books.floor.unit.decimal, books.account
    earned, required = account.posted + books.forfeited + books.asked, books.asked
    costs = is_ceiling(books.floor)
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
        **(_learned(books) if books.learns else {}),
    )
    return drawn


def _learned(books: Any) -> dict[str, Any]:
    """Where the mean of a learned default lies, and which one the account is for."""
    floor, amount = books.floor, books.floor.unit.decimal
    low, high = map(amount, books.ends)
    at = floor.to_books(amount(books.account.binding))
    return {"default": floor.to_books((low, high)), "at": at}
