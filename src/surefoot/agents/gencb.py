"""GenCB: the general solution to conservative bandits, Du, Wang, Huang 2021, Algorithm 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from surefoot._exact import shown
from surefoot.agents._agent import Agent
from surefoot.agents.play import Play, Reason
from surefoot.errors import InvalidInput
from surefoot.floors import Floor, Terms
from surefoot.policies.base import Policy

SLACK_OK, SLACK_SHORT = Reason.SLACK_OK, Reason.SLACK_SHORT
# Names of this module, as before Python 3.12 the member of an enumeration is slow to find.


class GenCB(Agent):
    """Let the policy play whenever the floor would survive the worst reward; else the default.

        explore iff  r_S(t-1) + N0(t-1)*mu0 >= (1-alpha)*mu0*t

    Source: Du, Wang, Huang 2021, Algorithm 1, line 3, kept by the floor's account. The policy
    sees its own plays only; its clock m stands still while the gate is closed.

    ``policy``: any ``surefoot.policies.Policy``; the agent owns it. ``floor``: what must hold.
    ``seed``: for the policy's randomness; None takes fresh entropy. ``default_competes`` (ours):
    with the gate open, play the default if the policy's best score is not above its value;
    without it a default that is the best arm costs linear regret. None: on if the policy can
    score its choice. False is the paper's printed algorithm. Raises InvalidInput if it is asked of
    a policy that cannot score.

    >>> from surefoot import RewardFloor, UCB1
    >>> agent = GenCB(UCB1(n_arms=2), RewardFloor(default=0.5, alpha=0.5))
    >>> agent.update(agent.select())  # nothing is saved up yet: the default, credited when reported
    <Outcome.BOOKED: 'booked'>
    >>> play = agent.select()
    >>> agent.explain(play)  # doctest: +ELLIPSIS
    'Play 1 explores arm 0, which scores inf: it can lose 0.25 and the slack is 0.25, so at ...
    >>> agent.update(play, reward=1.0)
    <Outcome.BOOKED: 'booked'>
    >>> agent.account.slack
    Decimal('1.000000000')

    Holds when: the floor's own conditions hold, whatever the policy, delays or losses: on every
    path, at every moment. The regret bounds also need the policy's own conditions and
    mu0 < mu_*. Does not hold when: rewards can fall below r_min, or the default is not worth its
    known value.
    """

    gate: ClassVar[str] = "account"

    def __init__(
        self,
        policy: Policy,
        floor: Floor,
        seed: Any = None,
        default_competes: bool | None = None,
    ) -> None:
        super().__init__(policy, floor, seed)
        if default_competes is not None and not isinstance(default_competes, bool):
            raise InvalidInput(
                f"default_competes = {shown(default_competes)} must be True, False or None"
            )
        if default_competes and not self._scores:
            raise InvalidInput(
                f"default_competes = True needs scores: {type(policy).__name__} has no "
                "best(context, rng, allowed); add it, or pass default_competes=False"
            )
        self.default_competes = self._scores if default_competes is None else default_competes

    def config(self) -> dict[str, Any]:
        """JSON-able settings, but for those of policy and floor."""
        return {"default_competes": self.default_competes}

    def _decide(self, context: Any, allowed: Sequence[int] | None, terms: Terms) -> Play:
        if not self._books.affords(terms):
            return self._play_default(terms, SLACK_SHORT)
        arm, score = self._ask(context, allowed)
        rival = self._rival(terms) if self.default_competes else None
        choice = self._choice(arm, score, rival)
        if rival is not None and choice.loses:
            return self._play_default(terms, Reason.DEFAULT_BEST, choice)
        return self._explore(arm, choice, SLACK_OK, terms, context)
