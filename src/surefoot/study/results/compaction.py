"""Few large files instead of many small ones, of a cell that has too many."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from surefoot.study.files import replacing, uninterrupted
from surefoot.study.results import parts
from surefoot.study.results.parts import Part
from surefoot.study.results.sealed import OPEN, intact, seal
from surefoot.study.results.store import ROWS, Runs

MOST = 1_000
"""Parts of a cell, above which it is compacted."""
BYTES = 128 << 20
"""About so large are the files that it is compacted to."""


def compact(runs: Runs, cell: str, *, most: int = MOST, size: int = BYTES) -> int:
    """Put the parts of a cell together where there are more than ``most``; how many are gone.

    Parts whose runs follow one another become one file of about ``size`` bytes, which is written
    before they are deleted. A run is read from the first file, by name, that has it, so a reader
    counts each run once at any moment, and a kill in between costs nothing: the next call goes on.
    Nothing else happens to the rows. A cell with a damaged part is left as it is.

    Holds when: nobody else compacts the same cell. Tasks may go on meanwhile.
    """
    folder = runs.place(cell)
    found = runs.parts(cell)
    if len(found) <= most or not _sound(folder, found):
        return 0
    gone = 0
    for group in _groups(folder, found, size):
        with uninterrupted():
            gone += _join(folder, group)
    return gone


def _sound(folder: Path, found: list[Part]) -> bool:
    """Whether each part is what was written and has as many rows as its name says.

    Damage must not be spread.
    """
    import polars as pl

    each = set()
    for part in found:
        rows = pl.scan_parquet(folder / part.name, glob=False, hive_partitioning=False)
        try:
            if not intact(folder / part.name):
                return False
            count = int(rows.select(pl.len()).collect().item())
        except (pl.exceptions.PolarsError, OSError):
            return False
        each.add(count / (part.last - part.first + 1))
    return len(each) == 1


def _groups(folder: Path, found: list[Part], size: int) -> Iterator[list[tuple[Part, range]]]:
    """Parts to be put together, with the runs that count in each, without a gap."""
    group: list[tuple[Part, range]] = []
    weight = 0
    for part, counts in parts.counting(found, parts.ANY):
        bytes_ = (folder / part.name).stat().st_size
        follows = bool(group) and group[-1][1].stop == counts.start
        if group and (not follows or weight + bytes_ > size):
            yield group
            group, weight = [], 0
        group.append((part, counts))
        weight += bytes_
    if group:
        yield group


def _join(folder: Path, group: list[tuple[Part, range]]) -> int:
    """Write a group as one file, and delete the files whose runs are all in it."""
    import polars as pl

    whole = Part(group[0][1].start, group[-1][1].stop - 1)
    if len(group) > 1:
        options: dict[str, Any] = {"glob": False, "hive_partitioning": False}
        frames = [
            pl.scan_parquet(folder / part.name, **options).filter(
                pl.col("run").is_between(counts.start, counts.stop - 1)
            )
            for part, counts in group
        ]
        with replacing(folder / whole.name) as draft:
            pl.concat(frames).sink_parquet(
                draft, row_group_size=ROWS, maintain_order=True, metadata=OPEN
            )
            with draft.open("rb+") as file:
                seal(file)
    gone = 0
    for part in parts.parts_in(folder):
        if part != whole and whole.first <= part.first and part.last <= whole.last:
            (folder / part.name).unlink(missing_ok=True)
            gone += 1
    return gone
