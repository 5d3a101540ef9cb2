"""What a study is made of: panels, the paper's or variations of them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import product
from typing import Any, Self, TypeAlias

from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.study.entry import AgentEntry
from surefoot.study.kinds import KINDS, kind_of
from surefoot.study.panel import BESIDE, Panel, checked
from surefoot.study.problems import PROBLEMS

_Known: TypeAlias = Callable[[Panel], dict[str, str | None]]


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
        order = list(KINDS)
        return cls(tuple(sorted(panels, key=lambda p: (order.index(p.problem), *_ranks(p)))))

    @classmethod
    def crossed(cls, base: Panel, axes: Mapping[str, Sequence[Any]]) -> Self:
        """All combinations of the values on some axes, each once; the rest is as in ``base``.

        An axis is a field, or a setting of an agent or of the environment: ``mine.c``.

        >>> sweep = Sweep.crossed(read("cmab-K24-alpha0.05"), {"mu0": [0.7, 0.6], "alpha": [0.1]})
        >>> [panel.name for panel in sweep.panels]
        ['cmab-K24-alpha0.1-mu00.6', 'cmab-K24-alpha0.1-mu00.7']
        """
        varied = tuple(axis for axis in axes if axis not in base.axes)
        settings = base.model_dump(exclude={"source", "because"})
        made: dict[str, Panel] = {}
        known = _known_of(base.problem)
        for values in product(*axes.values()):
            place = dict(zip(axes, values, strict=True))
            panel = _placed(type(base), {**settings, "varied": varied}, place, known)
            made[repr(panel.place)] = panel
        return cls.of(*made.values())

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
        unique = {(panel.problem, repr(panel.place)): panel for panel in wanted}
        return type(self).of(*unique.values())


def _combined(panels: list[Panel], given: Mapping[str, Any]) -> list[Panel]:
    """Panels of one problem with fields changed: all combinations, if an axis is among them."""
    kind = type(panels[0])
    axes = {axis: given[axis] for axis in kind.axes if axis in given}
    for axis, values in axes.items():
        if not values:
            raise InvalidInput(f"{axis} = () must have at least one value")
    rest = {field: value for field, value in given.items() if field not in axes}
    if axes:
        held = {axis: dict.fromkeys(panel.at(axis) for panel in panels) for axis in panels[0].place}
        places = [
            (panels[0], dict(zip(held, place, strict=True)))
            for place in product(*({**held, **axes}.values()))
        ]
    else:
        places = [(panel, {}) for panel in panels]
    known = _known_of(panels[0].problem)
    return [
        _placed(kind, {**base.model_dump(exclude={"source", "because"}), **rest}, place, known)
        for base, place in places
    ]


def _placed(
    kind: type[Panel], settings: JsonObject, place: Mapping[str, Any], known: _Known
) -> Panel:
    """A panel of these settings at a place on the axes; where it is printed, it says so."""
    for axis, value in place.items():
        settings = _with(settings, axis, value)
    panel = checked(kind, settings)
    return panel.model_copy(update=known(panel))


def _with(settings: JsonObject, axis: str, value: Any) -> JsonObject:
    """The settings of a panel with another value on an axis."""
    owner, _, setting = axis.partition(".")
    if not setting:
        return {**settings, axis: value}
    if owner == "environment":
        return {**settings, owner: _set(settings[owner], setting, value)}
    if owner in settings and owner in ("floors", "measures"):
        name, _, key = setting.partition(".")
        entries = [
            _set(entry, key, value) if entry["name"] == name else entry for entry in settings[owner]
        ]
        return {**settings, owner: entries}
    agents = [
        _set(entry, setting, value) if AgentEntry(**entry).label == owner else entry
        for entry in settings["agents"]
    ]
    return {**settings, "agents": agents}


def _set(entry: JsonObject, setting: str, value: Any) -> JsonObject:
    """An agent, an environment, a measure or a floor with another setting.

    What a measure's default comes to stands beside its settings.
    """
    if setting == "default" and "default" in entry:
        return {**entry, setting: value}
    return {**entry, "settings": {**entry["settings"], setting: value}}


def _ranks(panel: Panel) -> list[tuple[bool, Any]]:
    """What a panel is sorted by: numbers before words."""
    return [(isinstance(value, str), value) for value in panel.place.values()]


def panel_of(settings: JsonObject) -> Panel:
    """A panel from its settings as JSON, ``panel.model_dump(mode="json")``; on any machine.

    >>> panel = read("cmab-K24-alpha0.05")
    >>> panel_of(panel.model_dump(mode="json")) == panel
    True
    """
    problem = settings.get("problem")
    if problem not in KINDS:
        raise InvalidInput(f"problem = {problem!r} must be one of {', '.join(KINDS)}")
    return checked(kind_of(settings), settings)


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


def _known_of(problem: str) -> _Known:
    """What finds the figure of a printed panel of the same setting, its runs and ours apart.

    And why the horizon is what it is, where it is the one we chose for that figure.
    """
    printed = paper(problem) if problem in PROBLEMS else []
    free = {*BESIDE, "curves"}
    shown = [(other, _of(other, free)) for other in printed]

    def known(panel: Panel) -> dict[str, str | None]:
        mine = _of(panel, free)
        for other, theirs in shown:
            if theirs == mine:
                same = other.horizon == panel.horizon
                return {"source": other.source, "because": other.because if same else None}
        return {"source": None, "because": None}

    return known


def _of(panel: Panel, free: set[str]) -> JsonObject:
    return panel.model_dump(exclude=free | set(panel.chosen()))
