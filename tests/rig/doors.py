"""Doors: what keeps the promise, opened again by hand in the processes of the rig.

A rig that finds nothing with a door open proves nothing with all of them shut. Each door names the
episodes that have to find it. Nothing of this can be reached from the package.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Door(NamedTuple):
    """One fault."""

    name: str
    open: Callable[[], None]
    episodes: tuple[str, ...]
    """Where it has to be found."""


DOORS: dict[str, Door] = {}


def door(name: str, *episodes: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def register(open_it: Callable[[], None]) -> Callable[[], None]:
        DOORS[name] = Door(name, open_it, episodes)
        return open_it

    return register


def open_all(names: list[str]) -> None:
    """Open some doors in this process."""
    for name in names:
        DOORS[name].open()


def part(path: str) -> Any:
    """A module of the package, or something in it: "live.store.tx:Tx"."""
    module, _, names = path.partition(":")
    found = importlib.import_module(f"surefoot.{module}")
    for name in names.split(".") if names else ():
        found = getattr(found, name)
    return found


@door("answered before the commit", "killed on SQLite", "killed on PostgreSQL", "server restarts")
def answered_before_commit() -> None:
    """A caller gets its answer while the commit is still to come."""
    database = part("live.store.database:DatabaseStore")
    commit, writing = database._commit, part("live.store.database:Group").write

    def write(group: Any) -> None:
        writing(group)
        for job in group.jobs:
            if job.error is None:
                job.finish()
        time.sleep(0.05)

    def early(store: Any, jobs: list[Any]) -> None:
        group_class = part("live.store.database:Group")
        group_class.jobs = jobs
        commit(store, jobs)

    part("live.store.database:Group").write = write
    database._commit = early
    finish = part("live.store.writer:Job").finish

    def once(job: Any, error: BaseException | None = None) -> None:
        if job._done.locked():
            finish(job, error)

    part("live.store.writer:Job").finish = once


@door("ids are not looked up", "calm", "killed on SQLite")
def ids_ignored() -> None:
    """The same id gets a new decision each time."""
    live = part("live.live:Live")
    select = live.select

    def anew(self: Any, *asked: Any, **more: Any) -> Any:
        return select(self, *asked, **{**more, "id": None})

    live.select = anew


@door("a default counts when it is decided", "calm", "killed on SQLite")
def credited_when_decided() -> None:
    """A default is credited at its decision, played or not."""
    tx, fold = part("live.store.tx:Tx"), part("live.fold:Fold")
    append, apply = tx.append, fold.apply

    def moved(self: Any, kind: str, **told: Any) -> Any:
        if kind == "decision.defaulted":
            told["d_posted"] = told["payload"]["deposit"]
        elif kind == "decision.confirmed":
            told["d_posted"] = 0
        return append(self, kind, **told)

    def follows(self: Any, entry: Any, done: bool = False) -> None:
        if done:
            self.account.posted += entry.d_posted
        apply(self, entry, done)

    tx.append, fold.apply = moved, follows


@door("journals are not entered", "journals", "killed on SQLite")
def journals_dropped() -> None:
    """What a dead worker left in its journal is thrown away."""
    worker = part("live.worker")

    def thrown(self: Any) -> None:
        for found in worker.left_behind(self._folder, self._header):
            found.path.unlink()

    worker.Worker.take_over = thrown


@door("journals are not written", "journals", "killed on SQLite")
def journals_unwritten() -> None:
    """A worker with a lease answers from memory alone."""
    part("live.journal:Journal").write = lambda self, step: None


@door("a lease is refunded when it is forfeited", "late reports")
def lease_refunded() -> None:
    """The reaper gives back what a worker may still spend."""
    tx = part("live.store.tx:Tx")
    append = tx.append

    def moved(self: Any, kind: str, **told: Any) -> Any:
        if kind == "lease.forfeited":
            told["d_posted"] = 0
        return append(self, kind, **told)

    tx.append = moved
