"""Study files: TOML in, a sweep out; what is wrong is one line with the file, the line and the key.

The paper's panels are such files, in the tables ``[printed]`` and ``[chosen]``. What a file leaves
out is as in the problem's main panel.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from surefoot._exact import shown
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput
from surefoot.simulation import Plan
from surefoot.simulation.checks import check_environment
from surefoot.study.entry import AgentEntry, Misplaced, labels_of
from surefoot.study.own_code import is_own, shown_error
from surefoot.study.panel import Panel, must
from surefoot.study.problems import MAIN
from surefoot.study.runs import joint_plan
from surefoot.study.sweep import Sweep, read
from surefoot.study.toml.grid import MOST_VALUES, Axis, axis_of
from surefoot.study.toml.lines import Place
from surefoot.study.toml.text import COMMON, NAMED, OWNED, TABLES, StudyText, leaves, near

_USUAL = {"horizon": 100_000, "runs": 50, "seed": 0}
"""Of a problem of one's own; else as in its main panel."""
_NAMED = re.compile(r"(?:agent '[^']*': |\[environment\]: )?(\w+)(?:\[[^\]]*\])?(?: = |: )")
_CALLED = {"default": "mu0", "checkpoints": "curves"}
"""Fields by the names that floors and plans have for them."""
_MUST = {
    "curves": 'must be "grid", "none" or a list of plays, each an int >= 1',
    "reward_range": "must be two numbers, the least reward and the largest",
}


def read_study(
    file: Path, *, horizon: int | None = None, runs: int | None = None, seed: int | None = None
) -> Sweep:
    """The panels of a study file. Raises InvalidInput, in one line, if no run could be made of one.

    ``horizon``, ``runs`` and ``seed`` take the place of the file's. The classes that are named are
    imported, and agents, floors and environment of every combination are built.
    """
    study = StudyFile(file)
    sweep = study.sweep().but(horizon=horizon, runs=runs, seed=seed)
    for panels in sweep.groups.values():
        study.plan(panels, several=len(sweep.panels) > 1)
    return sweep


