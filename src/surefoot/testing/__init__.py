"""Contract kits: what every store must keep, ours or your own; nothing here is imported by us."""

from surefoot.testing.stores import DurableStoreKit, StoreKit

__all__ = ["DurableStoreKit", "StoreKit"]
