"""What a study is made of: panels, the paper's or variations of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import product
from typing import Any, Self

from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.study.panel import Panel, checked
from surefoot.study.problems import PROBLEMS


@dataclass(frozen=True)
class Sweep:
    """Some panels, of one problem or of several, with the same runs and seed.

    >>> sweep = Sweep.of(read("cmab-K72-alpha0.05")).but(K=(24, 72), runs=2)
    >>> [panel.name for panel in sweep.panels]
    ['cmab-K24-alpha0.05', 'cmab-K72-alpha0.05']
    """

    panels: tuple[Panel, ...]

    @classmethod
    def of(cls, *panels: Panel) -> Self:
        """The sweep of these panels, in the order of the problems and of their numbers."""
        if len({(panel.runs, panel.seed) for panel in panels}) != 1:
            raise InvalidInput("panels of one study must have the same runs and the same seed")
        order = list(PROBLEMS)
        return cls(tuple(sorted(panels, key=lambda p: (order.index(p.problem), *p.place.values()))))

    @property
    def runs(self) -> int:
        """How many runs each panel is to have."""
        return self.panels[0].runs

    @property
    def seed(self) -> int:
        """The seed of all."""
        return self.panels[0].seed

    @property
    def problems(self) -> dict[str, type[Panel]]:
        """The problems by name, in the order of the panels."""
        return {panel.problem: type(panel) for panel in self.panels}

    @property
    def groups(self) -> dict[str, list[Panel]]:
        """Panels that are run together, by the name of their plan: they differ in alpha only.

        >>> sweep = Sweep.of(*paper("cmab"))
        >>> {name: len(panels) for name, panels in sweep.groups.items()}
        {'cmab-K24': 1, 'cmab-K72': 3, 'cmab-K144': 1}
        """
        found: dict[str, list[Panel]] = {}
        for panel in self.panels:
            found.setdefault(panel.group, []).append(panel)
        return found

    def values(self, field: str) -> tuple[Any, ...]:
        """The values that a field takes, in the order of the panels, none twice."""
        found: list[Any] = []
        for panel in self.panels:
            if hasattr(panel, field) and getattr(panel, field) not in found:
                found.append(getattr(panel, field))
        return tuple(found)

    def but(self, **changes: Any) -> Self:
        """The same with some fields changed; those given as None stay. Raises InvalidInput.

        A tuple for an axis, such as K or alpha, takes its values in place of those that are there:
        the panels are then all combinations.

        >>> Sweep.of(read("cmab-K72-alpha0.05")).but(alpha=(1.5,))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        surefoot.errors.InvalidInput: alpha = 1.5 must lie strictly between 0 and 1; ...
        """
        given = {field: value for field, value in changes.items() if value is not None}
        wanted: list[Panel] = []
        for problem in self.problems:
            mine = [panel for panel in self.panels if panel.problem == problem]
            wanted += _combined(mine, given)
        unique = {panel.name: panel for panel in wanted}
        return type(self).of(*unique.values())


def _combined(panels: list[Panel], given: Mapping[str, Any]) -> list[Panel]:
    """Panels of one problem with fields changed: all combinations, if an axis is among them."""
    kind, whole = type(panels[0]), Sweep(tuple(panels))
    axes = {axis: given[axis] for axis in kind.axes if axis in given}
    for axis, values in axes.items():
        if not values:
            raise InvalidInput(f"{axis} = () must have at least one value")
    rest = {field: value for field, value in given.items() if field not in axes}
    if axes:
        taken = [axes.get(axis, whole.values(axis)) for axis in kind.axes]
        places = [dict(zip(kind.axes, place, strict=True)) for place in product(*taken)]
    else:
        places = [panel.place for panel in panels]
    bases = [panels[0]] * len(places) if axes else panels
    made = [
        checked(kind, {**base.model_dump(exclude={"source", "because"}), **place, **rest})
        for base, place in zip(bases, places, strict=True)
    ]
    printed = paper(panels[0].problem)
    return [panel.model_copy(update=_known(panel, printed)) for panel in made]


def panel_of(settings: JsonObject) -> Panel:
    """A panel from its settings as JSON, ``panel.model_dump(mode="json")``; on any machine.

    >>> panel = read("cmab-K24-alpha0.05")
    >>> panel_of(panel.model_dump(mode="json")) == panel
    True
    """
    return checked(PROBLEMS[settings["problem"]], settings)


def read(name: str) -> Panel:
    """The paper's panel in ``study/panels/<name>.toml``."""
    file = resources.files("surefoot.study") / "panels" / f"{name}.toml"
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    printed, chosen = document.pop("printed"), document.pop("chosen")
    kind = PROBLEMS[document["problem"]]
    if set(chosen) != set(kind.chosen()):
        raise InvalidInput(f"{name}.toml: [chosen] must hold {', '.join(sorted(kind.chosen()))}")
    return checked(kind, {**document, **printed, **chosen})


def paper(*problems: str) -> list[Panel]:
    """The paper's panels of some problems, by default all, in numerical order.

    >>> [(panel.K, panel.alpha) for panel in paper("cmab")]
    [(24, 0.05), (72, 0.05), (72, 0.1), (72, 0.15), (144, 0.05)]
    """
    folder = resources.files("surefoot.study") / "panels"
    names = sorted(file.name.removesuffix(".toml") for file in folder.iterdir())
    wanted = problems or tuple(PROBLEMS)
    panels = [read(name) for key in wanted for name in names if name.startswith(f"{key}-")]
    return list(Sweep.of(*panels).panels)


def _known(panel: Panel, printed: Sequence[Panel]) -> dict[str, str | None]:
    """The figure of a printed panel of the same problem and setting, runs apart.

    And why the horizon is what it is, where it is the one we chose for that figure.
    """
    free = {"source", "because", "runs", *panel.chosen()}
    shown = panel.model_dump(exclude=free)
    for other in printed:
        if other.model_dump(exclude=free) == shown:
            same = other.horizon == panel.horizon
            return {"source": other.source, "because": other.because if same else None}
    return {"source": None, "because": None}
