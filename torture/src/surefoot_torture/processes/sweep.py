"""A scenario with all that may happen to a ledger, killed at each of its writes in turn.

In memory a write is a transaction or a snapshot, which a kill undoes or keeps, and recovery is
killed as well. On a SQLite file it is each statement and each commit, and the process really ends.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

from surefoot.errors import RewardOutOfRange
from surefoot.live import engine
from surefoot.live.live import Live
from surefoot.live.store import AccountRow, MemoryStore, Store, Tx, open_store
from surefoot_torture.processes.audit import Told, found
from surefoot_torture.processes.children import Child, Diary, agent

T = TypeVar("T")
NAME = "scenario"
WINDOW = 100
RECOVERY = 4
"""How many writes at most come between a kill and the next step's end."""
DIED = 77
"""The exit code of a process that came to the write at which it should die."""

Step = tuple[Any, ...]
_FATES: tuple[tuple[Step, ...], ...] = (
    (("update", "0.9"), ("update", "0.9")),
    (("capped", "1.5"), ("acknowledge", None)),
    (("expire", None), ("update", "0.25")),
    (("void", None),),
    (("fall_back", None),),
    (("expire", None),),
    (),
)
_EXTRAS: dict[int, tuple[Step, ...]] = {
    2: (("change", "experiment.configured", 1, {"alpha": Decimal("0.3")}),),
    3: (("add_reserve", "endowment.granted", 2, Decimal(1)),),
    5: (("add_arms", "arms.added", 1, ["d"]), ("leave",)),
    7: (("pause",),),
    8: (("resume",), ("withdraw_reserve", "endowment.withdrawn", 1, Decimal("0.25"))),
    9: (("remove_arms", "arms.removed", 1, [0]), ("look",)),
    12: (("wait",), ("reap",), ("late", "v-6", "0.75")),
}
_PLAYS = 14


def scenario() -> list[Step]:
    """Its steps; each may be made again when its answer was lost."""
    steps: list[Step] = []
    for number in range(_PLAYS):
        play = f"v-{number}"
        steps.append(("ask", play))
        steps += [("report", play, *fate) for fate in _FATES[number % len(_FATES)]]
        steps += _EXTRAS.get(number, ())
    return [*steps, ("leave",)]


class Clock:
    """One second a step, and a long wait: whoever makes a step again makes it at the same time."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now

    def at(self, steps: list[Step], number: int) -> None:
        """Set the time of a step."""
        waited = 2 * WINDOW * (("wait",) in steps[:number])
        self.now = (number + waited) * 1_000_000


def proceed(store: Store, clock: Clock, diary: Diary) -> AccountRow:
    """Make the scenario's steps from where the diary ends; returns the account at the end."""
    steps, live = scenario(), None
    for number in range(sum(line[0] == "step" for line in diary.lines), len(steps)):
        clock.at(steps, number)
        live = live or Live(agent(), store, NAME, reward_window=WINDOW)
        live = _step(live, diary, steps[number])
        diary.note("step", number)
    return store.account(NAME)


def _step(live: Live, diary: Diary, step: Step) -> Live | None:
    """Make a step; None if the live agent is left."""
    what, *rest = step
    if what == "ask":
        play = live.select(id=rest[0])
        diary.note("play", play.id, play.index)
    elif what in ("report", "late"):
        _report(live, diary, rest if what == "report" else [rest[0], "update", rest[1]])
    elif what == "leave":
        live.close()
        return None
    elif what == "look":
        assert live.explain("v-0")
        assert live.account.reserve
        assert live.config
    elif what in ("pause", "resume", "reap"):
        getattr(live, what)()
    elif what != "wait":
        _once(live, what, *rest)
    return live


def _report(live: Live, diary: Diary, asked: list[Any]) -> None:
    play, what, reward = asked
    if live.play(play).is_default:
        if what in ("acknowledge", "expire"):
            return
        what, reward = "update" if what == "capped" else what, None
    diary.note("made", play, what, reward)
    if what in ("update", "capped"):
        live.update(play, None if reward is None else Decimal(reward))
    else:
        getattr(live, what)(play)
    diary.note("told", play, what, reward, "")


def _once(live: Live, method: str, kind: str, count: int, value: Any) -> None:
    """What has no id of its own is looked up before it is done again."""
    there = sum(entry.kind == kind for entry in live.store.entries(NAME))
    if there < count:
        getattr(live, method)(**value) if isinstance(value, dict) else getattr(live, method)(value)


class Killed(BaseException):
    """The process is gone: nothing catches this."""


class Mortal(MemoryStore):
    """Kills whoever makes one of some writes, counted from 1: before it is kept, or after."""

    def __init__(self, deaths: dict[int, bool], clock: Callable[[], int]) -> None:
        super().__init__(clock)
        self.deaths, self.writes = deaths, 0

    def _write(self, call: Callable[[], T]) -> T:
        self.writes += 1
        kept = self.deaths.get(self.writes)
        if kept is None:
            return call()
        if kept:
            call()
        raise Killed

    def transact(self, account: str, work: Callable[[Tx], T]) -> T:
        return self._write(lambda: super(Mortal, self).transact(account, work))

    def snapshot(self, account: str, seq: int, blob: bytes, experiment: str = "") -> None:
        self._write(lambda: super(Mortal, self).snapshot(account, seq, blob, experiment))

    def open_account(self, account: str, places: int, strict: bool) -> AccountRow:
        return self._write(lambda: super(Mortal, self).open_account(account, places, strict))


