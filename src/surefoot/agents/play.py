"""Play: one decision, with the numbers that led to it, and the sentence that explains it."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

from surefoot._exact import Unit, short, shown
from surefoot.errors import InvalidInput
from surefoot.floors import Outcome, Terms


class Reason(StrEnum):
    """Why a play is what it is; SLACK_OK, FUNDING and UNGUARDED explore, all others play
    the default."""

    SLACK_OK = "SLACK_OK"
    SLACK_SHORT = "SLACK_SHORT"
    DEFAULT_BEST = "DEFAULT_BEST"
    PAUSED = "PAUSED"
    NO_ALLOWED_ARM = "NO_ALLOWED_ARM"
    POLICY_FAULT = "POLICY_FAULT"
    FUNDING = "FUNDING"
    SAVING_UP = "SAVING_UP"
    NOT_PROVED = "NOT_PROVED"
    HOLDOUT = "HOLDOUT"
    UNGUARDED = "UNGUARDED"


class Choice(NamedTuple):
    """The policy's choice, where the policy was asked; the play may still be the default."""

    arm: Any
    """The arm as the user named it."""
    score: float | None
    """Its index or sample, on the policy's scale; None for a policy that cannot score."""
    rival: float | None = None
    """The default's value on that scale, where the default competed."""
    margin: int | None = None
    """For gates on means (ConUCB): what is proved above the floor, in units."""

    @property
    def loses(self) -> bool:
        """Whether the default competed and the arm's score is not above its value."""
        return self.rival is not None and self.score is not None and not self.score > self.rival


class Binding(NamedTuple):
    """The floor whose numbers a play has, where more is to be said than of one floor on rewards."""

    floor: str | None = None
    """Its name among several: of all floors, exploring would leave it the least."""
    costs: bool = False
    """Whether it is a ceiling on costs."""
    worth: int | None = None
    """What the default brings of the objective, in its units, which are not that floor's."""


class Play(NamedTuple):
    """One decision of an agent and its numbers; report it with ``agent.update(play, reward)``.

    ``slack``: what could be lost before this play's hold. ``worst_case``: the slack after it. Both
    are exact decimals; for the default they are equal.
    """

    id: int
    arm: Any
    """The arm as the user named it; None: the default."""
    index: int  # type: ignore[assignment]  # hides tuple.index, which no play needs
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
    """The holds of earlier explorations, in units."""
    pending: int
    """How many earlier explorations still have a hold."""
    unreported: int
    """How many earlier default plays have no report yet, so no credit."""
    choice: Choice | None
    ahead: int = 0
    """The default's gain between this play and the checkpoint, in units; the gate counts it."""
    fault: str | None = None
    """What the policy's error said, of a ``POLICY_FAULT``."""
    binding: Binding | None = None
    """None: the agent has one floor, on rewards."""
    propensity: float | None = None
    """The probability with which this arm, or the default, was played, given all that was known
    before; 1 where there was no choice, None where it is not known."""

    @property
    def is_default(self) -> bool:
        return self.index < 0

    @property
    def slack(self) -> Decimal:
        return self.amount(self.available)

    @property
    def worst_case(self) -> Decimal:
        return self.amount(self.available - (0 if self.is_default else self.terms.hold))

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """What the last report of each measure came to, of an agent of several floors."""
        return {}

    def amount(self, units: int) -> Decimal:
        """Units of the books as an exact decimal."""
        return Unit(self.places).decimal(units)

    def __repr__(self) -> str:
        return (
            f"Play(id={self.id}, arm={self.arm!r}, reason={self.reason.value}, "
            f"slack={short(self.slack)}, worst_case={short(self.worst_case)})"
        )


class MeasuredPlay(Play):
    """A play of an agent of several floors; what was reported of it is no part of its value."""

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """What the last report of each measure came to; "reward" is the objective."""
        found: dict[str, Outcome] = self.__dict__.setdefault("outcomes", {})
        return found

    def note(self, outcomes: dict[str, Outcome]) -> None:
        """Keep what a report came to, of each measure that it told of."""
        kept = self.__dict__
        if "outcomes" in kept:
            kept["outcomes"].update(outcomes)
        else:
            kept["outcomes"] = outcomes


made: Any = tuple.__new__
"""Builds a named tuple from all its fields in half the time of its own constructor."""


def unpaid(play: Any, arm: Any, measure: str = "reward") -> InvalidInput:
    """The error for an exploration that is reported without its reward."""
    return InvalidInput(
        f"play {play} explored arm {shown(arm)}: pass its {measure}, or report that there is none "
        "with expire, void or fall_back"
    )


def check_unpaid(play: Play, learner: str | None) -> None:
    """Refuse a report without a reward, unless the default's value is known.

    ``learner``: the name of an agent that learns it from each default play, or None.
    """
    if not play.is_default:
        raise unpaid(play.id, play.arm, "cost" if _costs(play) else "reward")
    if learner is not None:
        raise InvalidInput(
            f"reward of play {play.id} is missing: {learner} learns what its default pays; report "
            "that too"
        )


