"""A share of plays that take the default at random, so that the gain can be measured against it.

Whether play i is held out is a pure function of the agent's seed and i: a loaded agent, a retry and
a simulation have the same, and the policy's own draws are not touched. Where others number the
plays, as a live agent does, it is that of ``agent.lot``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot._exact import fraction, shown
from surefoot._types import Number
from surefoot.agents.draws import own_key
from surefoot.agents.play import Play, made
from surefoot.errors import InvalidInput
from surefoot.kernels import uniform

if TYPE_CHECKING:
    from surefoot.agents.agent import Agent

HELD = -4
"""What the draw of a play is numbered by, in the place of an arm; ``draws`` has -2 and -3."""


def share_of(holdout: Number | None, measured: bool) -> float:
    """The share of plays to hold out; 0: none."""
    if holdout is None:
        return 0.0
    hint = "it is a share of the plays, e.g. 0.1; leave it out to hold out none"
    share = fraction(holdout, "holdout", hint, float)
    if not measured:
        raise InvalidInput(
            f"holdout = {shown(holdout)} plays the default, and this agent was given none; give it "
            "a floor"
        )
    return share


def holds_out(agent: Agent) -> bool:
    """Whether the play to come is held out."""
    key, number = agent.lot or (own_key(agent.rng), agent.books.plays.next_id)
    return uniform(key, number, HELD) < agent.holdout


def chance(agent: Agent, of_default: float | None) -> float | None:
    """The probability of the default at a play; ``of_default``: were it not held out."""
    if of_default == 1.0:
        return 1.0
    return None if of_default is None else agent.holdout + (1.0 - agent.holdout) * of_default


def mixed(agent: Agent, play: Play) -> Play:
    """A play that was not held out, with the probability that it has with the holdout."""
    given = play.propensity
    if given is None:
        return play
    known = chance(agent, given) if play.is_default else (1.0 - agent.holdout) * given
    found: Play = made(type(play), (*play[:-1], known))  # the last field; _replace takes longer
    return found
