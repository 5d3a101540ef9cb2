"""What a policy is told of its open plays: the explorations that wait for their reward.

A policy with ``counts_open`` hears of each once when it is given out, and at most once when it is
closed: settled, void, fallen back or expired. ``lapsed`` are the agent's plays that may still be
settled and that the policy does not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from surefoot.agents.faults import RAISE
from surefoot.errors import InvalidInput
from surefoot.floors.events import OPEN, Outcome

ENDED = (Outcome.BOOKED, Outcome.REPEATED)
"""What a report comes to that ends its play: the first may have been interrupted once booked."""

if TYPE_CHECKING:
    from surefoot.agents.agent import Agent
    from surefoot.agents.play import Play


def opened(agent: Agent, number: int, play: Play, context: Any) -> None:
    """An exploration was decided; a policy that fails to hear of it does not count it."""
    policy: Any = agent.policy
    actions = agent.actions
    action = play.index if actions.numbered else actions.action(play.index, play.arm)
    if agent.on_fault == RAISE:  # as nearly always: without a call more
        policy.opened(action, context)
    elif not agent.tell(policy.opened, action, context):
        agent.lapsed.add(number)


def closed(agent: Agent, number: int, play: Play, context: Any) -> None:
    """A play waits no longer; the policy counted it unless it lapsed before."""
    if number in agent.lapsed:
        agent.lapsed.discard(number)
    elif play.index >= 0:
        policy: Any = agent.policy
        actions = agent.actions
        action = play.index if actions.numbered else actions.action(play.index, play.arm)
        if agent.on_fault == RAISE:
            policy.closed(action, context)
        else:
            agent.tell(policy.closed, action, context)


def expired(agent: Agent, number: int) -> None:
    """A play expired; its reward may still come, and is learned then."""
    waiting = agent.open_plays.get(number)
    if waiting is not None and number not in agent.lapsed:
        closed(agent, number, *waiting)
        agent.lapsed.add(number)


def restored(agent: Agent, lapsed: list[int] | None, own: bool) -> None:
    """An agent came back from a file; ``lapsed``: None if its policy had been told of nothing.

    ``own``: whether the policy is of the user's own class.
    """
    if lapsed is not None:
        agent.lapsed.update(lapsed)
        return
    policy: Any = agent.policy
    for number, (play, context) in agent.open_plays.items():
        if agent.books.plays.get(number).state is not OPEN:
            agent.lapsed.add(number)
        elif play.index >= 0:
            with blamed(policy, "opened()", "an open play", own):
                policy.opened(agent.actions.action(play.index, play.arm), context)


@contextmanager
def blamed(policy: Any, call: str, what: str, own: bool) -> Iterator[None]:
    """An error in the user's own code is not called a damaged file."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if not own:
            raise
        kind = type(policy).__name__
        raise InvalidInput(
            f"{call} of your own {kind} fails on {what} that was saved "
            f"({type(error).__name__}: {error}); mend {kind}, the file is whole"
        ) from error
