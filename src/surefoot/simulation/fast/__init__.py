"""Faster forms of the loop in ``simulation.loop``; each decides as that text does."""
