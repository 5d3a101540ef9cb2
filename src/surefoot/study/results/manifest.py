"""``study.json``: which study a folder holds, what its runs were made with, and on what machine."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from surefoot._files import create
from surefoot._types import JsonObject
from surefoot.errors import DamagedFile, InvalidInput
from surefoot.study.files import FORMATS, read_json, to_json, versions, write_json
from surefoot.study.grids import grids
from surefoot.study.panel import Panel
from surefoot.study.results import cells, open_runs, parts
from surefoot.study.results.cells import made_with
from surefoot.study.results.rows import axes_of
from surefoot.study.sweep import Sweep, panel_of

MANIFEST, LOG = "study.json", "log.ndjson"
FORMAT = 3
BEFORE = 2
"""The format of studies that had a file for each run, in ``parts``."""
_RUN_BEFORE = re.compile(r"(\.run-[0-9]{6}\.[0-9]+|run-[0-9]{6})\.parquet")
_FIGURES = ("", "-theory")
"""The figures of a panel, by what follows its name."""
SORTED = ".sorted-"
"""How the name of a folder begins that holds cells while ``runs.parquet`` is written."""
_TABLES = ("summary.json", "summary.csv", "runs.parquet", "report.html")
OURS = (MANIFEST, LOG, parts.RUNS, open_runs.FOLDER, "parts", *_TABLES)
_PATIENCE = (0.05, 0.5)
_LONGEST = 120
"""Characters of the values that an error names."""
_LISTS = {"entries": "agent", "promises": "floor", "parts": "measure"}
"""Fields of which a study has several, and what each is called."""
_FREE = {"runs"}  # more runs of the same study go on from those that are there


def manifest_of(sweep: Sweep, told: Sequence[JsonObject], *, theory: bool) -> JsonObject:
    """What ``study.json`` says; ``told``: of each panel, as ``cells.told_of``."""
    return {
        "format": FORMAT,
        "panels": [panel.model_dump(mode="json") for panel in sweep.panels],
        "cells": [{name: one[name] for name in ("cell", "arrays", "sources")} for one in told],
        "theory": theory,
        "made": made_with(),
        "versions": versions(),
    }


def machine() -> JsonObject:
    """What this machine computes with, on which the last digits of a run could depend."""
    import numba

    return {
        "processor": processor(),
        "libc": " ".join(platform.libc_ver()).strip(),
        "svml": bool(numba.config.USING_SVML),  # type: ignore[attr-defined]
    }


def processor() -> str:
    """The kind of this machine's processor, by which numba compiles."""
    import llvmlite.binding as llvm  # type: ignore[import-untyped]

    return f"{platform.machine()} {llvm.get_host_cpu_name()}"


