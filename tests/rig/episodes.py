"""The episodes: each a few seconds of workers at play, and what befalls them meanwhile."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import psycopg

from live.postgres import bouncer, bouncer_program
from rig import diary
from rig.bench import ACCOUNT, Bench
from rig.diary import NOW
from rig.servers import PASSWORD

SILENCE = 12.0
"""How long the network says nothing: longer than any call may take."""
UNTOLD = 4.0
"""How long a worker with a lease keeps to itself what it answered."""


class Episode(NamedTuple):
    """One kind of trouble."""

    name: str
    run: Callable[[Bench], None]
    needs: str
    """sqlite, postgres or pgbouncer."""


EPISODES: dict[str, Episode] = {}


def episode(name: str, needs: str = "sqlite") -> Callable[[Callable[[Bench], None]], Callable]:
    def register(run: Callable[[Bench], None]) -> Callable[[Bench], None]:
        EPISODES[name] = Episode(name, run, needs)
        return run

    return register


def maybe_leased(bench: Bench, **settings) -> bool:
    if bench.rng.random() < 0.5:
        bench.leased(**settings)
        return True
    return False


@episode("calm")
def calm(bench: Bench) -> None:
    """Nothing happens, so nothing may be refused."""
    maybe_leased(bench)
    bench.crew(2)
    bench.wait(3)


def kills(bench: Bench) -> None:
    maybe_leased(bench)
    crew = bench.crew(2)
    for _ in range(4):
        bench.wait(bench.rng.uniform(0.3, 1))
        victim = bench.rng.choice(list(bench.workers.values()))
        if bench.rng.random() < 0.3:
            victim.pause()
            bench.wait(bench.rng.uniform(0.3, 2))
            victim.go_on()
        else:
            victim.kill()
            bench.start(victim.name)
    bench.until_played([worker.name for worker in crew])


@episode("killed on SQLite")
def killed_sqlite(bench: Bench) -> None:
    """Workers are killed, or stopped for a while, and come again."""
    kills(bench)


@episode("killed on PostgreSQL", "postgres")
def killed_postgres(bench: Bench) -> None:
    """The same, on PostgreSQL."""
    bench.use_postgres()
    kills(bench)


@episode("silent network", "postgres")
def silent(bench: Bench) -> None:
    """The network swallows all, or all answers, for longer than a call may take."""
    proxy = bench.use_proxy()
    maybe_leased(bench)
    bench.crew(2)
    bench.wait(1)
    with bench.storm():
        proxy.mode = bench.rng.choice(("silent", "silent", "stall"))
        bench.start("late")  # opening must not wait for ever, either
        bench.wait(SILENCE + 2)
        if bench.rng.random() < 0.5:
            proxy.reset()
        proxy.mode = "pass"
    bench.until_played(["late"])


@episode("bad network", "postgres")
def bad_network(bench: Bench) -> None:
    """Connections are reset, refused, delayed."""
    proxy = bench.use_proxy()
    maybe_leased(bench)
    bench.crew(2)
    with bench.storm():
        for _ in range(5):
            proxy.mode = bench.rng.choice(("pass", "delay", "refuse", "stall"))
            if bench.rng.random() < 0.6:
                proxy.reset()
            bench.wait(bench.rng.uniform(0.3, 1.5))
        proxy.reset()
        proxy.mode = "pass"
    bench.wait(1.5)


@episode("server restarts", "postgres")
def restarts(bench: Bench) -> None:
    """PostgreSQL is stopped in order, or crashes, and comes again."""
    bench.use_postgres()
    maybe_leased(bench)
    bench.crew(2)
    for _ in range(2):
        bench.wait(bench.rng.uniform(0.5, 1.5))
        with bench.storm():
            bench.server.stop(crash=bench.rng.random() < 0.7)
            bench.wait(bench.rng.uniform(0, 1))
            bench.server.start()
    bench.wait(2)


@episode("SQLite goes back")
def goes_back(bench: Bench) -> None:
    """An older copy is put back with the backup API, while Lives are open that know better."""
    leased = maybe_leased(bench, plays=4)
    bench.start("w0", reap=0)
    bench.until_played(["w0"], plays=1)
    copy = bench.folder / "copy.db"
    since = NOW() - leased * UNTOLD
    back_up(bench.store, copy)
    bench.until_played(["w0"], plays=60)
    with bench.taking_back(since), bench.storm():
        back_up(str(copy), bench.store)
    bench.wait(2.5)
    if bench.rng.random() < 0.5:
        bench.strangers.add("stranger")
        bench.start("stranger")
        bench.until_played(["stranger"])


def back_up(source: str, target: object) -> None:
    """Copy a SQLite file as its manual says."""
    with (
        closing(sqlite3.connect(source, timeout=30)) as old,
        closing(sqlite3.connect(str(target), timeout=30)) as new,
    ):
        old.backup(new)


@episode("PostgreSQL goes back", "postgres")
def failover(bench: Bench) -> None:
    """An older copy of the database takes its name, as after a failover that lost commits."""
    bench.use_postgres()
    leased = maybe_leased(bench, plays=4)
    bench.start("w0", reap=0)
    bench.until_played(["w0"], plays=1)
    server, name = bench.server, bench.database
    with bench.storm():
        # A template is copied while nobody is connected; the worker is stopped for that long.
        since = NOW() - leased * UNTOLD
        copied(server, name, f"{name}_old")
    bench.until_played(["w0"], plays=60)
    with bench.taking_back(since), bench.storm():
        let_go(server, name)
        server.run("ALTER DATABASE {} RENAME TO {}", name, f"{name}_lost")
        server.run("ALTER DATABASE {} RENAME TO {}", f"{name}_old", name)
    bench.wait(2.5)
    server.drop(f"{name}_lost")


def copied(server, name: str, copy: str) -> None:
    for _ in range(100):
        let_go(server, name)
        with suppress(psycopg.errors.ObjectInUse):
            server.run("CREATE DATABASE {} TEMPLATE {}", copy, name)
            break
    server.run("ALTER DATABASE {} ALLOW_CONNECTIONS true", name)


def let_go(server, name: str) -> None:
    """Close a database to new connections and end those that it has."""
    server.run("ALTER DATABASE {} ALLOW_CONNECTIONS false", name)
    server.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", values=[name]
    )


@episode("SQLite file gone")
def file_gone(bench: Bench) -> None:
    """The file is deleted, renamed, or another takes its place, while Lives are open."""
    leased = maybe_leased(bench, plays=4)
    bench.crew(2, reap=0 if leased else 1)
    bench.until_played(["w0", "w1"], plays=20)
    path, copy = Path(bench.store), bench.folder / "copy.db"
    way = bench.rng.choice(("delete", "rename", "replace"))
    if way == "replace":
        back_up(bench.store, copy)
    with bench.taking_back(float("-inf")):
        for end in ("-wal", "-shm"):  # a log beside another file is an error of SQLite's own
            path.with_name(path.name + end).unlink(missing_ok=True)
        if way == "delete":
            path.unlink()
        elif way == "rename":
            path.rename(bench.folder / "aside.db")
        else:
            copy.replace(path)
    bench.storms.append((NOW(), float("inf")))
    bench.wait(1)
    if bench.rng.random() < 0.7:
        bench.strangers.add("stranger")
        bench.start("stranger", **({} if way == "replace" else {"lease": None}))
        bench.until_played(["stranger"])
    bench.wait(1)


@episode("forks")
def forks(bench: Bench) -> None:
    """Processes fork while their threads decide, with and without leases."""
    maybe_leased(bench)
    crew = bench.crew(2, clients=6, pace=0.002)
    for _ in range(3):
        for worker in crew:
            worker.tell(do="fork")
        bench.wait(0.5)
    stop = NOW() + 11
    while NOW() < stop and any(map(waits, children(bench))):
        bench.wait(0.2)


def children(bench: Bench) -> list[Path]:
    return list(bench.folder.glob("*-child*.diary"))


def waits(path: Path) -> bool:
    """Whether a call of a diary has not returned."""
    return any(call.ended is None for call in diary.read(path)[0])


@episode("pooled", "pgbouncer")
def pooled(bench: Bench) -> None:
    """Through pgbouncer, in a pool with other programs, with synchronous_commit off by default."""
    with bouncer(bench.server.address(), 3) as port, asynchronous(bench):
        bench.use_postgres(port)
        with other_programs(bench):
            maybe_leased(bench)
            bench.crew(2)
            for _ in range(3):
                bench.tool("status", bench.store, "--account", ACCOUNT)
            bench.wait(0.5)
        with bench.storm():
            bench.server.stop(crash=True)
            bench.server.start()
        bench.wait(2)
        bench.settled()


@contextmanager
def asynchronous(bench: Bench) -> Iterator[None]:
    """While commits do not wait for the disk, unless somebody asks them to."""
    bench.server.run("ALTER ROLE surefoot SET synchronous_commit = off")
    try:
        yield
    finally:
        bench.server.run("ALTER ROLE surefoot RESET synchronous_commit")


@contextmanager
def other_programs(bench: Bench) -> Iterator[None]:
    """While other programs write to a table of theirs through the same pool."""
    bench.server.run("CREATE TABLE theirs (number bigint)", database=bench.database)
    over, done, failed = threading.Event(), [], []

    def write() -> None:
        while not over.wait(0.05):
            try:
                with psycopg.connect(
                    bench.store, autocommit=True, prepare_threshold=None
                ) as connection:
                    connection.execute("INSERT INTO theirs VALUES (1)")
                done.append(1)
            except psycopg.Error as problem:
                failed.append(str(problem))

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        yield
    finally:
        over.set()
        for writer in writers:
            writer.join()
        if failed:
            many = f"{len(failed)} of {len(failed) + len(done)}"
            bench.odd(f"{many} writes of other programs in the pool failed: {failed[0]}")


PUT_BACK = (
    "UPDATE account SET reserve ="
    " (SELECT reserve FROM entry WHERE account = name ORDER BY seq DESC LIMIT 1)"
)


@episode("account tampered")
def tampered(bench: Bench) -> None:
    """Somebody edits the account, and puts it back as the manual says."""
    if bench.rng.random() < 0.4 and bench.server is not None:
        bench.use_postgres()
    crew = bench.crew(2)
    with bench.storm():
        edit(bench, "UPDATE account SET reserve = reserve + 1000000000")
        bench.wait(2)
        bench.tool("verify", bench.store, "--account", ACCOUNT, code=None)
        edit(bench, PUT_BACK)  # a report may have put it right already
        for worker in crew:
            worker.tell(do="reopen")
    bench.wait(2)


def edit(bench: Bench, statement: str) -> None:
    """Change the ledger's tables as a stranger with a shell would."""
    if bench.database is not None:
        bench.server.run(statement, database=bench.database)
        return
    with closing(sqlite3.connect(bench.store, timeout=30)) as connection:
        connection.execute(statement)
        connection.commit()