class Point(NamedTuple):
    """Where a run is killed: at the ``first`` write, and at the ``then``-th after that (0: not)."""

    where: str
    first: int
    kept: bool = False
    then: int = 0
    then_kept: bool = False


class Calm(NamedTuple):
    """A run without a kill: the account at its end, and its writes in memory and in a file."""

    end: list[Any]
    memory: int
    file: int

    def points(self) -> list[Point]:
        """Where a run can be killed."""
        kept = (False, True)
        writes = range(1, self.memory + 1)
        found = [Point("memory", n, k) for n in writes for k in kept]
        found += [
            Point("memory", n, k, then, t)
            for n in writes for k in kept for then in range(1, RECOVERY + 1) for t in kept
        ]  # fmt: skip
        lives = [(n, then) for n in range(1, self.file + 1) for then in (0, 1 + n % 9)]
        return [*found, *(Point("file", n, then=then) for n, then in lives)]


def calm(folder: Path) -> Calm:
    """Run the scenario in memory and in a file; both lead to the same ledger."""
    memory = calm_in_memory()
    with _fresh(folder) as path:
        file = Child(partial(_run, path, 0)).result()
    assert file["end"] == memory.end, "memory and SQLite differ"
    return memory._replace(file=file["writes"])


def calm_in_memory() -> Calm:
    """Run the scenario in memory alone."""
    store = Mortal({}, clock := Clock())
    with _often():
        end = proceed(store, clock, Diary())
    return Calm(list(end), store.writes, 0)


def killed(folder: Path, point: Point, end: list[Any]) -> list[str]:
    """Kill at a point, recover, and go on; says what is wrong, if the end is another too."""
    found, problems = in_memory(point) if point.where == "memory" else in_file(folder, point)
    if found != end:
        problems.append(f"the end is {found}, without a kill it is {end}")
    return [f"{point}: {problem}" for problem in problems]


def in_memory(point: Point) -> tuple[list[Any], list[str]]:
    """Kill at a transaction or a snapshot."""
    deaths = {point.first: point.kept}
    if point.then:
        deaths[point.first + point.then] = point.then_kept
    store, diary = Mortal(deaths, clock := Clock()), Diary()
    problems: list[str] = []
    with _often():
        while True:
            try:
                end = proceed(store, clock, diary)
                break
            except Killed:
                problems += _audit(store, diary)
    return list(end), problems + _audit(store, diary)


def in_file(folder: Path, point: Point) -> tuple[list[Any], list[str]]:
    """Kill at a statement or a commit; each life is a process of its own."""
    problems: list[str] = []
    with _fresh(folder) as path:
        for write in (point.first, point.then) if point.then else (point.first,):
            code, answer = Child(partial(_run, path, write)).end()
            if code != DIED and (code, write) != (0, point.then):  # the end came before it
                problems.append(f"the process that should die ended with {code}: {answer}")
        last = Child(partial(_run, path, 0)).result()
    return last["end"], problems + last["problems"]


@contextmanager
def _fresh(folder: Path) -> Iterator[Path]:
    with TemporaryDirectory(dir=folder) as inner:
        yield Path(inner) / "scenario.db"


def _run(path: Path, death: int) -> dict[str, Any]:
    """One life: audit what is there, and go on with the scenario, to a write or to its end."""
    import sqlalchemy as sa

    writes = 0

    def write(*_: Any) -> None:
        nonlocal writes
        writes += 1
        if writes == death:
            os._exit(DIED)

    def statement(connection: Any, cursor: Any, text: str, *_: Any) -> None:
        if not text.startswith(("SELECT", "PRAGMA")):
            write()

    # Nothing but the process ends here, so that what it wrote is there without a sync.
    sa.event.listen(sa.Engine, "engine_connect", _unsynced)
    sa.event.listen(sa.Engine, "before_cursor_execute", statement)
    sa.event.listen(sa.Engine, "commit", write)
    clock, diary = Clock(), Diary(path.with_suffix(".diary"))
    with _often(), open_store(path, clock) as store:
        problems = _audit(store, diary)
        end = proceed(store, clock, diary)
        problems += _audit(store, diary)
    return {"end": list(end), "problems": problems, "writes": writes}


def _unsynced(connection: Any) -> None:
    connection.connection.dbapi_connection.execute("PRAGMA synchronous = OFF")


def _audit(store: Store, diary: Diary) -> list[str]:
    if NAME not in store.accounts():
        return []
    return found(store.account(NAME), list(store.entries(NAME)), Told(diary.lines))


@contextmanager
def _often() -> Iterator[None]:
    """Take snapshots often, so that some are killed too."""
    every = engine.SNAPSHOT_EVERY
    engine.SNAPSHOT_EVERY = 7
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RewardOutOfRange)
            yield
    finally:
        engine.SNAPSHOT_EVERY = every
