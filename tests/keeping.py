"""Parts of a study that nobody played, for tests of what is read and counted."""

import resource
from contextlib import contextmanager

import polars as pl

from surefoot.study.results.parts import Part
from surefoot.study.results.rows import schema
from surefoot.study.results.sealed import put


def rows(store, cell, first, last, t=(1, 2), slack=0.0):
    """Rows of a cell's runs from first to last, in the schema of its study."""
    panel = store.cells[cell]
    columns = schema(store.axes)
    place = {"cell": cell, "problem": panel.problem, **panel.place, "slack": slack}
    made = [
        {**dict.fromkeys(columns, 0), **dict.fromkeys(store.axes), **place, "agent": agent,
         "run": run, "t": play}
        for agent in panel.names()
        for run in range(first, last + 1)
        for play in t
    ]  # fmt: skip
    return pl.DataFrame(made, schema=columns)


def keep(store, cell, first, last, **options):
    """Put a part of a cell on disk; its path."""
    file = store.folder / "runs" / cell / Part(first, last).name
    put(file, rows(store, cell, first, last, **options))
    return file


@contextmanager
def no_file_beyond(size):
    """No file may grow beyond so many bytes meanwhile, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
