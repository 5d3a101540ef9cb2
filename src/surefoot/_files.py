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

_SHOWN = 60
"""So much of a file's name is in its draft's, which a file system may limit to 143 bytes."""


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
    # The suffix stays last: writers of tables and figures choose the format by it. Threads share a
    # pid, and two hosts of one cluster may have the same.
    draft = path.with_name(f".{path.stem[:_SHOWN]}.{uuid4().hex}{path.suffix}")
    try:
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)


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
