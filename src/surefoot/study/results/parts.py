"""The parts of a cell: which runs a file holds, which are missing, and which file counts.

A part is a file ``part-<first>-<last>.parquet`` with every run from the first to the last, so that
its name says all of this and nothing has to be opened. Parts may overlap, as when a task was done
twice: a run counts in the first file, by name, that has it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

RUNS = "runs"
"""The folder of all cells."""
ANY = 10**6
"""More than the number of any run: a name has six digits."""
BLOCK = 32
"""Runs that one shard does on end."""
_NAME = re.compile(r"part-(\d{6})-(\d{6})\.parquet")
_CELL = re.compile(r"[0-9a-f]{16}")
_DRAFT = re.compile(r"\.part-\d{6}-\d{6}\.[0-9a-f]{32}\.parquet")


class Part(NamedTuple):
    """A file of finished runs: all from ``first`` to ``last``.

    >>> Part(0, 99).name
    'part-000000-000099.parquet'
    """

    first: int
    last: int

    @property
    def name(self) -> str:
        """Its file's name; names sort as the numbers do."""
        return f"part-{self.first:06d}-{self.last:06d}.parquet"


def parts_in(folder: Path) -> list[Part]:
    """The parts in a cell's folder, in the order of their names; drafts are none."""
    try:
        with os.scandir(folder) as files:
            found = [_NAME.fullmatch(file.name) for file in files]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(Part(int(one[1]), int(one[2])) for one in found if one)


def counting(parts: Iterable[Part], runs: int) -> Iterator[tuple[Part, range]]:
    """Of parts in order, which of the runs below ``runs`` count in each; never none.

    Earlier parts begin no later, so what they have of a part is its beginning.

    >>> list(counting([Part(0, 4), Part(0, 7), Part(3, 5), Part(9, 9)], runs=20))
    [(Part(first=0, last=4), range(0, 5)), (Part(first=0, last=7), range(5, 8)), \
(Part(first=9, last=9), range(9, 10))]
    """
    end = 0
    for part in parts:
        counts = range(max(part.first, end), min(part.last + 1, runs))
        if counts:
            yield part, counts
            end = counts.stop


def missing(parts: Iterable[Part], wanted: range) -> list[range]:
    """Which of the wanted runs no part has, as runs of consecutive numbers.

    >>> missing([Part(2, 3), Part(6, 6)], range(1, 9))
    [range(1, 2), range(4, 6), range(7, 9)]
    """
    found, end = [], wanted.start
    for _, counts in counting(parts, wanted.stop):
        if counts.start > end:
            found.append(range(end, counts.start))
        end = max(end, counts.stop)
    return [*found, range(end, wanted.stop)] if end < wanted.stop else found


def together(lacking: Sequence[Sequence[range]]) -> Iterator[tuple[range, list[int]]]:
    """What several cells lack, as runs of consecutive numbers that the same ones of them lack.

    >>> list(together([[range(0, 6)], [range(4, 9)]]))
    [(range(0, 4), [0]), (range(4, 6), [0, 1]), (range(6, 9), [1])]
    """
    turns: dict[int, set[int]] = {}
    for cell, spans in enumerate(lacking):
        for span in spans:
            for edge in (span.start, span.stop):
                turns.setdefault(edge, set()).symmetric_difference_update({cell})
    open_now: set[int] = set()
    before = 0
    for edge in sorted(turns):
        if open_now and turns[edge]:
            yield range(before, edge), sorted(open_now)
        if turns[edge]:
            open_now ^= turns[edge]
            before = edge


def of_shard(spans: Iterable[range], shard: int, shards: int) -> list[range]:
    """What of some runs belongs to one shard of several, from 1: every so manieth block of 32.

    >>> of_shard([range(10, 100)], shard=1, shards=2)
    [range(10, 32), range(64, 96)]
    """
    found = []
    for span in spans:
        blocks = range(span.start // BLOCK, -(-span.stop // BLOCK))
        for block in blocks:
            if block % shards == shard - 1:
                start, stop = block * BLOCK, (block + 1) * BLOCK
                found.append(range(max(start, span.start), min(stop, span.stop)))
    return found


def pieces(span: range, size: int) -> Iterator[range]:
    """A span in pieces of at most ``size`` runs.

    >>> list(pieces(range(3, 8), 2))
    [range(3, 5), range(5, 7), range(7, 8)]
    """
    for start in range(span.start, span.stop, size):
        yield range(start, min(start + size, span.stop))


def clear(runs: Path) -> None:
    """Remove parts and their drafts from the cells' folders, and the folders that are then empty.

    What no study wrote stays.
    """
    cells = runs.iterdir() if runs.is_dir() else ()
    for cell in [one for one in cells if _CELL.fullmatch(one.name) and one.is_dir()]:
        for file in list(cell.iterdir()):
            if _NAME.fullmatch(file.name) or _DRAFT.fullmatch(file.name):
                file.unlink(missing_ok=True)
        _drop(cell)
    _drop(runs)


def _drop(folder: Path) -> None:
    """Remove a folder unless it holds something."""
    try:
        folder.rmdir()
    except OSError:
        return
