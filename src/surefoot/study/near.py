"""What was meant by a name that is not known."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def meant(name: str, known: Iterable[str]) -> str:
    """The end of a sentence that asks for the nearest known name; "" where none is near.

    >>> meant("GenCb", ["GenCB", "Plain"]), meant("x", ["GenCB"])
    ('; did you mean GenCB?', '')
    """
    folded = {one.casefold(): one for one in known}
    near = get_close_matches(name.casefold(), folded, 1)
    return f"; did you mean {folded[near[0]]}?" if near else ""
