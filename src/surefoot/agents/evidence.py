"""What an agent can say of its arms while it runs."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from surefoot._types import Number
from surefoot.agents.tally import ArmStanding, Tally, checked_delta
from surefoot.agents.uplift import Uplift
from surefoot.errors import InvalidInput

if TYPE_CHECKING:
    from surefoot.agents.agent import Agent


def none_held_out() -> InvalidInput:
    """The error for an uplift over nothing."""
    return InvalidInput(
        "uplift() compares with plays that are held out, and this agent holds out none; "
        "give it holdout=0.1 from its first play on"
    )


def check_single(agent: Agent) -> None:
    """InvalidInput for an agent that does not play single arms."""
    if not agent.labels or not agent.actions.numbered:
        raise InvalidInput(
            f"arms() tells of single arms, and {type(agent.policy).__name__} plays super arms, "
            "points or rows of a context; use account"
        )


class Evidence:
    """The part of an agent that keeps what its arms have paid."""

    tally: Tally

    def arms(self, delta: Number = 0.05) -> tuple[ArmStanding, ...]:
        """How each arm stands: its plays, what they paid on average, and what is sure of its mean.

        One row for each arm and, once it was played, one for the default. low..high holds the
        arm's mean with probability 1 - ``delta`` at every moment at once, however often it is
        looked at and whatever the policy chose; ``delta`` is each arm's own: for a statement on
        all of n arms give delta/n. Source: the odds sequence, ``surefoot.floors.odds``, with
        delta/2 for each end; ours.

        Rewards count in the order of the decisions: what was told of a play waits for the arm's
        earlier plays. A play that expired counts as r_max to the upper end and r_min to the lower;
        so does a default play reported without its reward, which counts in the mean alone if it is
        told later. A reward outside the range counts as the end. Under a ``CostCeiling`` mean, low
        and high are costs. After ``change(default=...)`` the
        default's interval is of the plays to come. Raises InvalidInput for a policy that does not
        play single arms.

        >>> from surefoot import Plain, UCB1
        >>> agent = Plain(UCB1(arms=["blue", "green"]), seed=0)
        >>> for _ in range(200):
        ...     play = agent.select()
        ...     _ = agent.update(play, reward=play.arm == "green")
        >>> blue, green = agent.arms()
        >>> green.plays, green.mean, green.share, round(green.low, 2), green.high
        (193, 1.0, 0.965, 0.98, 1.0)

        Holds when: the arm's mean is constant, rewards lie in the range, and neither voids nor
        fall-backs depend on what the play would have paid. Does not hold when: contexts,
        ``allowed`` or defaults of single plays pick what is played: then there is no interval, and
        ``why`` says so; or the arms drift.
        """
        agent: Any = self
        given = checked_delta(delta)
        check_single(agent)
        return self.tally.standings(agent, given)

    def uplift(self, delta: Number = 0.05) -> Uplift:
        """What the agent brought over its holdout, per play, and what is sure of it.

        The mean over plays 1..n of what the agent's way of playing pays on average at each, less
        what the default does; it moves as the policy learns. low..high holds it with probability
        1 - ``delta`` at every moment at once; under a ``CostCeiling`` it is what was spared. The
        estimate weighs the holdout's rewards by 1/h and
        the others by 1/(1 - h), from the default's known value. Source and proof:
        ``surefoot.agents.uplift``.

        Tell the default's rewards, held out or not: one that is not told counts at its worst, as
        one that expired does, and an exploration that fell back. Only where the default is certain
        (a closed gate, a pause, an index policy that prefers it) nothing needs to be told. Plays
        count in the order of the decisions, up to the first that is open; void ones are left out.
        Raises InvalidInput for an agent without ``holdout``.

        >>> import random
        >>> from surefoot import Plain, RewardFloor, UCB1
        >>> agent = Plain(UCB1(2), RewardFloor(0.3, 0.1), seed=0, holdout=0.2)
        >>> luck = random.Random(0)
        >>> for _ in range(2_000):
        ...     play = agent.select()
        ...     _ = agent.update(play, luck.random() < (0.3 if play.is_default else 0.6))
        >>> found = agent.uplift()
        >>> found.plays, found.low < 0.3 < found.high
        (2000, True)

        Holds when: rewards lie in the range, and neither voids nor reports depend on whether a play
        was held out, but by what it paid. Does not hold when: they do, as where an arm cannot be
        shown and its play is void.
        """
        agent: Any = self
        given = checked_delta(delta)
        if self.tally.gain is None:
            raise none_held_out()
        if agent.floor.reward_range[0].is_infinite():
            raise InvalidInput(
                "uplift() needs the range of the objective; give objective_range=(lo, hi)"
            )
        self.tally.fold(agent)
        unit = Fraction(agent.floor.unit.decimal(1))
        return self.tally.gain.result(agent.holdout, unit, given)

    def _expired(self, number: int) -> None:
        """Note that an exploration expired."""
        agent: Agent = self  # type: ignore[assignment]
        if number in agent.open_plays:
            self.tally.lose(agent, agent.open_plays[number][0])
