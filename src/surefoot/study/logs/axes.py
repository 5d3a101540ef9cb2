"""What the charts of logs and plans have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.study.numbers import tick

if TYPE_CHECKING:
    from matplotlib.axis import Axis

SIZE = (12.6, 4.7)
"""Width and height of a sheet in inches, its caption apart."""


def short_ticks(axis: Axis) -> None:
    """Write what stands along an axis as the labels on the right do."""
    axis.set_major_formatter(lambda value, _: tick(value, max(map(abs, axis.get_view_interval()))))
