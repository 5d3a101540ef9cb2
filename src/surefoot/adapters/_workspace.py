"""A workspace of Vowpal Wabbit that can be copied and saved: through its model file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Self

from surefoot.errors import missing_extra


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
            model = "" if saved is None else f" -i {path}"
            self.workspace = Workspace(f"{options}{seeded} --quiet{model}")

    def predict(self, lines: list[str]) -> Any:
        """The chances of an example."""
        return self.workspace.predict(lines)

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
