"""The base classes of the comparators: each builds its policy and knows or learns one default.

The comparators that keep a floor on means (ConUCB, CLUCB, C3UCB) share their gate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Self

from surefoot._exact import exact, exact_range, shown
from surefoot._labels import Label
from surefoot._types import JsonObject, Number, Seed
from surefoot.agents.actions import Action
from surefoot.agents.agent import Agent
from surefoot.agents.play import Choice, Play, Reason
from surefoot.errors import InvalidInput
from surefoot.floors import Floor, RewardFloor, Terms
from surefoot.floors.interval import Interval
from surefoot.floors.reward import checked_alpha, checked_default
from surefoot.oracles.base import whole
from surefoot.policies.base import Policy
from surefoot.policies.options import unflat


class Comparator(Agent):
    """An agent that brings its own policy; its account is measured, not kept.

    Its policy has ``peek(turn, allowed, context)``, which takes no turn. A subclass implements
    ``_proved``, a lower bound for the peeked action, or its own ``_decide``.
    """

    builds_policy: ClassVar[bool] = True
    default_setting: ClassVar[str] = "default"
    """The argument of the class that its floor's default comes from."""
    settings: JsonObject
    """Its own settings, JSON-able."""
    floor: RewardFloor

    def __init__(
        self, policy: Policy, default: Any, alpha: Number, reward_range: Any, seed: Seed
    ) -> None:
        if default is None:
            raise InvalidInput(
                f"default is missing; {type(self).__name__} needs the default's known reward"
            )
        if isinstance(default, Mapping):
            raise InvalidInput(
                f"default = {shown(default)}: {type(self).__name__} knows one default and one "
                "floor; several are for GenCB(policy, {'quality': floor, ...}), or Plain to measure"
            )
        exact(default, "default")  # one number: no interval, which a floor would take
        checked_alpha(alpha)  # what it proves is of a default that earns, and a share of it
        checked_default(default, exact_range(reward_range))
        super().__init__(policy, RewardFloor(default, alpha, reward_range), seed)

    @classmethod
    def from_config(cls, config: JsonObject, floor: Floor, policy: Policy | None) -> Self:
        """The inverse of ``config``; it builds its policy itself."""
        kept: Any = floor
        own = {cls.default_setting: kept.default, **unflat(config)}
        settings: Any = {"alpha": kept.alpha, "reward_range": kept.reward_range, **own}
        return cls(**settings)

    def config(self) -> JsonObject:
        """JSON-able settings, but for those of the floor."""
        return {"arms": list(self.labels), **self.settings}

    def select(
        self, context: Any = None, allowed: Iterable[Label] | None = None, default: Any = None
    ) -> Play:
        """Decide one play, see ``Agent.select``; the default is constant here."""
        if default is not None:
            name = type(self).__name__
            remedy = (
                "learns its default from its plays: leave it out"
                if self.learns_default
                else f"knows one constant default; give it to {name}"
            )
            raise InvalidInput(f"default = {shown(default)}: {name} {remedy}")
        return super().select(context, allowed)

    def _decide(self, context: Any, allowed: Sequence[int] | None, terms: Terms) -> Play:
        """Peek at the policy's choice; it takes its turn only if that is proved safe.

        A turn lost to the default counts, as in ``GenCB``. Bounds that widen with the turns would
        otherwise stand still, and the default would win for ever.
        """
        action, score = self._peek(context, allowed)
        rival = self.default_score(terms) if self.default_competes else None
        choice = self._choice(action, score, rival)
        if choice.loses:
            self.turns += 1
            return self._play_default(terms, Reason.DEFAULT_BEST, choice)
        margin = self._margin(action, terms, context)
        choice = self._choice(action, score, rival, margin)
        if margin < 0:
            return self._play_default(terms, Reason.NOT_PROVED, choice)
        self.turns += 1
        return self._explore(action, choice, Reason.SLACK_OK, terms)

    def _decide_unproved(self, context: Any, allowed: Sequence[int] | None, terms: Terms) -> Play:
        """Play the policy's choice, or a default with a larger index; nothing is proved."""
        action, score = self._peek(context, allowed)
        choice = self._choice(action, score, self.default_score(terms))
        if choice.loses:
            return self._play_default(terms, Reason.DEFAULT_BEST, choice)
        self.turns += 1
        return self._explore(action, choice, Reason.UNGUARDED, terms)

    def _explore(self, action: Action, choice: Choice, reason: Reason, terms: Terms) -> Play:
        index = action if isinstance(action, int) else 0  # of what has no number
        return self.new_play(index, choice.arm, reason, terms, choice, 1.0)

    def _play_default(self, terms: Terms, reason: Reason, choice: Choice | None = None) -> Play:
        return self.new_play(-1, None, reason, terms, choice, 1.0)  # a comparator draws nothing

    def _margin(self, action: Action, terms: Terms, context: Any) -> int:
        """The proved mean reward, this play included, minus the floor; in units."""
        books = self.books
        proved = self._proved(action, context) + books.default_plays * terms.value
        return proved - terms.floor * (books.explorations + books.default_plays + 1)

    def _peek(self, context: Any, allowed: Sequence[int] | None) -> tuple[Action, float]:
        """The policy's choice at its next turn, and the score; the turn is not taken."""
        bounds: Any = self.policy
        action, score = bounds.peek(self.turns + 1, allowed, context)
        return action, score

    def _proved(self, action: Action, context: Any) -> int:
        """A lower bound on the mean reward of all explorations and one of ``action``, in units."""
        raise NotImplementedError


