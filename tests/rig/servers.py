"""The server of the rig: a PostgreSQL that can be crashed."""

import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from live.postgres import as_whom, free_port, init, programs, wait_for

PASSWORD = "hunter2secret"
"""It is in every address that the workers get; it must be in nothing that they print."""
FLAGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "80",
    "shared_buffers": "16MB",
    "wal_writer_delay": "10s",  # what was committed asynchronously is lost in a crash
}


class Postgres:
    """A throw-away cluster."""

    def __init__(self, home: Path) -> None:
        self.binaries, self.data = programs(), home / "data"
        self.options, self.port = as_whom(home), free_port()
        self.server: subprocess.Popen | None = None
        init(self.binaries, self.data, self.options)

    def address(self, database: str = "postgres", port: int | None = None) -> str:
        return f"postgresql://surefoot:{PASSWORD}@127.0.0.1:{port or self.port}/{database}"

    def start(self) -> None:
        flags = [f"--{name}={value}" for name, value in FLAGS.items()]
        self.server = subprocess.Popen(
            [self.binaries / "postgres", "-D", self.data, f"--port={self.port}", *flags],
            **self.options,
        )
        wait_for(self.address(), self.server)

    def stop(self, crash: bool = False) -> None:
        """Stop it without waiting for clients; ``crash``: nor for anything to be written."""
        if self.server is not None:
            self.server.send_signal(signal.SIGQUIT if crash else signal.SIGINT)
            self.server.wait(timeout=60)
            self.server = None

    def run(self, statement: str, *names: str, database: str = "postgres", values=()) -> list:
        """Run a statement, in which each {} is a name."""
        composed = sql.SQL(statement).format(*map(sql.Identifier, names))
        with psycopg.connect(self.address(database), autocommit=True) as connection:
            found = connection.execute(composed, values)
            return found.fetchall() if found.description else []

    def new_database(self) -> str:
        name = f"chaos_{uuid.uuid4().hex[:12]}"
        self.run("CREATE DATABASE {}", name)
        return name

    def drop(self, name: str) -> None:
        self.run("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)


@contextmanager
def postgres() -> Iterator[Postgres | None]:
    """A running cluster; None where PostgreSQL is not installed."""
    if programs() is None:
        yield None
        return
    home = Path(tempfile.mkdtemp(prefix="surefoot-chaos-pg-"))
    server = None
    try:
        server = Postgres(home)
        server.start()
        yield server
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(home, ignore_errors=True)
