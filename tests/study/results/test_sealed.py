import io

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.study.results.sealed import OPEN, intact, put, seal

FRAME = pl.DataFrame({"run": range(900), "slack": np.random.default_rng(0).normal(size=900)})


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    """A table on disk, and what was written."""
    file = tmp_path_factory.mktemp("sealed") / "a.parquet"
    put(file, FRAME)
    return file, file.read_bytes()


@given(st.data())
def test_no_wrong_bit_is_taken_for_another_number(sealed, data):
    file, raw = sealed
    place, bit = data.draw(st.integers(0, len(raw) - 1)), data.draw(st.integers(0, 7))
    wrong = bytearray(raw)
    wrong[place] ^= 1 << bit
    file.write_bytes(wrong)
    try:
        read = None if not intact(file) else pl.read_parquet(file, glob=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        read = None
    finally:
        file.write_bytes(raw)
    assert read is None or read.equals(FRAME)  # where the seal's own name was struck


@given(st.data())
def test_half_a_table_is_none(sealed, data):
    file, raw = sealed
    file.write_bytes(raw[: data.draw(st.integers(0, len(raw) - 1))])
    try:
        read = None if not intact(file) else pl.read_parquet(file, glob=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        read = None
    finally:
        file.write_bytes(raw)
    assert read is None


def test_what_others_write_is_read_by_all(sealed, tmp_path):
    file, _ = sealed
    assert pl.read_parquet(file, glob=False).equals(FRAME)
    duckdb = pytest.importorskip("duckdb")
    (counted,) = duckdb.sql(f"select count(*), sum(run) from '{file}'").fetchall()
    assert counted == (900, 899 * 450)
    FRAME.write_parquet(tmp_path / "theirs.parquet")
    assert intact(tmp_path / "theirs.parquet")


def test_a_table_is_sealed_in_pieces_as_in_whole(tmp_path):
    large = pl.DataFrame({"x": np.random.default_rng(1).normal(size=400_000)})
    file = tmp_path / "large.parquet"
    large.lazy().sink_parquet(file, metadata=OPEN)
    assert not intact(file)
    with file.open("rb+") as open_file:
        seal(open_file)
    assert intact(file)
    assert pl.read_parquet(file).equals(large)
    theirs = io.BytesIO(b"no table")
    seal(theirs)
    assert theirs.getvalue() == b"no table"
