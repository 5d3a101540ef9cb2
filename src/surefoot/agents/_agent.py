"""What every agent does around its decision: terms, plays, reports, statement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, ClassVar

import numpy as np

from surefoot.agents.play import Choice, Play, Reason, explain
from surefoot.errors import InvalidInput, PlayConflict, UnknownPlay
from surefoot.floors import Outcome, RewardBooks, RewardFloor, Statement, Terms, statement
from surefoot.policies.base import Label, Policy, Scoring, arm_labels

_LEARNS = frozenset({Outcome.BOOKED, Outcome.BOOKED_LATE, Outcome.BREACH, Outcome.CAPPED})


class Agent:
    """Policy and floor together; a subclass says in ``_decide`` when the policy may play.

    An agent owns its policy and its books and is not thread-safe. Every method checks first and
    changes after: an error leaves policy and books as they were.
    """

    gate: ClassVar[str]
    """How the simulator interleaves this agent's default plays: account, pledge or none."""

    def __init__(self, policy: Policy, floor: RewardFloor, seed: Any = None) -> None:
        if not isinstance(policy, Policy):
            raise InvalidInput(
                f"policy = {policy!r} does not follow surefoot.policies.Policy: it needs n_arms, "
                "select(context, rng), update(arm, reward, context), state() and restore(state)"
            )
        self.policy = policy
        self.floor = floor
        labels = getattr(policy, "arms", None)
        self.arms: tuple[Label, ...] = arm_labels(policy.n_arms if labels is None else None, labels)
        self.turns = 0
        """m: how often the policy has been asked."""
        self.paused = False
        self._numbers = {label: number for number, label in enumerate(self.arms)}
        self._books: RewardBooks = floor.open()
        self._rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
        self._given: dict[int, tuple[Play, Any]] = {}

    def _decide(self, context: Any, allowed: Sequence[int] | None, terms: Terms) -> Play:
        raise NotImplementedError

    def select(
        self, context: Any = None, allowed: Iterable[Label] | None = None, default: Any = None
    ) -> Play:
        """Decide one play.

        ``context`` goes to the policy; ``allowed`` restricts it to some arms (labels); ``default``
        is this play's own known default value, for a floor without a constant one.
        """
        terms = self.floor.terms(default)
        candidates = self._candidates(allowed)
        if self.paused:
            return self._play_default(terms, Reason.PAUSED)
        if candidates is not None and not candidates:
            return self._play_default(terms, Reason.NO_ALLOWED_ARM)
        return self._decide(context, candidates, terms)

    def select_many(self, n: int, context: Any = None, default: Any = None) -> list[Play]:
        """Decide n plays in a row on the same account, before any of them is reported."""
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
            raise InvalidInput(f"n = {n!r} must be an int >= 0")
        return [self.select(context, default=default) for _ in range(n)]

    def update(self, play: Play | int, reward: Any = None, base_rewards: Any = None) -> Outcome:
        """Report what a play brought: an exploration's reward, or that the default was played.

        A default play is credited here, at its known value; a reward given with it is recorded,
        and counted as a mismatch if it differs. An expired play may still be settled, once.
        """
        number = self._id(play)
        if base_rewards is not None:
            raise InvalidInput(
                f"base_rewards of play {number}: {type(self.policy).__name__} plays single arms "
                "and learns from reward alone"
            )
        outcome = self._books.settle(number, reward)
        if outcome in _LEARNS and number in self._given:
            given, context = self._given.pop(number)
            if not given.is_default:
                self.policy.update(given.index, self._told(reward, outcome), context)
        return outcome

    def expire(self, play: Play | int) -> Outcome:
        """No reward came in time: the worst is booked until the true reward arrives."""
        return self._books.expire(self._id(play))

    def void(self, play: Play | int) -> Outcome:
        """The play was never made, for good; its hold is released."""
        return self._closed(self._id(play), self._books.void)

    def fall_back(self, play: Play | int) -> Outcome:
        """An exploration was decided, but the default was played instead."""
        return self._closed(self._id(play), self._books.fall_back)

    def acknowledge(self, play: Play | int) -> Outcome:
        """Confirm a reward above r_max, so that the rest of it is credited."""
        return self._books.acknowledge(self._id(play))

    def pause(self) -> None:
        """Play the default from now on; reports are still taken."""
        self.paused = True

    def resume(self) -> None:
        """Undo ``pause``."""
        self.paused = False

    def explain(self, play: Play | int) -> str:
        """Say in one sentence, in numbers, why a play is what it is."""
        if isinstance(play, Play):
            return explain(play)
        number = self._id(play)
        if number not in self._given:
            raise UnknownPlay(
                f"play {number} is closed and its numbers are kept no longer; "
                "pass the Play that select() returned"
            )
        return explain(self._given[number][0])

    @property
    def account(self) -> Statement:
        """The books as they stand, in exact decimals."""
        return statement(self._books)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the agent, pending plays included, as one JSON file; ``surefoot.load`` reads it."""
        from surefoot.agents.saving import save

        save(self, path)

    def _candidates(self, allowed: Iterable[Label] | None) -> list[int] | None:
        if allowed is None:
            return None
        if isinstance(allowed, str):
            raise InvalidInput(f"allowed = {allowed!r} is one string; give a list: [{allowed!r}]")
        for label in (labels := list(allowed)):
            if label not in self._numbers:
                raise InvalidInput(f"allowed arm {label!r} is none of this agent's {self._named()}")
        return sorted({self._numbers[label] for label in labels})

    def _named(self) -> str:
        shown = ", ".join(repr(label) for label in self.arms[:8])
        return f"{len(self.arms)} arms: {shown}{', ...' if len(self.arms) > 8 else ''}"

    def _ask(self, context: Any, allowed: Sequence[int] | None) -> tuple[int, float | None]:
        """Let the policy take one turn."""
        score: float | None = None
        if isinstance(self.policy, Scoring):
            arm, score = self.policy.best(context, self._rng, allowed)
        elif allowed is not None:
            raise InvalidInput(
                f"allowed = {allowed} cannot be kept: {type(self.policy).__name__} has no "
                "best(context, rng, allowed); leave allowed out or add that method"
            )
        else:
            arm = self.policy.select(context, self._rng)
        if isinstance(arm, bool) or not isinstance(arm, int | np.integer):
            raise InvalidInput(f"{type(self.policy).__name__} chose {arm!r}; an arm is an int")
        if not 0 <= arm < len(self.arms):
            raise InvalidInput(
                f"{type(self.policy).__name__} chose arm {arm}, outside 0..{len(self.arms) - 1}"
            )
        self.turns += 1
        return int(arm), score

    def _explore(
        self, arm: int, choice: Choice, reason: Reason, terms: Terms, context: Any
    ) -> Play:
        play = self._play(arm, self.arms[arm], reason, terms, choice)
        self._books.explore(terms)
        self._given[play.id] = (play, context)
        return play

    def _play_default(self, terms: Terms, reason: Reason, choice: Choice | None = None) -> Play:
        play = self._play(-1, None, reason, terms, choice)
        self._books.default(terms)
        self._given[play.id] = (play, None)
        return play

    def _play(
        self, index: int, arm: Label | None, reason: Reason, terms: Terms, choice: Choice | None
    ) -> Play:
        account, plays = self._books.account, self._books.plays
        return Play(
            plays.next_id, arm, index, reason, self.turns, terms, self.floor.places,
            account.available, account.held, plays.pending, plays.unreported, choice,
        )  # fmt: skip

    def _told(self, reward: Any, outcome: Outcome) -> float:
        """The reward as the policy is told it; one above the range as the range's end."""
        if getattr(self.policy, "unit_rewards", False):
            return self._books.unit_reward(reward)
        return float(self.floor.reward_range[1] if outcome is Outcome.CAPPED else reward)

    def _rival(self, terms: Terms) -> float:
        """The default's value on the scale of the policy's scores."""
        if getattr(self.policy, "unit_rewards", False):
            return self._books.unit_default(terms)
        return float(self.floor.unit.decimal(terms.value))

    def _id(self, play: Play | int) -> int:
        if not isinstance(play, Play):
            return int(play) if isinstance(play, np.integer) else play
        given = self._given.get(play.id)
        if given is not None and given[0] != play:
            raise PlayConflict(
                f"play {play.id} was given out by another agent; report it to the one that did"
            )
        return play.id

    def _closed(self, number: int, report: Any) -> Outcome:
        outcome: Outcome = report(number)
        if outcome is Outcome.BOOKED:
            self._given.pop(number, None)
        return outcome
