"""The floors and the measures of a study file, each by a name of the user's."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from surefoot.errors import InvalidInput
from surefoot.study.entry import Misplaced
from surefoot.study.own_problem import EnvironmentEntry

FLOORS = ("RewardFloor", "CostCeiling")
"""Those that a study file may name."""
LEARNED = ("between", "delta")
"""The keys of a default that is learned."""
_FIRST = re.compile(r"\w*")


class FloorEntry(BaseModel):
    """One of the ``[floors.NAME]`` of a study file: a class of Surefoot's and its keywords.

    ``settings``: numbers, pairs as lists, and for a default that is learned a table of ``between``
    and ``delta``.

    >>> entry = FloorEntry(name="quality", settings={"default": 0.8, "alpha": 0.05})
    >>> entry.build((0, 1)).reward_range
    (Decimal('0'), Decimal('1'))
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str = Field(min_length=1, max_length=60)
    kind: Literal["RewardFloor", "CostCeiling"] = "RewardFloor"
    settings: dict[str, Any] = Field(default_factory=dict)

    @property
    def costs(self) -> bool:
        """Whether it is a ceiling on costs."""
        return self.kind == "CostCeiling"

    @property
    def default(self) -> Any:
        """What the default is worth: a number, a pair, or a table if it is learned."""
        return self.settings.get("default")

    @property
    def learns(self) -> bool:
        """Whether the default's mean is learned."""
        return isinstance(self.default, Mapping)

    def __str__(self) -> str:
        """What it asks, in short.

        >>> str(FloorEntry(name="cost", kind="CostCeiling", settings={"default": 2, "alpha": 0.5}))
        'cost (CostCeiling, default 2, alpha 0.5)'
        """
        said = [self.kind, *(f"{key} {_said(value)}" for key, value in self.settings.items())]
        return f"{self.name} ({', '.join(said)})"

    def build(self, bounds: Any) -> Any:
        """The floor, fresh; ``bounds``: what its measure surely lies between.

        Raises Misplaced, naming the key, where it cannot be made.
        """
        import surefoot as sf

        kind, given = getattr(sf, self.kind), dict(self.settings)
        given.setdefault(kind.ends, bounds)
        for key in ("default", "alpha"):
            if key not in given:
                said = f"[floors.{self.name}]: {key} is missing; give it there, or below [grid]"
                raise Misplaced(said, "floors", self.name)
        try:
            if isinstance(given["default"], Mapping):
                given["default"] = sf.LearnedDefault(**given["default"])
            elif isinstance(given["default"], list):
                given["default"] = tuple(given["default"])
            made = kind(**given)
            made.check_explores()
            return made
        except (InvalidInput, TypeError) as error:
            first = _FIRST.match(str(error))
            key = first.group() if first else ""
            path = (key,) if key in keys_of(self.kind) else ("default",) if key in LEARNED else ()
            raise Misplaced(f"[floors.{self.name}]: {error}", "floors", self.name, *path) from error


class MeasureEntry(EnvironmentEntry):
    """One of the ``[measures.NAME]`` of a study file: where a number comes from, at every play.

    ``default``: what the default comes to, a number or an environment of one arm as a table.
    """

    name: str = Field(min_length=1, max_length=60)
    default: float | EnvironmentEntry | None = None

    def __str__(self) -> str:
        """What it is, in short."""
        default = [] if self.default is None else [f"default {self.default}"]
        said = [self.path, *(f"{key} {_said(value)}" for key, value in self.settings.items())]
        return f"{self.name} ({', '.join(said + default)})"

    def default_built(self, home: str | None) -> Any:
        """What the default comes to, fresh."""
        made = self.default
        return _at(self.name, made.build, home) if isinstance(made, EnvironmentEntry) else made

    def built(self, home: str | None) -> Any:
        """The environment, fresh. Raises Misplaced where it cannot be made."""
        return _at(self.name, self.build, home)


def _at(name: str, build: Callable[[str | None], Any], home: str | None) -> Any:
    try:
        return build(home)
    except Misplaced as error:
        said = str(error).replace("[environment]", f"[measures.{name}]", 1)
        raise Misplaced(said, "measures", name, "path") from error


@cache
def keys_of(kind: str) -> tuple[str, ...]:
    """The keywords of a floor.

    >>> keys_of("RewardFloor")[:3]
    ('default', 'alpha', 'reward_range')
    """
    import surefoot as sf

    return tuple(inspect.signature(getattr(sf, kind)).parameters)


def _said(value: Any) -> str:
    """A value in a few words.

    >>> _said([0, 1]), _said({"between": [0.5, 0.9], "delta": 0.05}), _said(0.7)
    ('(0, 1)', '(between (0.5, 0.9), delta 0.05)', '0.7')
    """
    if isinstance(value, Mapping):
        return f"({', '.join(f'{key} {_said(one)}' for key, one in value.items())})"
    if isinstance(value, list | tuple):
        return f"({', '.join(map(_said, value))})"
    return str(value)
