"""A play that was given out, as its decision's entry tells it: what its reports will need."""

from __future__ import annotations

from typing import Any, NamedTuple

from surefoot.agents import GenCB
from surefoot.agents.packing import pack, unpack
from surefoot.floors import Terms
from surefoot.live.entries import Entry
from surefoot.live.opening import sealed
from surefoot.live.play import terms_of


class Named(NamedTuple):
    """As much of a play as names its action."""

    arm: Any
    index: int  # type: ignore[assignment]  # as in Play

    @classmethod
    def of(cls, told: dict[str, Any]) -> Named:
        """What an entry's payload says of it."""
        return cls(unpack(told["arm"]), told["index"])

    def action(self, agent: GenCB) -> Any:
        """The same in the policy's own numbers."""
        play: Any = self
        return agent._actions.action(play)


class Given(NamedTuple):
    """A play that can still change."""

    explores: bool
    arm: Any
    """As the user named it."""
    number: int
    """The arm's; -1 for the default."""
    action: Any
    """In the policy's own numbers; -1 for the default; None: it is another experiment's."""
    context: Any
    terms: Terms
    low: int
    high: int

    @classmethod
    def of(cls, entry: Entry, agent: GenCB, own: bool) -> Given:
        """What a decision's entry says of its play; ``own``: whether it is this agent's."""
        told = entry.payload
        terms, context = terms_of(told), unpack(told.get("context"))
        if entry.kind != "decision.held":
            books: Any = agent._books
            return cls(False, None, -1, -1, context, terms, books.low, books.high)
        named = Named.of(told)
        action = named.action(agent) if own else None
        return cls(True, *named, action, context, terms, told["low"], told["high"])

    def again(self) -> dict[str, Any]:
        """What a policy needs to learn of this play, for the entry of a reward after its expiry."""
        told = {"arm": sealed(pack(self.arm, "arm")), "index": self.number}
        if self.context is not None:
            told["context"] = sealed(pack(self.context, "context"))
        return told