def explain(play: Play, asks_beyond: str = "", aside: str = "") -> str:
    """Say in one sentence, in numbers, why this play is what it is.

    ``asks_beyond``: what its floor demands besides a slack that covers the worst reward.
    ``aside``: the agent's remark on explorations without a rival.
    """
    of = "" if play.binding is None or play.binding.floor is None else f" of {play.binding.floor}"
    slack = f"the slack{of} is {short(play.slack)}{_mean(play)}{_waiting(play)}"
    match play.reason:
        case Reason.PAUSED:
            because = f"is the default because the agent is paused; {slack}"
        case Reason.HOLDOUT:
            because = f"is the default because a draw held it out, to compare with; {slack}"
        case Reason.NO_ALLOWED_ARM:
            because = f"is the default because no arm is allowed; {slack}"
        case Reason.POLICY_FAULT:
            because = f"is the default because the policy failed ({play.fault}); {slack}"
        case Reason.SAVING_UP:
            because = (
                f"is the default because the first plays save up for all the later ones; {slack}"
            )
        case Reason.DEFAULT_BEST:
            because = f"is the default by choice: {_beaten(play.choice)}; {slack}"
        case Reason.UNGUARDED:
            because = f"is {_arm(play.choice)}; nothing guards it, and {slack}"
        case Reason.SLACK_SHORT | Reason.NOT_PROVED:
            because = f"is the default because {_too_little(play, slack, asks_beyond)}"
        case Reason.FUNDING:
            because = (
                f"explores {_arm(play.choice)} because slack is scarce and this arm has "
                f"{'cost less' if _costs(play) else 'paid more'} than the default: "
                f"{_enough(play, slack)}"
            )
        case Reason.SLACK_OK:
            because = f"explores {_arm(play.choice)}: {_enough(play, slack)}"
            if aside and play.choice is not None and play.choice.rival is None:
                because += f"; {aside}"
    return f"Play {play.id} {because}."


def _too_little(play: Play, slack: str, asks_beyond: str) -> str:
    margin = play.choice and play.choice.margin
    if margin is not None:
        return (
            f"with {_arm(play.choice)}, the lower confidence bounds prove "
            f"{short(play.amount(-margin))} less mean reward than the floor asks"
        )
    missing, could = play.terms.hold - play.available - play.ahead, "could lose"
    if _costs(play):
        could = "could cost"
    if missing <= 0 and not asks_beyond:  # of a live agent: its account knew better
        return f"an exploration {could} {_loss(play)} and {slack}, which was spent meanwhile"
    if missing <= 0:
        return f"an exploration {could} {_loss(play)} and {slack}, but {asks_beyond}"
    return (
        f"an exploration {could} {_loss(play)} and {slack}, "
        f"{short(play.amount(missing))} too little"
    )


def _enough(play: Play, slack: str) -> str:
    margin = play.choice and play.choice.margin
    if margin is not None:
        return (
            f"the lower confidence bounds prove {short(play.amount(margin))} more mean reward "
            "than the floor asks"
        )
    left = short(play.worst_case)
    can = "may cost" if _costs(play) else "can lose"
    return f"it {can} {_loss(play)} and {slack}, so at worst {left} is left"


def _arm(choice: Choice | None) -> str:
    assert choice is not None
    scored = "" if choice.score is None else f", which scores {choice.score:.6g}"
    return f"arm {choice.arm!r}{scored}"


def _beaten(choice: Choice | None) -> str:
    assert choice is not None
    return (
        f"the best arm {choice.arm!r} scores {choice.score:.6g}, "
        f"not above the default's {choice.rival:.6g}"
    )


def _loss(play: Play) -> str:
    """What an exploration may lose, or cost: c_max, where that is above what is allowed."""
    hold, floor = play.terms.hold, play.terms.floor
    if not _costs(play):
        return short(play.amount(hold))
    most, allowed = short(play.amount(hold - floor)), short(play.amount(-floor))
    if not hold:
        return f"no more than the {allowed} it is allowed"
    return f"{most}, {short(play.amount(hold))} above the {allowed} it is allowed,"


def _costs(play: Play) -> bool:
    return play.binding is not None and play.binding.costs


def _mean(play: Play) -> str:
    """The mean of a learned default that the numbers are for."""
    mean = play.terms.mean
    if mean is None:
        return ""
    amount = play.amount(-mean if _costs(play) else mean)
    return f" with the default's mean taken for {short(amount)}"


def _waiting(play: Play) -> str:
    parts = []
    if play.ahead:
        brought = short(play.amount(play.ahead))
        parts.append(f"{brought} more from default plays until the checkpoint")
    if play.pending:
        held = short(play.amount(play.held))
        parts.append(f"{held} held by {_count(play.pending, 'exploration')} not yet settled")
    if play.unreported:
        parts.append(f"{_count(play.unreported, 'default play')} not yet reported, so not credited")
    return f" ({'; '.join(parts)})" if parts else ""


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
