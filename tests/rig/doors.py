"""Doors: what keeps the promise, opened again by hand in the processes of the rig.

A rig that finds nothing with a door open proves nothing with all of them shut. Each door names the
episodes that have to find it, and the parts of the package that it bends. None of this can be
reached from the package.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Door(NamedTuple):
    """One fault."""

    name: str
    open: Callable[..., None]
    """Takes the parts."""
    of: tuple[str, ...]
    """The parts it bends: "live.store.tx:Tx.append" is what a class there has."""
    episodes: tuple[str, ...]
    """Where it has to be found."""

    @property
    def missing(self) -> list[str]:
        """The parts that are not there (any more): then the door has to be written anew."""
        return [path for path in self.of if not there(path)]


DOORS: dict[str, Door] = {}
POSTGRES = "live.store.postgres:PostgresStore"
Opener = Callable[..., None]


def door(name: str, of: str | tuple[str, ...], *episodes: str) -> Callable[[Opener], Opener]:
    """Register a door."""

    def register(open_it: Opener) -> Opener:
        parts = (of,) if isinstance(of, str) else of
        DOORS[name] = Door(name, open_it, parts, episodes)
        return open_it

    return register


def open_all(names: list[str]) -> None:
    """Open some doors in this process."""
    for name in names:
        each = DOORS[name]
        each.open(*map(Part, each.of))


class Part:
    """An attribute of the package."""

    def __init__(self, path: str) -> None:
        module, _, names = path.partition(":")
        *owners, self.name = names.split(".")
        self.owner: Any = importlib.import_module(f"surefoot.{module}")
        for name in owners:
            self.owner = getattr(self.owner, name)
        self.was = getattr(self.owner, self.name)

    def set(self, new: Any) -> None:
        setattr(self.owner, self.name, new)


def there(path: str) -> bool:
    try:
        Part(path)
    except (AttributeError, ModuleNotFoundError):
        return False
    return True


@door(
    "answered before the commit",
    ("live.store.database:Group.write", "live.store.database:DatabaseStore._commit",
     "live.store.writer:Job.finish"),
    "killed on SQLite", "killed on PostgreSQL", "server restarts",
)  # fmt: skip
def answered_before_commit(write: Part, commit: Part, finish: Part) -> None:
    """A caller gets its answer while the commit is still to come."""
    group: list[Any] = []

    def early(store: Any, jobs: list[Any]) -> None:
        group[:] = jobs
        commit.was(store, jobs)

    def written(self: Any) -> None:
        write.was(self)
        for job in group:
            if job.error is None:
                finish.was(job)
        time.sleep(0.05)

    def once(job: Any, error: BaseException | None = None) -> None:
        if job._done.locked():
            finish.was(job, error)

    commit.set(early)
    write.set(written)
    finish.set(once)


@door("ids are not looked up", "live.live:Live.select", "calm", "killed on SQLite")
def ids_ignored(select: Part) -> None:
    """The same id gets a new decision each time."""
    select.set(lambda self, *asked, **more: select.was(self, *asked, **{**more, "id": None}))


@door(
    "a default counts when it is decided",
    ("live.store.tx:Tx.append", "live.fold:Fold.apply"),
    "calm", "killed on SQLite",
)  # fmt: skip
def credited_when_decided(append: Part, apply: Part) -> None:
    """A default is credited at its decision, played or not."""

    def moved(self: Any, kind: str, **told: Any) -> Any:
        if kind == "decision.defaulted":
            told["d_posted"] = told["payload"]["deposit"]
        elif kind == "decision.confirmed":
            told["d_posted"] = 0
        return append.was(self, kind, **told)

    def follows(self: Any, entry: Any, done: bool = False) -> None:
        if done:
            self.account.posted += entry.d_posted
        apply.was(self, entry, done)

    append.set(moved)
    apply.set(follows)


@door(
    "journals are not entered",
    ("live.worker:Worker.take_over", "live.worker:left_behind"),
    "journals", "killed on SQLite",
)  # fmt: skip
def journals_dropped(take_over: Part, left_behind: Part) -> None:
    """What a dead worker left in its journal is thrown away."""

    def thrown(self: Any) -> None:
        for found in left_behind.was(self._folder, self._header):
            found.path.unlink()

    take_over.set(thrown)


@door("journals are not written", "live.journal:Journal.write", "journals", "killed on SQLite")
def journals_unwritten(write: Part) -> None:
    """A worker with a lease answers from memory alone."""
    write.set(lambda self, step: None)


@door("a lease is refunded when it is forfeited", "live.store.tx:Tx.append", "stopped workers")
def lease_refunded(append: Part) -> None:
    """The reaper gives back what a worker may still spend."""

    def moved(self: Any, kind: str, **told: Any) -> Any:
        if kind == "lease.forfeited":
            told["d_posted"] = 0
        return append.was(self, kind, **told)

    append.set(moved)


@door("a void may come second", "live.worker:_is_final", "late reports")
def void_second(is_final: Part) -> None:
    """A void under a lease is acknowledged though another worker may have expired the play."""
    is_final.set(lambda row, telling: False)


@door("any clock will do", "live.store.sqlite:checked_clock", "clocks jump")
def any_clock(checked: Part) -> None:
    """What a clock of the caller's own says is written as it is."""
    checked.set(lambda clock: clock)


