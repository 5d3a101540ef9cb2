"""The ``[grid]`` of a study file: an axis is a list of values, or so many steps between two."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

from surefoot._exact import exact, shown
from surefoot.errors import InvalidInput

MOST_VALUES = 10_000
"""Values of an axis, and panels of a study."""
_STEPS = "{ from = 0.01, to = 0.2, steps = 20 }"


class Axis(NamedTuple):
    """One axis of a grid."""

    key: str
    """The field, or the setting of an agent or of the environment as ``mine.c``."""
    path: tuple[str, ...]
    """Where in the file it stands."""
    values: tuple[Any, ...]
    listed: bool
    """Whether each value stands there."""

    def place(self, number: int) -> tuple[str | int, ...]:
        """Where a value stands, or else the axis."""
        return (*self.path, number) if self.listed else self.path


def axis_of(path: tuple[str, ...], given: Any) -> Axis:
    """An axis from what the file has at ``path``. Raises InvalidInput.

    >>> axis_of(("grid", "alpha"), {"from": 0.01, "to": 0.2, "steps": 20}).values[:5]
    (0.01, 0.02, 0.03, 0.04, 0.05)
    >>> axis_of(("grid", "agents", "mine", "c"), [1, 2]).key
    'mine.c'
    """
    key = ".".join(path[2:] if path[1] == "agents" else path[1:])
    if isinstance(given, dict):
        return Axis(key, path, _between(key, given), listed=False)
    if not isinstance(given, list):
        raise InvalidInput(
            f"{key} = {shown(given)} must be a list of values, or {_STEPS}; a single value goes "
            "under [setting]"
        )
    if not given:
        raise InvalidInput(f"{key} = [] must have at least one value")
    if len(given) > MOST_VALUES:
        raise InvalidInput(f"{key} has {len(given):,} values, more than {MOST_VALUES:,}")
    for value in given:
        if not isinstance(value, bool | int | float | str):
            raise InvalidInput(
                f"{key} = {shown(value)}: a value of an axis must be a number, a text, true or "
                "false"
            )
    return Axis(key, path, tuple(given), listed=True)


def _between(key: str, given: dict[str, Any]) -> tuple[Any, ...]:
    """Equal steps from one decimal to another, both counted in, each the nearest float of its own.

        x_i = from + (to - from) * i / (steps - 1),   i = 0 .. steps - 1, in exact fractions

    Whole numbers stay whole where all are.
    """
    if set(given) != {"from", "to", "steps"}:
        raise InvalidInput(f"{key} must be a list of values, or have from, to and steps: {_STEPS}")
    for end in ("from", "to"):
        if isinstance(given[end], bool) or not isinstance(given[end], int | float):
            raise InvalidInput(f"{key}: {end} = {shown(given[end])} must be a number")
    first, last = (Fraction(exact(given[end], f"{key}: {end}")) for end in ("from", "to"))
    steps = given["steps"]
    if isinstance(steps, bool) or not isinstance(steps, int) or not 2 <= steps <= MOST_VALUES:
        raise InvalidInput(
            f"{key}: steps = {shown(steps)} must be an int from 2 to {MOST_VALUES:,}"
        )
    if first == last:
        raise InvalidInput(f"{key}: from = to = {shown(given['to'])}: give two ends, or a list")
    values = [first + (last - first) * i / (steps - 1) for i in range(steps)]
    whole = all(isinstance(given[end], int) for end in ("from", "to"))
    if whole and all(value.denominator == 1 for value in values):
        return tuple(int(value) for value in values)
    return tuple(float(value) for value in values)
