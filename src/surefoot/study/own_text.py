"""The text of a user's own classes: all files of theirs that a class is made from."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from inspect import isfunction, unwrap
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from surefoot.errors import InvalidInput

_INSTALLED = {"site-packages", "dist-packages"}
_NOT_THEIRS = sys.stdlib_module_names | {"surefoot"}


def texts(module: str, home: str | None) -> dict[str, str]:
    """SHA-256 of the files of an imported module and of all of the user's own that it imports.

    Those are the modules of its package, and what lies beside it or in ``home``, wherever in their
    text they are imported; libraries are not among them. Where a module was loaded from another
    text than its file has by now, its hash is another, too. Raises InvalidInput for a module
    without a file.

    >>> list(texts("collections", None))
    ['collections']
    """
    root = sys.modules[module]
    if not getattr(root, "__file__", None):
        raise InvalidInput(
            f"module {module} has no file, so nobody could tell whether its text has changed, and "
            "no worker could import it; write it to a file beside the study's"
        )
    return dict(_texts(root, home))


@cache
def _texts(root: ModuleType, home: str | None) -> dict[str, str]:
    """As it is when first asked for: what is written later is not what is loaded."""
    file, top = Path(str(root.__file__)).absolute(), root.__name__.partition(".")[0]
    base = file.parents[root.__name__.count(".") + (file.stem == "__init__")]
    places = [place for place in (home and Path(home), base) if place]
    alone = bool(_INSTALLED & set(file.parts))
    found = {root.__name__: _hash(root.__name__, file)}
    due = [] if top in _NOT_THEIRS else list(_imported_by(root.__name__, file))
    while due:
        name = due.pop()
        where = None if name in found else _file(name, places)
        if where and not (alone and name.partition(".")[0] != top):
            found[name] = _hash(name, where)
            due += _imported_by(name, where)
    return dict(sorted(found.items()))


def _file(name: str, places: list[Path]) -> Path | None:
    """The file of a module in one of some places, without importing it."""
    for place in places:
        stem = place.joinpath(*name.split("."))
        for file in (stem / "__init__.py", stem.with_name(f"{stem.name}.py")):
            if file.is_file():
                return file
    return None


def _imported_by(name: str, file: Path) -> Iterator[str]:
    """Every name that the text of a module may import, with the packages it lies in."""
    if file.suffix != ".py":
        return
    package = name if file.stem == "__init__" else name.rpartition(".")[0]
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):  # it is named by an import that never happens
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            up = package.split(".")[: -(node.level - 1) or None] if node.level else []
            start = ".".join([*up, *filter(None, [node.module])])
            names = [start, *(f"{start}.{one.name}" for one in node.names)]
        else:
            continue
        for one in names:
            parts = one.split(".")
            yield from (".".join(parts[: end + 1]) for end in range(len(parts)))
    parts = name.split(".")
    yield from (".".join(parts[:end]) for end in range(1, len(parts)))


def _hash(name: str, file: Path) -> str:
    from surefoot._kernel_text import digest  # not before there is code: --help has no numpy

    raw = file.read_bytes()
    loaded = sys.modules.get(name)
    if loaded is None or file.suffix != ".py":
        return sha256(raw).hexdigest()
    known = set(_codes(compile(raw, str(file), "exec", dont_inherit=True)))
    other = [one for one in _functions(loaded, file) if one.__code__ not in known]
    return sha256(raw + "".join(map(digest, other)).encode()).hexdigest()


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _functions(module: ModuleType, file: Path) -> Iterator[FunctionType]:
    """The functions and methods of a module that were loaded from a file."""
    due: list[Any] = list(vars(module).values())
    seen: set[int] = set()
    for value in due:
        if isinstance(value, type) and value.__module__ == module.__name__:
            if id(value) not in seen:
                seen.add(id(value))
                due += vars(value).values()
            continue
        if isinstance(value, staticmethod | classmethod):
            value = value.__func__
        elif isinstance(value, property):
            value = value.fget
        if isfunction(value):
            value = unwrap(value)
        if isfunction(value) and Path(value.__code__.co_filename).absolute() == file:
            yield value
