"""Types that several packages name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsFloat

Number = SupportsFloat
"""A number as users give it: an int, a float, a Decimal or a numpy scalar."""
Default = Number | tuple[Number, Number]
"""The known value of a default, or the interval (l, u) it pays within."""
Seed = int | Sequence[int] | None
"""The seed of all randomness of an agent or a study; None takes fresh entropy."""
JsonObject = dict[str, Any]
"""An object of plain JSON values: settings, a state, or the payload of an entry."""
