"""A file of text as its lines, also where it is packed; what is not UTF-8 is named by its line."""

from __future__ import annotations

from pathlib import Path

from surefoot.errors import InvalidInput

COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")  # gzip, zstd
FOREIGN = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip"}
"""How files begin that are packed in a way nothing here reads."""


def text_lines(path: Path, kind: str, most: int | None = None) -> list[str]:
    """The lines of a file of text, of a gzip or zstd file too; at most so many.

    Raises InvalidInput for bytes that are not UTF-8; ``kind`` is what the file should be saved as.
    """
    import polars as pl

    try:
        lines: list[str] = pl.read_lines(path, n_rows=most, glob=False).to_series().to_list()
    except pl.exceptions.PolarsError:
        bad_bytes(path, kind)
        raise
    return lines


def bad_bytes(path: Path, kind: str) -> None:
    """Refuse what is not UTF-8 by its line; of a compressed file polars says so, without."""
    with path.open("rb") as file:
        if file.read(4).startswith(COMPRESSED):
            return
        file.seek(0)
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                raise InvalidInput(
                    f"line {number} of {path} is not in UTF-8; save the file as {kind} in UTF-8, "
                    "with iconv say"
                ) from None
