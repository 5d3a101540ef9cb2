"""Simulation: the engine, the runs, and what they measure."""

from surefoot.simulation.plan import Plan
from surefoot.simulation.result import Result
from surefoot.simulation.runner import simulate

__all__ = ["Plan", "Result", "simulate"]
