from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.study.problems import MAIN
from surefoot.study.results import compaction
from surefoot.study.results.compaction import compact
from surefoot.study.results.parts import Part, parts_in
from surefoot.study.results.rows import axes_of, schema
from surefoot.study.results.store import Runs
from surefoot.study.sweep import Sweep, read

SWEEP = Sweep.of(read(MAIN["cmab"])).but(K=(2,), horizon=10, runs=1_000)
(PANEL,) = SWEEP.panels


def written(folder, parts):
    """A cell with these parts, and what reads it."""
    runs = Runs(folder, SWEEP, {PANEL.name: {"cell": "0123456789abcdef"}})
    cell = runs.cell(PANEL)
    columns = schema(axes_of(SWEEP.panels))
    for part in parts:
        rows = [
            {"cell": cell, "agent": name, "run": run, "t": t, "regret": run + t / 100}
            for name in PANEL.names()
            for run in range(part.first, part.last + 1)
            for t in (5, 10)
        ]
        frame = pl.DataFrame(rows, schema_overrides={"run": pl.Int64, "t": pl.Int64})
        full = {name: frame[name] if name in frame.columns else None for name in columns}
        file = runs.place(cell) / part.name
        file.parent.mkdir(parents=True, exist_ok=True)
        pl.DataFrame(full, schema=columns).write_parquet(file)
    return runs, cell


def rows(runs, cell):
    return runs.scan(cell).sort("agent", "run", "t").collect()


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), min_size=1, max_size=8))
@settings(max_examples=15, deadline=None)
def test_the_rows_are_the_same_before_and_after(tmp_path_factory, spans):
    parts = [Part(first, first + more) for first, more in spans]
    runs, cell = written(tmp_path_factory.mktemp("cell"), parts)
    before, missing = rows(runs, cell), runs.missing(cell)
    compact(runs, cell, most=0)
    assert rows(runs, cell).equals(before)
    assert runs.missing(cell) == missing
    left = runs.parts(cell)
    assert all(one.last + 1 < other.first for one, other in pairwise(left))
    assert compact(runs, cell, most=0) == 0


EACH = [Part(run, run) for run in range(6)]


def test_few_parts_stay(tmp_path):
    runs, cell = written(tmp_path, EACH)
    assert compact(runs, cell, most=6) == 0
    assert runs.parts(cell) == EACH
    assert compact(runs, cell, most=5) == 6
    assert runs.parts(cell) == [Part(0, 5)]


def test_files_end_at_the_size(tmp_path):
    runs, cell = written(tmp_path, EACH)
    each = (runs.place(cell) / EACH[0].name).stat().st_size
    compact(runs, cell, most=1, size=3 * each + 50)
    assert runs.parts(cell) == [Part(0, 2), Part(3, 5)]


@pytest.mark.parametrize("done", range(7))
def test_a_kill_between_writing_and_deleting_is_harmless(tmp_path, monkeypatch, done):
    runs, cell = written(tmp_path, EACH)
    before, deleted = rows(runs, cell), []
    delete = Path.unlink

    def killed(self, **options):
        if self.name.startswith("part-"):
            if len(deleted) == done:
                raise SystemExit(9)
            deleted.append(self)
        delete(self, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", killed)
        if done < 6:
            with pytest.raises(SystemExit):
                compact(runs, cell, most=1)
        else:
            compact(runs, cell, most=1)
    assert len(runs.parts(cell)) == 7 - done
    assert rows(runs, cell).equals(before)
    assert runs.missing(cell) == [range(6, 1_000)]
    compact(runs, cell, most=0)
    assert runs.parts(cell) == [Part(0, 5)]
    assert rows(runs, cell).equals(before)


@pytest.mark.parametrize("damage", [b"", b"PAR1 not a table"])
def test_a_damaged_part_is_not_spread(tmp_path, damage):
    runs, cell = written(tmp_path, EACH)
    (runs.place(cell) / EACH[2].name).write_bytes(damage)
    assert compact(runs, cell, most=1) == 0
    assert parts_in(runs.place(cell)) == EACH
    assert EACH[2].name in str(runs.damaged(cell))


def test_the_limit_is_a_thousand_parts():
    assert (compaction.MOST, compaction.BYTES) == (1_000, 2**27)
