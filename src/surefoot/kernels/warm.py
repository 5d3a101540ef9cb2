"""The kernels of live policies, compiled: for a process that called ``surefoot.warmup``.

A policy's kernels take its parameter record, and what crosses from Python into compiled code as a
record costs more than a choice does. So wrappers of the kernels are made that take its fields and
arrays as plain tuples. The text that runs is the same, and so is every decision, to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from surefoot._compile import compiling
from surefoot._jit import jittable
from surefoot.errors import InvalidInput
from surefoot.kernels import registry
from surefoot.kernels.noise import wrap
from surefoot.kernels.registry import MARGIN, index, opened, pledge, scale, unopened, update
from surefoot.kernels.registry import best as registry_best


class Live(NamedTuple):
    """Wrappers of one policy's kernels, as text, and the types they take, as numba spells them.

    What they are called with is up to the policy; each has its signature behind it.
    """

    name: str
    texts: tuple[Callable[..., Any], ...]
    signatures: tuple[str, ...]


LIVE: dict[type, Live] = {}
"""By the class whose kernels they wrap: two modules may each have a class of one name."""


Compiled = tuple[Callable[..., Any], ...]
"""The compiled wrappers of one policy: numba's entry points.

They are built-in functions, without the dispatcher in front that at every call would take longer
to look at the types of the arguments than most choices do. Nobody asks afterwards whether a number
is of the type in the signature: an array has to be, and a scalar is converted as ``int`` and
``float`` do."""

_READY: dict[type, Compiled] = {}


def ready(kind: type) -> Compiled | None:
    """The compiled wrappers of a policy, by its key in LIVE; None where nothing was warmed up."""
    return _READY.get(kind)


@jittable
def look_ahead(policy: Any, state: Any, ceilings: Any, turn: int) -> None:
    """Draw up every arm's ceiling, good for the turns up to this one; behind them, their scale."""
    reach = scale(policy, turn)
    ceilings[-1] = reach
    for k in range(len(ceilings) - 1):
        ceilings[k] = index(policy, state, k, reach, -math.inf) + MARGIN


@jittable
def foremost(policy: Any, state: Any, ceilings: Any, turn: int) -> tuple[int, float]:
    """The choice of ``registry.argmax`` among all arms; few indices are computed anew."""
    s = scale(policy, turn)
    if s > ceilings[-1]:
        look_ahead(policy, state, ceilings, turn + 1 + (turn >> SHIFT))
    leader = 0
    for k in range(len(ceilings) - 1):
        if ceilings[k] == math.inf:
            ceilings[k] = index(policy, state, k, ceilings[-1], -math.inf) + MARGIN
        if ceilings[k] > ceilings[leader]:
            leader = k
    score = index(policy, state, leader, s, -math.inf)
    chosen = -1
    top = -math.inf
    for k in range(len(ceilings) - 1):
        if ceilings[k] >= score:
            y = index(policy, state, k, s, top)
            if chosen < 0 or y > top:
                chosen = k
                top = y
    return chosen, top


@jittable
def learn(policy: Any, state: Any, ceilings: Any, k: int, reward: float) -> None:
    """One reward of one arm, whose ceiling is drawn up when it is next needed."""
    update(policy, state, k, reward)
    ceilings[k] = math.inf


@jittable
def reopen(policy: Any, state: Any, ceilings: Any, k: int, by: int) -> None:
    """One open play of an arm more or less; as ``learn``."""
    opened(policy, state, k, by)
    ceilings[k] = math.inf


SHIFT = 6
"""Ceilings are drawn up for the next m/64 turns: wider ones let more arms through, narrower ones
are drawn up more often."""

_SPELLED = {bool: "boolean", int: "int64", float: "float64"}
_CHOICE = "Tuple((int64, float64))"


