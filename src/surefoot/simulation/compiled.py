"""The compiled driver: numba is taught to pick the kernels, and to keep what it compiled.

Numba's own cache does not notice an edited callee in another file, so ours lives in a folder
named by a hash of every file with kernels in it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from surefoot._jit import HELPERS
from surefoot.environments import _kernels as draws
from surefoot.policies import _kernels as indices
from surefoot.simulation import path

_PACKAGE = Path(__file__).resolve().parent.parent
_WITH_KERNELS = ("policies", "environments", "agents", "simulation")


class Engine(NamedTuple):
    """The two loops of ``surefoot.simulation.path``, in one of their two forms."""

    base_path: Callable[..., None]
    interleave: Callable[..., None]


PLAIN = Engine(path.base_path, path.interleave)


def available() -> bool:
    """Whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


@cache
def fingerprint() -> str:
    """Hash of everything a compiled loop depends on."""
    digest = hashlib.sha256()
    for folder in _WITH_KERNELS:
        for file in sorted((_PACKAGE / folder).glob("*.py")):
            digest.update(f"{folder}/{file.name}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where compiled loops are kept; SUREFOOT_CACHE overrides the user's cache folder."""
    root = os.environ.get("SUREFOOT_CACHE") or os.environ.get("XDG_CACHE_HOME")
    base = Path(root) if root else Path.home() / ".cache"
    folder = base / "surefoot" / f"kernels-{fingerprint()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f"probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError:
        folder = Path(tempfile.gettempdir()) / f"surefoot-{os.getuid()}-{fingerprint()}"
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder


@cache
def engine() -> Engine:
    """The two loops, compiled; each combination of policy and environment on its first call."""
    import numba
    from numba.extending import register_jitable

    for helper in HELPERS:
        register_jitable(helper)
    _teach()
    # Numba reads the folder when a function is decorated; other users of numba keep theirs.
    settings: Any = numba.config
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(cache_folder())
    try:
        compiled = numba.njit(cache=True, nogil=True)
        return Engine(compiled(path.base_path), compiled(path.interleave))
    finally:
        settings.CACHE_DIR = before


def _teach() -> None:
    """Give numba the dispatchers' choice: the kernel that belongs to the record's class."""
    import numba
    from numba import types
    from numba.extending import overload

    def of(table: dict[type, Any], record: Any) -> Any:
        named = isinstance(record, types.BaseNamedTuple)
        return table.get(record.instance_class) if named else None

    def kernel(name: str, policy: Any) -> Any:
        kernels = of(indices.KERNELS, policy)
        return None if kernels is None else getattr(kernels, name)

    @overload(indices.scale, strict=False)
    def _scale(policy: Any, m: Any) -> Any:
        return kernel("scale", policy)

    @overload(indices.index, strict=False)
    def _index(policy: Any, state: Any, k: Any, s: Any, best: Any) -> Any:
        return kernel("index", policy)

    @overload(indices.update, strict=False)
    def _update(policy: Any, state: Any, k: Any, reward: Any) -> Any:
        return kernel("update", policy)

    @overload(indices.pledge, strict=False)
    def _pledge(policy: Any, state: Any, k: Any) -> Any:
        return kernel("pledge", policy)

    @overload(draws.draw, strict=False)
    def _draw(environment: Any, key: Any, turn: Any, arm: Any) -> Any:
        return of(draws.DRAWS, environment)

    @overload(draws.wrap, strict=False)
    def _wrap(number: Any) -> Any:
        return lambda number: numba.uint64(number)  # noqa: PLW0108  (numba compiles the lambda)