def claim(folder: Path, mine: JsonObject, *, resume: bool) -> None:
    """Say in a folder what it holds, if nobody has; raises InvalidInput if it is another study.

    One that is to have more runs, or to show the theorems, is told so.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if create(folder / MANIFEST, to_json({**mine, "machine": machine()}) + "\n"):
        return
    theirs = _written(folder)
    same(theirs, mine, folder, resume=resume)
    aim = max(settings(theirs).runs, settings(mine).runs)
    panels = [panel.model_dump(mode="json") for panel in settings(mine).but(runs=aim).panels]
    grown = {**theirs, "panels": panels, "theory": mine["theory"]}
    if grown != theirs:
        write_json(folder / MANIFEST, grown)


def _written(folder: Path) -> JsonObject:
    """A manifest that another process may be writing: without hard links that takes a moment."""
    for seconds in _PATIENCE:
        with suppress(DamagedFile):
            return read(folder)
        time.sleep(seconds)
    return read(folder)


def read(folder: Path) -> JsonObject:
    """What study a folder holds. Raises DamagedFile if its manifest cannot be read."""
    file = folder / MANIFEST
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
        known = manifest["format"]
        if known == FORMAT:
            settings(manifest)
            manifest["theory"] = bool(manifest.get("theory", False))
            named = [(one["cell"], one["arrays"], one["sources"]) for one in manifest["cells"]]
            manifest["made"].items()
            if len(named) != len(manifest["panels"]):
                raise TypeError
        manifest["versions"].items()
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        raise DamagedFile(f"{file} is not a study's manifest; give another --out") from None
    if known == BEFORE:
        raise DamagedFile(
            f"{file} has format {BEFORE}, of an earlier version of Surefoot, which no longer goes "
            "on; start again with --overwrite, or give another --out"
        )
    if known != FORMAT:
        raise DamagedFile(
            f"{file} has format {known!r}, of another version of Surefoot than this; "
            "give another --out"
        )
    return dict(manifest)


def settings(manifest: JsonObject) -> Sweep:
    """The panels of a manifest."""
    return Sweep.of(*map(panel_of, manifest["panels"]))


def told_by(manifest: JsonObject) -> list[JsonObject]:
    """Of each panel of a manifest what ``cells.told_of`` says, as it was when the study began."""
    pairs = zip(manifest["panels"], manifest["cells"], strict=True)
    return [{"settings": panel, "made": manifest["made"], **cell} for panel, cell in pairs]


def same(theirs: JsonObject, mine: JsonObject, folder: Path, *, resume: bool) -> None:
    """Refuse to mix runs of two studies, naming the first field that differs."""
    there, here = settings(theirs), settings(mine)
    kinds = [*there.problems.values(), *here.problems.values()]
    named = dict.fromkeys(["problem", *(field for kind in kinds for field in kind.model_fields)])
    fields = [field for field in named if field not in {"source", "because", "home"}]
    for field in [*fields, "name"]:  # the name, for panels that were left out
        value, other = here.values(field), there.values(field)
        if other != value and not (resume and field in _FREE):
            way = "leave the option out" if resume else "start again with --overwrite"
            if field in _FREE:
                way = f"go on with --resume, {way}"
            called, mine_said, theirs_said = _told(field, value, other)
            raise InvalidInput(
                f"{called} = {mine_said} differs from the study in {folder}, which has {called} = "
                f"{theirs_said}; {way}, or give another --out"
            )
    for before, now in zip(told_by(theirs), told_by(mine), strict=True):
        if before["cell"] != now["cell"]:
            what = cells.difference(now, before, "this machine", str(folder))
            raise InvalidInput(f"{what}; start again with --overwrite, or give another --out")


def _told(field: str, mine: Sequence[Any], theirs: Sequence[Any]) -> tuple[str, str, str]:
    """What a field is called, and its values in two studies; of a list the first that differs.

    >>> _told("K", [24], [24, 72])
    ('K', '24', '24, 72')
    """
    if field in _LISTS:
        pairs = [(one or (), other or ()) for one, other in zip_longest(mine, theirs)]
        one, other = next((a, b) for a, b in pairs if a != b)
        here, there = next((a, b) for a, b in zip_longest(one, other) if a != b)
        return _LISTS[field], str(here or "none"), str(there or "none")
    called = {"world": "environment", "varied": "further axes"}.get(field, field)
    here, there = (", ".join(map(str, values)) for values in (mine, theirs))
    return called, _short(here), _short(there)


def _short(said: str) -> str:
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 3]}..."


class Held(NamedTuple):
    """Of which runs a study is."""

    cells: frozenset[str]
    axes: dict[str, str]
    """The columns of its rows, as ``rows.axes_of``."""


def held(folder: Path) -> Held | None:
    """Of which runs the study in a folder is, by now; None where it holds none."""
    try:
        # Opened, not looked up: only then does NFS ask the server whether the file is another now.
        with (folder / MANIFEST).open("rb") as file:
            found = os.fstat(file.fileno())
    except OSError:
        return None
    return _held(folder, found.st_ino, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=16)
def _held(folder: Path, *_stamp: int) -> Held:
    """As a manifest says that has not changed since."""
    found = read(folder)
    return Held(frozenset(one["cell"] for one in found["cells"]), axes_of(settings(found).panels))


def clear(folder: Path) -> None:
    """Remove what the study in a folder wrote; the manifest last, for it says what is ours."""
    file = folder / MANIFEST
    if not file.exists():
        return
    found = read_json(file)
    if isinstance(found, dict) and found.get("format") == BEFORE:
        panels = _panels_before(found, file)
        _clear_before(folder / "parts")
    else:
        panels = settings(read(folder)).panels
    stems = [panel.name + part for panel in panels for part in _FIGURES]
    stems += [grid.name for grid in grids(panels)]
    figures = [f"{stem}.{ending}" for stem in stems for ending in FORMATS]
    parts.clear(folder / parts.RUNS)
    for one in folder.glob(f"{SORTED}*"):  # of a process that was killed
        shutil.rmtree(one, ignore_errors=True)
    open_runs.clear(folder)
    for name in [*figures, *_TABLES, LOG, MANIFEST]:
        (folder / name).unlink(missing_ok=True)


def _panels_before(found: JsonObject, file: Path) -> tuple[Panel, ...]:
    try:
        return settings(found).panels
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        raise DamagedFile(f"{file} is not a study's manifest; give another --out") from None


def _clear_before(folder: Path) -> None:
    """Remove the runs of a study of the format before this; what no study wrote stays."""
    for file in list(folder.glob("*/*.parquet")):
        if _RUN_BEFORE.fullmatch(file.name):
            file.unlink(missing_ok=True)
    for place in (*folder.glob("*"), folder):
        with suppress(OSError):  # there is something else in it
            place.rmdir()
