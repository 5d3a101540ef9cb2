"""A task: some runs of a group of panels, to be done by any worker, any number of times.

It is JSON. ``folder``: of the study; ``panels``: some of one group, each as its settings with its
``cell`` and what that was made from; ``first`` and ``last``: its runs; ``axes``: the columns of the
study. What is on disk already is not done again, and a part appears when it is whole, so a task
may be lost, done twice or come late.
"""

from __future__ import annotations

import json
import os
import socket
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import surefoot
from surefoot._exact import shown
from surefoot._types import JsonObject
from surefoot.errors import InvalidInput, StoreUnavailable, SurefootError, TaskFailed
from surefoot.simulation import Plan
from surefoot.simulation.runner import choose
from surefoot.simulation.stops import Stopped
from surefoot.study.files import uninterrupted
from surefoot.study.own_code import line
from surefoot.study.panel import Panel
from surefoot.study.results import cells, open_runs, parts
from surefoot.study.results.manifest import LOG, held, processor
from surefoot.study.results.open_runs import OpenRun
from surefoot.study.results.parts import Part
from surefoot.study.results.rows import KINDS, table
from surefoot.study.results.sealed import put
from surefoot.study.results.store import Runs
from surefoot.study.runs import Traces, joint_plan
from surefoot.study.scheduling.twice import play_twice
from surefoot.study.sweep import panel_of

if TYPE_CHECKING:
    import polars as pl

MOST_BYTES = 64 << 20
"""Traces of so many bytes are kept before a part is written, so that memory does not grow."""

_TOLD = {"settings": dict, "cell": str, "made": dict, "arrays": str, "sources": dict}
"""What a task says of a panel."""


class Group(NamedTuple):
    """What a worker makes of a task's panels."""

    panels: list[Panel]
    told: list[JsonObject]
    """Of each panel what ``cells.told_of`` says here."""
    plan: Plan


def due(store: Runs, panels: Sequence[Panel], shard: int = 1, shards: int = 1) -> list[JsonObject]:
    """The tasks that are left of a group, as few as can be; of one shard, if there are several.

    They are of any size: ``cut`` takes some runs of one.
    """
    lacking = [store.missing(store.cell(panel)) for panel in panels]
    if shards > 1:
        lacking = [parts.of_shard(spans, shard, shards) for spans in lacking]
    return [
        {
            "folder": str(store.folder.absolute()),
            "panels": [store.told[panels[number].name] for number in numbers],
            "first": runs.start,
            "last": runs.stop - 1,
            "axes": dict(store.axes),
        }
        for runs, numbers in parts.together(lacking)
    ]


def cut(task: JsonObject, size: int) -> tuple[JsonObject, JsonObject | None]:
    """The first runs of a task, at most so many, and what is left of it.

    >>> first, rest = cut({"first": 3, "last": 7}, 2)
    >>> first, rest, cut(rest, 9)[1]
    ({'first': 3, 'last': 4}, {'first': 5, 'last': 7}, None)
    """
    end = min(task["last"], task["first"] + size - 1)
    rest = None if end == task["last"] else {**task, "first": end + 1}
    return {**task, "last": end}, rest


def carry_out(task: JsonObject, stopped: Callable[[], bool] = lambda: False) -> JsonObject:
    """Do what is missing of a task and put it on disk; say how it went.

    ``stopped`` is asked every few thousand plays; once it says yes, or a run fails, those that are
    finished are kept, and the others given up; a long one is kept open (``open_runs``), and whoever
    is given it next goes on with it. Raises InvalidInput, before anything is played, where the
    runs would come out otherwise here than they were asked for, or have other columns than the
    study, and where a module is missing; StoreUnavailable where the folder cannot be written.

    Returns ``runs``, how many were done; ``seconds``; the ``host`` and its ``cpu``.
    """
    began = perf_counter()
    _check(task)
    host, folder = socket.gethostname(), Path(task["folder"])
    there = held(folder)
    if there is None or not there.cells.issuperset(told["cell"] for told in task["panels"]):
        raise StoreUnavailable(
            f"{folder}, as {host} sees it, holds {'another study' if there else 'no study'}; "
            "a worker must share the study's folder, and --overwrite ends what ran there"
        )
    if list(task["axes"].items()) != list(there.axes.items()):
        raise InvalidInput(
            f"the task gives the axes {shown(task['axes'])}, and the study in {folder} has "
            f"{shown(there.axes)}; give it as the study gave it out"
        )
    group = _agreed(task, host)
    span = range(task["first"], task["last"] + 1)
    lacking = [
        parts.missing(parts.parts_in(folder / parts.RUNS / told["cell"]), span)
        for told in task["panels"]
    ]
    if group.panels[0].foreign and any(0 in spans for missing in lacking for spans in missing):
        with _named(group.panels, 0):
            play_twice(group.panels)
    done = 0
    for runs, numbers in parts.together(lacking):
        for piece in parts.pieces(runs, _at_once(group.plan)):
            done += _play(task, group, piece, numbers, stopped)
    seconds = round(perf_counter() - began, 6)
    said = {"runs": done, "seconds": seconds, "host": host, "cpu": processor()}
    if done:
        note(folder, {"cells": [told["cell"] for told in task["panels"]],
                      "first": task["first"], "last": task["last"], **said})  # fmt: skip
    return said


