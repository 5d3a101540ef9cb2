"""Plain: a policy without a guard, for comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from surefoot._types import JsonObject, Number, Seed
from surefoot.agents.agent import Agent
from surefoot.agents.holdout import share_of
from surefoot.agents.play import Play, Reason
from surefoot.agents.propensity import CERTAIN
from surefoot.floors import Floor, RewardFloor, Terms
from surefoot.floors.several import as_floor
from surefoot.policies.base import Policy


class Plain(Agent):
    """Let the policy play every time; a floor, if given, is only measured.

    Source: the standard bandit algorithm A_S of Du, Wang, Huang 2021, as their figures compare
    with. Without a floor the books count against half of 1 on rewards in [0, 1], and their slack
    means nothing.

    ``holdout``: see ``GenCB``; it needs a floor, whose default is played. ``objective_range`` and
    ``default_objective``: see ``GenCB``; several floors are measured each.

    >>> from surefoot.policies import UCB1
    >>> agent = Plain(UCB1(n_arms=2), RewardFloor(default=0.5, alpha=0.5))
    >>> agent.update(agent.select(), reward=0)
    <Outcome.BOOKED: 'booked'>
    >>> agent.account.slack
    Decimal('-0.250000000')

    Holds when: nothing is promised. ``account.slack`` below zero is a broken floor.
    """

    gate: ClassVar[str] = "none"

    def __init__(
        self,
        policy: Policy,
        floor: Floor | Mapping[str, Floor] | None = None,
        seed: Seed = None,
        holdout: Number | None = None,
        *,
        objective_range: tuple[Number, Number] | None = None,
        default_objective: Number | None = None,
    ) -> None:
        self.measured = floor is not None
        self.holdout = share_of(holdout, self.measured)
        given = RewardFloor(1, 0.5) if floor is None else floor
        super().__init__(policy, as_floor(given, objective_range, default_objective), seed)

    def config(self) -> JsonObject:
        """JSON-able settings, but for those of policy and floor."""
        held = {"holdout": self.holdout} if self.holdout else {}
        return {"measured": self.measured, **held}

    @classmethod
    def from_config(cls, config: JsonObject, floor: Floor, policy: Policy | None) -> Self:
        """The inverse of ``config``."""
        given: Any = policy
        return cls(given, floor if config["measured"] else None, None, config.get("holdout"))

    def _decide(self, context: Any, allowed: Sequence[int] | None, terms: Terms) -> Play:
        arm, score = self.ask(context, allowed)
        choice = self._choice(arm, score)
        index = arm if isinstance(arm, int) else 0  # of what has no number
        chance = 1.0 if self.chances is CERTAIN else self.chance(arm, choice, allowed)
        return self.new_play(index, choice.arm, Reason.UNGUARDED, terms, choice, chance)
