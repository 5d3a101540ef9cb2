"""Tables for whatever width there is: what does not fit side by side stands below each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_WIDEST = 10_000
_NAME = 9
"""Columns that the name of a row can do with, where it may be wrapped."""


def show_table(console: Console, table: Table) -> None:
    """Print a table; where the terminal is too narrow, row by row, a line for each figure.

    rich would cut numbers, and in the end the names of the rows.
    """
    from rich.cells import cell_len

    first, *others = table.columns
    needs = console.measure(table, options=console.options.update(width=_WIDEST)).maximum
    if not first.no_wrap:
        needs -= max(0, *(cell_len(str(name)) - _NAME for name in first.cells))
    if needs <= console.width:
        console.print(table)
        return
    for row, name in enumerate(first.cells):
        console.print(_joined(name), style="bold")
        for column in others:
            cell = _joined(list(column.cells)[row])
            if cell:
                console.print(f"  {_joined(column.header)}: {cell}")
    console.print("", table.caption or "", sep="\n")


def _joined(cell: object) -> str:
    """A cell of several lines in one; least to most behind the mean, in brackets."""
    line, *more = str(cell).split("\n")
    spread = more and " to " in more[-1]
    return f"{line} ({' '.join(more)})" if spread else " ".join([line, *more])
