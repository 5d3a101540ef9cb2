"""Plain values as JSON and back, exactly: what JSON has no form for is spelled out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefoot._exact import shown
from surefoot.errors import InvalidInput

DEEPEST = 100
"""How many containers may be within each other: deeper ones no JSON reader has to take."""

_KINDS = "biufU"
"""Bools, ints, floats and strings; no objects, dates, bytes or records, and no long doubles."""


def to_json(value: Any, what: str, depth: int = 0) -> Any:
    """The JSON form of a value; ``from_json`` gives back an equal one of the same type.

    Takes None, bools, numbers, strings, numpy scalars and arrays of them, and lists, tuples and
    dicts of all these, with any such keys, up to ``DEEPEST`` within each other. Raises InvalidInput
    for anything else, also for what holds itself; ``what`` names it there.

    >>> import json
    >>> text = json.dumps(to_json({1: (2.5, float("inf")), "x": np.arange(2)}, "state"))
    >>> from_json(json.loads(text))
    {1: (2.5, inf), 'x': array([0, 1])}
    >>> to_json(print, "state")
    Traceback (most recent call last):
    ...
    surefoot.errors.InvalidInput: state holds <built-in function print>
    (builtin_function_or_method), which cannot be saved as JSON; use numbers, strings, lists,
    tuples, dicts or numpy arrays
    """
    kind, depth = type(value), depth + 1
    if depth > DEEPEST + 1:
        raise InvalidInput(
            f"{what} holds itself, or more than {DEEPEST} containers within each other; flatten it"
        )
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if kind is list:
        return [to_json(item, what, depth) for item in value]
    if kind is tuple:
        return {"tuple": [to_json(item, what, depth) for item in value]}
    if kind is dict:
        return {
            "dict": [
                [to_json(key, what, depth), to_json(item, what, depth)]
                for key, item in value.items()
            ]
        }
    dtype = getattr(value, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in _KINDS and dtype.char != "g":
        if isinstance(value, np.generic):
            return {"scalar": to_json(value.item(), what), "dtype": dtype.str}
        if kind is np.ndarray:
            flat = to_json(value.ravel().tolist(), what)
            return {"array": flat, "dtype": dtype.str, "shape": list(value.shape)}
    raise InvalidInput(
        f"{what} holds {shown(value)} ({kind.__name__}), which cannot be saved as JSON; "
        "use numbers, strings, lists, tuples, dicts or numpy arrays"
    )


def from_json(packed: Any) -> Any:
    """The inverse of ``to_json``; ValueError if that did not make it."""
    if isinstance(packed, list):
        return [from_json(item) for item in packed]
    if not isinstance(packed, dict):
        return packed
    match packed:
        case {"float": text}:
            return float(text)
        case {"tuple": items}:
            return tuple(map(from_json, items))
        case {"dict": items}:
            return {from_json(key): from_json(item) for key, item in items}
        case {"scalar": item, "dtype": dtype}:
            return np.dtype(dtype).type(from_json(item))
        case {"array": flat, "dtype": dtype, "shape": shape}:
            return np.array(from_json(flat), dtype=dtype).reshape(shape)
    raise ValueError(f"an entry of keys {sorted(packed)} is of no known kind")
