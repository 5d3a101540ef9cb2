"""Finished runs on disk and how they are read: one file a run, whole or not there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot import _compile
from surefoot._types import JsonObject
from surefoot.errors import DamagedFile, InvalidInput
from surefoot.study.files import FORMATS, replacing, versions, write_json
from surefoot.study.numbers import Array
from surefoot.study.panel import Panel
from surefoot.study.sweep import Sweep, panel_of

if TYPE_CHECKING:
    import polars as pl


MANIFEST = "study.json"
_FORMAT = 2
_OURS = (MANIFEST, "parts", "summary.json", "runs.parquet", "report.html")
DECIDE = ("surefoot", "numpy", "numba")  # a run may come out otherwise under another version
PARTS = ("", "-theory")
"""The figures of a panel, by what follows its name."""
_FREE = {"runs"}  # more runs of the same study go on from those that are there


class Store:
    """The runs of one sweep in one folder, each a Parquet file ``parts/<plan>/run-<number>``.

    ``study.json`` says which study they belong to; ``claim`` writes it, before any run. A study
    that is there already goes on if it is this very one, and with ``resume`` also with another
    number of runs; ``begun`` is then true. Fewer runs than it was to have leave its aim and what is
    kept as they are. ``theory``, whether the theorems are drawn, is remembered for ``resume`` too.
    Raises InvalidInput if the folder holds another one, unless
    ``overwrite`` is asked for; files that no study wrote are never removed.

    Holds when: a file system renames atomically: a run is there in whole or not at all, also
    after a kill. Does not hold when: somebody edits the parts.
    """

    def __init__(
        self,
        folder: Path,
        sweep: Sweep,
        *,
        resume: bool = False,
        overwrite: bool = False,
        theory: bool = False,
    ) -> None:
        self.folder, self.sweep, self._overwrite = folder, sweep, overwrite
        self.theory = theory
        if resume and overwrite:
            raise InvalidInput("--resume and --overwrite exclude each other; give one")
        if folder.exists() and not folder.is_dir():
            raise InvalidInput(f"{folder} is a file; give a folder as --out")
        taken = [name for name in _OURS if (folder / name).exists()]
        mine = MANIFEST in taken
        if taken and not mine:
            raise InvalidInput(f"{folder} already holds {taken[0]}; give another --out")
        self.begun = mine and not overwrite
        self._aim = sweep.runs
        if self.begun:
            theirs = read_manifest(folder)
            _same(theirs, sweep, self._manifest(), folder, resume=resume)
            self._aim = max(self._aim, _settings(theirs).runs)
            self.theory = theory or (resume and theirs["theory"])

    def claim(self) -> None:
        """Say in the folder which study it belongs to, after clearing it if so asked."""
        if self._overwrite:
            _clear(self.folder)
        write_json(self.folder / MANIFEST, self._manifest())

    def _manifest(self) -> JsonObject:
        panels = self.sweep.but(runs=self._aim).panels
        return {
            "format": _FORMAT,
            "panels": [panel.model_dump(mode="json") for panel in panels],
            "theory": self.theory,
            "engine": _compile.fingerprint(),
            "versions": versions(),
        }

    def finished(self, plan: str) -> list[int]:
        """The numbers of a plan's finished runs, of those this sweep asks for."""
        return [run for run in range(self.sweep.runs) if self._part(plan, run).exists()]

    @property
    def done(self) -> int:
        """How many of the runs this sweep asks for are finished, of all panels."""
        return sum(
            len(panels) * len(self.finished(name)) for name, panels in self.sweep.groups.items()
        )

    @property
    def kept(self) -> int:
        """How many finished runs there are, of all panels, those beyond the sweep's too."""
        parts = self.folder / "parts"
        return sum(
            len(panels) * sum(1 for _ in (parts / name).glob("run-*.parquet"))
            for name, panels in self.sweep.groups.items()
        )

    def missing(self, plan: str) -> list[int]:
        """The numbers of the runs still to be done."""
        return [run for run in range(self.sweep.runs) if not self._part(plan, run).exists()]

    def keep(self, plan: str, run: int, frame: pl.DataFrame) -> None:
        """Put a finished run on disk."""
        with replacing(self._part(plan, run)) as scratch:
            frame.write_parquet(scratch)

    def load(self, plan: str) -> list[pl.DataFrame]:
        """The finished runs of a plan, in order of their numbers."""
        import polars as pl

        frames = []
        for run in self.finished(plan):
            part = self._part(plan, run)
            try:
                frames.append(pl.read_parquet(part, glob=False))
            except pl.exceptions.PolarsError:
                raise DamagedFile(f"{part} is damaged; delete it and go on with --resume") from None
        return frames

    def _part(self, plan: str, run: int) -> Path:
        return self.folder / "parts" / plan / f"run-{run:06d}.parquet"


