"""What decides how a panel's runs come out, and the name it has on disk by that: its cell."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from surefoot import _compile
from surefoot._types import JsonObject
from surefoot.study.files import versions
from surefoot.study.panel import BESIDE, Panel

DECIDE = ("surefoot", "numpy", "scipy", "numba")
"""A run may come out otherwise under another version of these; scipy draws some rewards."""


def cell_of(panel: Panel) -> str:
    """The name of all runs that come out as this panel's do: 16 hexadecimal digits.

    They are the first of SHA-256 over ``identity``, which says all that a run depends on besides
    its number.

    >>> from surefoot.study.sweep import Sweep, read
    >>> panel = read("cmab-K24-alpha0.05")
    >>> more, other = (Sweep.of(panel).but(**{name: 9}).panels[0] for name in ("runs", "seed"))
    >>> cell_of(panel) == cell_of(more), cell_of(panel) == cell_of(other)
    (True, False)

    Holds when: policies draw from the generator that they are handed, read no file, and do not
    depend on the order of a set. Does not hold when: other libraries that a user's own policy
    takes from change.
    """
    return named(identity(panel))


def named(identity: JsonObject) -> str:
    """The cell of what ``identity`` says."""
    return hashlib.sha256(canonical(identity).encode()).hexdigest()[:16]


def identity(panel: Panel, arrays: str | None = None) -> JsonObject:
    """What decides how a panel's runs come out, as JSON; equal ones have equal runs.

    ``panel``: its fields; ``made``: what ``made_with`` says; ``arrays``: a hash of the arrays of
    its environment, which are drawn by numpy; ``sources``: of the user's own modules in it, a hash
    of their text each. ``arrays`` where they are known: ``arrays_of``.
    """
    return {
        "panel": panel.identity,
        "made": made_with(),
        "arrays": arrays_of(panel) if arrays is None else arrays,
        "sources": panel.sources(),
    }


def told_of(panels: Iterable[Panel]) -> list[JsonObject]:
    """Panels as tasks hold them: their settings, their cells, and what those were made from.

    An environment is built once for panels that differ in alpha only.
    """
    told, arrays = [], dict[str, str]()
    for panel in panels:
        alike = canonical({**panel.identity, "alpha": None})
        arrays[alike] = arrays.get(alike) or arrays_of(panel)
        decided = identity(panel, arrays[alike])
        made = {name: decided[name] for name in ("made", "arrays", "sources")}
        cell = named(decided)
        told.append({"settings": panel.model_dump(mode="json"), "cell": cell, **made})
    return told


def arrays_of(panel: Panel) -> str:
    """A hash of the arrays of a panel's environment; panels of one group share it."""
    return _digest(_arrays(panel.environment(), set()))


def deciding(settings: JsonObject) -> JsonObject:
    """A panel's settings without those that no run depends on."""
    return {name: value for name, value in settings.items() if name not in BESIDE}


@cache
def made_with() -> dict[str, str]:
    """The versions that decide, and the fingerprint of the engine's text."""
    found = {name: at for name, at in versions().items() if name in DECIDE}
    return {**found, "engine": _compile.fingerprint()}


def canonical(value: Any) -> str:
    """The one spelling of a JSON value that is hashed.

    >>> canonical({"b": 1, "a": [0.5, None]})
    '{"a":[0.5,null],"b":1}'
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def difference(here: JsonObject, there: JsonObject, host: str, place: str) -> str:
    """Name what differs in what two machines say of a panel (``told_of``).

    ``here``: on this ``host``; ``there``: what ``place`` says.

    >>> one = {"settings": {}, "made": {"numba": "0.68"}, "arrays": "", "sources": {}}
    >>> difference(one, {**one, "made": {"numba": "0.67"}}, "node-7", "out/study.json")
    'numba: 0.68 on node-7, 0.67 in out/study.json'
    """
    for name in (*DECIDE, "engine"):
        mine, theirs = here["made"].get(name), there["made"].get(name)
        if mine != theirs:
            return f"{name}: {mine} on {host}, {theirs} in {place}"
    one, other = deciding(here["settings"]), deciding(there["settings"])
    for name in dict.fromkeys([*one, *other]):
        if one.get(name) != other.get(name):
            return f"{name} = {one.get(name)} on {host}, {other.get(name)} in {place}"
    for path in {**here["sources"], **there["sources"]}:
        if here["sources"].get(path) != there["sources"].get(path):
            return f"{path}: its text on {host} is another than in {place}"
    return (
        f"the environment's arrays on {host} are others than in {place}: they are drawn from fresh "
        "entropy, or come out otherwise on this machine"
    )


def _arrays(value: Any, seen: set[int]) -> Iterator[np.ndarray[Any, Any]]:
    """The arrays that an environment holds, also those of one within it, in a fixed order."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _arrays(one, seen)
    elif isinstance(value, dict):
        for name in sorted(value, key=repr):
            yield from _arrays(value[name], seen)
    elif id(value) not in seen and _has_parts(value):
        seen.add(id(value))
        yield from _arrays(vars(value), seen)


def _has_parts(value: Any) -> bool:
    return hasattr(value, "__dict__") and not isinstance(value, type | ModuleType | FunctionType)


def _digest(arrays: Iterator[np.ndarray[Any, Any]]) -> str:
    whole = hashlib.sha256()
    for array in arrays:
        kind = array.dtype.newbyteorder("<")
        whole.update(f"{kind.str}{array.shape}".encode())
        if array.dtype.hasobject:
            whole.update(repr(array.tolist()).encode())
        else:
            whole.update(np.ascontiguousarray(array, kind).tobytes())
    return whole.hexdigest()[:16]
