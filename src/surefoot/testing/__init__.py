"""Contract kits: what every store, policy and floor must keep, ours or your own."""

from surefoot.testing.floors import FloorKit
from surefoot.testing.policies import PolicyKit, ScoringPolicyKit
from surefoot.testing.stores import DurableStoreKit, StoreKit

__all__ = ["DurableStoreKit", "FloorKit", "PolicyKit", "ScoringPolicyKit", "StoreKit"]
