"""Helpers of the policy kit: a policy, and a world of contexts and rewards for it."""

from __future__ import annotations

import copy
import json
import math
import operator
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from surefoot._exact import exact
from surefoot._json_values import from_json, to_json
from surefoot._types import Number
from surefoot.agents import GenCB
from surefoot.floors import RewardFloor
from surefoot.policies import Policy
from surefoot.policies.base import arms_of, counts_open, has, measures_of


class PolicyMaker:
    """A test class that makes a policy, its contexts and its rewards."""

    reward_range: tuple[Number, Number] = (0, 1)
    """The bounds of every reward; of a super arm's, those of each base arm's."""
    measure_ranges: Mapping[str, tuple[Number, Number]] = MappingProxyType({})
    """The bounds of each measure that a policy of ``measures`` is told."""
    plays = 300
    """How many plays the worst case lasts; at least one of them has to be an exploration."""

    def make_policy(self) -> Policy:
        """Make the policy under test, fresh."""
        raise NotImplementedError

    def make_context(self, rng: np.random.Generator) -> Any:
        """The context of one play, of plain values or numpy arrays."""
        return None

    def make_reward(self, arm: Any, rng: np.random.Generator) -> Any:
        """What an arm pays, within the range; a super arm a tuple, one for each base arm."""
        low, high = (exact(end, "reward_range") for end in self.reward_range)
        if not self.is_semi_bandit:
            return float(low + (high - low) * int(rng.integers(5)) / 4)
        return tuple(float(low + (high - low) * int(rng.integers(5)) / 4) for _ in arm)

    def make_measures(self, arm: Any, rng: np.random.Generator) -> dict[str, float]:
        """What the measures of a play of an arm come to, by name."""
        found = {}
        for name, ends in self.measure_ranges.items():
            low, high = (exact(end, name) for end in ends)
            found[name] = float(low + (high - low) * int(rng.integers(5)) / 4)
        return found

    def make_floor(self) -> Any:
        """A reward floor that the policy is guarded by; its range has to hold every reward.

        Of a policy of ``measures`` one for each of them, by name.
        """
        if self.is_measured:
            return {
                name: RewardFloor(high, alpha=Decimal("0.5"), reward_range=(low, high))
                for name, (low, high) in self.measure_ranges.items()
            }
        low, high = (exact(end, "reward_range") for end in self.reward_range)
        n_arms = self.make_policy().n_arms
        if self.is_semi_bandit and n_arms:  # a sum of up to so many
            low, high = min(low, low * n_arms), max(high, high * n_arms)
        return RewardFloor(max(low, high / 2), alpha=Decimal("0.5"), reward_range=(low, high))

    @cached_property
    def is_semi_bandit(self) -> bool:
        """Whether a reward is one of each base arm."""
        return bool(getattr(self.make_policy(), "semi_bandit", False))

    @cached_property
    def is_measured(self) -> bool:
        """Whether the policy is told what measures came to."""
        return measures_of(self.make_policy()) is not None

    def worst(self, arm: Any) -> Any:
        """The least that an arm may pay."""
        low = float(self.reward_range[0])
        return (low,) * len(arm) if self.is_semi_bandit else low

    @cached_property
    def is_numbered(self) -> bool:
        """Whether an arm is a number, so that some of them can be allowed."""
        return bool(getattr(self.make_policy(), "numbered", True))

    @cached_property
    def is_scaled(self) -> bool:
        """Whether rewards are scaled to [0, 1] for it."""
        return bool(getattr(self.make_policy(), "unit_rewards", False)) and not self.is_semi_bandit

    def learned(self, reward: Any) -> Any:
        """A reward as the agent passes it to the policy."""
        if not self.is_scaled:
            return reward
        low, high = map(float, self.reward_range)
        return min(1.0, max(0.0, (reward - low) / (high - low)))

    def learned_measures(self, measures: Mapping[str, Any]) -> dict[str, float]:
        """Measures as the agent passes them to the policy."""
        found = {name: float(value) for name, value in measures.items()}
        if self.is_scaled:
            for name, value in found.items():
                low, high = map(float, self.measure_ranges[name])
                found[name] = min(1.0, max(0.0, (value - low) / (high - low)))
        return found

    def action(self, play: Any) -> Any:
        """What an agent's play is to the policy."""
        if self.is_numbered:
            return play.index
        numbers = {label: number for number, label in enumerate(arms_of(self.make_policy()))}
        return tuple(numbers[label] for label in play.arm) if numbers else play.arm

    def paid(self, reward: Any, measures: dict[str, float] | None = None) -> dict[str, Any]:
        """What an exploration paid, as it is reported to an agent."""
        told = {"base_rewards" if self.is_semi_bandit else "reward": reward}
        return {**told, "measures": measures} if self.is_measured else told

    def agent(self) -> GenCB:
        """A fresh one under guard."""
        given: dict[str, Any] = {}
        if self.is_measured:
            low, high = (exact(end, "reward_range") for end in self.reward_range)
            given = {"objective_range": (low, high), "default_objective": (low + high) / 2}
        return GenCB(self.make_policy(), self.make_floor(), seed=0, **given)

    def world(self, seed: int = 0) -> World:
        """Contexts, rewards and the policy's own randomness: the same for the same seed."""
        return World(self, seed)