def read_manifest(folder: Path) -> JsonObject:
    """What study a folder holds. Raises DamagedFile if its manifest cannot be read."""
    file = folder / MANIFEST
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
        known = manifest["format"] == _FORMAT
        if known:
            _settings(manifest)
            manifest["theory"] = bool(manifest.get("theory", False))
        manifest["versions"].items(), manifest["engine"].encode()
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        raise DamagedFile(f"{file} is not a study's manifest; give another --out") from None
    if not known:
        raise DamagedFile(
            f"{file} has a format of another version of Surefoot than this; give another --out"
        )
    return dict(manifest)


def _settings(manifest: JsonObject) -> Sweep:
    return Sweep.of(*map(panel_of, manifest["panels"]))


def asked_for(folder: Path, sweep: Sweep, *, resume: bool, **changes: Any) -> Sweep:
    """The study asked for: the one in the folder if it is to go on, else ``sweep``, but changed.

    So an option that is left out on resuming means what it meant at the start.
    """
    if resume and (folder / MANIFEST).is_file():
        there = _settings(read_manifest(folder))
        if list(there.problems) == list(sweep.problems):
            sweep = there
    return sweep.but(**changes)


def _same(theirs: JsonObject, mine: Sweep, made: JsonObject, folder: Path, *, resume: bool) -> None:
    """Refuse to mix runs of two studies, naming the first field that differs."""
    there = _settings(theirs)
    kinds = [*there.problems.values(), *mine.problems.values()]
    named = dict.fromkeys(["problem", *(field for kind in kinds for field in kind.model_fields)])
    fields = [field for field in named if field not in {"source", "because"}]
    for field in [*fields, "name"]:  # the name, for panels that were left out
        value, other = mine.values(field), there.values(field)
        if other != value and not (resume and field in _FREE):
            way = "leave the option out" if resume else "start again with --overwrite"
            if field in _FREE:
                way = f"go on with --resume, {way}"
            raise InvalidInput(
                f"{field} = {', '.join(map(str, value))} differs from the study in {folder}, which "
                f"has {field} = {', '.join(map(str, other))}; {way}, or give another --out"
            )
    pairs = [(name, theirs["versions"].get(name), made["versions"].get(name)) for name in DECIDE]
    for name, before, now in [*pairs, ("engine", theirs["engine"], made["engine"])]:
        if before != now:
            raise InvalidInput(
                f"{name}: the runs in {folder} were made with {before}, this is {now}; "
                "start again with --overwrite, or give another --out"
            )


def _clear(folder: Path) -> None:
    """Remove what the study in a folder wrote; the manifest last, for it says what is ours."""
    if not (folder / MANIFEST).exists():
        return
    stems = [
        panel.name + part for panel in _settings(read_manifest(folder)).panels for part in PARTS
    ]
    figures = [f"{stem}.{ending}" for stem in stems for ending in FORMATS]
    shutil.rmtree(folder / "parts", ignore_errors=True)
    for name in [*figures, "summary.json", "runs.parquet", "report.html", MANIFEST]:
        (folder / name).unlink(missing_ok=True)


def of_panel(frame: pl.DataFrame, panel: Panel) -> pl.DataFrame:
    """The rows of one panel."""
    return frame.filter(problem=panel.problem, **panel.place)


class PanelRuns:
    """The finished runs of one panel, by agent and measure, from its rows.

    ``t``: the checkpoints, ascending; ``count``: how many runs there are.
    """

    def __init__(self, panel: Panel, frame: pl.DataFrame) -> None:
        self.panel, self.frame = panel, frame
        self.count = frame.get_column("run").n_unique()
        self.t = frame.get_column("t").unique().sort().to_numpy()

    def of(self, name: str, measure: str) -> Array:
        """One agent's measure, as an array of shape (runs, checkpoints)."""
        rows = self.frame.filter(agent=name).sort("run", "t")
        return np.reshape(rows.get_column(measure).to_numpy(), (self.count, -1))

    def last(self, name: str, measure: str) -> Array:
        """One agent's measure at the horizon, run by run."""
        return self.of(name, measure)[:, -1]
