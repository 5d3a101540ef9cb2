"""How figures look, of a simulation and of a study: one palette, one sheet, the same numbers."""