class World:
    """Contexts and rewards for a policy; two worlds of one seed bring the same."""

    def __init__(self, maker: PolicyMaker, seed: int) -> None:
        self.maker = maker
        self.own, self.rng = (np.random.default_rng([seed, stream]) for stream in (0, 1))
        """What the policy is given, and what the world draws from."""
        self.waiting: list[Any] = []

    def turn(self, policy: Any, ask: str = "select", restricted: bool = False) -> tuple[Any, Any]:
        """One answer of a policy, its arm checked, and the context it was given."""
        context = self.maker.make_context(self.rng)
        allowed = self.some_of(policy, context) if restricted else None
        options = {"allowed": list(allowed)} if allowed else {}
        before = text(context)
        answer = getattr(policy, ask)(context, self.own, **options)
        assert text(context) == before, "the policy changed its context"
        assert options.get("allowed") == allowed, "the policy changed `allowed`"
        check_arm(policy, answer[0] if ask == "best" else answer, context, allowed)
        return answer, context

    def some_of(self, policy: Any, context: Any) -> list[int]:
        """Some of the arms, at least one."""
        chance = self.rng.random(len(context) if policy.n_arms is None else policy.n_arms)
        return [arm for arm, draw in enumerate(chance) if draw <= max(0.4, chance.min())]

    def choices(self, policy: Any, context: Any, allowed: Any, count: int) -> list[int]:
        """What copies of a policy choose at its next turn, each by draws of its own."""
        arms = []
        for seed in range(count):
            twin, rng = copy.deepcopy(policy), np.random.default_rng([seed, 2])
            if has(twin, "renew"):  # a key that it has drawn already would be that of all copies
                twin.renew()
            if has(twin, "best"):
                arms.append(operator.index(twin.best(context, rng, allowed)[0]))
            else:
                arms.append(operator.index(twin.select(context, rng)))
        return arms

    def course(self, policy: Any, turns: int, late: bool = False) -> list[Any]:
        """So many turns of a policy on its own; rewards come at once, or ``late``, or never."""
        arms = []
        tells = counts_open(policy)
        for _ in range(turns):
            arm, context = self.turn(policy)
            arms.append(arm)
            if tells:
                self.tell(policy, "opened", arm, context)
            reports = self.reports(arm, apart=late)
            if not (late and self.rng.random() < 0.2):
                self.waiting += [(arm, context, report, reports) for report in [*reports]]
            if late:
                self.rng.shuffle(self.waiting)
            while self.waiting and (not late or len(self.waiting) > self.rng.integers(20)):
                arm, context, report, open_ones = self.waiting.pop()
                self.learn(policy, arm, report[0], context, report[1])
                open_ones.pop()
                if tells and not open_ones:
                    self.tell(policy, "closed", arm, context)
        return arms

    def reports(self, arm: Any, apart: bool = False) -> list[tuple[Any, dict[str, float]]]:
        """The reward and the measures of a play, in one report or each in its own."""
        reward = self.maker.learned(self.maker.make_reward(arm, self.rng))
        if not self.maker.is_measured:
            return [(reward, {})]
        measures = self.maker.learned_measures(self.maker.make_measures(arm, self.rng))
        if not apart:
            return [(reward, measures)]
        return [(reward, {}), *((None, {name: value}) for name, value in measures.items())]

    def pay(self, arm: Any, context: Any, *policies: Any) -> None:
        """What a play of an arm brought, which all of these policies learn."""
        for reward, measures in self.reports(arm):
            for policy in policies:
                self.learn(policy, arm, reward, context, measures)

    def learn(self, policy: Any, arm: Any, reward: Any, context: Any, measures: Any = None) -> None:
        """One report to a policy."""
        if not self.maker.is_measured:
            self.tell(policy, "update", arm, reward, context)
            return
        told = dict(measures or {})
        self.tell(policy, "update", arm, reward, context, measures=told)
        assert told == (measures or {}), "the policy changed the measures that it was told"

    def tell(self, policy: Any, what: str, *said: Any, **more: Any) -> None:
        """Call a method; the policy must leave the context, which is said last, alone."""
        context = said[-1]
        before = text(context)
        getattr(policy, what)(*said, **more)
        assert text(context) == before, "the policy changed a context"

    def plays(self, agent: Any, count: int) -> list[Any]:
        """So many plays of an agent or a Live, each reported by its id four plays later."""
        arms = []
        for _ in range(count):
            play = agent.select(self.maker.make_context(self.rng))
            arms.append(play.arm)
            paid = {}
            if not play.is_default:
                action = self.maker.action(play)
                reward = self.maker.make_reward(action, self.rng)
                paid = self.maker.paid(reward, self.maker.make_measures(action, self.rng))
            self.waiting.append((play.id, paid))
            if len(self.waiting) > 4:
                number, paid = self.waiting.pop(0)
                agent.update(number, **paid)
        return arms


