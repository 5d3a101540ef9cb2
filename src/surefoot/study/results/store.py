"""Finished runs on disk and how they are read: parts of a cell, whole or not there."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

from surefoot._types import JsonObject
from surefoot.errors import DamagedFile, InvalidInput, StoreUnavailable
from surefoot.study.files import replacing
from surefoot.study.panel import Panel
from surefoot.study.results import cells, manifest, parts
from surefoot.study.results.manifest import MANIFEST, OURS, SORTED
from surefoot.study.results.parts import Part
from surefoot.study.results.rows import axes_of, schema
from surefoot.study.results.sealed import intact, put
from surefoot.study.sweep import Sweep, panel_of

if TYPE_CHECKING:
    import polars as pl

TABLE = "runs.parquet"
LARGEST = 2_000_000
"""Rows of ``runs.parquet``; of more a study has its parts only."""
_AGAIN = 3
"""Parts that are put together meanwhile may be gone when they are read: then it is done anew."""
ROWS = 1 << 18
"""Rows of a row group: fixed, so that equal runs are equal files."""


class Runs:
    """The finished runs of some panels in a folder: what of them is there, and their rows.

    Each panel is a cell, a folder ``runs/<cell>`` of parts. A run counts in the first part, by
    name, that has it, so that parts may overlap. ``told``: of each panel as ``cells.told_of``.
    """

    def __init__(self, folder: Path, sweep: Sweep, told: Mapping[str, JsonObject]) -> None:
        self.folder, self.sweep, self.told = folder, sweep, told
        self.axes = axes_of(sweep.panels)
        self._intact: set[Path] = set()
        groups = sweep.groups.values()
        self.cells = {self.cell(panel): panel for panels in groups for panel in panels}
        """The panels by their cells, those that are run together one after another."""

    @classmethod
    def of(cls, folder: Path) -> Self:
        """What a folder holds, by whatever versions it was made.

        Raises InvalidInput for a folder without a study, DamagedFile where its manifest cannot be
        read.
        """
        if not (folder / MANIFEST).is_file():
            raise InvalidInput(f"{folder} holds no study: there is no {MANIFEST} in it")
        theirs = manifest.read(folder)
        sweep = manifest.settings(theirs)
        told = manifest.told_by(theirs)
        names = [panel_of(one["settings"]).name for one in told]
        return cls(folder, sweep, dict(zip(names, told, strict=True)))

    def cell(self, panel: Panel) -> str:
        """The name of a panel's folder of runs."""
        return str(self.told[panel.name]["cell"])

    def parts(self, cell: str) -> list[Part]:
        """The parts of a cell, in the order of their names."""
        return parts.parts_in(self.place(cell))

    def missing(self, cell: str) -> list[range]:
        """The numbers of the runs that a cell still lacks, of those the sweep asks for."""
        return parts.missing(self.parts(cell), range(self.sweep.runs))

    def finished(self, cell: str) -> int:
        """How many runs a cell has, of those the sweep asks for."""
        return self.sweep.runs - sum(map(len, self.missing(cell)))

    @property
    def done(self) -> int:
        """How many of the runs the sweep asks for are finished, of all panels."""
        return sum(map(self.finished, self.cells))

    @property
    def complete(self) -> bool:
        """Whether no run that the sweep asks for is missing."""
        return not any(map(self.missing, self.cells))

    @property
    def kept(self) -> int:
        """How many finished runs there are, of all panels, those beyond the sweep's too."""
        return sum(
            len(counts)
            for cell in self.cells
            for _, counts in parts.counting(self.parts(cell), parts.ANY)
        )

    def lacking(self, shard: int = 1, shards: int = 1) -> int:
        """How many runs are left, of all panels; of one shard, if there are several."""
        return sum(
            len(span)
            for cell in self.cells
            for span in parts.of_shard(self.missing(cell), shard, shards)
        )

    def scan(self, cell: str) -> pl.LazyFrame:
        """The rows of a cell's finished runs, each run once, in no order; none is read yet.

        Raises DamagedFile for a part that is not what was written. What is read later may fail as
        polars does, where a part is of another schema: then ask ``damaged``.
        """
        import polars as pl

        options: dict[str, Any] = {"glob": False, "hive_partitioning": False}
        whole, cut = [], []
        for part, counts in parts.counting(self.parts(cell), self.sweep.runs):
            file = self.place(cell) / part.name
            if fault := self._fault(file, cell, part):
                raise fault
            if counts == range(part.first, part.last + 1):
                whole.append(file)
            else:
                wanted = pl.col("run").is_between(counts.start, counts.stop - 1)
                cut.append(pl.scan_parquet(file, **options).filter(wanted))
        frames = [pl.scan_parquet(whole, **options)] if whole else []
        return (
            pl.concat([*frames, *cut]) if whole or cut else pl.LazyFrame(schema=schema(self.axes))
        )

    def rows(self, cell: str) -> pl.DataFrame:
        """The rows of a cell's finished runs, by agent, run and t.

        Raises DamagedFile, naming the part, where one cannot be read or lacks rows.
        """
        import polars as pl

        for _ in range(_AGAIN):
            try:
                frame = self.scan(cell).collect()
                counts = frame.group_by("run").len().get_column("len")
                if len(counts) == self.finished(cell) and counts.n_unique() <= 1:
                    return frame.sort(order_of(self.cells[cell]), "run", "t")
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
                pass
            if damage := self.damaged(cell):
                raise damage
        raise DamagedFile(
            f"the parts in {self.place(cell)} do not fit each other; delete them and go on with "
            "--resume"
        )

    def count_rows(self, cell: str) -> int:
        """How many rows a cell's finished runs have."""
        import polars as pl

        return int(self.scan(cell).select(pl.len()).collect().item())

    def damaged(self, cell: str) -> DamagedFile | None:
        """What to say of the first part of a cell that cannot be read or lacks rows; None: none."""
        import polars as pl

        for part in self.parts(cell):
            file = self.place(cell) / part.name
            try:
                if fault := self._fault(file, cell, part):
                    return fault
                frame = pl.read_parquet(file, glob=False, hive_partitioning=False)
                each = frame.group_by("run").len().get_column("len")
                usual = dict(frame.schema) == schema(self.axes) and each.n_unique() == 1
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
                usual = False
            if not usual or len(each) != part.last - part.first + 1:
                return _damage(file)
        return None

    def _fault(self, file: Path, cell: str, part: Part) -> DamagedFile | None:
        """What to say of a part that is not what was written, or lies in another's place.

        It is read once for that; what cannot be read is said by whoever opens it next.
        """
        import polars as pl

        if file not in self._intact:
            with suppress(OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
                if not intact(file):
                    return _damage(file)
                cells, first, last = _held(file)
                if cells != {cell} or first < part.first or last > part.last:
                    return DamagedFile(
                        f"{file} holds other runs than its folder and name say: it was copied or "
                        "renamed; delete it and go on with --resume"
                    )
            self._intact.add(file)
        return None

    def place(self, cell: str) -> Path:
        """The folder of a cell's parts."""
        return self.folder / parts.RUNS / cell


def _held(file: Path) -> tuple[set[str], int, int]:
    """The cells in a part, its first run and its last."""
    import polars as pl

    table = pl.scan_parquet(file, glob=False, hive_partitioning=False)
    cell, run = pl.col("cell"), pl.col("run")
    ends = table.select(cell.min(), cell.max().alias("to"), run.min(), run.max().alias("last"))
    least, most, first, last = ends.collect().row(0)
    return {least, most}, first, last


def _damage(file: Path) -> DamagedFile:
    return DamagedFile(f"{file} is damaged; delete it and go on with --resume")


class Store(Runs):
    """The runs of one sweep in one folder, to be gone on with.

    ``study.json`` says which study they belong to; ``claim`` writes it, before any run, and of
    several processes that start one study at once a single one does. A study
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
        self._overwrite, self._resume, self.theory = overwrite, resume, theory
        if resume and overwrite:
            raise InvalidInput("--resume and --overwrite exclude each other; give one")
        if folder.exists() and not folder.is_dir():
            raise InvalidInput(f"{folder} is a file; give a folder as --out")
        taken = [name for name in OURS if (folder / name).exists()]
        mine = MANIFEST in taken
        if taken and not mine:
            raise InvalidInput(f"{folder} already holds {taken[0]}; give another --out")
        self.begun = mine and not overwrite
        theirs = manifest.read(folder) if self.begun else None
        names = [panel.name for panel in sweep.panels]
        told = cells.told_of(sweep.panels)
        super().__init__(folder, sweep, dict(zip(names, told, strict=True)))
        if theirs is not None:
            manifest.same(theirs, self._manifest(), folder, resume=resume)
            self.theory = theory or (resume and theirs["theory"])

    def claim(self) -> None:
        """Say in the folder which study it belongs to, after clearing it if so asked."""
        if self._overwrite:
            manifest.clear(self.folder)
        manifest.claim(self.folder, self._manifest(), resume=self._resume)

    def check(self) -> None:
        """Raise InvalidInput if another study has taken the folder since it was claimed."""
        there = manifest.held(self.folder)
        if there is None or not there.cells.issuperset(self.cells):
            raise InvalidInput(
                f"{self.folder} holds another study by now: somebody overwrote this one, whose "
                "results are not written; give another --out"
            )

    def _manifest(self) -> JsonObject:
        told = [self.told[panel.name] for panel in self.sweep.panels]
        return manifest.manifest_of(self.sweep, told, theory=self.theory)


def asked_for(folder: Path, sweep: Sweep, *, resume: bool, **changes: Any) -> Sweep:
    """The study asked for: the one in the folder if it is to go on, else ``sweep``, but changed.

    So an option that is left out on resuming means what it meant at the start.
    """
    if resume and (folder / MANIFEST).is_file():
        there = manifest.settings(manifest.read(folder))
        if list(there.problems) == list(sweep.problems):
            sweep = there
    return sweep.but(**changes)


def write_table(runs: Runs) -> bool:
    """Write the finished runs of all panels as ``runs.parquet``, unless they are too many.

    Above ``LARGEST`` rows it is left out, and an older one removed: ``runs/`` is what is read then.
    Panels are in the order of ``cells``; axes and measures that no panel has are left out. One
    panel is in memory at a time. Returns whether it was written.
    """
    import polars as pl

    panels = {cell: panel for cell, panel in runs.cells.items() if runs.finished(cell)}
    file = runs.folder / TABLE
    if sum(map(runs.count_rows, panels)) > LARGEST:
        file.unlink(missing_ok=True)
        return False
    axes = {axis for panel in panels.values() for axis in panel.place}
    measures = {measure for panel in panels.values() for measure in panel.measures()}
    had = {"problem", "agent", "run", "t", *axes, *measures}
    columns = [column for column in schema(runs.axes) if column in had]
    with replacing(file) as draft, TemporaryDirectory(prefix=SORTED, dir=runs.folder) as folder:
        sorted_cells = [Path(folder) / f"{cell}.parquet" for cell in panels]
        for cell, one in zip(panels, sorted_cells, strict=True):
            put(one, runs.rows(cell).select(columns))
        whole = pl.scan_parquet(sorted_cells, glob=False, hive_partitioning=False)
        try:
            whole.sink_parquet(draft, row_group_size=ROWS, maintain_order=True)
        except pl.exceptions.PolarsError as error:  # so it calls a full disk, too
            raise StoreUnavailable(
                f"{file} cannot be written: {error}; all runs are kept: mend it and give the same "
                "command again"
            ) from error
    return True


def order_of(panel: Panel) -> pl.Expr:
    """What sorts rows by agent as the panel names them."""
    import polars as pl

    return pl.col("agent").cast(pl.Enum(panel.names()))
