"""Machine code on disk: one whole file for each loop and the types it was compiled for.

Numba's own cache keeps an index beside its data, which two processes can leave at odds, and takes
a file that is damaged or cannot be written for the end of the program. Here what cannot be read,
whatever the reason, is compiled anew, and what cannot be written is compiled at each start.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, compiler
from numba.core.serialize import dumps

from surefoot._files import replacing
from surefoot._kernel_text import digest, source

_TOLD: set[Path] = set()

_dumps: Any = dumps  # numba has no types for these
_rebuild: Any = compiler.CompileResult._rebuild


class KernelCache(caching._Cache):
    """What numba asks for the compiled forms of one function; ``folder`` has the stamp of ours."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._function, self._folder = function, folder

    @property
    def cache_path(self) -> str:
        """The folder, for numba's statistics."""
        return str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was kept for these types; None where that is nothing, stale or damaged."""
        target_context.refresh()
        file, key = self._place(sig, target_context.codegen())
        try:
            raw = file.read_bytes()
            if hashlib.sha256(raw[_CHECK:]).digest() != raw[:_CHECK]:
                return None
            # Whoever can write to the folder could have machine code run as well.
            known, made = pickle.loads(raw[_CHECK:])  # noqa: S301
            if known != key:
                return None
            return _rebuild(target_context, *made)
        except Exception:  # noqa: BLE001  (of another version, say: anything can be wrong with it)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for these types, if it can be."""
        if data.library.has_dynamic_globals or any(not loop.can_cache for loop in data.lifted):
            return
        file, key = self._place(sig, data.codegen)
        raw = _dumps((key, data._reduce()))
        try:
            with replacing(file) as draft:
                draft.write_bytes(hashlib.sha256(raw).digest() + raw)
        except OSError as error:
            _tell(self._folder, error)

    def enable(self) -> None:
        """Nothing to do: a dispatcher without a cache never gets this one."""

    def disable(self) -> None:
        """As ``enable``."""

    def flush(self) -> None:
        """Nothing is kept in memory."""

    def _place(self, sig: Any, codegen: Any) -> tuple[Path, tuple[Any, ...]]:
        """The file for these types, and what has to be in it.

        An edited kernel takes the file over; one of the same name in another file has its own.
        """
        function = self._function
        roots = function, *_records(sig)
        machine = numba.__version__, sys.implementation.cache_tag, codegen.magic_tuple()
        where = [function.__module__, function.__qualname__, str(sig), repr(machine)]
        name = hashlib.sha256("\n".join([*where, *map(source, roots)]).encode()).hexdigest()[:24]
        file = self._folder / f"{function.__module__}.{function.__name__}-{name}.code"
        return file, (where, sig, machine, digest(*roots))


_CHECK = hashlib.sha256().digest_size


def _records(kind: Any) -> Iterator[type]:
    """The classes of the parameter records among the types of a call."""
    if hasattr(kind, "instance_class"):
        yield kind.instance_class
    inner = kind if isinstance(kind, tuple) else getattr(kind, "types", ())
    for one in inner:
        yield from _records(one)


def _tell(folder: Path, error: OSError) -> None:
    if folder not in _TOLD:
        _TOLD.add(folder)
        warnings.warn(
            f"compiled kernels cannot be kept in {folder} ({error.strerror or error}): every start "
            "compiles them again; make room, or set SUREFOOT_CACHE to a folder that can be written",
            RuntimeWarning,
            stacklevel=2,
        )