def _check(task: JsonObject) -> None:
    """InvalidInput for what no study has given out."""
    try:
        whole = type(task["folder"]) is str and KINDS.issuperset(task["axes"].values())
        for told in task["panels"]:
            whole = whole and all(type(told[name]) is kind for name, kind in _TOLD.items())
        runs = min(told["settings"]["runs"] for told in task["panels"])
        first, last = task["first"], task["last"]
        whole = whole and type(runs) is int
    except (AttributeError, KeyError, TypeError, ValueError):
        whole = False
    if not whole:
        raise InvalidInput(
            f"task = {shown(task)} must hold folder, axes, panels, first and last; give it as the "
            "study gave it out"
        )
    if not (type(first) is int and type(last) is int and 0 <= first <= last < runs):
        raise InvalidInput(
            f"first = {shown(first)}, last = {shown(last)} of a task must be ints with 0 <= first "
            f"<= last < {runs}, the runs of its panels"
        )


def _agreed(task: JsonObject, host: str) -> Group:
    """The group of a task, if its runs come out here as they were asked for."""
    try:
        group = _rebuilt(cells.canonical([told["settings"] for told in task["panels"]]))
    except InvalidInput as error:
        raise InvalidInput(f"on {host}: {error}") from None
    for panel, here, there in zip(group.panels, group.told, task["panels"], strict=True):
        if here["cell"] == there["cell"]:
            continue
        told = {name: there.get(name) for name in ("made", "arrays", "sources")}
        if told["made"] == here["made"] and there["cell"] != cells.named(
            {"panel": panel.identity, **told}
        ):
            raise InvalidInput(
                f"the task gives {panel.name} the cell {there['cell']}, which is of other "
                "settings; give it as the study gave it out"
            )
        what = cells.difference(here, there, host, f"the study in {task['folder']}")
        raise InvalidInput(
            f"{what}; nothing was played, for the runs could differ: give all workers the "
            "same, and start them anew"
        )
    return group


@lru_cache(maxsize=8)
def _rebuilt(settings: str) -> Group:
    """Panels and their plan from settings; a worker mostly gets tasks of the same few groups."""
    panels = [panel_of(one) for one in json.loads(settings)]
    return Group(panels, cells.told_of(panels), joint_plan(panels))


def _at_once(plan: Plan) -> int:
    """How many runs of a plan are held in memory before they are written."""
    each = 128 * len(plan.checkpoints) * len(plan.agents)  # two tables of up to 8 numbers
    return max(1, MOST_BYTES // each)


def _play(
    task: JsonObject, group: Group, runs: range, numbers: list[int], stopped: Callable[[], bool]
) -> int:
    """Play some runs and write them, a part for each panel by number; how many were played."""
    engine, folder = choose("compiled"), Path(task["folder"])
    named = [str(told["cell"]) for told in task["panels"]]
    found: dict[int, Traces] = {}
    try:
        for run in runs:
            with _named(group.panels, run):
                found[run] = group.plan.run(run, engine, stopped, OpenRun(folder, named, run))
    finally:
        if found:
            part = Part(runs.start, runs.start + len(found) - 1)
            for number in numbers:
                cell = named[number]
                with uninterrupted():
                    frame = table(cell, group.panels[number], group.plan, found, task["axes"])
                    _write(folder / parts.RUNS / cell / part.name, frame)
            open_runs.discard(folder, named, list(found))
    return len(found)


@contextmanager
def _named(panels: Sequence[Panel], run: int) -> Iterator[None]:
    """Say in which run, and where in the user's own text, something went wrong.

    Whatever their code raises: an exit would end a worker, and an interrupt look like Ctrl-C.
    """
    try:
        yield
    except Stopped:
        raise
    except InvalidInput as error:
        raise InvalidInput(f"run {run} of {panels[0].group}: {error}") from error
    except BaseException as error:
        if not panels[0].foreign or isinstance(error, SurefootError):
            raise
        raise TaskFailed(
            f"run {run} of {panels[0].group} on {socket.gethostname()}: {line(error)}{_spot(error)}"
            "; what is finished is kept"
        ) from error


def _spot(error: BaseException) -> str:
    """The last line of code outside Surefoot and libraries that an error came through."""
    ours = Path(surefoot.__file__).parent
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        place = Path(frame.filename)
        if ours not in place.parents and "site-packages" not in place.parts:
            return f" ({place.name}:{frame.lineno}, {frame.name})"
    return ""


def _write(path: Path, frame: pl.DataFrame) -> None:
    """Put a part on disk, in whole or not at all."""
    try:
        put(path, frame)
    except OSError as error:
        raise StoreUnavailable(
            f"{path} cannot be written by {socket.gethostname()}: {error.strerror or error}; runs "
            "that are finished are kept: mend it and go on with --resume"
        ) from error


def note(folder: Path, entry: JsonObject) -> None:
    """Append a line to the log of a study, with the time; no run is lost where that fails.

    One write at the end of the file, which local file systems keep in one piece.
    """
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    line = json.dumps({"at": now, **entry}, ensure_ascii=False) + "\n"
    with suppress(OSError):
        file = os.open(folder / LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)
