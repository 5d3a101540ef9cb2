"""How the floor of an agent changes while it runs."""

from __future__ import annotations

from typing import Any, ClassVar

from surefoot._exact import exact_range, shown
from surefoot._types import Number
from surefoot.agents.measuring import check_unnamed
from surefoot.agents.tally import Tally
from surefoot.errors import InvalidInput, PlayConflict
from surefoot.floors import Books, Floor
from surefoot.policies.base import Policy


class Changing:
    """The part of an agent that changes its floor for the plays to come."""

    asking: bool
    books: Books
    builds_policy: ClassVar[bool]
    floor: Floor
    measured: bool
    owed: Any
    policy: Policy
    tally: Tally
    unit_rewards: bool

    def change(self, floor: str | None = None, **settings: Any) -> None:
        """Change the floor for the plays to come; each play keeps what it was decided with.

        ``floor``: its name, of an agent of several.
        ``settings``: default, alpha, reward_range, against, target, checkpoint, margin or
        max_slack, as RewardFloor takes them; a CostCeiling's in costs, with cost_range. Raises
        InvalidInput for what cannot change, and PlayConflict where it cannot now (checkpoints): a
        mean-variance floor cannot, nor the range by which a policy for [0, 1] has learned.

        >>> from surefoot import GenCB, RewardFloor, UCB1
        >>> agent = GenCB(UCB1(n_arms=2), RewardFloor(default=0.5, alpha=0.5))
        >>> agent.change(default=0.6, alpha=0.1)
        >>> agent.floor.terms().floor
        540000000
        """
        books = self._changeable(floor)
        kept: Any = books.floor
        measure = getattr(kept, "measure", "reward")
        ends = f"{measure}_range"
        scaled = self.unit_rewards and (books.plays is self.books.plays or self.owed is not None)
        if scaled and ends in settings:
            learned = getattr(kept, ends)
            if exact_range(settings[ends], ends, measure) != learned:
                raise InvalidInput(
                    f"{ends} = {shown(settings[ends])} cannot change: "
                    f"{type(self.policy).__name__} has learned on the scale ({learned[0]}, "
                    f"{learned[1]}); start a new agent"
                )
        books.change(**settings)
        agent: Any = self
        now = self._changed(floor)
        if now.default != self.floor.default:
            self.tally.move_default(agent)  # takes in what was noted under the old one
        self.floor = now
        if (self.books.low, self.books.high) != (self.tally.low, self.tally.high):
            self.tally.restart(agent)

    def add_reserve(self, amount: Number, floor: str | None = None) -> None:
        """Let ``amount`` more be lost from now on; ``floor``: its name, of an agent of several."""
        self._changeable(floor).add_reserve(amount)
        self.floor = self._changed(floor)

    def withdraw_reserve(self, amount: Number, floor: str | None = None) -> None:
        """Take ``amount`` out of the reserve; more than open plays leave is InvalidInput."""
        self._changeable(floor).withdraw_reserve(amount)
        self.floor = self._changed(floor)

    def _changed(self, name: str | None) -> Floor:
        """The floor as it stands now, after that of a name has changed."""
        books: Any = self.books
        if books.several:
            books.changed(name)
        now: Floor = books.floor
        return now

    def _changeable(self, name: str | None) -> Books:
        """The books of the floor of a name, of the one floor without."""
        if self.asking:
            raise PlayConflict(
                "this agent's policy is choosing under the floor as it stands; change it when "
                "select() has returned"
            )
        if self.builds_policy or not self.measured:
            raise InvalidInput(
                f"{type(self).__name__} keeps no account whose floor could change; start a new one"
            )
        books: Any = self.books
        if books.several:
            found: Books = books.changing(name)
            return found
        check_unnamed("floor", name)
        return self.books
