"""Simulated faults around real live agents; one seed is one schedule."""
