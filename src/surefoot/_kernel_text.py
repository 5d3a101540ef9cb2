"""What machine code was made from, beyond the files of this package: the text of users' kernels.

Kernels are found by the class of a parameter record, so neither numba nor a stamp of our files can
see that one of them was edited. What is read is what numba would freeze into the code:

- the code of each function that the kernels of a record reach by a name, in whatever module, with
  its constants, defaults and closure: what runs, for Python itself may run an older text than the
  file has;
- the values of the globals they name, and of the attributes of modules they name;
- the whole file of each of these functions and records, for what no name leads to.

The standard library, numpy, scipy and numba are taken as they are; this package has its own stamp.
What is switched by other means, such as an ``@overload`` in a third file, is not seen.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from surefoot._jit import TABLES

_AS_THEY_ARE = sys.stdlib_module_names | {"surefoot", "numpy", "scipy", "numba", "llvmlite"}


def digest(*roots: Any) -> str:
    """Hash of all foreign text that functions and records of these classes lead to.

    Empty where there is none: all of ours is in the stamp of the cache folder.

    >>> digest(len, digest)
    ''
    """
    reading = _Reading()
    for root in roots:
        reading.take(root, frozenset())
    return hashlib.sha256("\n".join(reading.said).encode()).hexdigest() if reading.said else ""


def source(root: Any) -> str:
    """The file that a foreign function or class is in; empty for one of ours."""
    return "" if _ours(root) else _file(root)


class _Reading:
    """A walk over functions, classes and values; each is read once."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self._seen: set[int] = set()
        self._kept: list[Any] = []  # so that no id is given again
        self._files: set[str] = set()

    def take(self, value: Any, names: frozenset[str]) -> None:
        """Read a value; ``names``: the attributes that its reader may take of a module."""
        value = getattr(value, "py_func", value)  # a dispatcher of the user's own
        if isinstance(value, FunctionType):
            self._once(value, self._function)
        elif isinstance(value, type):
            self._once(value, self._record)
        elif isinstance(value, ModuleType):
            if _top(value.__name__) not in _AS_THEY_ARE:
                for name in sorted(names & set(vars(value))):
                    self.take(vars(value)[name], names - {name})
        elif isinstance(value, tuple | list | frozenset):
            self.said.append(f"{type(value).__name__} of {len(value)}")
            for one in sorted(value, key=repr) if isinstance(value, frozenset) else value:
                self.take(one, names)
        elif isinstance(value, np.ndarray | np.generic):
            raw = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
            self.said.append(f"{value.dtype} {value.shape} {raw}")
        elif not callable(value) or _top(getattr(value, "__module__", None)) not in _AS_THEY_ARE:
            self.said.append(_spelled(value))

    def _once(self, value: Any, read: Callable[[Any], None]) -> None:
        if id(value) not in self._seen:
            self._seen.add(id(value))
            self._kept.append(value)
            read(value)

    def _record(self, record: type) -> None:
        if not _ours(record):
            self._place(record)
        for kernels in _kernels(record):
            self.take(kernels, frozenset())

    def _function(self, function: FunctionType) -> None:
        if _ours(function):
            return
        self._place(function)
        codes = list(_codes(function.__code__))
        names = frozenset(name for code in codes for name in code.co_names)
        for code in codes:
            self.said.append(f"{code.co_code.hex()} {code.co_names} {code.co_freevars}")
            self.take(tuple(c for c in code.co_consts if not isinstance(c, CodeType)), names)
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        self.take([function.__defaults__ or (), cells], names)
        for name in sorted(names & set(function.__globals__)):
            self.said.append(name)
            self.take(function.__globals__[name], names)

    def _place(self, value: Any) -> None:
        self.said.append(f"{value.__module__}.{value.__qualname__}")
        file = _file(value)
        if file not in self._files:
            self._files.add(file)
            try:
                raw = Path(file).read_bytes()
            except (OSError, ValueError):  # typed in, or in an archive
                return
            self.said.append(hashlib.sha256(raw).hexdigest())


def _kernels(record: type) -> Iterator[Any]:
    for table in TABLES:
        if record in table:
            found = table[record]
            yield from filter(callable, found if isinstance(found, tuple) else (found,))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _ours(value: Any) -> bool:
    return _top(getattr(value, "__module__", None)) in _AS_THEY_ARE


def _top(module: str | None) -> str:
    return (module or "").split(".")[0]


def _file(value: Any) -> str:
    if isinstance(value, FunctionType):
        return value.__code__.co_filename
    return getattr(sys.modules.get(value.__module__), "__file__", None) or ""


def _spelled(value: Any) -> str:
    """Kind and value; of what is spelled with its address, which no process has again, the kind."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    said = repr(value)
    return kind if " at 0x" in said else f"{kind} {said}"
