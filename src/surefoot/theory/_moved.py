"""Names that have a new place; the old one goes with the next version."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any


def moved(old: str, *places: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module whose names are now in one of ``places``."""

    def found(name: str) -> Any:
        for place in () if name.startswith("_") else places:
            home = importlib.import_module(place)
            if hasattr(home, name):
                warnings.warn(
                    f"{old}.{name} is now {place}.{name}", DeprecationWarning, stacklevel=2
                )
                return getattr(home, name)
        raise AttributeError(f"module {old!r} has no attribute {name!r}")

    return found
