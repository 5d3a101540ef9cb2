"""From the text of a PostgreSQL address to what SQLAlchemy connects with, or one clear refusal."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from surefoot._exact import shown
from surefoot.errors import InvalidInput, MissingExtra


def address(url: str) -> sa.URL:
    """The address that a URL says; InvalidInput that names what is wrong with it, and no password.

    Options after the ``?`` are those of libpq, each once; ``host`` may come again for more hosts.
    MissingExtra without the driver, or without the libpq that it needs.
    """
    try:
        from psycopg import pq
    except ImportError as problem:
        raise _no_driver(problem) from None
    place = url.partition("://")[2].partition("?")[0]
    if "\0" in url or place.count("@") > 1:
        raise _refused(url, "has an '@' or a NUL too many; in a password write '@' as %40")
    try:
        url.encode()
        read = sa.make_url(url).set(drivername="postgresql+psycopg")
        dialect: Any = PGDialect_psycopg
        _, options = dialect().create_connect_args(read)
        for host in str(options.get("host", "")).split(","):
            host.encode("ascii" if host.startswith("/") else "idna")
    except (sa.exc.ArgumentError, ValueError):
        raise _refused(
            url,
            "is no address; write postgresql://user@host:port/database, several hosts as "
            "postgresql://user@/database?host=a:5432&host=b:5432",
        ) from None
    if "@" in place and not place.startswith("@") and read.username is None:
        raise _refused(url, "has a '/' or ':' in its user; write '/' as %2F and ':' as %3A")
    if read.port is not None and not 0 < read.port < 65_536:
        raise _refused(url, f"has the port {read.port}; a port is within 1..65535")
    known = {option.keyword.decode() for option in pq.Conninfo.get_defaults()}
    for name, value in read.query.items():
        if name not in known:
            raise _refused(url, f"has the option {shown(name)}, which libpq does not know")
        if isinstance(value, tuple) and name != "host":
            raise _refused(url, f"has the option {name} {len(value)} times; give it once")
    return read


def _refused(url: str, why: str) -> InvalidInput:
    return InvalidInput(f"{shown(url)} {why}")


def _no_driver(problem: ImportError) -> MissingExtra:
    """psycopg is not there, or it is there and finds no libpq, which it says in several lines."""
    said = " ".join(str(problem).split())
    return MissingExtra(
        f"PostgreSQL needs psycopg and the library libpq ({said}); in Surefoot's folder run: "
        "pip install '.[live]', which brings both"
    )