def _of_record(record: type) -> Live | None:
    """The wrappers of a record of plain numbers, made from its fields; None for any other.

    ``best(turn, key, fields, state, ceilings)``, ``update(arm, reward, fields, state, ceilings)``,
    ``pledge(arm, fields, state, ceilings)`` and, of policies that hear of open plays,
    ``opened(arm, by, fields, state, ceilings)``: fields as a tuple, the lists of the state as a
    tuple of arrays. ``best`` of an index policy takes no key.
    """
    kinds = get_type_hints(record).values()
    if not kinds or not all(kind in _SPELLED for kind in kinds):
        return None
    zero: Any = record(*(kind() for kind in kinds))
    rows = registry.init(zero, 1)
    fields = ", ".join(_SPELLED[kind] for kind in kinds)
    arrays = ", ".join(f"{_SPELLED[type(row[0])]}[::1]" for row in rows)
    rest = f"Tuple(({fields},)), Tuple(({arrays},)), float64[::1]"

    def best(turn: int, fields: Any, state: Any, ceilings: Any) -> Any:
        return foremost(record(*fields), state, ceilings, turn)

    def drawn(turn: int, key: Any, fields: Any, state: Any, ceilings: Any) -> Any:
        arms = range(len(state[0]))
        return registry_best(record(*fields), state, turn, key, None, arms)

    def learned(arm: int, reward: float, fields: Any, state: Any, ceilings: Any) -> None:
        learn(record(*fields), state, ceilings, arm, reward)

    def told(arm: int, reward: float, fields: Any, state: Any, ceilings: Any) -> None:
        update(record(*fields), state, arm, reward)

    def pledged(arm: int, fields: Any, state: Any, ceilings: Any) -> Any:
        return pledge(record(*fields), state, arm)

    def waiting(arm: int, by: int, fields: Any, state: Any, ceilings: Any) -> None:
        opened(record(*fields), state, arm, by)

    def awaited(arm: int, by: int, fields: Any, state: Any, ceilings: Any) -> None:
        reopen(record(*fields), state, ceilings, arm, by)

    texts: Any = (drawn, told, pledged, waiting)
    key = "uint64, "
    if record in registry.INDEX_KERNELS:
        texts, key = (best, learned, pledged, awaited), ""  # each argument takes its time to cross
    for text in texts:
        # The name of the file that it is kept in, and whose text it was made from.
        text.__module__ = record.__module__
        text.__qualname__ = f"{record.__qualname__}.{text.__name__}"
    signatures = (
        f"{_CHOICE}(int64, {key}{rest})", f"void(int64, float64, {rest})",
        f"float64(int64, {rest})", f"void(int64, int64, {rest})",
    )  # fmt: skip
    hears = registry.KERNELS[record].opened is not unopened
    size = len(texts) if hears else len(texts) - 1
    return Live(record.__name__.removesuffix("Record"), texts[:size], signatures[:size])


def wrappers() -> dict[type, Live]:
    """Those of every policy known so far, by what they wrap the kernels of."""
    made = {
        record: _of_record(record) for record in registry.KERNELS if registry.compilable(record)
    }
    return {**LIVE, **{record: live for record, live in made.items() if live is not None}}


def warm_up() -> list[str]:
    """Compile the wrappers of every policy known so far, or load what the cache has.

    Returns the names of those that were compiled. Needs numba. Raises InvalidInput that names
    those that numba cannot compile, once all others are.
    """
    import numba

    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return []
    anew, failed = [], {}
    with compiling() as njit:
        teach()
        for kind, live in sorted(wrappers().items(), key=lambda item: item[1].name):
            if kind in _READY:
                continue
            try:
                dispatchers = [
                    njit(text, signature)
                    for text, signature in zip(live.texts, live.signatures, strict=True)
                ]
            except numba.core.errors.NumbaError as error:
                failed[f"{kind.__module__}.{kind.__qualname__}"] = error
                continue
            if not all(sum(getattr(one.stats, "cache_hits", {}).values()) for one in dispatchers):
                anew.append(live.name)
            pairs = zip(dispatchers, live.signatures, strict=True)
            _READY[kind] = tuple(one.get_overload(types) for one, types in pairs)
    if failed:
        raise InvalidInput(
            f"{uncompilable(*failed)}; all other policies are compiled, these run as plain Python"
        ) from next(iter(failed.values()))
    return anew


def uncompilable(*kinds: str) -> str:
    """What is said of records whose kernels numba refuses."""
    return (
        f"numba cannot compile {', '.join(kinds)}: kernels call only each other and helpers marked "
        "@jittable, read only fields that the record has, and work on numbers and their lists alone"
    )


def arrays(rows: Any) -> tuple[Any, ...] | None:
    """Lists of numbers as arrays of int64 or float64; None where a number does not fit."""
    try:
        made = tuple(np.array(row, np.int64 if type(row[0]) is int else float) for row in rows)
    except OverflowError:
        return None
    same = all(listed(one) == list(row) for one, row in zip(made, rows, strict=True))
    return made if same else None


def listed(row: Any) -> list[Any]:
    """A row of a state as a list of plain numbers, a copy."""
    return row.tolist() if isinstance(row, np.ndarray) else list(row)


@cache
def teach() -> None:
    """Give numba the dispatchers' choice: the kernel that belongs to the record's class."""
    import numba
    from numba.extending import overload

    for table, names in (
        (registry.KERNELS, ("best", "update", "pledge", "width", "member", "opened")),
        (registry.INDEX_KERNELS, ("scale", "index")),
        (registry.LINE_KERNELS, registry.LineKernels._fields),
        (registry.CURVE_KERNELS, registry.CurveKernels._fields),
    ):
        for name in names:
            overload(getattr(registry, name), strict=False)(_chooser(table, name))

    @overload(wrap, strict=False)
    def _wrap(number: Any) -> Any:
        return lambda number: numba.uint64(number)  # noqa: PLW0108  (numba compiles the lambda)


def _chooser(table: dict[type, Any], name: str) -> Callable[..., Any]:
    """What numba asks at compile time, with the types of a dispatcher's arguments."""

    def choose(policy: Any, *_: Any) -> Any:
        kernels = entry(table, policy)
        return None if kernels is None else getattr(kernels, name)

    return choose


def entry(table: dict[type, Any], record: Any) -> Any:
    """What a table has for the class of a record, which numba names by its type."""
    from numba import types

    named: Any = record
    return table.get(named.instance_class) if isinstance(record, types.BaseNamedTuple) else None
