"""How the arms of a live experiment stand, as ``surefoot status`` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surefoot._json_values import from_json
from surefoot._types import JsonObject

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

MOST = 20
"""How many arms have a line of their own; those of the most plays do."""
_HEADS = "arm", "plays", "open", "mean", "last 1,000", "low", "high"
_LONGEST = 20
"""How much of an arm's name is shown."""


def show_arms(console: Console, rows: list[JsonObject] | None, uplift: JsonObject | None) -> None:
    """The arms as a table that fits 80 columns, why some have no interval, and the uplift."""
    from rich.padding import Padding

    if rows:
        console.print(Padding(_table(rows), (0, 0, 0, 1), expand=False))
        for line in _asides(rows):
            console.print(f" {line}", soft_wrap=True)
        console.print()
    if uplift is not None:
        made = sum(row["plays"] for row in rows or ())
        console.print(uplift_line(uplift, made), soft_wrap=True)


def _table(rows: list[JsonObject]) -> Table:
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for head in _HEADS:
        table.add_column(justify="left" if head == "arm" else "right", no_wrap=True)
    table.add_row(*_HEADS)
    for row in _shown(rows):
        ends = (_number(row[name]) for name in ("mean", "low", "high"))
        mean, low, high = ends
        counts = f"{row['plays']:,}", f"{row['open']:,}"
        table.add_row(_name(row), *counts, mean, f"{row['share']:.1%}", low, high)
    return table


def _shown(rows: list[JsonObject]) -> list[JsonObject]:
    """The rows with a line of their own, in the order of the arms; the default's is one."""
    arms = [row for row in rows if row["arm"] is not None]
    most = sorted(arms, key=lambda row: -row["plays"])[:MOST]
    return [row for row in rows if row["arm"] is None or any(row is one for one in most)]


def _asides(rows: list[JsonObject]) -> list[str]:
    """How many arms are left out, and why there are arms without an interval."""
    left = len(rows) - len(_shown(rows))
    asides = [f"{left:,} arms of fewer plays are left out; --json has them"] if left else []
    whys = {row["why"] for row in rows if row["arm"] is not None} - {None}
    asides += [f"no interval: {why}" for why in sorted(whys)]
    own = [row["why"] for row in rows if row["arm"] is None and row["why"] not in (None, *whys)]
    return asides + [f"no interval of the default: {why}" for why in own]


def _name(row: JsonObject) -> str:
    name = "the default" if row["arm"] is None else str(from_json(row["arm"]))
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}..."


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def uplift_line(uplift: JsonObject, made: int) -> str:
    """What was brought over the holdout, in one line; ``made``: how many plays there are."""
    of: Any = uplift
    wait = made - of["plays"]
    waits = f"; {wait:,} wait for the first open one" if wait > 0 and not of["plays"] else ""
    lost = f", {of['lost']:,} without their reward" if of["lost"] else ""
    return (
        f"uplift over the holdout: {of['mean']:.4g} per play, surely {of['low']:.4g} to "
        f"{of['high']:.4g}; {of['plays']:,} plays, {of['held_out']:,} held out{lost}{waits}"
    )
