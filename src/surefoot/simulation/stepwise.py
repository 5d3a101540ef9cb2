"""Any agent, play by play, as a user would run it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from surefoot._exact import INT64_MAX, exact, shown
from surefoot.agents import Play
from surefoot.agents.agent import Agent
from surefoot.agents.saving import agent_to_json, go_on
from surefoot.environments import Environment
from surefoot.environments.base import bounds
from surefoot.errors import InvalidInput
from surefoot.simulation.checks import default_mean, drifts, finite, has_contexts
from surefoot.simulation.loop import DEFAULT, SUMS, Ints, T, Trace, blank, lose
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


def drive(
    agent: Agent, environment: Environment, top: float, key: int,
    stream: np.random.SeedSequence, checkpoints: Ints, stopped: Callable[[], bool],
) -> Trace:  # fmt: skip
    """One run of a copy of ``agent``, see ``Driven``; Stopped once ``stopped`` says yes."""
    begin = partial(Driven, "it", agent, environment, top, key, stream, checkpoints)
    shape = len(checkpoints), SUMS + drifts(environment)
    return carry_through([Part(["it"], begin)], lambda: blank(*shape), stopped)["it"]


class Driven:
    """One run of a copy of ``agent``: select, pull, update; the default is reported at once.

    Slow, and open to every policy; the noise is the engine's, so an agent the engine can run
    makes the same plays here. Where an environment says when rewards arrive, those of one play
    are reported behind it in the order of their decisions, and what is not due by the horizon
    stays open. An environment with contexts tells each play's to the policies that take any.
    ``top``: mu_*, the regret is against it, unless the arms drift. ``stream`` feeds
    the policy's own randomness. Raises InvalidInput for a policy that cannot be copied and for a
    reward outside the environment's range.
    """

    def __init__(
        self, name: str, agent: Agent, environment: Environment, top: float, key: int,
        stream: np.random.SeedSequence, checkpoints: Ints,
    ) -> None:  # fmt: skip
        self._name, self._agent, self._paid_range = name, _copied(agent), bounds(environment)
        self._agent.rng = np.random.default_rng(stream)
        self._agent.books.plays.keep = KEPT
        self._environment, self._key, self._checkpoints = environment, key, checkpoints
        truth: Any = environment
        if hasattr(environment, "in_run"):
            truth = environment.in_run(key)
        self._truth = truth
        contexts = has_contexts(environment) and self._agent.contextual
        self._told = truth.context if contexts else _nothing
        self._judge = _Judge(self._agent, truth, top)
        self._trace = blank(len(checkpoints), len(self._judge.losses))
        self._noted = [0, INT64_MAX, 0, 0]
        """T, and the least slack, the plays below zero and the checkpoints so far."""
        self._waiting: dict[int, list[tuple[Play, int]]] = {}

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
        if play.is_default:
            agent.update(play)
        else:
            waiting.setdefault(_due(self._environment, self._key, t), []).append((play, t))
        for one, decided in waiting.pop(t, ()):
            paid = _paid(agent, one, self._truth, self._key, decided, self._paid_range)
            agent.update(one, **paid)
        self._note(t, play.index)

    def _note(self, t: int, arm: int) -> None:
        _, least, below, spot = self._noted
        slack = self._agent.books.account.available
        least = min(least, slack)
        below += slack < 0
        if t == self._checkpoints[spot]:
            plays = self._agent.books.default_plays
            self._trace.books[spot] = t, plays, slack, least, below, spot, arm
            self._trace.losses[spot] = self._judge.losses
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
        out = [[due, play.id, t] for due, all_ in self._waiting.items() for play, t in all_]
        return copied(self._rows()) | {
            "agent": agent,
            "out": np.array(out, np.int64).reshape(-1, 3),
        }

    def restore(self, state: State) -> None:
        """The inverse of ``state``."""
        numbers = {name: row for name, row in state.items() if name not in ("agent", "out")}
        try:
            go_on(self._agent, document_of(state["agent"]))
            plays = self._agent.open_plays
            for due, number, t in state["out"].tolist():
                self._waiting.setdefault(due, []).append((plays[number][0], t))
        except Exception as error:  # so may its restore()
            raise Unfit(f"{type(error).__name__}: {error}") from error
        fill(self._rows(), numbers)

    def _rows(self) -> Rows:
        return {"noted": self._noted, "losses": self._judge.losses, **trace_rows(self._trace)}


def _nothing(play: int) -> None:
    """What a policy without contexts is given at a play."""


def _due(environment: Any, key: int, t: int) -> int:
    """After which play the reward of play t is known."""
    if not hasattr(environment, "arrival"):
        return t
    due = environment.arrival(key, t)
    if isinstance(due, bool) or not isinstance(due, int | np.integer) or due < t:
        raise InvalidInput(
            f"arrival({key}, {t}) of the environment is {shown(due)}; it must be the number of "
            f"play {t} or of a later one"
        )
    return int(due)


def _paid(
    agent: Agent, play: Play, environment: Environment, key: int, t: int,
    paid_range: tuple[Any, Any],
) -> dict[str, Any]:  # fmt: skip
    """What the environment pays for play t, as ``update`` takes it."""
    low, high = paid_range
    moment = (t,) if drifts(environment) else ()
    action: Any = agent.actions.action(play.index, play.arm)
    if agent.actions.semi_bandit:
        parts = tuple(environment.pull(key, play.turn, arm, *moment) for arm in action)
        exact_parts = tuple(exact(part, f"the environment's pull for {action}") for part in parts)
        reward = agent.actions.super_arm_reward(exact_parts)
        report: dict[str, Any] = {"base_rewards": parts}
    else:
        reward = environment.pull(key, play.turn, action, *moment)
        report = {"reward": reward}
    if not low <= exact(reward, f"the environment's pull of arm {action}") <= high:
        raise InvalidInput(
            f"the environment paid {shown(reward)} for arm {action} at turn {play.turn}, outside "
            f"its reward_range ({low}, {high}); widen it"
        )
    return report


class _Judge:
    """The sums that the regrets of one agent are made of."""

    def __init__(self, agent: Agent, environment: Any, top: float) -> None:
        self._agent, self._environment, self._top = agent, environment, top
        self._drifts = drifts(environment)
        self._default = default_mean(agent)
        self.losses = [0.0] * (SUMS + self._drifts)

    def see(self, play: Play, t: int) -> None:
        """Add play t."""
        environment, top = self._environment, self._top
        moment = (t,) if self._drifts else ()
        if self._drifts:
            best = finite(environment.best_at(t), f"best_at({t}) of the environment")
            top = max(best, self._default)
        if play.is_default:
            if self._drifts:
                self.losses[DEFAULT] += top - self._default
            return
        action: Any = self._agent.actions.action(play.index, play.arm)
        what = ", ".join(map(str, (action, *moment)))
        mean = finite(environment.value(action, *moment), f"value({what}) of the environment")
        arms = action if isinstance(action, tuple) else (action,)
        lose(self.losses, top, mean, float(sum(environment.variances[arm] for arm in arms)))


def _copied(agent: Agent) -> Agent:
    try:
        return copy.deepcopy(agent)
    except Exception as error:  # a copy runs the user's own code
        raise InvalidInput(
            f"{type(agent.policy).__name__} cannot be copied ({error}), but every run plays its "
            "own copy; give the policy a __deepcopy__, or keep out of it what cannot be copied"
        ) from error
