"""Stores: where accounts are kept, in memory, in a SQLite file, or in PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from surefoot._exact import shown
from surefoot._files import checked_path
from surefoot._redact import redacted
from surefoot.errors import InvalidInput, missing_extra
from surefoot.live.store.base import (
    TIMEOUT,
    AccountRow,
    Clock,
    LeaseRow,
    PlayRow,
    Store,
    checked_timeout,
)
from surefoot.live.store.memory import MemoryStore
from surefoot.live.store.tx import Tx

__all__ = ["AccountRow", "LeaseRow", "MemoryStore", "PlayRow", "Store", "Tx", "open_store"]

_POSTGRES = ("postgresql://", "postgres://", "postgresql+psycopg://")


def open_store(
    target: str | Path | Store,
    clock: Clock | None = None,
    *,
    new: bool = True,
    read_only: bool = False,
    timeout: Any = None,
) -> Store:
    """Open a store by its address; a store is returned as it is.

    ``":memory:"``, the path of a SQLite file (``new``: made if it is not there), or
    ``"postgresql://user@host:port/database"``. ``clock`` returns microseconds since 1970 and
    replaces the store's own. ``read_only``: nothing is made, brought up to date or written, and
    whoever may only read it can; writing through the store is InvalidInput.

    ``timeout``: how many seconds to wait for a lock that another process has, for a statement and
    for the network; None: 5. StoreUnavailable comes within twice that time, however silent the
    other side is. A Store that is passed has its own.

    Raises InvalidInput for any other target and for a server that does not keep what it commits,
    StoreUnavailable if it cannot be reached, DamagedFile for a file or schema that is not ours,
    which stays as it is, MissingExtra without SQLAlchemy.

    >>> open_store(":memory:").accounts()
    []
    """
    if read_only and (isinstance(target, Store) or str(target) == ":memory:"):
        raise InvalidInput(f"read_only is for a file or a database, not for {shown(target)}")
    if isinstance(target, Store):
        if timeout is not None:
            raise InvalidInput(
                f"timeout = {shown(timeout)}: a Store has its own; give it where that is opened"
            )
        return target
    if not isinstance(target, str | Path) or not str(target):
        raise InvalidInput(f"store = {shown(target)} must be a path, a URL or a Store")
    seconds = checked_timeout(TIMEOUT if timeout is None else timeout)
    options: dict[str, Any] = {} if clock is None else {"clock": clock}
    text = str(target)
    if text == ":memory:":
        return MemoryStore(**options)
    try:
        import alembic  # noqa: F401
        import sqlalchemy  # noqa: F401
    except ModuleNotFoundError as problem:
        raise missing_extra("live", str(problem.name)) from None
    if text.startswith(_POSTGRES):
        from surefoot.live.store.postgres import PostgresStore

        url = text.replace("postgres://", "postgresql://", 1)
        return PostgresStore(url, timeout=seconds, read_only=read_only, **options)
    if "://" in text:
        raise InvalidInput(f"store = {shown(target)} has no known scheme; use postgresql://")
    if (read_only or not new) and not checked_path(text, "store").exists():
        how = "name a file that is" if read_only else "pass an agent to open a new one"
        raise InvalidInput(f"store = {redacted(text)} is not there; {how}")
    from surefoot.live.store.sqlite import SQLiteStore

    return SQLiteStore(text, timeout=seconds, read_only=read_only, **options)