def check_arm(policy: Any, arm: Any, context: Any, allowed: Sequence[int] | None = None) -> None:
    """An arm must be one of the policy's, and an allowed one."""
    shown = f"{type(policy).__name__} chose {arm!r}"
    if getattr(policy, "numbered", True):
        count = len(context) if policy.n_arms is None else policy.n_arms
        assert not isinstance(arm, bool | np.bool_), shown
        assert 0 <= index_of(arm, shown) < count, f"{shown}, not in 0..{count - 1}"
        assert allowed is None or arm in allowed, f"{shown}, not among {allowed}"
    elif policy.n_arms is None:
        assert len(arm) > 0, f"{shown}, an empty point"
        assert all(map(math.isfinite, arm)), f"{shown}, not a finite point"
    else:
        members = [index_of(member, shown) for member in arm]
        assert members == sorted(set(members)) != [], f"{shown}: base arms ascend, each once"
        assert 0 <= members[0] <= members[-1] < policy.n_arms, f"{shown}, no such base arms"


def index_of(arm: Any, shown: str) -> int:
    """An arm's number."""
    try:
        return operator.index(arm)
    except TypeError:
        raise AssertionError(f"{shown}, which is not an int") from None


def text(value: Any) -> str:
    """Plain values as JSON text."""
    return json.dumps(to_json(value, "value"))


def heard(written: str) -> Any:
    """The inverse of ``text``."""
    return from_json(json.loads(written))


def alike(one: Any, other: Any) -> bool:
    """Whether two states are the same, floats up to rounding.

    >>> alike({"n": [3], "sum": 0.1 + 0.2}, {"n": [3], "sum": 0.3}), alike([10**12], [10**12 + 1])
    (True, False)
    """
    if isinstance(one, float | np.floating) and isinstance(other, float | np.floating):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return alike(one.tolist(), other.tolist())
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(alike, one, other))
    return bool(one == other)
