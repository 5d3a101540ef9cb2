"""What a study leaves on disk: whole files or none, and the versions that made them."""

from __future__ import annotations

import json
import platform
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import surefoot
from surefoot import _files
from surefoot._drawing import style
from surefoot.errors import InvalidInput, missing_extra

FORMATS = style.FORMATS
_MATTER = ("numpy", "scipy", "numba", "polars", "matplotlib")


def require(*packages: str) -> None:
    """Raise MissingExtra, naming the first of these packages that is not installed.

    >>> require("numpy")
    """
    for package in packages:
        if find_spec(package) is None:
            raise missing_extra("study", package)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a scratch path that takes the place of ``path`` when the block ends well.

    As ``surefoot._files.replacing``, and the folder of ``path`` is made if it is not there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _files.replacing(path) as scratch:
        yield scratch


def claim(folder: Path, names: Sequence[str], *, overwrite: bool, same: bool = False) -> None:
    """Make sure that files of these names can be written to a folder, before they are made.

    What is there already is replaced where it was asked for, or is of the very ``same`` settings.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"out = {folder} is a file; give a folder")
    taken = [name for name in names if (folder / name).exists()]
    if taken and not (overwrite or same):
        raise InvalidInput(
            f"{folder} already holds {taken[0]}; replace it with --overwrite, or give another --out"
        )
    probe(folder)


def probe(folder: Path) -> None:
    """Raise OSError unless files can be written to a folder, which is left as it was.

    >>> probe(Path("/dev/null/there"))
    Traceback (most recent call last):
    ...
    NotADirectoryError: [Errno 20] Not a directory: '/dev/null/there'
    """
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    finally:
        for place in made:
            with suppress(OSError):
                place.rmdir()


def read_json(file: Path) -> Any:
    """The JSON in a file, None where there is none that can be read."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back until the block has ended; then it strikes as it would have.

    polars may swallow one that strikes within its calls, and take another value than it was given.
    In another thread than the main one, where Ctrl-C does not strike, nothing changes.

    >>> with uninterrupted():
    ...     print("done")
    done
    """
    seen = signal.getsignal(signal.SIGINT)
    if seen is None or threading.current_thread() is not threading.main_thread():
        yield  # None: a handler that was not set from Python, which could not be put back
        return
    pressed = []
    signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, seen)
        if pressed:
            signal.raise_signal(signal.SIGINT)


def to_json(value: Any) -> str:
    """The one spelling of a value, so that equal results are equal files.

    >>> print(to_json({"mean": 0.5}))
    {
      "mean": 0.5
    }
    """
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON, in whole."""
    with replacing(path) as scratch:
        scratch.write_text(to_json(value) + "\n", encoding="utf-8")


def versions() -> dict[str, str]:
    """Versions of Surefoot, Python and the packages that a study's numbers and files rest on.

    >>> sorted(versions())[-1], versions()["surefoot"] == surefoot.__version__
    ('surefoot', True)
    """
    found = {"surefoot": surefoot.__version__, "python": platform.python_version()}
    for package in _MATTER:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
