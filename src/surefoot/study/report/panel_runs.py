"""The finished runs of one panel, by agent and measure, of however many runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot._drawing.style import Shape
from surefoot.study.numbers import Array
from surefoot.study.panel import Panel

if TYPE_CHECKING:
    import polars as pl

_HELD = 4
"""Arrays that are kept until they are asked for again: 8 MB each for 2,000 runs."""


class PanelRuns:
    """The finished runs of one panel.

    ``frame``: its tidy rows, at hand or still on disk; then a column of an agent is read when it is
    asked for, so that memory holds a few of them and never all. ``t``: the checkpoints, ascending;
    ``count``: how many runs there are.
    """

    def __init__(self, panel: Panel, frame: pl.DataFrame | pl.LazyFrame) -> None:
        import polars as pl

        self.panel, self._frame = panel, frame.lazy()
        one = self._frame.filter(pl.col("agent") == panel.names()[0])
        self.count = int(one.select(pl.col("run").n_unique()).collect().item())
        t = one.select(pl.col("t").unique().sort()).collect()
        self.t: Array = t.to_series().to_numpy()
        self._held: dict[tuple[str, str], Array] = {}
        self._last: dict[tuple[str, str], Array] = {}
        self._shapes: dict[tuple[str, str], Shape] = {}

    def of(self, name: str, measure: str) -> Array:
        """One agent's measure, as an array of shape (runs, checkpoints)."""
        import polars as pl

        at = name, measure
        if at not in self._held:
            wanted = self._frame.filter(pl.col("agent") == name).select("run", "t", measure)
            found = wanted.sort("run", "t").collect().get_column(measure).to_numpy()
            while len(self._held) >= _HELD:
                del self._held[next(iter(self._held))]
            self._held[at] = np.reshape(found, (self.count, len(self.t)))
        return self._held[at]

    def last(self, name: str, measure: str) -> Array:
        """One agent's measure at the horizon, run by run."""
        at = name, measure
        if at not in self._last:
            self._last[at] = self.of(name, measure)[:, -1].copy()
        return self._last[at]

    def shape(self, name: str, measure: str) -> Shape:
        """Mean, quantiles, least and most of one agent's measure, at each checkpoint."""
        at = name, measure
        if at not in self._shapes:
            self._shapes[at] = Shape.of(self.of(name, measure))
        return self._shapes[at]