class StudyFile:
    """The settings and the axes of a study file. Raises InvalidInput, ``file:line: ...``."""

    def __init__(self, file: Path) -> None:
        self.text = StudyText(file)
        self.kind = self.text.kind
        self._places: dict[str, Place] = {}
        self.settings = self._settings()
        self.axes = {axis.key: axis for axis in self._axes()}

    def sweep(self) -> Sweep:
        """The panels of all combinations, checked field by field."""
        count = prod(len(axis.values) for axis in self.axes.values())
        if count > MOST_VALUES:
            self.text.fail(
                f"[grid] makes {count:,} panels, more than {MOST_VALUES:,}; make several studies "
                "of it",
                "grid",
            )
        firsts = {axis.key: axis.values[0] for axis in self.axes.values() if "." not in axis.key}
        base = self._panel({**self.settings, **firsts})
        for axis in self.axes.values():
            for number, value in enumerate(axis.values if "." not in axis.key else ()):
                self._panel({**self.settings, **firsts, axis.key: value}, axis.key, number)
        return Sweep.crossed(base, {axis.key: axis.values for axis in self.axes.values()})

    def plan(self, panels: Sequence[Panel], *, several: bool) -> Plan:
        """The plan of a group of panels, which are refused where it cannot be made."""
        try:
            if panels[0].problem == "own":
                check_environment(panels[0].environment())
            return joint_plan(panels)
        except InvalidInput as error:
            for panel in panels if len(panels) > 1 else ():
                self.plan([panel], several=several)
            self._refuse(error, panels[0], several=several)
        except Exception as error:
            if not panels[0].foreign:
                raise
            said = shown_error(error)
            own = "environment" if panels[0].problem == "own" else "agents"
            self.text.fail(f"{self._at(panels[0], several)}[{own}] raised {said}", own)

    def _settings(self) -> JsonObject:
        """The fields of a panel that the file gives, over those of the main panel."""
        document, problem = self.text.document, str(self.text.document["problem"])
        found: JsonObject = dict(_USUAL)
        if problem in MAIN:
            found = read(MAIN[problem]).model_dump(exclude={"source", "because"})
        given: list[tuple[Place, Any]] = [
            ((key,), document[key]) for key in (*COMMON, *OWNED) if key in document
        ]
        for table in (*TABLES, "outputs"):
            given += [((table, key), value) for key, value in document.get(table, {}).items()]
        for path, value in given:
            field = str(path[-1])
            self._once(field, path)
            self._places[field] = path
            found[field] = _entries(field, value) if path[0] in NAMED else value
        paths = (
            str(v) for key in OWNED for at, v in leaves(document.get(key)) if "settings" not in at
        )
        home = str(self.text.file.resolve().parent) if any(map(is_own, paths)) else None
        return {**found, "problem": problem, "home": home}

    def _once(self, field: str, path: Place) -> None:
        if field in self._places:
            first = self.text.lines.of(*self._places[field])
            self.text.fail(f"{field} is given twice, also in line {first}; give it once", *path)

    def _axes(self) -> Iterator[Axis]:
        for path, value in self._grid():
            if path[-1] in ("runs", "seed") and len(path) == len(("grid", "seed")):
                self.text.fail(f"{path[-1]} is no axis: it is one for all panels", *path)
            try:
                axis = axis_of(path, value)
            except InvalidInput as error:
                self.text.fail(str(error), *path)
            self._once(axis.key, path)
            yield axis

    def _grid(self) -> Iterator[tuple[tuple[str, ...], Any]]:
        """What stands below ``[grid]``; of settings, each by its owner."""
        document = self.text.document
        grid, names = document.get("grid", {}), self._labels()
        for key, value in grid.items():
            if key not in OWNED:
                yield ("grid", key), value
                continue
            if key not in document:
                self.text.fail(f"an axis of {key} needs {_NEEDS[key]}", "grid", key)
            owned: Any = {"": value} if key == "environment" else value
            if not isinstance(owned, dict) or not all(isinstance(v, dict) for v in owned.values()):
                form = _FORMS[key]
                self.text.fail(f"{key} must name a setting, as {form} = [1, 2]", "grid", key)
            owners = names if key == "agents" else tuple(document[key])
            for owner, settings in owned.items():
                if owner and owner not in owners:
                    said = f"no {key.removesuffix('s')} is called {owner}; {near(owner, owners)}"
                    self.text.fail(said, "grid", key, owner)
                before = ("grid", key, owner) if owner else ("grid", key)
                for setting, values in settings.items():
                    yield (*before, setting), values

    def _labels(self) -> tuple[str, ...]:
        """The names of the agents; their tables are checked on the way."""
        entries = self.text.document.get("agents", ())
        where: Place = ("agents",)
        made = [self._valid(AgentEntry, one, (*where, n)) for n, one in enumerate(entries)]
        try:
            names = labels_of(tuple(made))
        except Misplaced as error:
            self.text.fail(str(error), *error.path)
        for number, name in enumerate(names):
            taken = [key for key in OWNED[1:] if key in self.text.document or key == OWNED[1]]
            if name in taken or "." in name:
                said = f"name = {_said(name)} must have no dot, nor be {taken[0]}, for [grid]"
                self.text.fail(said, *where, number, "name")
        return names

    def _panel(self, settings: JsonObject, axis: str = "", number: int = 0) -> Panel:
        """A panel of these settings; a fault of an axis stands at its value of this number."""
        axes = self.axes.items()
        places = {key: one.place(number if key == axis else 0) for key, one in axes}
        panel: Panel = self._valid(self.kind, settings, (), {**self._places, **places})
        return panel

    def _valid(
        self, model: Any, values: JsonObject, where: Place, places: dict[str, Place] | None = None
    ) -> Any:
        """Validate strictly, as JSON; the first fault in the file is told."""
        found: list[tuple[Place, Any]] = []
        try:
            return model.model_validate_json(json.dumps(values), strict=True)
        except ValidationError as error:
            for fault in error.errors():
                field, *rest = fault["loc"]
                start = (places or {}).get(str(field), (field,))
                if field in NAMED and rest:
                    rest[0] = values[field][rest[0]]["name"]
                    start, rest = (*start, rest[0]), rest[1:]
                inner = [one for one in rest if isinstance(one, int) or one in _INNER]
                found.append(((*where, *start, *inner), fault))
        return self._wrong(found)

    def _wrong(self, found: Sequence[tuple[Place, Any]]) -> NoReturn:
        """Tell the first of some faults in the file."""
        path, fault = min(found, key=lambda one: self.text.lines.of(*one[0]))
        name = next(part for part in reversed(path) if isinstance(part, str))
        if fault["type"] == "missing" and isinstance(path[-1], str):
            if path[0] in NAMED:
                table = ".".join(map(str, path[:2]))
                self.text.fail(f"{name} is missing; give it below [{table}]", *path)
            below = {"path": "[environment]"}.get(name, "[setting]")
            self.text.fail(f"{name} is missing; give it below {below}", "problem")
        same = [one for at, one in found if at[: len(path)] == path]
        several = isinstance(fault["input"], list | dict) and path[0] in TABLES
        hint = "; several values go below [grid]" if several and name not in _MUST else ""
        self.text.fail(f"{name} = {_said(fault['input'])} {_musts(same, name)}{hint}", *path)

    def _refuse(self, error: InvalidInput, panel: Panel, *, several: bool) -> NoReturn:
        """Say what was refused and where in the grid, at the line of the key that is named."""
        said = f"{self._at(panel, several)}{error}"
        if isinstance(error, Misplaced):
            field = ".".join(map(str, error.path))
            varied = self.axes.get(field)
            place = varied.place(varied.values.index(panel.at(field))) if varied else error.path
            self.text.fail(said, *place)
        named = _NAMED.match(str(error))
        key = named.group(1) if named else ""
        if key == "environment":
            self.text.fail(said, "environment", "path")
        for field in (key, _CALLED.get(key, "")):
            if field in self.axes:
                axis = self.axes[field]
                self.text.fail(said, *axis.place(axis.values.index(panel.at(field))))
            if field in self._places:
                self.text.fail(said, *self._places[field])
        self.text.fail(said, "grid" if self.axes else "problem")

    def _at(self, panel: Panel, several: bool) -> str:
        place = ", ".join(f"{key} = {shown(value)}" for key, value in panel.place.items())
        return f"at {place}: " if several else ""


