"""Stores: where accounts are kept, in memory, in a SQLite file, or in PostgreSQL."""

from surefoot.live.store.base import (
    AccountRow,
    LeaseRow,
    PlayRow,
    Store,
)
from surefoot.live.store.memory import MemoryStore
from surefoot.live.store.opening import open_store
from surefoot.live.store.tx import Tx

__all__ = [
    "AccountRow",
    "LeaseRow",
    "MemoryStore",
    "PlayRow",
    "Store",
    "Tx",
    "open_store",
]
