"""A workspace of Vowpal Wabbit that can be copied and saved: through its model file."""

from __future__ import annotations

import math
import re
import tempfile
from pathlib import Path
from typing import Any, Self

import numpy as np

from surefoot._exact import shown
from surefoot.errors import InvalidInput, missing_extra

_MARKS = re.compile(r"[\s|:=]")
"""What means something in the text of an example."""


class Model:
    """A workspace, its options and its seed; ``saved``: a model file to go on from."""

    def __init__(self, options: str, seed: int | None = None, saved: bytes | None = None) -> None:
        try:
            from vowpalwabbit import Workspace
        except ImportError:
            raise missing_extra("vowpalwabbit", "vowpalwabbit") from None
        self.options, self.seed, self.file = options, seed, saved
        seeded = "" if seed is None or "--random_seed" in options else f" --random_seed {seed}"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model")
            if saved is not None:
                path.write_bytes(saved)
            model = "" if saved is None else f" -i {path} --preserve_performance_counters"
            self.workspace = Workspace(f"{options}{seeded} --quiet{model}")

    def chances(self, lines: list[str]) -> list[float]:
        """The chance of each arm; InvalidInput if they are none."""
        given = np.array(self.workspace.predict(lines))
        if not given.sum() > 0:
            raise InvalidInput(f"Vowpal Wabbit's chances are {shown(given.tolist())}")
        return [float(chance) for chance in given / given.sum()]

    def learn(self, lines: list[str]) -> None:
        """Learn a labelled example."""
        self.file = None
        self.workspace.learn(lines)

    def saved(self) -> bytes:
        """The model file as of the last example that was learned; later ones count predictions."""
        if self.file is None:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "model")
                self.workspace.save(str(path))
                self.file = path.read_bytes()
        return self.file

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)(self.options, self.seed, self.saved())


class Waiting(dict[str, list[float]]):
    """The chances of open plays, by arm and context, the oldest first."""

    def add(self, key: str, chance: float) -> None:
        """One more play."""
        self[key] = [*self.get(key, []), chance]

    def oldest(self, key: str, otherwise: float) -> float:
        """The chance of the oldest play; ``otherwise`` if there is none."""
        return self.get(key, [otherwise])[0]

    def drop(self, key: str) -> None:
        """Forget the oldest play."""
        self[key] = self.get(key, [])[1:]
        if not self[key]:
            del self[key]


def example(context: Any, n_arms: int) -> list[str]:
    """The text of an example: one line of shared features, and one for each arm.

    >>> example({"age": 30, "city": "New York"}, 2)
    ['shared |u age:30.0 city=New_York', '|a arm0 ', '|a arm1 ']
    """
    table = not isinstance(context, dict) and context is not None and np.ndim(context) == 2
    if isinstance(context, list | tuple) and any(isinstance(row, dict) for row in context):
        table = True
    if table and len(context) != n_arms:
        raise InvalidInput(f"context has {len(context)} rows; give one for each of {n_arms} arms")
    rows = [_features(row) for row in context] if table else [""] * n_arms
    shared = "" if table or context is None else _features(context)
    return [f"shared |u {shared}", *(f"|a arm{n} {row}" for n, row in enumerate(rows))]


def _features(context: Any) -> str:
    named = context.items() if isinstance(context, dict) else enumerate(context)
    return " ".join(_feature(_MARKS.sub("_", str(name)), value) for name, value in named)


def _feature(name: str, value: Any) -> str:
    if isinstance(value, str | bool):
        return f"{name}={_MARKS.sub('_', str(value))}"
    if not math.isfinite(value):
        raise InvalidInput(f"feature {name} = {shown(value)} must be finite")
    return f"{name}:{float(value)!r}"
