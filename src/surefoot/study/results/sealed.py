"""Tables on disk that know whether they are still what was written.

A Parquet reader takes most single wrong bits for other numbers. So what we write has SHA-256 of the
file in its footer, under ``surefoot.sha256``, computed with 64 zeros in that place; other readers
pass over it.
"""

from __future__ import annotations

import io
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from surefoot.study.files import replacing

if TYPE_CHECKING:
    import polars as pl

KEY = "surefoot.sha256"
OPEN = {KEY: "0" * 64}
"""What is written as metadata of a table that is to be sealed."""
_HEAD = KEY.encode() + b"\x18\x40"  # in the footer's encoding: a string of 64 bytes follows
_CHUNK = 1 << 20


def put(path: Path, frame: pl.DataFrame) -> None:
    """Write a table as Parquet, sealed and in whole. Raises OSError where it does not fit."""
    whole = io.BytesIO()  # so that a full disk is the system's own error, not one of polars
    frame.write_parquet(whole, metadata=OPEN)
    seal(whole)
    with replacing(path) as draft:
        draft.write_bytes(whole.getbuffer())


def seal(file: BinaryIO) -> None:
    """Seal a table that was written with the metadata ``OPEN``; any other stays as it is."""
    place = _place(file)
    if place is not None:
        digest = _digest(file, place)
        file.seek(place)
        file.write(digest)


def intact(path: Path) -> bool:
    """Whether a table is what was written; so is one that was never sealed, as far as one knows."""
    with path.open("rb") as file:
        place = _place(file)
        if place is None:
            return True
        file.seek(place)
        return file.read(64) == _digest(file, place)


def _place(file: BinaryIO) -> int | None:
    """Where the seal of a table is; None where there is none."""
    end = file.seek(0, io.SEEK_END)
    if end < 12:
        return None
    file.seek(end - 8)
    start = max(0, end - 8 - int.from_bytes(file.read(4), "little"))
    file.seek(start)
    found = file.read(end - start).find(_HEAD)
    return None if found < 0 else start + found + len(_HEAD)


def _digest(file: BinaryIO, place: int) -> bytes:
    """The digits of the hash of a file with zeros in the place of its seal."""
    found = sha256()
    file.seek(0)
    left = place
    while left and (chunk := file.read(min(left, _CHUNK))):
        found.update(chunk)
        left -= len(chunk)
    found.update(b"0" * 64)
    file.seek(place + 64)
    while chunk := file.read(_CHUNK):
        found.update(chunk)
    return found.hexdigest().encode()
