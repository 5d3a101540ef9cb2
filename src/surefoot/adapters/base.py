"""What all adapters share: arms, a seed from the agent, a limit of time, and a state of values."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from surefoot._exact import shown
from surefoot._labels import Label, arm_labels
from surefoot._types import JsonObject
from surefoot.adapters._plain import read, written
from surefoot.errors import InvalidInput, LateAnswer


class Adapter:
    """A learner of another library as a policy: a subclass says how it is asked and taught.

    ``learner``: the other library's object; the adapter owns it. ``n_arms`` or ``arms``: as in
    every policy. ``time_limit``: seconds that an answer may take by ``clock``; one that comes later
    is a ``LateAnswer``, with ``GenCB(on_fault="default")`` a default play. It is waited for.

    Rewards reach the learner scaled to [0, 1]. Its own randomness is seeded from the agent's at
    the policy's first turn, whatever seed it was made with; until then it is the same in every run.
    """

    unit_rewards: ClassVar[bool] = True

    def __init__(
        self,
        learner: Any,
        n_arms: int | None = None,
        arms: Iterable[Any] | None = None,
        time_limit: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.arms: tuple[Label, ...] = arm_labels(n_arms, arms)
        self.n_arms = len(self.arms)
        if time_limit is not None and not (is_number(time_limit) and time_limit > 0):
            raise InvalidInput(
                f"time_limit = {shown(time_limit)} must be a number of seconds above 0, or None"
            )
        self.time_limit, self.clock = time_limit, clock
        self.learner = learner
        self.seeded = False
        self.asked = [0] * self.n_arms
        """How often each arm was asked for its first reward, see ``untried``."""
        self.firsts: dict[int, tuple[float, Any]] = {}
        """The first reward of each arm, with its context: by these a fresh learner gets all the
        parts of one that is to be restored."""
        self.seed(0)
        try:
            self._fresh = self.fresh()
        except Exception as error:  # a copy runs the library's own code
            raise InvalidInput(
                f"the learner of {type(self).__name__} cannot be copied ({error}), but states are "
                "restored into a copy; keep locks and connections out of it: a function may use "
                "them, see Called"
            ) from error

    def choose(self, context: Any, rng: np.random.Generator) -> Any:
        """The number of the arm that the learner plays."""
        raise NotImplementedError

    def teach(self, arm: int, reward: float, context: Any) -> None:
        """Tell the learner one reward."""
        raise NotImplementedError

    def fresh(self) -> Any:
        """The learner as it was made, which a state is restored into."""
        return copy.deepcopy(self.learner)

    def seed(self, seed: int) -> None:
        """Seed the learner's own generators, if it has any."""

    def select(self, context: Any, rng: np.random.Generator) -> Any:
        """The learner's answer; LateAnswer if it took longer than the limit."""
        return self._in_time(self.choose, context, rng)

    def _in_time(self, ask: Callable[..., Any], *args: Any) -> Any:
        if not self.seeded:
            self.seed(int(args[1].integers(2**32)))
            self.seeded = True
        if self.time_limit is None:
            return ask(*args)
        began = self.clock()
        answer = ask(*args)
        took = self.clock() - began
        if took > self.time_limit:
            raise LateAnswer(
                f"{type(self).__name__} answered after {took:.3g} s and may take "
                f"{self.time_limit:.3g} s; make it faster, or raise time_limit"
            )
        return answer

    def untried(self, arms: Iterable[int]) -> list[int]:
        """Those of the arms that have no reward yet, the least often asked first."""
        new = [arm for arm in arms if arm not in self.firsts]
        return sorted(new, key=self.asked.__getitem__)

    def update(self, arm: int, reward: float, context: Any) -> None:
        """Teach the learner one reward."""
        self.teach(arm, reward, context)
        self.firsts.setdefault(arm, (reward, context))

    def state(self) -> JsonObject:
        """What was learned, as plain values; InvalidInput where only pickle could save it."""
        return {
            "seeded": self.seeded,
            "asked": list(self.asked),
            "firsts": dict(self.firsts),
            "learner": written(self.learner, f"the learner of {type(self).__name__}"),
        }

    def restore(self, state: JsonObject) -> None:
        """The inverse of ``state``, over a learner made with the same settings."""
        self.learner, self.firsts = copy.deepcopy(self._fresh), {}
        for arm, (reward, context) in state["firsts"].items():
            self.teach(arm, reward, context)
        read(self.learner, state["learner"], f"the learner of {type(self).__name__}")
        self.firsts, self.asked = dict(state["firsts"]), list(state["asked"])
        self.seeded = state["seeded"]


def is_number(value: Any) -> bool:
    """Whether a setting is a plain number.

    >>> is_number(0.5), is_number(True), is_number("0.5")
    (True, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool)


def reseed(generator: np.random.Generator, seed: int) -> None:
    """Seed a generator in place, so that every part of a learner that holds it draws anew."""
    fresh = type(generator.bit_generator)(seed)
    generator.bit_generator.state = fresh.state
