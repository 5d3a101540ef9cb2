"""From an address to a store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from surefoot._exact import shown
from surefoot.errors import InvalidInput, missing_extra
from surefoot.live.store.base import Store
from surefoot.live.store.memory import MemoryStore

_POSTGRES = ("postgresql://", "postgres://", "postgresql+psycopg://")


def open_store(
    target: str | Path | Store, clock: Callable[[], int] | None = None, *, new: bool = True
) -> Store:
    """Open a store by its address; a store is returned as it is.

    ``":memory:"``, the path of a SQLite file (``new``: made if it is not there), or
    ``"postgresql://user@host:port/database"``. ``clock`` returns microseconds since 1970 and
    replaces the store's own. Raises InvalidInput for anything else, StoreUnavailable if it cannot
    be reached, DamagedFile for a file or schema that is not ours, MissingExtra without SQLAlchemy.

    >>> open_store(":memory:").accounts()
    []
    """
    if isinstance(target, Store):
        return target
    if not isinstance(target, str | Path) or not str(target):
        raise InvalidInput(f"store = {shown(target)} must be a path, a URL or a Store")
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

        return PostgresStore(text.replace("postgres://", "postgresql://", 1), **options)
    if "://" in text:
        raise InvalidInput(f"store = {shown(target)} has no known scheme; use postgresql://")
    if not new and not Path(text).exists():
        raise InvalidInput(f"store = {text} is not there; pass an agent to open a new one")
    from surefoot.live.store.sqlite import SQLiteStore

    return SQLiteStore(text, **options)
