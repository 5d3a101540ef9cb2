"""Where a run can stop, between two blocks, and what it goes on from, bit for bit.

A run is done in stages: each base path with the agents that share it, then one by one the agents
that share none. Its state is the traces of the stages that are finished, and all that the stage
under way has read and written: plain arrays, which fit into a file and go on on another machine.
Whatever is kept only saves time: a run whose state is lost, or does not fit, starts again, and is
the same.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from surefoot._types import JsonObject
from surefoot.simulation.loop import Trace

State: TypeAlias = dict[str, npt.NDArray[Any]]
"""A run, or a stage of one, as it stands between two blocks; copies, by name."""
Rows: TypeAlias = dict[str, Any]
"""The lists and arrays that a stage reads and writes in place, by name."""
_NOW = "now."
"""Before the names of the stage under way."""
_STAGE = "stage"
"""How many stages are finished."""


class Stopped(Exception):
    """A run was given up between two blocks because its caller has stopped."""


class Unfit(Exception):
    """A state is not one of this run."""


class Keeper(Protocol):
    """Who keeps the state of one run while it is under way."""

    def kept(self) -> State | None:
        """What the run goes on from; None where it starts."""

    def keep(self, state: Callable[[], State], ending: bool) -> None:
        """The run is between two blocks; ``state`` copies it, should it be kept now.

        ``ending``: it is given up after this call.
        """


class Stage(Protocol):
    """Some agents of one run, which are driven together, block by block."""

    @property
    def ended(self) -> bool:
        """Whether the horizon is reached."""

    def step(self) -> None:
        """Take the next block."""

    def state(self) -> State | None:
        """A copy of all that the next blocks depend on; None where nothing can be copied."""

    def restore(self, state: State) -> None:
        """The inverse of ``state``, for a fresh stage; Unfit leaves it fresh, or useless."""

    def traces(self) -> dict[str, Trace]:
        """What was noted, by agent; to be asked once it has ended."""


class Part(NamedTuple):
    """A stage that has not begun."""

    names: Sequence[str]
    """Its agents."""
    begin: Callable[[], Stage]


def copied(rows: Rows) -> State:
    """Copies of lists and arrays.

    >>> copied({"sums": [1, 2]})
    {'sums': array([1, 2])}
    """
    return {name: np.array(row) for name, row in rows.items()}


def fill(rows: Rows, state: State) -> None:
    """Put copies back into their lists and arrays; Unfit, and nothing is changed, if one differs.

    >>> rows = {"sums": [0, 0]}
    >>> fill(rows, {"sums": np.array([1, 2])})
    >>> rows
    {'sums': [1, 2]}
    >>> fill(rows, {"sums": np.array([1, 2, 3])})
    Traceback (most recent call last):
    ...
    surefoot.simulation.stops.Unfit: sums is int64 of shape (3,), not int64 of shape (2,)
    """
    for name in [*rows, *(name for name in state if name not in rows)]:
        if name not in rows or name not in state:
            raise Unfit(f"{name} is {'missing' if name in rows else 'of no use'}")
        mine, kept = np.asarray(rows[name]), state[name]
        if (mine.dtype, mine.shape) != (kept.dtype, kept.shape):
            raise Unfit(
                f"{name} is {kept.dtype} of shape {kept.shape}, "
                f"not {mine.dtype} of shape {mine.shape}"
            )
    for name, row in rows.items():
        row[:] = state[name].tolist() if isinstance(row, list) else state[name]


def text_of(document: JsonObject) -> npt.NDArray[Any]:
    """JSON as an array of its bytes; ValueError for a number that JSON has no form for."""
    return np.frombuffer(json.dumps(document, allow_nan=False).encode(), np.uint8).copy()


def document_of(text: npt.NDArray[Any]) -> Any:
    """The inverse of ``text_of``; ValueError for other bytes."""
    return json.loads(text.tobytes())


def trace_rows(trace: Trace) -> Rows:
    """What is noted at checkpoints."""
    rows = {"trace.books": trace.books, "trace.losses": trace.losses}
    more = {"trace.floors": trace.floors, "trace.forfeited": trace.forfeited}
    return rows | {name: row for name, row in more.items() if row.size}


def under(prefix: str, rows: Rows) -> Rows:
    """The same under longer names.

    >>> under("a.", {"x": 1})
    {'a.x': 1}
    """
    return {prefix + name: row for name, row in rows.items()}


def within(prefix: str, state: State) -> State:
    """The inverse of ``under``: what has such a name."""
    return {
        name.removeprefix(prefix): row for name, row in state.items() if name.startswith(prefix)
    }


def carry_through(
    parts: Sequence[Part],
    blank: Callable[[str], Trace],
    stopped: Callable[[], bool],
    keeper: Keeper | None = None,
) -> dict[str, Trace]:
    """Do what is left of a run, and return the traces of all its agents.

    ``blank``: an empty trace for an agent.
    """
    kept = None if keeper is None else keeper.kept()
    finished, traces, now = _read(parts, blank, kept or {})
    for number, part in enumerate(parts[finished:], finished):
        stage = _begun(part, now)
        _take(stage, stopped, keeper, partial(_state, number, traces, stage))
        traces.update(stage.traces())
        now = {}
        del stage  # it is large, and the next one begins before its name is taken over
    return traces


def _take(
    stage: Stage, stopped: Callable[[], bool], keeper: Keeper | None, state: Callable[[], State]
) -> None:
    """Take a stage to its end."""
    while not stage.ended:
        ending = stopped()
        if keeper is not None:
            keeper.keep(state, ending)
        if ending:
            raise Stopped
        stage.step()


def _begun(part: Part, now: State) -> Stage:
    """A stage as it was kept, or as it starts."""
    stage = part.begin()
    if not now:
        return stage
    try:
        stage.restore(now)
    except Unfit as why:
        _warn(why)
        return part.begin()
    return stage


def _state(number: int, traces: Mapping[str, Trace], stage: Stage) -> State:
    """The run, while stage ``number`` is under way."""
    rows: Rows = {_STAGE: [number]}
    for i, trace in enumerate(traces.values()):
        rows |= under(f"{i}.", {**trace_rows(trace), "faults": [trace.faults]})
    return copied(rows) | under(_NOW, stage.state() or {})


def _read(
    parts: Sequence[Part], blank: Callable[[str], Trace], state: State
) -> tuple[int, dict[str, Trace], State]:
    """How many stages are finished, their traces, and the state of the one under way."""
    if not state:
        return 0, {}, {}
    rest = {name: row for name, row in state.items() if not name.startswith(_NOW)}
    stage = [0]
    try:
        fill({_STAGE: stage}, {name: row for name, row in rest.items() if name == _STAGE})
        if not 0 <= stage[0] < len(parts):
            raise Unfit(f"{_STAGE} = {stage[0]} is none of {len(parts)}")
        found = {name: (blank(name), [0]) for part in parts[: stage[0]] for name in part.names}
        rows: Rows = {_STAGE: stage}
        for i, (trace, faults) in enumerate(found.values()):
            rows |= under(f"{i}.", {**trace_rows(trace), "faults": faults})
        fill(rows, rest)
    except Unfit as why:
        _warn(why)
        return 0, {}, {}
    read = {name: trace._replace(faults=faults[0]) for name, (trace, faults) in found.items()}
    return stage[0], read, within(_NOW, state)


def _warn(why: Unfit) -> None:
    warnings.warn(
        f"a run starts again: the state that was kept of it is of no use here ({why})",
        RuntimeWarning,
        stacklevel=3,
    )
