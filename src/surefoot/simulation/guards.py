"""Which measure of an environment each floor of an agent guards, and whether it can."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from surefoot._exact import exact, first_few, shown
from surefoot.agents.agent import Agent
from surefoot.environments import MeasuredArms
from surefoot.environments._kernels import WRAPPERS
from surefoot.environments.base import bounds
from surefoot.errors import InvalidInput
from surefoot.floors import CostCeiling, LearnedDefault, RewardFloor
from surefoot.floors.protocol import is_ceiling
from surefoot.floors.several_books import REWARD


class Guard(NamedTuple):
    """A floor of an agent, and what it is kept on."""

    floor: Any
    measure: str | None
    """By its name in the environment; None: what ``pull`` pays, the objective."""

    @property
    def costs(self) -> bool:
        """Whether it is a ceiling on costs."""
        return is_ceiling(self.floor)

    @property
    def learns(self) -> bool:
        """Whether the default's mean is learned from what the default pays."""
        return isinstance(self.floor.default, LearnedDefault)


Guards = dict[str, Guard]
"""By the names that ``agent.accounts`` has."""


def several(agent: Agent) -> dict[str, Any]:
    """The floors of an agent that keeps several, by name; empty if it keeps one."""
    return dict(getattr(agent.floor, "floors", {}))


def floors_of(agent: Agent) -> int:
    """How many floors a trace has a column of: none where there is only one."""
    return len(several(agent))


def guards_of(who: str, agent: Agent, environment: Any) -> Guards:
    """What each floor of an agent guards; InvalidInput for a measure that nobody pays."""
    named = several(agent)
    if named:
        return {
            name: Guard(floor, _measure(who, name, environment)) for name, floor in named.items()
        }
    guard = Guard(agent.floor, None)
    ranges = list(getattr(environment, "ranges", ()))
    if not guard.costs or not ranges:
        return {"cost" if guard.costs else REWARD: guard}
    if "cost" not in ranges and len(ranges) > 1:
        raise InvalidInput(
            f"{who} has a CostCeiling, and none of the measures {first_few(ranges)} is named "
            f"'cost'; give the ceiling a name: GenCB(policy, {{{ranges[0]!r}: ceiling}})"
        )
    return {"cost": guard._replace(measure="cost" if "cost" in ranges else ranges[0])}


def _measure(who: str, name: str, environment: Any) -> str | None:
    """The measure that a floor of this name guards."""
    ranges = list(getattr(environment, "ranges", ()))
    if name == REWARD:
        return None
    if name in ranges:
        return name
    paid = f"its measures are {first_few(ranges)}" if ranges else "it pays one reward a play"
    raise InvalidInput(
        f"{who} has a floor named {name!r}, and the environment has no such measure: {paid}; "
        "give one that has: MeasuredArms({...})"
    )


def check_default(who: str, guard: Guard, environment: Any) -> None:
    """InvalidInput unless the floor has one default, known or learned here."""
    floor = guard.floor
    if guard.learns:
        _check_learned(who, guard, environment)
    elif not isinstance(floor.default, Decimal):
        raise _no_default(who, floor)


def check_range(who: str, guard: Guard, environment: Any) -> None:
    """InvalidInput unless all that the floor is told lies within its range."""
    floor, measure = guard
    paid = "the environment pays" if measure is None else f"{measure} of the environment comes to"
    least, most = bounds(environment, measure)
    low, high = getattr(floor, "told_range", floor.reward_range)
    if not low <= least <= most <= high:
        what, kind = getattr(floor, "ends", "reward_range"), "ceiling" if guard.costs else "floor"
        raise InvalidInput(
            f"{paid} ({least}, {most}), outside the {what} ({low}, {high}) of {who}; give it a "
            f"{kind} with a wider one"
        )


def check_objective(who: str, agent: Agent, environment: Any) -> None:
    """InvalidInput unless the objective lies in the range that the policy learns it in."""
    (least, most), (low, high) = bounds(environment), agent.floor.reward_range
    if not low <= least <= most <= high:
        raise InvalidInput(
            f"the objective of the environment comes to ({least}, {most}), outside the "
            f"objective_range ({low}, {high}) of {who}; give it a wider one"
        )


