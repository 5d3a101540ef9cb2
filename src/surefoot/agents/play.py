"""Play: one decision, with the numbers that led to it, and the sentence that explains it."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

from surefoot._exact import Unit
from surefoot.floors import Terms


class Reason(StrEnum):
    """Why a play is what it is; every reason but SLACK_OK and UNGUARDED plays the default."""

    SLACK_OK = "SLACK_OK"
    SLACK_SHORT = "SLACK_SHORT"
    DEFAULT_BEST = "DEFAULT_BEST"
    PAUSED = "PAUSED"
    NO_ALLOWED_ARM = "NO_ALLOWED_ARM"
    UNGUARDED = "UNGUARDED"


class Choice(NamedTuple):
    """What the policy wanted, where it was asked."""

    arm: Any
    """The arm as the user named it."""
    score: float | None
    """Its index or sample, on the policy's scale; None for a policy that cannot score."""
    rival: float | None = None
    """The default's value on that scale, where the default competed."""
    margin: int | None = None
    """For gates on means (ConUCB): what is proved above the floor, in units."""


class Play(NamedTuple):
    """One decision of an agent; report what came of it with ``agent.update(play, reward)``.

    ``slack`` is what might be lost before this play's hold, ``worst_case`` what is left after it,
    both exact decimals; for the default the two are equal.
    """

    id: int
    arm: Any
    """The arm as the user named it; None: the default."""
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of a play
    """The arm's number; -1: the default."""
    reason: Reason
    turn: int
    """The policy's own clock m after this decision."""
    terms: Terms
    places: int
    """The decimals of the books' unit."""
    available: int
    """The slack before the hold, in units."""
    held: int
    """What explorations decided before still hold, in units."""
    pending: int
    """How many of those there are."""
    unreported: int
    """How many earlier default plays were not yet reported, so not yet credited."""
    choice: Choice | None

    @property
    def is_default(self) -> bool:
        return self.index < 0

    @property
    def slack(self) -> Decimal:
        return Unit(self.places).decimal(self.available)

    @property
    def worst_case(self) -> Decimal:
        hold = 0 if self.is_default else self.terms.hold
        return Unit(self.places).decimal(self.available - hold)

    def __repr__(self) -> str:
        return (
            f"Play(id={self.id}, arm={self.arm!r}, reason={self.reason.value}, "
            f"slack={short(self.slack)}, worst_case={short(self.worst_case)})"
        )


def short(amount: Decimal) -> str:
    """An exact amount without trailing zeros.

    >>> short(Decimal("0.700000000")), short(Decimal("0E-9"))
    ('0.7', '0')
    """
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def explain(play: Play) -> str:
    """Say in one sentence, in numbers, why this play is what it is."""
    slack = f"the slack is {short(play.slack)}{_waiting(play)}"
    if play.reason is Reason.PAUSED:
        return f"Play {play.id} is the default because the agent is paused; {slack}."
    if play.reason is Reason.NO_ALLOWED_ARM:
        return f"Play {play.id} is the default because no arm is allowed; {slack}."
    if play.choice is not None and play.choice.margin is not None:
        return _explain_margin(play, play.choice, play.choice.margin)
    loss = short(Unit(play.places).decimal(play.terms.hold))
    if play.reason is Reason.SLACK_SHORT:
        missing = short(Unit(play.places).decimal(play.terms.hold - play.available))
        return (
            f"Play {play.id} is the default because an exploration could lose {loss} and {slack}, "
            f"{missing} too little."
        )
    assert play.choice is not None
    if play.reason is Reason.DEFAULT_BEST:
        return (
            f"Play {play.id} is the default by choice: the best arm {play.choice.arm!r} scores "
            f"{play.choice.score:.6g}, not above the default's {play.choice.rival:.6g}; {slack}."
        )
    scored = "" if play.choice.score is None else f", which scores {play.choice.score:.6g}"
    if play.reason is Reason.UNGUARDED:
        return f"Play {play.id} is arm {play.arm!r}{scored}; nothing guards it; {slack}."
    return (
        f"Play {play.id} explores arm {play.arm!r}{scored}: it can lose {loss} and {slack}, "
        f"so at worst {short(play.worst_case)} is left."
    )


def _waiting(play: Play) -> str:
    parts = []
    if play.pending:
        held = short(Unit(play.places).decimal(play.held))
        parts.append(f"{held} held by {play.pending} explorations whose reward is not known")
    if play.unreported:
        parts.append(f"{play.unreported} default plays not yet reported, so not credited")
    return f" ({'; '.join(parts)})" if parts else ""


def _explain_margin(play: Play, choice: Choice, margin: int) -> str:
    amount = short(Unit(play.places).decimal(abs(margin)))
    if play.reason is Reason.SLACK_SHORT:
        return (
            f"Play {play.id} is the default because the lower confidence bounds with arm "
            f"{choice.arm!r} prove {amount} too little mean reward."
        )
    return (
        f"Play {play.id} explores arm {choice.arm!r}, whose upper bound is {choice.score:.6g}: the "
        f"lower confidence bounds prove {amount} more mean reward than the floor asks."
    )
