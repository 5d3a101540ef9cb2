"""Oracles: the best super arm for given weights of the base arms; they know nothing of rewards."""

from surefoot.oracles.base import Oracle, SuperArm
from surefoot.oracles.called import as_oracle
from surefoot.oracles.enumerated import Enumerated
from surefoot.oracles.matching import Matching
from surefoot.oracles.partition_matroid import PartitionMatroid
from surefoot.oracles.shortest_path import ShortestPath
from surefoot.oracles.spanning_tree import SpanningTree
from surefoot.oracles.top_k import TopK

__all__ = [
    "Enumerated",
    "Matching",
    "Oracle",
    "PartitionMatroid",
    "ShortestPath",
    "SpanningTree",
    "SuperArm",
    "TopK",
    "as_oracle",
]
