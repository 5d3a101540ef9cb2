"""How kernel text is compiled, and where what was compiled is kept.

Numba's own cache does not notice an edited callee in another file, so ours lives in a folder
named by a hash of every file with kernels in it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

from surefoot._jit import HELPERS

_PACKAGE = Path(__file__).resolve().parent
_WITH_KERNELS = (".", "agents", "environments", "floors", "oracles", "policies", "simulation")
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


def cache_folder() -> Path | None:
    """Where compiled kernels are kept; None if nothing can be written there.

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


@contextmanager
def compiling() -> Iterator[Callable[..., Any]]:
    """Hand out ``numba.njit`` for as long as its cache is our folder; others keep theirs.

    Numba reads the folder when a function is decorated. By then it knows every helper.
    """
    import numba
    from numba.extending import register_jitable

    with _COMPILING:
        while HELPERS:
            register_jitable(HELPERS.pop())
        settings: Any = numba.config
        folder = cache_folder()
        before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder or settings.CACHE_DIR)
        try:
            # Nothing is allocated in a kernel; without numba's runtime no array is counted as in
            # use either, which at every call would cost more than what is called.
            yield partial(numba.njit, cache=folder is not None, nogil=True, _nrt=False)
        finally:
            settings.CACHE_DIR = before
