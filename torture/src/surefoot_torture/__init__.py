"""Breaks live experiments on purpose, and says whether anything was lost.

``faults`` simulates workers, clients, clocks, networks and stores that fail; ``processes`` kills
and stops real ones. Both compare what was acknowledged with the ledger, by texts of their own.
"""