class UnknownDefault(Comparator):
    """A comparator that learns what its default pays, from the default's own plays.

    ``default_range``: (l, u), sure bounds of what the default pays; the account needs them to
    measure against the default's own draws. None: the reward range. Each report of a default play
    brings its reward.
    """

    learns_default: ClassVar[bool] = True
    default_setting: ClassVar[str] = "default_range"

    def __init__(
        self, policy: Policy, default_range: Any, alpha: Number, reward_range: Any, seed: Seed
    ) -> None:
        checked_alpha(alpha)
        paid = _paid_within(default_range, reward_range)
        Agent.__init__(self, policy, RewardFloor(paid, alpha, reward_range), seed)

    def _coefficient(self) -> float:
        """N0 - (1-alpha)*t: the weight of the default's mean in the proof."""
        books = self.books
        t = books.explorations + books.default_plays + 1
        return float(books.default_plays - (1 - Fraction(self.floor.alpha)) * t)


def _paid_within(default_range: Any, reward_range: Any) -> Interval:
    """The interval that the default pays within, if it is one within the reward range."""
    low, high = exact_range(reward_range)
    given = reward_range if default_range is None else default_range
    try:
        first, last = given
    except (TypeError, ValueError):
        raise InvalidInput(
            f"default_range = {shown(given)} must be a pair (l, u), within which the default pays"
        ) from None
    paid = exact(first, "default_range l"), exact(last, "default_range u")
    if 0 <= paid[0] <= paid[1] and low <= paid[0] and paid[1] <= high:
        return paid
    taken = ", taken from reward_range," if default_range is None else ""
    raise InvalidInput(
        f"default_range = ({shown(first)}, {shown(last)}){taken} must have 0 <= l <= u: give the "
        f"default's own, within reward_range ({low}, {high}), or shift the rewards"
    )


def needed(horizon: Any) -> int:
    """The number of plays n of an algorithm that must know it."""
    if horizon is None:
        raise InvalidInput("horizon is missing; give the number of plays, e.g. horizon=10_000")
    if isinstance(horizon, int) and horizon > 10**15:
        raise InvalidInput(f"horizon = {shown(horizon)} is above 10**15; give a shorter one")
    return whole(horizon, "horizon", 1)


def failure(delta: Number) -> float:
    """The probability with which the bounds may fail, if it is one."""
    value = float(exact(delta, "delta"))
    if not 1e-200 < value < 1:  # below, 1/delta leaves the floats
        raise InvalidInput(f"delta = {delta} must lie strictly between 0 and 1, e.g. 1/horizon")
    return value
