"""Files that are there in whole or not at all, also after a power cut."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from surefoot._redact import redacted
from surefoot.errors import InvalidInput, StoreUnavailable

_SHOWN = 30
"""So many characters of a file's name are in its draft's: a longer one might fit no file system."""


def checked_path(path: str | os.PathLike[str], what: str) -> Path:
    """A path that the system can look for, there or not; InvalidInput that says why it cannot.

    StoreUnavailable where a folder on the way may not be searched.
    """
    try:
        os.lstat(path)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as problem:
        if isinstance(problem, NotADirectoryError):
            return Path(path)  # said where it is opened
        why = problem.strerror if isinstance(problem, OSError) else problem
        name = repr(redacted(str(path)))
        if isinstance(problem, PermissionError):
            raise StoreUnavailable(f"{what} = {name} cannot be reached: {why}") from None
        raise InvalidInput(f"{what} = {name[:60]} can be no file: {why}") from None
    return Path(path)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a draft's path beside ``path`` that takes its place when the block ends well.

    Whoever reads ``path`` sees the old file or the new one, never half of one, also after a kill.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with replacing(target) as draft:
    ...     _ = draft.write_text("done")
    >>> target.read_text(), [file.name for file in target.parent.iterdir()]
    ('done', ['a.txt'])
    """
    draft = _draft(path)
    try:
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)


def _draft(path: Path) -> Path:
    # The suffix stays last: writers of tables and figures choose the format by it. Threads share a
    # pid, and two hosts of one cluster may have the same.
    return path.with_name(f".{path.stem[:_SHOWN]}.{uuid4().hex}{path.suffix}")


def sync_folder(folder: Path) -> None:
    """Let the names in a folder survive a power cut, if the system can do that."""
    try:
        file = os.open(folder, os.O_RDONLY)
    except PermissionError:  # Windows, or a folder that may not be listed
        return
    try:
        os.fsync(file)
    except OSError as problem:
        if problem.errno not in (errno.EBADF, errno.EINVAL):  # some file systems know no such thing
            raise
    finally:
        os.close(file)


def create(path: Path, text: str) -> bool:
    """Write a file that is not there yet, in whole; whether it was this caller who did.

    Of several callers, on whatever hosts, one gets True; the others find the whole file. Where a
    file system has no hard links they may find a part of it while it is written.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.txt"
    >>> create(file, "first"), create(file, "second"), file.read_text()
    (True, False, 'first')
    """
    draft = _draft(path)
    try:
        draft.write_text(text, encoding="utf-8")
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            return False
        except OSError:
            return _create_slowly(path, text)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)
    return True


def _create_slowly(path: Path, text: str) -> bool:
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        return False
    return True
