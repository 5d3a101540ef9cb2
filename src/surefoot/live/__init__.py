"""Live: an agent in a real product, its account in a durable store."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

_HOMES = {
    "DefaultReport": "surefoot.live.monitor",
    "Entry": "surefoot.live.entries",
    "Lease": "surefoot.live.leases",
    "Live": "surefoot.live.live",
    "LivePlay": "surefoot.live.play",
    "MemoryStore": "surefoot.live.store",
    "Standings": "surefoot.live.standings",
    "Store": "surefoot.live.store",
    "open_store": "surefoot.live.store",
}

__all__ = [
    "DefaultReport",
    "Entry",
    "Lease",
    "Live",
    "LivePlay",
    "MemoryStore",
    "Standings",
    "Store",
    "open_store",
]

if TYPE_CHECKING:
    from surefoot.live.entries import Entry
    from surefoot.live.leases import Lease
    from surefoot.live.live import Live
    from surefoot.live.monitor import DefaultReport
    from surefoot.live.play import LivePlay
    from surefoot.live.standings import Standings
    from surefoot.live.store import MemoryStore, Store, open_store


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'surefoot.live' has no attribute {name!r}")
