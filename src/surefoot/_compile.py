"""How kernel text is compiled, and where what was compiled is kept.

Numba's own cache does not notice an edited callee in another file, so ours lives in a folder
named by a hash of every file of ours with kernels in it, and what is kept there knows the text of
the user's kernels it was made from (``_kernel_text``).
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from surefoot._jit import HELPERS

_PACKAGE = Path(__file__).resolve().parent
_WITH_KERNELS = (
    ".", "agents", "comparators", "environments", "floors", "kernels", "oracles", "policies",
    "simulation", "simulation/fast",
)  # fmt: skip
_COMPILING = threading.RLock()


def available() -> bool:
    """Whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


@cache
def fingerprint() -> str:
    """Hash of every file a compiled kernel may depend on."""
    digest = hashlib.sha256()
    for folder in _WITH_KERNELS:
        for file in sorted((_PACKAGE / folder).glob("*.py")):
            digest.update(f"{folder}/{file.name}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder(*, read_only: bool = False) -> Path | None:
    """Where compiled kernels are kept; None if nothing can be written there.

    SUREFOOT_CACHE overrides the user's cache folder. There is no fallback to a folder that others
    can write to: what is kept is code. ``read_only``: one that is there will do.
    """
    try:
        root = os.environ.get("SUREFOOT_CACHE") or os.environ.get("XDG_CACHE_HOME")
        base = Path(root) if root else Path.home() / ".cache"
        folder = base.absolute() / "surefoot" / f"kernels-{fingerprint()}"
        if read_only and folder.is_dir():
            return folder
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f"probe-{uuid4().hex}"  # hosts that share the folder may share a pid
        probe.touch()
        probe.unlink()
    except (OSError, RuntimeError):  # RuntimeError: no home folder is known
        return None
    return folder


@contextmanager
def compiling() -> Iterator[Callable[..., Any]]:
    """Hand out ``njit(function, signature=None)``, one thread at a time.

    It is ``numba.njit`` with our cache behind it; with a signature it compiles at once. By then
    numba knows every helper.
    """
    from numba.extending import register_jitable

    with _COMPILING:
        while HELPERS:
            register_jitable(HELPERS.pop())
        folder = cache_folder(read_only=True)

        def njit(function: Callable[..., Any], signature: str | None = None) -> Any:
            return _dispatcher(function, signature, folder)

        yield njit


def _dispatcher(function: Callable[..., Any], signature: str | None, folder: Path | None) -> Any:
    import numba

    from surefoot._kernel_cache import KernelCache

    # Nothing is allocated in a kernel; without numba's runtime no array is counted as in
    # use either, which at every call would cost more than what is called.
    njit: Any = numba.njit
    made = njit(nogil=True, _nrt=False)(function)
    if folder is not None:
        made._cache = KernelCache(function, folder)  # as enable_caching() would set numba's own
    if signature is not None:
        made.compile(signature)
        made.disable_compile()
    return made
