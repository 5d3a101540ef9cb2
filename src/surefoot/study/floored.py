"""A study with floors by name, on measures or an environment of one's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import nan
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

import surefoot as sf
from surefoot._exact import exact, shown
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.study.entry import Known, Misplaced
from surefoot.study.floor_entries import FloorEntry, MeasureEntry
from surefoot.study.near import meant
from surefoot.study.own_code import is_own, sources
from surefoot.study.own_problem import EnvironmentEntry, OwnWorld
from surefoot.study.panel import Words

if TYPE_CHECKING:
    from surefoot.agents.agent import Agent

_OF_PART = re.compile(r"(measures|default)\['([^']+)'\]")


class Floored(OwnWorld):
    """Agents that keep one floor or several, each by its name, on plays of several measures.

    >>> from surefoot.study.sweep import panel_of
    >>> arms = {"path": "BernoulliArms", "settings": {"means": [0.8, 0.4]}}
    >>> panel = panel_of({
    ...     "problem": "own", "environment": arms, "runs": 2, "horizon": 100, "seed": 0,
    ...     "floors": [{"name": "reward", "settings": {"default": 0.5, "alpha": 0.1}}],
    ...     "agents": [{"policy": "KLUCB"}],
    ... })
    >>> panel.name, panel.guards, panel.floor().alpha
    ('own', ('',), Decimal('0.1'))
    """

    alpha: Any = None
    """Each floor has its own."""
    promises: tuple[FloorEntry, ...] = Field(alias="floors", min_length=1)
    parts: tuple[MeasureEntry, ...] | None = Field(default=None, alias="measures", min_length=1)
    world: EnvironmentEntry | None = Field(default=None, alias="environment")
    objective: str | dict[str, float] | None = None
    """What the policy learns: a measure, or the weight of each; None: as the environment says."""
    objective_range: tuple[float, float] | None = None
    """What the objective lies between; None: as the environment says."""
    default_objective: float | None = None
    """What the default is worth on the objective; None: as the environment says, if it does."""

    axes: ClassVar[tuple[str, ...]] = ()
    elsewhere: ClassVar[tuple[str, ...]] = ("alpha",)
    words: ClassVar[Words] = Words(
        arms="{p.label}",
        setting="{p.label}, an environment of the study's own, and the floors {p.asked}",
        rival="the best regular arm, whose mean objective is μ*",
        remark="",
        baseline="t·(μ* - v + α|v| + margin)",
        floor="t·(v - α|v| - margin)",
    )

    @property
    def label(self) -> str:
        """The environment in a word or two."""
        parts = self.parts or ()
        return self.world.label if self.world else ", ".join(one.name for one in parts)

    @property
    def asked(self) -> str:
        """The floors in a few words."""
        return "; ".join(map(str, self.promises))

    @property
    def names_of_floors(self) -> tuple[str, ...]:
        """The names that the file gives them."""
        return tuple(one.name for one in self.promises)

    @property
    def guards(self) -> tuple[str, ...]:
        """The names of the floors; a single one on the reward of a play needs none."""
        return ("",) if self.on_reward else self.names_of_floors

    @property
    def on_reward(self) -> bool:
        """Whether the one floor is on the reward of a play."""
        return self.names_of_floors == ("reward",) and not self.promises[0].costs

    @property
    def costs_alone(self) -> bool:
        """Whether the one floor is a ceiling on the cost of a play."""
        return self.names_of_floors == ("cost",) and self.promises[0].costs

    @property
    def several(self) -> bool:
        """Whether agents are given the floors by name."""
        return not (self.on_reward or self.costs_alone)

    @property
    def promised(self) -> dict[str, str]:
        """What each floor asks, in short."""
        return {one.name: str(one) for one in self.promises}

    @property
    def learns(self) -> bool:
        """Whether the default of a floor is one that is learned."""
        return any(one.learns for one in self.promises)

    def is_ceiling(self, guard: str) -> bool:
        """Whether a floor is a ceiling on costs."""
        return any(one.costs for one in self.promises if one.name == guard)

    def width(self, guard: str) -> float:
        """The width of the range of a floor's measure."""
        built = self.floor()
        low, high = (built[guard] if self.several else built).reward_range
        return float(high - low)

    def environment(self) -> Any:
        """Where rewards and measures come from, fresh."""
        if self.world is not None:
            if self.objective is not None:
                raise InvalidInput(
                    f"objective = {shown(self.objective)} goes with [measures]; an environment of "
                    "your own says itself what it pays"
                )
            made = self.world.build(self.home)
            # One draw that is a cost: the objective is minus it.
            in_costs = self.costs_alone and not hasattr(made, "ranges")
            return sf.MeasuredArms({"cost": made}, {"cost": -1}) if in_costs else made
        parts, weights = self.parts or (), self.objective
        defaults = {one.name: one.default_built(self.home) for one in parts}
        try:
            return sf.MeasuredArms(
                {one.name: one.built(self.home) for one in parts},
                # Sorted: a sum of floats depends on its order, and JSON keeps none.
                dict(sorted(weights.items())) if isinstance(weights, dict) else weights,
                {name: one for name, one in defaults.items() if one is not None} or None,
            )
        except InvalidInput as error:
            if isinstance(error, Misplaced) or str(error).startswith("objective"):
                raise
            named = _OF_PART.match(str(error))
            key = named[1].replace("measures", "path") if named else ""
            place = (named[2], key) if named else ()
            raise Misplaced(f"[measures]: {error}", "measures", *place) from error

    def agents(self) -> dict[str, Agent]:
        """Who plays, fresh; what is wrong with a floor is said at the floor."""
        self.floor()
        return super().agents()

    def floor(self) -> Any:
        """The floors by name; alone one that is on the reward, or the cost, of a play."""
        environment = self.environment()
        floors = {one.name: one.build(_bounds(environment, one)) for one in self.promises}
        return floors if self.several else next(iter(floors.values()))

    def told_to_guards(self) -> Known:
        """What a guard may ask for besides: of several floors what the objective is like."""
        from surefoot.environments.base import bounds

        if not self.several or "reward" in self.guards:
            return {}
        known: dict[str, Callable[[], Any]] = {
            "objective_range": lambda: self.objective_range or bounds(self.environment())
        }
        if self.default_objective is not None:
            known["default_objective"] = lambda: self.default_objective
        return known

    def told_to_rivals(self) -> Known:
        """What else a comparator is given, which knows one floor, on reward."""
        alone, floor = self.promises[0], self.floor()
        more = alone.settings.keys() - {"default", "alpha", "reward_range"}
        if not self.on_reward or more or not isinstance(alone.default, int | float):
            raise Misplaced(
                "a comparator keeps one floor of its own, (1-alpha) of a known default; give "
                "[floors.reward] alone, with default and alpha, or leave the comparator out"
            )
        return {
            "default": lambda: alone.default,
            "alpha": lambda: alone.settings["alpha"],
            "reward_range": lambda: floor.reward_range,
        }

    @property
    def pays(self) -> float:
        """What the default is worth to the objective; its floor says so where nothing else does."""
        environment = self.environment()
        known = getattr(environment, "default_value", None)
        if known is None:
            known = self.default_objective
        if known is not None:
            return float(known)
        weights, values = self._weights(environment), self._known()
        return float(sum(weight * values.get(name, nan) for name, weight in weights.items()))

    def _weights(self, environment: Any) -> dict[str, float]:
        """What each measure counts in the objective."""
        said = getattr(environment, "objective", {"reward": 1})
        return {name: float(weight) for name, weight in said.items()}

    def _known(self) -> dict[str, float]:
        """The default's known values, by measure."""
        return {
            one.name: float(one.default)
            for one in self.promises
            if isinstance(one.default, int | float)
        }

    @property
    def slope(self) -> float | None:
        """Regret per play of one who earns exactly the floor; None where none is on the objective.

        mu_* - (v - alpha*|v| - margin): of a ceiling v is minus the cost.
        """
        weights = self._weights(self.environment())
        alone = [one for one in self.promises if {one.name} == {*weights}]
        if not alone or not isinstance(alone[0].default, int | float):
            return None
        one, weight = alone[0], weights[alone[0].name]
        if one.costs != (weight < 0):
            return None
        value, alpha, margin = (
            exact(one.settings.get(key, 0), key) for key in ("default", "alpha", "margin")
        )
        asked = abs(weight) * float((-value if one.costs else value) - alpha * abs(value) - margin)
        return max(self.top, self.pays) - asked

    @property
    def title(self) -> str:
        """The first line of a figure."""
        return ", ".join([f"{self.lead} on {self.label}", *self._further("")])

    @property
    def foreign(self) -> bool:
        """Whether a class of the user's own plays or pays."""
        return super().foreign or any(map(is_own, self._paths()))

    def _paths(self) -> Iterator[str]:
        """The classes that pay."""
        if self.world is not None:
            yield self.world.path
        for one in self.parts or ():
            yield one.path
            if isinstance(one.default, EnvironmentEntry):
                yield one.default.path

    def sources(self) -> dict[str, str]:
        """SHA-256 of the files that define the user's own classes, by module."""
        found: dict[str, str] = {}
        for path in filter(is_own, self._paths()):
            found |= sources(path, self.home)
        return {**found, **super().sources()}

    def settings_of(self, owner: str) -> JsonObject:
        """The settings of the environment, of floors or measures, or of an agent by its name."""
        if owner == "environment" and self.world is not None:
            return self.world.settings
        if owner == "floors":
            return {f"{f.name}.{key}": v for f in self.promises for key, v in f.settings.items()}
        if owner == "measures":
            each = {
                f"{one.name}.{key}": v
                for one in self.parts or ()
                for key, v in one.settings.items()
            }
            return {**{f"{one.name}.default": one.default for one in self.parts or ()}, **each}
        return super().settings_of(owner)


def _bounds(environment: Any, floor: FloorEntry) -> Any:
    """What the measure of a floor surely lies between, as the environment says."""
    from surefoot.environments.base import bounds

    ranges = getattr(environment, "ranges", {})
    if floor.name in ranges:
        return bounds(environment, floor.name)
    if floor.name == "reward":
        return bounds(environment)
    paid = f"its measures are {', '.join(ranges)}" if ranges else "it pays one reward a play"
    raise Misplaced(
        f"[floors.{floor.name}]: the environment has no measure {floor.name}: {paid}; "
        f"a floor on what it pays is [floors.reward]{meant(floor.name, ranges)}",
        "floors", floor.name,
    )  # fmt: skip