def _check_learned(who: str, guard: Guard, environment: Any) -> None:
    """InvalidInput unless the environment says what the default draws, of a mean that fits."""
    mean = mean_of_default(guard, environment)
    if mean is None:
        what = "the objective" if guard.measure is None else guard.measure
        raise InvalidInput(
            f"{who} learns what its default is worth, and the environment does not say what the "
            f"default draws of {what}; give MeasuredArms(..., default={{...}})"
        )
    low, high = guard.floor.default.between
    if not low <= mean <= high:
        raise InvalidInput(
            f"{who} learns a default whose mean lies in ({low}, {high}), and the environment's has "
            f"the mean {float(mean)}; give a wider between"
        )


def mean_of_default(guard: Guard, environment: Any) -> Fraction | None:
    """The exact mean of what the default draws of a floor's measure; None if it draws nothing."""
    means: Mapping[str, Any] = getattr(environment, "default_means", {})
    if guard.measure is not None:
        return _fraction(means[guard.measure]) if guard.measure in means else None
    weights: Mapping[str, Decimal] = getattr(environment, "objective", {})
    if not hasattr(environment, "weigh") or not weights.keys() <= means.keys():
        return None
    return sum(
        (Fraction(weight) * _fraction(means[name]) for name, weight in weights.items()), Fraction(0)
    )


def _fraction(mean: Any) -> Fraction:
    return mean if isinstance(mean, Fraction) else Fraction(exact(mean, "a default's mean"))


def default_mean(who: str, agent: Agent, guards: Guards, environment: Any) -> float:
    """What the default is worth to the regret; -inf without a floor, which then has no default.

    As the environment knows it; else as the agent was told; else what the floors say it is worth.
    """
    if not agent.measured:
        return -math.inf
    known = getattr(environment, "default_value", None)
    if known is not None:
        return float(known)
    for guard in guards.values():
        if guard.learns and guard.measure is None:
            return float(mean_of_default(guard, environment) or 0)
        if guard.measure is None:
            return float(guard.floor.default) * (-1 if guard.costs else 1)
    own = getattr(getattr(agent.floor, "objective", None), "default", None)
    if own is not None:
        return float(own)
    weights: Mapping[str, Decimal] = getattr(environment, "objective", {})
    said = {guard.measure: guard.floor.default for guard in guards.values() if not guard.learns}
    if weights and weights.keys() <= said.keys():
        return float(sum(Fraction(weight) * Fraction(said[n]) for n, weight in weights.items()))
    raise InvalidInput(
        f"{who}: nothing says what the default brings of the objective, which the regret of its "
        "plays needs; give MeasuredArms(..., default={...}) or GenCB(..., default_objective=...)"
    )


def in_costs(environment: Any, agents: Iterable[Agent]) -> Any:
    """The environment; under single ceilings one whose one draw is a cost, the objective minus it.

    InvalidInput where others take the same draws as rewards.
    """
    if hasattr(environment, "ranges"):
        return environment
    # What is not an agent is refused behind this.
    ceilings = [is_ceiling(getattr(agent, "floor", None)) for agent in agents]
    if not any(ceilings):
        return environment
    if not all(ceilings):
        raise InvalidInput(
            "some agents have a CostCeiling, which takes the environment's draws as costs, others "
            "take them as rewards; say what they are: MeasuredArms({'cost': environment}, "
            "objective={'cost': -1})"
        )
    return _as_costs(environment)


def _as_costs(environment: Any) -> Any:
    if type(environment) in WRAPPERS:
        wrapper = copy.copy(environment)
        vars(wrapper)["env"] = _as_costs(environment.env)
        return wrapper
    return MeasuredArms({"cost": environment}, objective={"cost": -1})


def _no_default(who: str, floor: Any) -> InvalidInput:
    kind, default = type(floor).__name__, floor.default
    if isinstance(floor, RewardFloor | CostCeiling):
        return InvalidInput(
            f"{who} has a floor without one known default; simulate needs it: {kind}(default=...)"
        )
    if default is None or isinstance(default, tuple):
        return InvalidInput(
            f"{who} has a floor without one known default; simulate needs it: give {kind} one, a "
            "Decimal in its attribute default"
        )
    return InvalidInput(
        f"{who}: default = {shown(default)} of its {kind} is a {type(default).__name__}; give a "
        "Decimal: self.default = Decimal(str(default))"
    )