@door("passwords are shown", "_redact:redacted", "nonsense")
def passwords_shown(redacted: Part) -> None:
    """An address stands in messages as it was given."""
    everywhere(redacted.was, lambda text: text)


def everywhere(old: Any, new: Any) -> None:
    """Replace a function in each module that has imported it."""
    for name, module in list(sys.modules.items()):
        if name.startswith("surefoot"):
            for attribute in [each for each, is_ in vars(module).items() if is_ is old]:
                setattr(module, attribute, new)


@door("any address will do", "live.store.postgres:address", "nonsense")
def any_address(address: Part) -> None:
    """An address goes to the driver unread."""
    import sqlalchemy as sa

    address.set(lambda url: sa.make_url(url).set(drivername="postgresql+psycopg"))


@door(
    "a ledger that went back is not noticed", "live.store.tx:Watermarks.audit",
    "SQLite goes back", "PostgreSQL goes back",
)  # fmt: skip
def goes_back(ground: Part) -> None:
    """The account is taken as it is found."""
    module = importlib.import_module("surefoot.live.store.tx")
    ground.set(lambda self, row, committed: module.Audit(row))


@door(
    "a file that moved is not noticed", "live.store.sqlite:FileIdentity._look", "SQLite file gone"
)
def file_moved(look: Part) -> None:
    """Nobody looks whether the file is still at its path."""
    look.set(lambda self: None)


@door("totals come from the account's row", "live.store.tx:_summed", "account tampered")
def totals_of_row(standing: Part) -> None:
    """In degraded mode entries follow what the row says."""
    standing.set(lambda row, last: (row, standing.was(row, last)[1]))


@door("verify reads entries alone", "live.rows:Derived.problems", "plays deleted")
def entries_alone(problems: Part) -> None:
    """The rows that answer ids are compared with nothing."""
    problems.set(lambda self, account, plays, leases: [])


@door("settings are the session's", f"{POSTGRES}._begin", "pooled")
def session_settings(begin: Part) -> None:
    """What a transaction needs is set for whoever has the session next, too."""

    def first(self: Any, beginning: str, connection: Any) -> None:
        wire = connection.connection.dbapi_connection
        only = "on" if "READ ONLY" in beginning else "off"
        wire.execute(f"SET SESSION default_transaction_read_only = {only}")
        begin.was(self, beginning, connection)

    begin.set(first)


@door(
    "a commit is as durable as the server likes",
    (f"{POSTGRES}._beginning", f"{POSTGRES}._make_ready"),
    "pooled",
)  # fmt: skip
def asynchronous(beginning: Part, ready: Part) -> None:
    """synchronous_commit is left as it is."""

    def without(self: Any, writes: bool) -> str:
        said = beginning.was(self, writes).split("; ")
        return "; ".join(part for part in said if "synchronous_commit" not in part)

    beginning.set(without)
    ready.set(lambda self: None)


@door("statements are prepared", f"{POSTGRES}._connect", "pooled")
def prepared(connect: Part) -> None:
    """psycopg prepares what it sends often, in a session that the next transaction may not have."""

    def connected(*args: Any) -> Any:
        connection = connect.was(*args)
        connection.prepare_threshold = 1
        return connection

    connect.set(connected)


@door("a silent network is waited for", "live.store.patient:_bounded", "silent network")
def patient_for_ever(bounded: Part) -> None:
    """No wait for an answer has an end."""
    bounded.set(lambda gen, patience: gen)


@door(
    "a forked child asks for a lock first",
    ("live.engine:Engine.check_process", "live.journal:Journal.check"),
    "forks",
)  # fmt: skip
def lock_first(check: Part, check_journal: Part) -> None:
    """Which process this is, nobody asks before a lock that the parent may hold."""
    check.set(lambda self: None)
    check_journal.set(lambda self: None)