@episode("plays deleted")
def plays_deleted(bench: Bench) -> None:
    """Somebody deletes rows of plays; nobody may call that well."""
    crew = bench.crew(1)
    bench.until_played(["w0"], plays=30)
    crew[0].finish()
    edit(bench, "DELETE FROM play WHERE seq % 2 = 0")
    run = bench.tool("verify", bench.store, "--account", ACCOUNT, code=None)
    if run.returncode == 0:
        bench.odd("verify is content though half of the plays' rows are gone")
    bench.damaged = True


@episode("journals")
def journals(bench: Bench) -> None:
    """Workers share a folder of journals; one is killed, or its journal is deleted."""
    bench.leased()
    crew = bench.crew(3)
    bench.wait(1)
    victim = crew[0]
    if bench.rng.random() < 0.5:
        with bench.taking_back(float("-inf"), victim.name), bench.storm():
            for path in (bench.folder / "journals").glob("*.journal"):
                if holder(path) == victim.pid:
                    path.unlink()
            bench.wait(1)
            victim.kill()
    else:
        victim.kill()
    bench.wait(1)
    bench.start(victim.name)
    bench.wait(2)


def holder(path: Path) -> int | None:
    """The process that has a file open."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if any(file.readlink() == path for file in (process / "fd").iterdir()):
                return int(process.name)
    return None


@episode("stopped workers")
def stopped(bench: Bench) -> None:
    """A worker sleeps past the end of its lease, which is forfeited, and then goes on."""
    bench.leased(plays=50, seconds=1.0)
    bench.common["reserve"] = "40"
    crew = bench.crew(2, reap=0.5)
    for _ in range(2):
        crew[0].pause()
        bench.wait(2)
        crew[0].go_on()
        bench.wait(1.5)


@episode("late reports")
def late_reports(bench: Bench) -> None:
    """Plays and leases run out while workers still know more than the ledger."""
    bench.leased(plays=20, seconds=3.0)
    bench.common["reserve"] = "200"
    ways = {"void": 40, "fall_back": 30}
    bench.crew(2, window=0.9, reap=0, dawdle=1.0, ways=ways)
    bench.start("reaper", window=0.9, clients=0, reap=0.1, lease=None)
    bench.wait(5)


@episode("clocks jump")
def clocks(bench: Bench) -> None:
    """The clock of a worker jumps to and fro, and once tells a float."""
    maybe_leased(bench)
    crew = bench.crew(2, clock=True, window=2)
    for _ in range(4):
        bench.rng.choice(crew).tell(do="skew", by=bench.rng.choice((-86400, -3, 5, 3600, 86400)))
        bench.wait(0.5)
    with bench.storm():
        crew[0].tell(do="float", on=True)
        bench.wait(0.7)
        crew[0].tell(do="float", on=False)
    bench.wait(0.5)


@episode("nonsense")
def nonsense(bench: Bench) -> None:
    """Workers open what is none, and clients give what nobody can take."""
    if bench.server is not None and bench.rng.random() < 0.5:
        bench.use_postgres()
    maybe_leased(bench)
    nowhere = nonsense_addresses(bench.folder)
    crew = bench.crew(1, nowhere=nowhere)
    crew[0].tell(do="nonsense")
    for address in bench.rng.sample(nowhere, 3):
        bench.tool("status", address, code=None)
    bench.wait(1)


def nonsense_addresses(folder: Path) -> list[str]:
    """Addresses of no store; the command line must say so in a line, without the password."""
    of = f"surefoot:{PASSWORD}@127.0.0.1"
    return [
        f"postgresql://{of}:port/shop", f"postgresql://{of}:1,127.0.0.2:2/shop",
        f"mysql://{of}/shop", f"postgresql://{of}:1/shop?prepare_threshold=0",
        f"{folder}/{'n' * 300}.db",
    ]  # fmt: skip


@episode("full disk")
def full_disk(bench: Bench) -> None:
    """The disk with the ledger and the journals is full for a while."""
    with small_disk(bench) as disk:
        bench.store = bench.truth = str(disk / "shop.db")
        if maybe_leased(bench):
            bench.common["lease"]["journal"] = str(disk / "journals")
        bench.crew(2)
        bench.wait(0.5)
        with bench.storm():
            filler = disk / "filler"
            with suppress(OSError), filler.open("wb") as file:
                while True:
                    file.write(bytes(4096))
                    file.flush()
            bench.wait(2)
            filler.unlink()
        bench.wait(1)
        bench.settled()


@contextmanager
def small_disk(bench: Bench) -> Iterator[Path]:
    """A file system of 32 MB; needs the right to mount one.

    SQLite's log alone takes 4 MB before it is begun again.
    """
    disk = bench.folder / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(disk)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        raise Skipped("a small disk cannot be mounted here")
    try:
        yield disk
    finally:
        for _ in range(50):
            if not subprocess.run(["umount", disk], capture_output=True, check=False).returncode:
                break
            time.sleep(0.1)
        shutil.rmtree(disk, ignore_errors=True)


class Skipped(Exception):
    """This machine lacks what an episode needs."""


def possible(needs: str, has_server: bool) -> bool:
    """Whether an episode can run here."""
    return needs == "sqlite" or (has_server and (needs == "postgres" or bool(bouncer_program())))
