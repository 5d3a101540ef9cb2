"""What is reported of a play: to the books first, then to the policy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from surefoot._exact import exact, negated, shown
from surefoot._types import Number
from surefoot.agents import measuring, open_plays
from surefoot.agents.evidence import Evidence
from surefoot.agents.faults import DEFAULT, RAISE, described
from surefoot.agents.out_of_range import warn
from surefoot.agents.play import Binding, Play, check_unpaid
from surefoot.errors import InvalidInput, PlayConflict
from surefoot.floors import Outcome, State
from surefoot.floors.events import BOOKED, CANCEL, FALL_BACK, SETTLE

if TYPE_CHECKING:
    from surefoot.agents.actions import Actions
    from surefoot.agents.draws import Draws
    from surefoot.agents.funding import Earnings
    from surefoot.floors import Books, Floor
    from surefoot.policies.base import Policy


class Reporting(Evidence):
    """The part of an agent that is told what its plays brought."""

    actions: Actions
    binding: Binding | None
    books: Books
    counts_open: bool
    draws: Draws
    earned: Earnings | None
    faults: int
    floor: Floor
    last_fault: str | None
    lapsed: set[int]
    learns_default: ClassVar[bool]
    on_fault: str
    open_plays: dict[int, tuple[Play, Any]]
    owed: dict[int, measuring.Owed] | None
    policy: Policy
    unit_rewards: bool
    _numbered: bool

    def update(
        self,
        play: Play | int,
        reward: Number | None = None,
        base_rewards: Any = None,
        *,
        cost: Number | None = None,
        measures: Mapping[str, Number] | None = None,
    ) -> Outcome:
        """Report what a play brought: an exploration's reward, or that the default was played.

        A default play is credited here: at its known value; a default of an interval counts at
        the lower end until its reward comes. A reward given with a known value is recorded, and
        counted as a mismatch if it differs. A reward outside the floor's range is booked with a
        warning: above r_max it counts as r_max until ``acknowledge``, below r_min as it is; a
        mean-variance floor books either as it is and promises nothing from there on. An expired
        play may still be settled, once. If the policy fails to learn the reward, it is booked all
        the same; a repeat passes it to the policy again. With ``on_fault="default"`` the fault is
        counted instead, and the play is closed.

        ``base_rewards``, for a policy of super arms: one for each base arm, in the order of
        ``play.arm`` or by base arm. The policy learns them; without ``reward`` the super-arm reward
        they make is booked. ``cost``: under a ``CostCeiling``, in place of ``reward``.
        ``measures``, of an agent of several floors: what came, by name, see ``agents.measuring``.
        """
        agent: Any = self
        if cost is not None or measures is not None or self.binding is not None:
            if self.books.several:
                return measuring.update(agent, play, reward, base_rewards, cost, measures)
            reward = self._told_of_one(play, reward, base_rewards, cost, measures)
        number: Any = play.id if type(play) is Play else None
        waiting, tally = self.open_plays.get(number), self.tally
        if waiting is None or waiting[0] is not play:  # rare: an id, or an equal play
            number = self._id(play)
            waiting = self.open_plays.get(number) if type(number) is int else None
        learned: Any = None
        if base_rewards is not None or self.actions.semi_bandit:
            reward, learned = self._super_arm(number, play, reward, base_rewards)
        if reward is None and waiting is not None:
            check_unpaid(waiting[0], type(self).__name__ if self.learns_default else None)
        books = self.books
        outcome = books.report(number, SETTLE, reward)
        if outcome is not BOOKED and outcome in (Outcome.BREACH, Outcome.CAPPED):
            warn(books, number, reward, outcome)
        if reward is not None and type(self.floor.default) is not Decimal:
            self._drawn(number, outcome)
        if waiting is not None:
            given, context = waiting
            if given.index < 0:
                self._default_paid(reward)
            else:
                self._learn(number, given, context, reward, learned)
            del self.open_plays[number]
            if self.counts_open:
                open_plays.closed(agent, number, given, context)
            tally.note(agent, given, reward is not None)
        return outcome

    def _learn(
        self,
        number: int,
        given: Play,
        context: Any,
        reward: Any,
        learned: Any,
        measures: dict[str, float] | None = None,
    ) -> None:
        """Let the policy learn what a play paid; ``learned``: on its own scale, if known.

        ``measures``: of a policy that learns them; then there may be no reward.
        """
        books = self.books
        if learned is None and reward is not None:
            scaled = self.unit_rewards
            learned = books.unit_reward(reward, number) if scaled else self.policy_reward(reward)
        action: Any = given.index
        if not self._numbered:
            action = self.actions.action(action, given.arm)
        update: Any = self.policy.update
        if measures is not None:
            update = partial(update, measures=measures)
        if self.on_fault == RAISE:  # as nearly always: without a call more
            update(action, learned, context)
        else:
            self.tell(update, action, learned, context)
        if self.earned is not None:
            self.earned.booked(given.index, books, number)

    def _told_of_one(
        self, play: Any, reward: Any, base_rewards: Any, cost: Any, measures: Any
    ) -> Any:
        """What the books of one floor take as the reward; InvalidInput for what others are told."""
        kind, costs = type(self.floor).__name__, self.binding is not None
        if measures is not None:
            raise InvalidInput(
                f"measures = {shown(measures)} are told to an agent of several floors, and this "
                f"one has one; give {'cost' if costs else 'reward'}"
            )
        if not costs:
            raise InvalidInput(
                f"cost = {shown(cost)} is told to an agent under a CostCeiling, and this one has a "
                f"{kind}; give reward"
            )
        for name, given in {"reward": reward, "base_rewards": base_rewards}.items():
            if given is not None:
                raise InvalidInput(
                    f"{name} = {shown(given)}: under a single {kind} a play is reported by its "
                    "cost; give cost, and no more"
                )
        return None if cost is None else negated(cost, f"cost of play {self._id(play)}")

    def _super_arm(
        self, number: int, play: Play | int, reward: Any, base_rewards: Any
    ) -> tuple[Any, Any]:
        """The reward to book of a semi-bandit play, and the base rewards to be learned."""
        explores = self.books.plays.get(number).explores
        if base_rewards is not None and not (explores and self.actions.semi_bandit):
            because = (
                f"{type(self.policy).__name__} plays single arms and learns"
                if explores
                else "it is a default play, which is reported"
            )
            raise InvalidInput(f"base_rewards of play {number}: {because} from reward alone")
        given = self.open_plays[number][0] if number in self.open_plays else play
        arm = given.arm if isinstance(given, Play) else None
        if base_rewards is None:
            if explores and number in self.open_plays:
                raise InvalidInput(
                    f"play {number} is the super arm {shown(arm)}: report base_rewards=, one for "
                    "each of its base arms"
                )
            return reward, None
        parts = self.actions.base_rewards(number, arm, base_rewards)
        booked = self.actions.super_arm_reward(parts, arm) if reward is None else reward
        return booked, tuple(map(float, parts))

    def tell(self, call: Callable[..., Any], *args: Any) -> bool:
        """Call a method of the policy that answers nothing; False after a fault that counts."""
        try:
            call(*args)
        except Exception as error:
            if self.on_fault != DEFAULT:
                raise
            self.failed(error)
            return False
        return True

    def failed(self, error: Exception) -> str:
        """Count a fault of the policy, after which the agent goes on; returns what it says."""
        self.faults += 1
        self.last_fault = described(error)
        return self.last_fault

    def _drawn(self, number: int, outcome: Outcome) -> None:
        """Take in what a default of an interval paid, if a report was the first to tell it."""
        if outcome is BOOKED or outcome is Outcome.BREACH:
            record = self.books.plays.get(number)
            default = not record.explores or record.state is State.FELL_BACK
            if default and record.reward is not None:
                self.draws.take(record.terms, record.reward)
                if not record.explores and number not in self.open_plays:
                    self.tally.valued(number, record.reward)

    def _default_paid(self, reward: Number | None) -> None:
        """Take in the report of a default play; ``reward``: None if the report has none."""

    def expire(self, play: Play | int, names: str | Iterable[str] | None = None) -> Outcome:
        """No reward came in time: the worst is booked until the true reward arrives.

        The policy hears that the play is closed, and learns no reward before that arrives.
        ``names``: of an agent of several floors, the measures that did not come; None: all that are
        open. The objective expires only with the floor that guards it.
        """
        agent: Any = self
        if self.books.several:
            return measuring.expire(agent, play, names)
        measuring.check_unnamed("names", names)
        number = self._id(play)
        outcome = self.books.expire(number)
        if outcome is BOOKED:
            self._expired(number)
        if self.counts_open and outcome in open_plays.ENDED:
            open_plays.expired(agent, number)
        return outcome

    def void(self, play: Play | int) -> Outcome:
        """The play was never made, for good; its hold is released.

        PlayConflict once anything was told of it, or expired, while some measure is open.
        """
        return self._closed(play, CANCEL)

    def fall_back(self, play: Play | int) -> Outcome:
        """An exploration was decided, but the default was played instead."""
        return self._closed(play, FALL_BACK)

    def acknowledge(self, play: Play | int, name: str | None = None) -> Outcome:
        """Confirm a reward above r_max, so that the rest of it is credited.

        ``name``: of an agent of several floors, the measure.
        """
        if self.books.several:
            agent: Any = self
            return measuring.acknowledge(agent, play, name)
        measuring.check_unnamed("name", name)
        return self.books.acknowledge(self._id(play))

    def _id(self, play: Play | int) -> int:
        if not isinstance(play, Play):
            return int(play) if isinstance(play, np.integer) else play
        number = play.id
        given = self.open_plays.get(number)
        if given is None:
            agent: Any = self
            record = measuring.gave(agent, play).plays.get(number)
            ours = record.terms == play.terms and record.explores != play.is_default
        else:
            ours = given[0] is play or given[0] == play
        if not ours:
            raise PlayConflict(
                f"play {number} was given out by another agent; report it to the one that did"
            )
        return number

    def _closed(self, play: Play | int, report: str) -> Outcome:
        agent: Any = self
        number = self._id(play)
        if self.books.several:
            outcome = measuring.whole(agent, play, number, report)
        else:
            outcome = self.books.report(number, report)
        if outcome in open_plays.ENDED:
            waiting = self.open_plays.pop(number, None)
            if waiting is not None:
                self.tally.leave_out(waiting[0], self.books.plays.get(number).state is State.VOID)
                if self.counts_open:
                    open_plays.closed(agent, number, *waiting)
        return outcome

    def policy_reward(self, reward: Number | None) -> float:
        """The reward as the policy learns it: cut to the upper end of the range."""
        if self.unit_rewards:
            return self.books.unit_reward(reward)
        high = self.floor.reward_range[1]
        if type(reward) is float and -math.inf < reward <= float(high):
            return reward + 0.0  # as below: minus zero is zero
        return float(min(exact(reward, "reward"), high))
