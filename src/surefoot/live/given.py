"""A play that was given out, as its decision's entry tells it: what its reports will need."""

from __future__ import annotations

from typing import Any, NamedTuple

from surefoot._json_values import from_json, to_json
from surefoot.agents import GenCB
from surefoot.floors import Terms
from surefoot.live.configuration import sealed
from surefoot.live.entries import Entry
from surefoot.live.play import terms_of


class Named(NamedTuple):
    """As much of a play as names its action."""

    arm: Any
    index: int  # type: ignore[assignment]  # as in Play

    @classmethod
    def of(cls, told: dict[str, Any]) -> Named:
        """What an entry's payload says of it."""
        return cls(from_json(told["arm"]), told["index"])

    def action(self, agent: GenCB) -> Any:
        """The same in the policy's own numbers."""
        play: Any = self
        return agent.actions.action(play)


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
    missing: int | None = None
    """The reward, in units, that the policy is told if the play expires; None: it is told none."""
    version: int = 0
    """The configuration that it was decided under."""

    @classmethod
    def of(cls, entry: Entry, agent: GenCB, own: bool) -> Given:
        """What a decision's entry says of its play; ``own``: whether it is this agent's."""
        told = entry.payload
        terms, context = terms_of(told), from_json(told.get("context"))
        version = entry.config_version
        if entry.kind != "decision.held":
            books: Any = agent.books
            return cls(False, None, -1, -1, context, terms, books.low, books.high, version=version)
        named = Named.of(told)
        action = named.action(agent) if own else None
        low, high, missing = told["low"], told["high"], told.get("missing")
        return cls(True, *named, action, context, terms, low, high, missing, version)

    def again(self) -> dict[str, Any]:
        """What is needed of this play, for the entry of a report after its expiry.

        Of an exploration that is what its policy learns by, of a default what it was declared to
        be worth, and under which configuration.
        """
        if not self.explores:
            value = {"value": self.terms.value, "version": self.version, "late": True}
            return value if self.terms.high is None else {**value, "upper": self.terms.high}
        told = {"arm": sealed(to_json(self.arm, "arm")), "index": self.number}
        if self.context is not None:
            told["context"] = sealed(to_json(self.context, "context"))
        if self.missing is not None:
            told["missing"] = self.missing
        return told
