"""Which default plays feed what is learned of the default: those that nothing has picked.

The mean of what is fed has to be the default's own. A play that was decided with an eye on whom it
was for has another: shown to those who would pay less, a default looks worse than it is.

- Held out by a draw, or made while the agent is paused: it feeds.
- Forced by a closed gate: it feeds, whatever context or ``allowed`` it was given, since the gate is
  asked first and sees neither. It does see a default of the play's own, which another floor may
  take: from the first of those on such plays do not feed.
- Chosen by the policy: it feeds until the first play that was given a context, ``allowed`` or a
  default of its own. Feeding on at the other plays would be picking, too: where ``allowed`` is
  given to those who would pay more, those without it pay less.
- Where no arm was allowed, after a fault of the policy, and fall-backs: they do not feed.

The first play that is given any of these could have been chosen for what it would pay. If it does
not feed, it counts as one that was never told: at the worst. Where every play has a context, since
the policy says that it takes them, or a default of its own, since a floor has none, nobody chooses:
no choice feeds from the start, and nothing is lost.
"""

from __future__ import annotations

from typing import Any

from surefoot.agents.play import Play, Reason

ALWAYS = frozenset({Reason.HOLDOUT, Reason.PAUSED})


class Feeding:
    """What has picked plays of one agent so far.

    ``picked``: whether a play was given a context, ``allowed`` or a default of its own;
    ``priced``: whether one was given a default of its own.
    """

    __slots__ = ("picked", "priced")

    def __init__(self, picked: bool = False, priced: bool = False) -> None:
        self.picked, self.priced = picked, priced

    @classmethod
    def of(cls, policy: Any, floor: Any) -> Feeding:
        """That of an agent that has decided nothing yet."""
        priced = floor.default is None
        return cls(priced or bool(getattr(policy, "contextual", False)), priced)

    def state(self) -> list[bool]:
        """JSON-able state."""
        return [self.picked, self.priced]

    def feeds(self, play: Play, context: Any, allowed: Any, default: Any) -> bool | None:
        """Whether a play just decided feeds if it is a default play; None: it counts as the worst.

        ``context``, ``allowed``, ``default``: what the play was given; None: nothing.
        """
        priced = default is not None
        picked = priced or context is not None or allowed is not None
        first = (picked and not self.picked) or (priced and not self.priced)
        self.picked, self.priced = self.picked or picked, self.priced or priced
        reason = play.reason
        fed = (
            reason in ALWAYS
            or (reason is Reason.SLACK_SHORT and not self.priced)
            or (reason is Reason.DEFAULT_BEST and not self.picked)
        )
        return None if first and not fed else fed
