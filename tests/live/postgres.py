"""A PostgreSQL of the tests' own: a throw-away cluster on a free loopback port.

It needs the server's programs, as Debian's package `postgresql` installs them; without them its
tests skip. `SUREFOOT_TEST_POSTGRES=URL` names a server to use instead: each test makes a database
of its own there and drops it.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

GIVEN = os.environ.get("SUREFOOT_TEST_POSTGRES")
HOW = "no PostgreSQL: install Debian's postgresql, or set SUREFOOT_TEST_POSTGRES=postgresql://..."


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a server on which a test may make databases."""
    if GIVEN:
        yield GIVEN
        return
    binaries = programs()
    if binaries is None:
        pytest.skip(HOW)
    with cluster(binaries) as url:
        yield url


@pytest.fixture
def database(postgres: str) -> Iterator[str]:
    """The URL of an empty database."""
    with empty_database(postgres) as url:
        yield url


@contextmanager
def empty_database(server: str) -> Iterator[str]:
    name = f"surefoot_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    try:
        yield psycopg_url(server, name)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            drop = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
            connection.execute(drop)


def psycopg_url(server: str, database: str) -> str:
    """The address of another database on the same server."""
    head, slash, _ = server.partition("://")
    host, _, options = server.removeprefix(head + slash).partition("/")
    _, mark, query = options.partition("?")
    return f"{head}{slash}{host}/{database}{mark}{query}"


def programs() -> Path | None:
    """The folder of the newest server's programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=version)
    return found[-1].parent if found else None


def version(initdb: Path) -> float:
    return float(initdb.parts[-3])


@contextmanager
def cluster(binaries: Path, **settings: str) -> Iterator[str]:
    """A server with settings of one's own, gone with its data afterwards."""
    home = Path(tempfile.mkdtemp(prefix="surefoot-pg-"))
    data, options, port = home / "data", as_whom(home), free_port()
    flags = {
        "port": str(port), "listen_addresses": "127.0.0.1", "unix_socket_directories": "",
        "max_connections": "60", "shared_buffers": "16MB",
    } | settings  # fmt: skip
    server = None
    try:
        init(binaries, data, options)
        server = subprocess.Popen(
            [binaries / "postgres", "-D", data, *(f"--{k}={v}" for k, v in flags.items())],
            **options,
        )
        url = f"postgresql://surefoot@127.0.0.1:{port}/postgres"
        wait_for(url, server)
        yield url
    finally:
        if server is not None:
            server.send_signal(signal.SIGINT)  # a fast shutdown: it waits for no client
            server.wait(timeout=60)
        shutil.rmtree(home, ignore_errors=True)


def init(binaries: Path, data: Path, options: dict) -> None:
    """Make the files of a cluster whose only user is surefoot."""
    subprocess.run(
        [binaries / "initdb", "-D", data, "-A", "trust", "-U", "surefoot", "-E", "UTF8",
         "--locale=C", "--no-sync"],
        check=True, **options,
    )  # fmt: skip


def unprivileged() -> str | None:
    """Whom a server runs as where we are root, which it refuses to be."""
    if os.geteuid() != 0:
        return None
    known = {user.pw_name for user in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def as_whom(home: Path) -> dict:
    """How a server's process is started: in a folder of its own, and never as root."""
    options = {"cwd": home, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    user = unprivileged()
    if user is None:
        return options
    for path in (home, *home.iterdir()):
        shutil.chown(path, user)
    return options | {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(url: str, server: subprocess.Popen) -> None:
    for _ in range(600):
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            assert server.poll() is None, "the server stopped at its start"
            time.sleep(0.05)
        else:
            return
    raise AssertionError("the server does not answer")


@pytest.fixture
def pooler(database: str) -> Iterator[Callable[..., str]]:
    """Starts a PgBouncer before the database, so many server connections; its URL."""
    if bouncer_program() is None:
        pytest.skip("no PgBouncer: install Debian's pgbouncer")
    with ExitStack() as running:
        plain = database.partition("?")[0]
        yield lambda size=2: through(plain, running.enter_context(bouncer(plain, size)))


def bouncer_program() -> str | None:
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@contextmanager
def bouncer(server: str, size: int) -> Iterator[int]:
    """A PgBouncer in transaction mode before all databases of a server; yields its port.

    Only the user of the address ``server`` may come; it is not asked for a password.
    """
    target, port = conninfo_to_dict(server), free_port()
    home = Path(tempfile.mkdtemp(prefix="surefoot-bouncer-"))
    (home / "users.txt").write_text(f'"{target["user"]}" "{target.get("password", "")}"\n')
    upstream = " ".join(f"{key}={target[key]}" for key in ("host", "port") if key in target)
    (home / "pgbouncer.ini").write_text(
        f"[databases]\n* = {upstream}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
        f"listen_port = {port}\nunix_socket_dir =\nauth_type = trust\n"
        f"auth_file = {home / 'users.txt'}\npool_mode = transaction\n"
        f"default_pool_size = {size}\nmax_client_conn = 200\nserver_login_retry = 1\n"
        f"logfile = {home / 'log'}\n"
    )
    process = subprocess.Popen([bouncer_program(), home / "pgbouncer.ini"], **as_whom(home))
    try:
        wait_for(through(server, port), process)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=60)
        shutil.rmtree(home, ignore_errors=True)


def through(url: str, port: int) -> str:
    """The same address, but by another port, of this machine."""
    head, _, rest = url.partition("@")
    return f"{head}@127.0.0.1:{port}/{rest.partition('/')[2]}"
