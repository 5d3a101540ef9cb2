import subprocess
import sys

import pytest

from live.postgres import database, postgres  # noqa: F401  (fixtures)
from surefoot.errors import InvalidInput, MissingExtra, StoreUnavailable, SurefootError
from surefoot.live.store import open_store
from surefoot.live.store.postgres import address

# ruff: noqa: F811

NOBODY = "postgresql://ann:Xyzzy@127.0.0.1:1/shop"
"""Where no server is."""


def said(error):
    """The message of an error, which is one line and tells no password."""
    text = str(error.value)
    assert "zzy" not in text
    assert "\n" not in text
    assert text
    return text


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("postgresql://ann:Xyzzy@host:port/shop", "is no address"),
        ("postgresql://ann:Xyzzy@host:99999/shop", "has the port 99999"),
        ("postgresql://ann:Xyzzy@host:0/shop", "has the port 0"),
        ("postgresql://ann:Xyzzy@a:1,b:2/shop", "host=a:5432&host=b:5432"),
        ("postgresql://ann:Xy@zzy@host/shop", "write '@' as %40"),
        ("postgresql://an/n:Xyzzy@host/shop", "write '/' as %2F"),
        ("postgresql://ann:Xyzzy\0@host/shop", "a NUL too many"),
        ("postgresql://ann:Xyzzy\ud800@host/shop", "is no address"),
        ("postgresql://[::1/shop", "is no address"),
        (f"postgresql://{'h' * 64}/shop", "is no address"),
        ("postgresql://a..b/shop", "is no address"),
        (f"{NOBODY}?port=x", "is no address"),
        (f"{NOBODY}?host=a&port=1,2,3", "is no address"),
        (f"{NOBODY}?prepare_threshold=0", "'prepare_threshold', which libpq does not know"),
        (f"{NOBODY}?autocommit=true", "'autocommit', which libpq does not know"),
        (f"{NOBODY}?plugin=x", "'plugin', which libpq does not know"),
        ("postgresql://h/shop?password=Xyzzy&password=zzy", "password 2 times; give it once"),
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_one_is_refused_in_one_line(url, why):
    with pytest.raises(InvalidInput) as error:
        open_store(url)
    assert why in said(error)


@pytest.mark.parametrize("kind", ["mysql", "postgresqll", "Postgres "])
def test_an_unknown_scheme_tells_no_password(kind):
    with pytest.raises(InvalidInput) as error:
        open_store(f"{kind}://ann:Xyzzy@host/shop")
    assert "no known scheme" in said(error)


@pytest.mark.parametrize(
    "query",
    [
        "sslmode=zzy",
        "connect_timeout=abc",
        "service=nope",
        "host=/no/such/folder",
        "host=127.0.0.1:1",
    ],
)
def test_an_address_that_leads_nowhere_is_one_line(query):
    with pytest.raises(StoreUnavailable) as error:
        open_store(f"postgresql:///shop?password=Xyzzy&{query}")
    assert "\n" not in str(error.value)
    assert "Xyzzy" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("postgresql://ann:X%40y%2F:@host/shop", "host", 5433),
        ("postgresql://ann:X@[::1]:5433/shop?sslmode=require", "::1", 5433),
        ("postgresql://@/shop?host=a:1&host=b:2", None, None),
    ],
)
def test_an_address_that_is_one_is_taken(url, host, port):
    assert address(url).host == host
    assert address(url).port in (port, None)


def test_a_path_where_an_address_was_meant_tells_no_password(tmp_path):
    for target in ("ann:Xyzzy@host/shop", tmp_path / "postgresql://ann:Xyzzy@host/shop"):
        with pytest.raises(SurefootError) as error:
            open_store(target)
        said(error)


def test_without_libpq_it_is_one_line(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "psycopg"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setenv("PSYCOPG_IMPL", "none-such")
    with pytest.raises(MissingExtra) as error:
        open_store(NOBODY)
    assert "libpq" in said(error)


def test_the_command_line_tells_no_password(database):
    with open_store(f"{database}?password=Xyzzy&application_name=a") as store:
        assert "application_name=a" in repr(store)
        assert "Xyzzy" not in repr(store)
        for account in ("a", "b"):
            store.open_account(account, 9, True)
    for command in (["verify"], ["status"], ["ledger", "export", "--out", "x.ndjson"]):
        words = [sys.executable, "-m", "surefoot", *command, f"{database}?password=Xyzzy"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "which account? Pass --account NAME" in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert "Xyzzy" not in done.stderr + done.stdout
