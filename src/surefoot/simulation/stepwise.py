"""Any agent, play by play, as a user would run it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from surefoot._exact import INT64_MAX
from surefoot.agents import Play
from surefoot.agents.agent import Agent
from surefoot.agents.saving import agent_to_json, go_on
from surefoot.environments import Environment
from surefoot.errors import InvalidInput
from surefoot.simulation.checks import drifts, has_contexts
from surefoot.simulation.guards import default_mean, floors_of, guards_of
from surefoot.simulation.judging import Judge, accounts, forfeits
from surefoot.simulation.loop import SUMS, Ints, T, Trace, blank
from surefoot.simulation.payments import Payments
from surefoot.simulation.stops import (
    Part,
    Rows,
    State,
    Unfit,
    carry_through,
    copied,
    document_of,
    fill,
    text_of,
    trace_rows,
)

KEPT = 16
"""So many closed plays an agent remembers here, where nothing is reported twice."""


@dataclass(frozen=True, slots=True)
class Closed:
    """What is known of a play whose objective was told, while a measure is still out."""

    id: int
    turn: int
    index: int
    arm: Any = None


def drive(
    agent: Agent, environment: Environment, top: float, key: int,
    stream: np.random.SeedSequence, checkpoints: Ints, stopped: Callable[[], bool],
) -> Trace:  # fmt: skip
    """One run of a copy of ``agent``, see ``Driven``; Stopped once ``stopped`` says yes."""
    begin = partial(Driven, "it", agent, environment, top, key, stream, checkpoints)
    shape = len(checkpoints), SUMS + drifts(environment), floors_of(agent)
    return carry_through([Part(["it"], begin)], lambda name: blank(*shape), stopped)["it"]


class Driven:
    """One run of a copy of ``agent``: select, pull, update; the default is reported at once.

    Slow, and open to every policy; the noise is the engine's, so an agent the engine can run
    makes the same plays here. Where an environment says when rewards arrive, those of one play
    are reported behind it in the order of their decisions, and what is not due by the horizon
    stays open; measures may come apart. A default play is reported with what it drew where that is
    learned. An environment with contexts tells each play's to the policies that take any.
    ``top``: mu_*, the regret is against it, unless the arms drift. ``stream`` feeds
    the policy's own randomness. Raises InvalidInput for a policy that cannot be copied and for a
    reward outside the environment's range.
    """

    def __init__(
        self, name: str, agent: Agent, environment: Environment, top: float, key: int,
        stream: np.random.SeedSequence, checkpoints: Ints,
    ) -> None:  # fmt: skip
        self._name, self._agent = name, _copied(agent)
        self._agent.rng = np.random.default_rng(stream)
        if not hasattr(environment, "arrival_of"):  # else a play is closed before all is told
            for books in getattr(self._agent.books, "books", {"": self._agent.books}).values():
                books.plays.keep = KEPT
        self._environment, self._key, self._checkpoints = environment, key, checkpoints
        truth: Any = environment
        if hasattr(environment, "in_run"):
            truth = environment.in_run(key)
        contexts = has_contexts(environment) and self._agent.contextual
        self._told = truth.context if contexts else _nothing
        guards = guards_of(name, agent, environment)
        self._payments = Payments(self._agent, guards, environment, truth, key)
        self._accounts = accounts(self._agent, guards, environment)
        self._judge = Judge(self._agent, truth, top, default_mean(name, agent, guards, environment))
        forfeiting = len(guards) if any(map(forfeits, guards.values())) else 0
        sums = len(self._judge.losses)
        self._trace = blank(len(checkpoints), sums, floors_of(agent), forfeiting)
        self._noted = [0, INT64_MAX, 0, 0]
        """T, and the least slack, the plays below zero and the checkpoints so far."""
        self._waiting: dict[int, list[tuple[Play | Closed, int, int]]] = {}
        """By the play behind which it is known: a play, its number, and what is known then."""

    @property
    def ended(self) -> bool:
        """Whether the horizon is reached."""
        return bool(self._noted[T] >= self._checkpoints[-1])

    def step(self) -> None:
        """Make one play."""
        agent, waiting = self._agent, self._waiting
        self._noted[T] = t = self._noted[T] + 1
        play = agent.select(self._told(t))
        self._judge.see(play, t)
        self._accounts.decided(play)
        payments = self._payments
        if play.is_default:
            agent.update(play, **payments.of_default(t))
        elif payments.at_once:
            self._tell(play, t, payments.all)
        else:
            for due, what in payments.due(t).items():
                waiting.setdefault(due, []).append((play, t, what))
        for known in waiting.pop(t, ()):
            self._tell(*known)
        self._note(t, play.index)

    def _tell(self, play: Play | Closed, t: int, what: int) -> None:
        """Report what is known of play t."""
        paid = self._payments.paid(play, t, what)
        self._agent.update(play if isinstance(play, Play) else play.id, **paid)
        self._accounts.told(paid)

    def _note(self, t: int, arm: int) -> None:
        _, least, below, spot = self._noted
        slack, short = self._accounts.look()
        least = min(least, slack)
        below += short
        if t == self._checkpoints[spot]:
            plays = self._agent.books.default_plays
            self._trace.books[spot] = t, plays, slack, least, below, spot, arm
            self._trace.losses[spot] = self._judge.losses
            self._accounts.write(self._trace.floors, spot)
            if self._trace.forfeited.size:
                self._trace.forfeited[spot] = self._accounts.forfeited()
            spot += 1
        self._noted = [t, least, below, spot]

    def traces(self) -> dict[str, Trace]:
        """What was noted."""
        return {self._name: self._trace._replace(faults=self._agent.faults)}

    def state(self) -> State | None:
        """A copy of all that the next plays depend on; None of an agent that cannot be saved."""
        try:
            agent = text_of(agent_to_json(self._agent))
        except Exception:  # noqa: BLE001 # state() of a policy of one's own may do anything
            return None
        out = [
            [due, play.id, t, what, play.turn, play.index]
            for due, all_ in self._waiting.items()
            for play, t, what in all_
        ]
        return copied(self._rows()) | {
            "agent": agent,
            "out": np.array(out, np.int64).reshape(-1, 6),
        }

    def restore(self, state: State) -> None:
        """The inverse of ``state``."""
        numbers = {name: row for name, row in state.items() if name not in ("agent", "out")}
        try:
            go_on(self._agent, document_of(state["agent"]))
            plays = self._agent.open_plays
            for due, number, t, what, turn, index in state["out"].tolist():
                closed = Closed(number, turn, index)
                play = plays[number][0] if number in plays else closed
                self._waiting.setdefault(due, []).append((play, t, what))
        except Exception as error:  # so may its restore()
            raise Unfit(f"{type(error).__name__}: {error}") from error
        fill(self._rows(), numbers)

    def _rows(self) -> Rows:
        rows = {"noted": self._noted, "losses": self._judge.losses, **self._accounts.rows()}
        return rows | trace_rows(self._trace)


def _nothing(play: int) -> None:
    """What a policy without contexts is given at a play."""


def _copied(agent: Agent) -> Agent:
    try:
        return copy.deepcopy(agent)
    except Exception as error:  # a copy runs the user's own code
        raise InvalidInput(
            f"{type(agent.policy).__name__} cannot be copied ({error}), but every run plays its "
            "own copy; give the policy a __deepcopy__, or keep out of it what cannot be copied"
        ) from error
