"""The compiled driver: numba is taught to pick the kernels, and to keep what it compiled.

Numba's own cache does not notice an edited callee in another file, so ours lives in a folder
named by a hash of every file with kernels in it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from surefoot._jit import HELPERS
from surefoot.environments import _kernels as draws
from surefoot.policies import _kernels as policies
from surefoot.simulation import moments, path

_PACKAGE = Path(__file__).resolve().parent.parent
_WITH_KERNELS = (".", "agents", "environments", "floors", "oracles", "policies", "simulation")
_TEACHING = threading.Lock()


class Engine(NamedTuple):
    """The loops of the engine in one of their forms, and what they run on."""

    base_path: Callable[..., None]
    interleave: Callable[..., None]
    interleave_moments: Callable[..., bool]
    array: Callable[[list[Any]], Any]
    """From a list of numbers to what the loops read and write."""
    word: Callable[[int], Any]
    """From an int to the 64 bits of a noise key."""


PLAIN = Engine(path.base_path, path.interleave, moments.interleave_moments, list, int)


def available() -> bool:
    """Whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


@cache
def fingerprint() -> str:
    """Hash of every file a compiled loop may depend on."""
    digest = hashlib.sha256()
    for folder in _WITH_KERNELS:
        for file in sorted((_PACKAGE / folder).glob("*.py")):
            digest.update(f"{folder}/{file.name}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path | None:
    """Where compiled loops are kept; None if nothing can be written there.

    SUREFOOT_CACHE overrides the user's cache folder. There is no fallback to a folder that others
    can write to: what is kept is code.
    """
    try:
        root = os.environ.get("SUREFOOT_CACHE") or os.environ.get("XDG_CACHE_HOME")
        base = Path(root) if root else Path.home() / ".cache"
        folder = base / "surefoot" / f"kernels-{fingerprint()}"
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f"probe-{os.getpid()}-{threading.get_ident()}"
        probe.touch()
        probe.unlink()
    except (OSError, RuntimeError):  # RuntimeError: no home folder is known
        return None
    return folder


def engine() -> Engine:
    """The loops, compiled; each combination of policy and environment on its first call."""
    from numba.extending import register_jitable

    with _TEACHING:
        while HELPERS:
            register_jitable(HELPERS.pop())
        return _compiled()


@cache
def _compiled() -> Engine:
    import numba

    settings: Any = numba.config
    if settings.DISABLE_JIT:  # by NUMBA_DISABLE_JIT, for debugging: njit would change nothing
        return PLAIN
    _teach()
    folder = cache_folder()
    # Numba reads the folder when a function is decorated; other users of numba keep theirs.
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder or settings.CACHE_DIR)
    try:
        compiled = numba.njit(cache=folder is not None, nogil=True)
        return Engine(
            compiled(path.base_path), compiled(path.interleave),
            compiled(moments.interleave_moments), np.array, np.uint64,
        )  # fmt: skip
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

    def kernel(name: str, policy: Any, table: Any = policies.KERNELS) -> Any:
        kernels = of(table, policy)
        return None if kernels is None else getattr(kernels, name)

    @overload(policies.scale, strict=False)
    def _scale(policy: Any, m: Any) -> Any:
        return kernel("scale", policy, policies.INDEX_KERNELS)

    @overload(policies.index, strict=False)
    def _index(policy: Any, state: Any, k: Any, s: Any, best: Any) -> Any:
        return kernel("index", policy, policies.INDEX_KERNELS)

    @overload(policies.best, strict=False)
    def _best(policy: Any, state: Any, m: Any) -> Any:
        return kernel("best", policy)

    @overload(policies.update, strict=False)
    def _update(policy: Any, state: Any, k: Any, reward: Any) -> Any:
        return kernel("update", policy)

    @overload(policies.pledge, strict=False)
    def _pledge(policy: Any, state: Any, k: Any) -> Any:
        return kernel("pledge", policy)

    @overload(policies.width, strict=False)
    def _width(policy: Any) -> Any:
        return kernel("width", policy)

    @overload(policies.member, strict=False)
    def _member(policy: Any, state: Any, k: Any, i: Any) -> Any:
        return kernel("member", policy)

    @overload(draws.draw, strict=False)
    def _draw(environment: Any, key: Any, turn: Any, arm: Any) -> Any:
        return of(draws.DRAWS, environment)

    @overload(draws.wrap, strict=False)
    def _wrap(number: Any) -> Any:
        return lambda number: numba.uint64(number)  # noqa: PLW0108  (numba compiles the lambda)
