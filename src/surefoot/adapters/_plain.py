"""A learner of another library as plain values, and back: what pickle does, without pickle.

Only numbers, strings and arrays are written. Every object they belong to is found again in a fresh
learner that the user makes, so a file names no class to build and runs no code.
"""

from __future__ import annotations

import enum
import functools
import random
import types
from typing import Any

import numpy as np

from surefoot._exact import shown
from surefoot.errors import InvalidInput

_FIXED: tuple[Any, ...] = (
    type,
    types.ModuleType,
    types.BuiltinFunctionType,
    types.FunctionType,
    enum.Enum,
    functools.partial,
    np.ufunc,
    np.dtype,
)
"""What no reward changes."""
_NONE = object()
"""Where a fresh learner has nothing."""


def written(value: Any, what: str) -> Any:
    """The plain form of a value; InvalidInput for one that has none.

    >>> from types import SimpleNamespace as Learner
    >>> learner, fresh = Learner(n={"a": 3}, w=np.ones(2)), Learner(n={}, w=None)
    >>> read(fresh, written(learner, "learner"), "learner")
    namespace(n={'a': 3}, w=array([1., 1.]))
    """
    return _written(value, what, {})


def _written(value: Any, what: str, seen: dict[int, tuple[int, Any]]) -> Any:
    if value is None or type(value) in (bool, int, float, str) or _is_number(value):
        return value
    if id(value) in seen:
        return {"again": seen[id(value)][0]}
    if isinstance(value, types.MethodType):
        return {"method": _written(value.__self__, what, seen)}
    if isinstance(value, _FIXED) or _is_made_by_numbers(value):
        return {"fixed": type(value).__name__}
    seen[id(value)] = len(seen), value  # kept, so that no other object gets its id
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return {"array": value.copy()}
    if isinstance(value, np.random.Generator):
        return {"generator": value.bit_generator.state}
    if isinstance(value, np.random.RandomState):
        return {"generator": value.get_state(legacy=False)}
    if isinstance(value, random.Random):
        return {"generator": value.getstate()}
    if isinstance(value, dict):
        items = value.items()
        return {"dict": [[key, _written(one, f"{what}[{key!r}]", seen)] for key, one in items]}
    if isinstance(value, list | tuple):
        parts = [_written(one, f"{what}[{n}]", seen) for n, one in enumerate(value)]
        return {"tuple" if isinstance(value, tuple) else "list": parts}
    attributes = _attributes(value)
    if attributes is None:
        raise InvalidInput(
            f"{what} is {shown(value)} ({type(value).__name__}), which cannot be saved without "
            "pickle; keep a log of the rewards, and teach them to a fresh policy"
        )
    named = {name: _written(one, f"{what}.{name}", seen) for name, one in attributes.items()}
    return {"object": [type(value).__name__, named]}


def _is_number(value: Any) -> bool:
    return isinstance(value, np.generic) and value.dtype.kind in "biufU"


def _is_made_by_numbers(value: Any) -> bool:
    """Whether an object of compiled code has no state: plain arguments alone make it again."""
    if isinstance(value, dict | list | tuple | np.ndarray) or _attributes(value) is not None:
        return False
    try:
        made = value.__reduce_ex__(2)
    except Exception:  # noqa: BLE001  # a lock or a connection, say
        return False
    plain = (bool, int, float, str, type)
    return len(made) == 2 and all(isinstance(one, plain) for one in made[1])


def _attributes(value: Any) -> dict[str, Any] | None:
    """The attributes of an object but for cached ones, which are computed again; None if it keeps
    them where Python cannot see them."""
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    if not hasattr(value, "__dict__") and not slots:
        return None
    found = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    kept = getattr(value, "__dict__", {}).items()
    return found | {name: one for name, one in kept if not _is_cached(value, name)}


def _is_cached(value: Any, name: str) -> bool:
    return isinstance(getattr(type(value), name, None), functools.cached_property)


def read(target: Any, packed: Any, what: str) -> Any:
    """What was written, put into ``target``, a fresh value of the same make; returns it."""
    reader = _Reader()
    whole = reader.read(target, packed, what)
    for generator, state in reader.generators:
        _set(generator, state)
    return whole


def _set(generator: Any, state: Any) -> None:
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    elif isinstance(generator, np.random.RandomState):
        generator.set_state(state)
    else:
        generator.setstate(state)


class _Reader:
    """Remembers what it has put in place, in the order in which it was written."""

    def __init__(self) -> None:
        self.made: list[Any] = []
        self.generators: list[tuple[Any, Any]] = []
        """Set at the end: making a missing part of a learner may draw from them."""

    def read(self, target: Any, packed: Any, what: str) -> Any:
        if not isinstance(packed, dict):
            return packed
        ((kind, inner),) = packed.items()
        if kind == "again":
            return self.made[inner]
        found = type(target).__name__
        name = inner[0] if kind == "object" else inner if kind == "fixed" else found
        missing = target is None or target is _NONE or name != found
        if missing and kind in {"object", "fixed", "generator", "method"}:
            raise InvalidInput(
                f"{what} was a {name if kind in {'object', 'fixed'} else kind}, and the fresh "
                "learner has none there; make it with the settings of the saved one"
            )
        if kind == "fixed":
            return target
        if kind == "method":
            self.read(target.__self__, inner, what)
            return target
        place = len(self.made)
        self.made.append(target)
        value = getattr(self, f"_{kind}")(target, inner, what, place)
        self.made[place] = value
        return value

    def _generator(self, target: Any, state: Any, what: str, place: int) -> Any:
        self.generators.append((target, state))
        return target

    def _array(self, target: Any, value: Any, what: str, place: int) -> Any:
        """In place where it fits: a learner may hold the same array twice."""
        fits = isinstance(target, np.ndarray) and target.flags.writeable
        if not fits or (target.shape, target.dtype) != (value.shape, value.dtype):
            return value.copy()
        target[...] = value
        return target

    def _list(self, target: Any, parts: list[Any], what: str, place: int) -> Any:
        whole = self.made[place] = target if isinstance(target, list) else []
        whole[:] = self._tuple(target, parts, what, place)
        return whole

    def _tuple(self, target: Any, parts: list[Any], what: str, place: int) -> Any:
        olds = list(target) if isinstance(target, list | tuple) else []
        olds += [_NONE] * (len(parts) - len(olds))
        news = [self.read(olds[n], one, f"{what}[{n}]") for n, one in enumerate(parts)]
        return target._make(news) if hasattr(target, "_make") else tuple(news)

    def _dict(self, target: Any, items: list[Any], what: str, place: int) -> Any:
        whole = self.made[place] = target if isinstance(target, dict) else {}
        olds, factory = dict(whole), getattr(whole, "default_factory", None)
        whole.clear()
        for key, one in items:
            old = olds.get(key, _NONE)
            if old is _NONE and factory is not None:
                old = factory()
            whole[key] = self.read(old, one, f"{what}[{key!r}]")
        return whole

    def _object(self, target: Any, inner: list[Any], what: str, place: int) -> Any:
        olds, (_, parts) = _attributes(target) or {}, inner
        cached = getattr(target, "__dict__", {}).keys() - olds.keys()
        for name in (olds.keys() - parts.keys()) | cached:
            object.__delattr__(target, name)
        for name, one in parts.items():
            value = self.read(olds.get(name, _NONE), one, f"{what}.{name}")
            object.__setattr__(target, name, value)
        return target