_INNER = {"name", "path", "settings", "default", "kind", *AgentEntry.model_fields}
_NEEDS = {
    "agents": "[[agents]]",
    "environment": 'problem = "own" and [environment]',
    "floors": 'problem = "own" and [floors.NAME]',
    "measures": 'problem = "own" and [measures.NAME]',
}
_FORMS = {
    "agents": "agents.mine.c",
    "environment": "environment.size",
    "floors": "floors.quality.alpha",
    "measures": "measures.quality.size",
}


def _entries(table: str, named: JsonObject) -> list[JsonObject]:
    """Floors or measures as a panel has them: in their order, each with its name.

    >>> _entries("floors", {"cost": {"kind": "CostCeiling", "alpha": 1}})
    [{'name': 'cost', 'kind': 'CostCeiling', 'settings': {'alpha': 1}}]
    """
    if table == "measures":
        return [{"name": name, **one} for name, one in named.items()]
    return [
        {
            "name": name,
            **{key: value for key, value in one.items() if key == "kind"},
            "settings": {key: value for key, value in one.items() if key != "kind"},
        }
        for name, one in named.items()
    ]


def _said(value: Any) -> str:
    """A value as a file has it, true for True.

    >>> _said(True), _said(0.05), _said("a")
    ('true', '0.05', '"a"')
    """
    return (
        json.dumps(value)
        if isinstance(value, bool | str) and len(str(value)) < 60
        else shown(value)
    )


def _musts(faults: Sequence[Any], name: str) -> str:
    """What a value must be, of all kinds that a field takes."""
    if name in _MUST:
        return _MUST[name]
    every = dict.fromkeys(must(fault, name).removeprefix("must be ") for fault in faults)
    said = " or ".join(every)
    return said if said.startswith("must") else f"must be {said}"
